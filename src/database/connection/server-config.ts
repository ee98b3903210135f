import pg from 'pg'
import type { Logger } from 'pino'
import { StartError } from '../../core/errors.ts'
import { SECOND } from '../../core/time.ts'
import { createPool } from './pool.ts'
import { SILENCE, STATEMENT_DEADLINE } from './statement-deadline.ts'
import { asUnavailable } from './unavailable.ts'

/** The timeout for connecting, and for waiting for a free connection. */
const CONNECTING = 10 * SECOND
/** How long an idle connection is kept. Short, so that a dead connection is not reused. */
const IDLE = 10 * SECOND
/** The delay of TCP keep-alive on an idle connection, in milliseconds. */
const KEEP_ALIVE = 5 * SECOND

/**
 * Server settings that end a transaction whose client is silent, because it would keep its locks, and a connection
 * whose client acknowledges nothing.
 */
const ended = {
  idle_in_transaction_session_timeout: 15 * SECOND,
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 20 * SECOND,
}

/**
 * Returns the configuration for the server of DATABASE_URL. Its time zone is UTC, because the Prisma adapter reads
 * times without an offset as UTC. The server cancels a statement at its deadline. If no answer follows, the client
 * closes the connection a little later.
 */
export function serverConfig(databaseUrl: string, deadline = STATEMENT_DEADLINE): pg.ClientConfig {
  return {
    ...migrationConfig(databaseUrl),
    options: optionsOf({ ...ended, statement_timeout: deadline }),
    query_timeout: deadline + SILENCE,
  }
}

/** Returns the configuration for migrations. They have no deadline: they can be slow, or wait for another process. */
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

/**
 * Returns the configuration for health checks: timeouts of one second, sessions short enough to have the server's
 * current settings, and little memory.
 */
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
 * Opens a pool of at most `max` connections.
 * @throws StartError when the server is unusable. Its message names the host and the database, never the password.
 */
export async function openServer(config: pg.ClientConfig, max: number, log: Logger): Promise<pg.Pool> {
  const pool = createPool({ ...config, max, idleTimeoutMillis: IDLE, pipeline: true })
  pool.on('error', (error) => log.warn({ err: asUnavailable(error) }, 'database: an idle connection failed'))
  try {
    const client = await pool.connect()
    client.release()
    return pool
  } catch (error) {
    await pool.end()
    throw new StartError(`Could not connect to the database ${nameOf(config)}: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}

function nameOf(config: pg.ClientConfig): string {
  const { host, port, database } = new pg.Client(config)
  return `${database} at ${host}:${port}`
}

/** Returns the reason for a failure. For a host with several addresses, Node.js throws one error per address. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ')
  return error instanceof Error ? error.message : String(error)
}
