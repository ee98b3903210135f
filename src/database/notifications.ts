import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { SECOND } from '../time.ts'
import { translated } from './unavailable.ts'

/**
 * Called with the payload of each notification, and with null when some may be missed: once the connection is lost, and
 * again when there is another. Must not throw.
 */
export type Listener = (payload: string | null) => void

/** What PostgreSQL's NOTIFY says, told to listeners of this process. */
export interface Notifications {
  /**
   * Hears a channel from the moment this resolves until the function that it gives is called.
   * @throws when the database cannot be asked to listen.
   */
  listen(channel: string, listener: Listener): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** Notifications of the embedded database, whose one session listens beside everything else it does. */
export function embeddedNotifications(pool: pg.Pool): Notifications {
  const channels = new Map<string, Set<Listener>>()
  pool.on('connect', (client) => client.on('notification', (message) => deliver(channels, message)))
  return {
    listen: (channel, listener) => listen(channels, channel, listener, (sql) => pool.query(sql)),
    close: async () => {},
  }
}

/** How often the connection for notifications is asked whether it is there, and how long it may take to answer. */
const ASKING = 3 * SECOND
const SILENCE = 2 * SECOND
/** The longest pause before the next try to connect. */
const LONGEST_PAUSE = 2 * SECOND

/** Notifications of a server, over one connection of their own: made at the first `listen`, and again when it is lost. */
export function serverNotifications(config: pg.ClientConfig, log: Logger): Notifications {
  const channels = new Map<string, Set<Listener>>()
  const closing = new AbortController()
  let connection: Promise<pg.Client> | undefined

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ ...config, query_timeout: SILENCE, connectionTimeoutMillis: 2 * SILENCE })
    client.on('notification', (message) => deliver(channels, message))
    client.on('error', (error) =>
      log.warn({ err: translated(error) }, 'database: the connection for notifications failed'),
    )
    try {
      await client.connect()
      for (const channel of channels.keys()) await client.query(listenTo(channel))
    } catch (error) {
      void client.end().catch(() => {})
      throw error
    }
    const asking = setInterval(() => void ask(client), ASKING).unref()
    client.once('end', () => {
      clearInterval(asking)
      if (!closing.signal.aborted) missed()
      void reconnect()
    })
    return client
  }

  /** Ends a connection that does not answer, though it may look open for as long as nothing is sent on it. */
  async function ask(client: pg.Client): Promise<void> {
    try {
      await client.query('SELECT 1')
    } catch (error) {
      if (closing.signal.aborted) return
      log.warn({ err: translated(error) }, 'database: the connection for notifications is silent; making another')
      client.connection.stream.destroy()
    }
  }

  async function reconnect(pause = 0.1 * SECOND): Promise<void> {
    if (closing.signal.aborted) return
    connection = connect()
    try {
      await connection
    } catch (error) {
      log.warn({ err: translated(error) }, 'database: no connection for notifications; trying again')
      await sleep(pause, undefined, { signal: closing.signal, ref: false }).catch(() => {})
      return reconnect(Math.min(2 * pause, LONGEST_PAUSE))
    }
    missed()
  }

  function missed(): void {
    for (const listeners of channels.values()) for (const listener of listeners) listener(null)
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
      // One that is silent never says goodbye.
      const cut = setTimeout(() => client.connection.stream.destroy(), SILENCE)
      await client.end()
      clearTimeout(cut)
    },
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

/** Asking twice for the same channel is harmless. */
function listenTo(channel: string): string {
  return `LISTEN ${pg.escapeIdentifier(channel)}`
}

function deliver(channels: ReadonlyMap<string, ReadonlySet<Listener>>, message: pg.Notification): void {
  for (const listener of channels.get(message.channel) ?? []) listener(message.payload ?? '')
}
