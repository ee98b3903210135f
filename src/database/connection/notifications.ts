import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { SECOND } from '../../core/time.ts'
import type { ServerConfig } from './server-config.ts'
import { asUnavailable } from './unavailable.ts'

/**
 * Receives the payload of each notification. Receives null when notifications may have been missed: when the connection
 * is lost and when it is restored. Must not throw.
 */
export type Listener = (payload: string | null) => void

/** Distributes PostgreSQL notifications (NOTIFY) to listeners of this process. */
export interface Notifications {
  /**
   * Starts listening to a channel. Resolves to a function that stops it.
   * @throws when `LISTEN` fails.
   */
  listen(channel: string, listener: Listener): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** Creates notifications for the embedded database, which listens in its only session. */
export function embeddedNotifications(pool: pg.Pool): Notifications {
  const channels = new Map<string, Set<Listener>>()
  pool.on('connect', (client) => client.on('notification', (message) => deliver(channels, message)))
  return {
    listen: (channel, listener) => listen(channels, channel, listener, (sql) => pool.query(sql)),
    close: async () => {},
  }
}

/** The interval and the timeout of pings on the connection for notifications. */
const PING_INTERVAL = 6 * SECOND
const PING_TIMEOUT = 2 * SECOND
/** The longest pause before the next connection attempt. */
const MAX_PAUSE = 2 * SECOND

/** The name of the connection for notifications, of which each instance has one. */
export const LISTENS = 'allclear notifications'

/** Creates notifications for a server, on a separate connection that opens at the first `listen` and reconnects. */
export function serverNotifications(config: ServerConfig, log: Logger): Notifications {
  const channels = new Map<string, Set<Listener>>()
  const closing = new AbortController()
  let connection: Promise<pg.Client> | undefined

  async function connect(): Promise<pg.Client> {
    const client = new config.Client({
      ...config,
      application_name: LISTENS,
      query_timeout: PING_TIMEOUT,
      connectionTimeoutMillis: 2 * PING_TIMEOUT,
    })
    client.on('notification', (message) => deliver(channels, message))
    client.on('error', (error) =>
      log.warn({ err: asUnavailable(error) }, 'database: the connection for notifications failed'),
    )
    try {
      await client.connect()
      for (const channel of channels.keys()) await client.query(listenTo(channel))
    } catch (error) {
      void client.end().catch(() => {})
      throw error
    }
    const asking = setInterval(() => void ping(client), PING_INTERVAL).unref()
    client.once('end', () => {
      clearInterval(asking)
      if (!closing.signal.aborted) deliverMissed(channels)
      void reconnect()
    })
    return client
  }

  /** Closes the connection if it does not answer: a dead connection can look open until something is sent. */
  async function ping(client: pg.Client): Promise<void> {
    try {
      await client.query('SELECT 1')
    } catch (error) {
      if (closing.signal.aborted) return
      log.warn(
        { err: asUnavailable(error) },
        'database: the connection for notifications does not answer; reconnecting',
      )
      client.connection.stream.destroy()
    }
  }

  async function reconnect(pause = 0.1 * SECOND): Promise<void> {
    if (closing.signal.aborted) return
    connection = connect()
    try {
      await connection
    } catch (error) {
      log.warn({ err: asUnavailable(error) }, 'database: could not open the connection for notifications; retrying')
      await sleep(pause, undefined, { signal: closing.signal, ref: false }).catch(() => {})
      return reconnect(Math.min(2 * pause, MAX_PAUSE))
    }
    deliverMissed(channels)
  }

  return {
    listen: (channel, listener) =>
      listen(channels, channel, listener, async (sql) => {
        connection ??= connect().catch((error) => {
          connection = undefined
          throw error
        })
        const client = await connection
        return client.query(sql)
      }),
    async close() {
      closing.abort()
      const client = await connection?.catch(() => null)
      if (!client) return
      // A silent connection never confirms that it has closed.
      const cut = setTimeout(() => client.connection.stream.destroy(), PING_TIMEOUT)
      await client.end()
      clearTimeout(cut)
    },
  }
}

/** The interval at which listeners without notifications look for themselves. */
const POLL_INTERVAL = SECOND

/** Creates what replaces notifications where none arrive: listeners hear every second that they may have missed some. */
export function polledNotifications(): Notifications {
  const channels = new Map<string, Set<Listener>>()
  const polling = setInterval(() => deliverMissed(channels), POLL_INTERVAL).unref()
  return {
    listen: (channel, listener) => listen(channels, channel, listener, async () => {}),
    close: async () => clearInterval(polling),
  }
}

async function listen(
  channels: Map<string, Set<Listener>>,
  channel: string,
  listener: Listener,
  execute: (sql: string) => Promise<unknown>,
): Promise<() => Promise<void>> {
  const listeners = channels.get(channel) ?? new Set()
  channels.set(channel, listeners.add(listener))
  const forget = () => {
    listeners.delete(listener)
    if (listeners.size === 0 && channels.get(channel) === listeners) channels.delete(channel)
  }
  try {
    await execute(listenTo(channel))
  } catch (error) {
    forget()
    throw error
  }
  return async () => {
    forget()
    if (!channels.has(channel)) await execute(`UN${listenTo(channel)}`)
  }
}

/** Returns a LISTEN statement. Repeating it has no further effect. */
function listenTo(channel: string): string {
  return `LISTEN ${pg.escapeIdentifier(channel)}`
}

function deliver(channels: ReadonlyMap<string, ReadonlySet<Listener>>, message: pg.Notification): void {
  for (const listener of channels.get(message.channel) ?? []) listener(message.payload ?? '')
}

/** Tells every listener that it may have missed notifications. */
function deliverMissed(channels: ReadonlyMap<string, ReadonlySet<Listener>>): void {
  for (const listeners of channels.values()) for (const listener of listeners) listener(null)
}
