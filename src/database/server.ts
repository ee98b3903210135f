import pg from 'pg'
import type { Logger } from 'pino'
import { StartError } from '../errors.ts'
import { SECOND } from '../time.ts'
import { SILENCE, STATEMENT_DEADLINE } from './patience.ts'
import { translated } from './unavailable.ts'

/** How long connecting may take, and waiting for a connection that is free. */
const CONNECTING = 10 * SECOND
/** How long a connection is kept that nobody uses: one that has gone silent meanwhile is then not taken. */
const IDLE = 10 * SECOND
/** After how many milliseconds of silence on an idle connection the system asks whether the other side is there. */
const KEEP_ALIVE = 5 * SECOND

/**
 * What the server ends by itself: a transaction whose client has fallen silent, which would keep its locks, and a
 * connection whose client acknowledges nothing.
 */
const ended = {
  idle_in_transaction_session_timeout: 15 * SECOND,
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 20 * SECOND,
}

/**
 * How to connect to the server that DATABASE_URL names: in UTC, whatever the server's own time zone, because the Prisma
 * adapter takes every time without an offset for UTC. A statement has a deadline, after which the server cancels it; and one
 * a little later, after which its connection is given up.
 */
export function serverConfig(databaseUrl: string, deadline = STATEMENT_DEADLINE): pg.ClientConfig {
  return {
    ...migrationConfig(databaseUrl),
    options: optionsOf({ ...ended, statement_timeout: deadline }),
    query_timeout: deadline + SILENCE,
  }
}

/** The same for migrations, whose statements may take as long as large tables make them, and wait for another start's. */
export function migrationConfig(databaseUrl: string): pg.ClientConfig {
  return {
    connectionString: databaseUrl,
    application_name: 'allclear',
    options: optionsOf({}),
    connectionTimeoutMillis: CONNECTING,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE,
  }
}

/** The same for asking how the server does: with deadlines of a second, sessions that are new enough to have its settings, and little memory. */
export function healthConfig(databaseUrl: string): pg.PoolConfig {
  return {
    ...migrationConfig(databaseUrl),
    application_name: 'allclear health',
    options: optionsOf({ ...ended, statement_timeout: SECOND, work_mem: 64 }),
    query_timeout: SECOND,
    connectionTimeoutMillis: SECOND,
    idleTimeoutMillis: IDLE,
    maxLifetimeSeconds: IDLE / SECOND,
  }
}

function optionsOf(settings: Readonly<Record<string, number>>): string {
  const given = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
  return ['-c TimeZone=UTC', ...given].join(' ')
}

/**
 * A pool of at most `max` connections.
 * @throws StartError when the server cannot be used: it names the host and the database, never the password.
 */
export async function openServer(config: pg.ClientConfig, max: number, log: Logger): Promise<pg.Pool> {
  const pool = new pg.Pool({ ...config, max, idleTimeoutMillis: IDLE })
  pool.on('error', (error) => log.warn({ err: translated(error) }, 'database: an idle connection failed'))
  try {
    const client = await pool.connect()
    client.release()
    return pool
  } catch (error) {
    await pool.end()
    throw new StartError(`No connection to the database ${nameOf(config)}: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}

function nameOf(config: pg.ClientConfig): string {
  const { host, port, database } = new pg.Client(config)
  return `${database} at ${host}:${port}`
}

/** A host with several addresses fails with an error for each, and a message of its own that is empty. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ')
  return error instanceof Error ? error.message : String(error)
}
