import pg from 'pg'
import type { Logger } from 'pino'
import { StartError } from '../../core/errors.ts'
import { SECOND } from '../../core/time.ts'
import { createPool } from './pool.ts'
import type { Route } from './route.ts'
import { pooledClient, ServerClient, type ServerSettings } from './server-client.ts'
import { SILENCE, STATEMENT_DEADLINE } from './statement-deadline.ts'
import { asUnavailable } from './unavailable.ts'

/** The timeout for connecting, and for waiting for a free connection. */
const CONNECTING = 10 * SECOND
/** How long an idle connection is kept. Short, so that a dead connection is not reused. */
const IDLE = 10 * SECOND
/** The delay of TCP keep-alive on an idle connection, in milliseconds. */
const KEEP_ALIVE = 5 * SECOND

/** Settings that end a transaction whose client is silent, because it would keep its locks. */
const ended: ServerSettings = { idle_in_transaction_session_timeout: 15 * SECOND }

/** Settings that end a connection whose client acknowledges nothing. */
const cut: ServerSettings = {
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 20 * SECOND,
}

/** A configuration of connections, and the class of client that has the settings. */
export type ServerConfig = pg.ClientConfig & { readonly Client: typeof ServerClient }

/**
 * Returns the configuration for the server of DATABASE_URL. The server cancels a statement at its deadline. If no answer
 * follows, the client closes the connection a little later.
 */
export function serverConfig(databaseUrl: string, route: Route, deadline = STATEMENT_DEADLINE): ServerConfig {
  const settings = { ...ended, statement_timeout: deadline }
  return { ...withSettings(databaseUrl, route, settings, cut), query_timeout: deadline + SILENCE }
}

/** Returns the configuration for migrations. They have no deadline: they can be slow, or wait for another process. */
export function migrationConfig(databaseUrl: string, route: Route): ServerConfig {
  return withSettings(databaseUrl, route, { statement_timeout: 0, idle_in_transaction_session_timeout: 0 }, {})
}

/** Returns the configuration for connections without settings of their own, such as that of an examination. */
export function plainConfig(databaseUrl: string): ServerConfig {
  return {
    Client: ServerClient,
    connectionString: databaseUrl,
    application_name: 'allclear',
    connectionTimeoutMillis: CONNECTING,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE,
  }
}

/**
 * Returns the configuration for health checks: timeouts of one second, and sessions short enough to have the server's
 * current settings.
 */
export function healthConfig(databaseUrl: string): pg.PoolConfig & ServerConfig {
  return {
    ...plainConfig(databaseUrl),
    application_name: 'allclear health',
    query_timeout: SECOND,
    connectionTimeoutMillis: SECOND,
    idleTimeoutMillis: IDLE,
    maxLifetimeSeconds: IDLE / SECOND,
  }
}

/** @param ofSession settings that a pooler has for its own sessions with the server. */
function withSettings(
  databaseUrl: string,
  route: Route,
  settings: ServerSettings,
  ofSession: ServerSettings,
): ServerConfig {
  return route.isPooled
    ? { ...plainConfig(databaseUrl), Client: pooledClient(settings) }
    : { ...plainConfig(databaseUrl), options: optionsOf({ ...settings, ...ofSession }) }
}

function optionsOf(settings: ServerSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

/**
 * Opens a pool of at most `max` connections.
 * @throws StartError when the server is unusable. Its message names the host and the database, never the password.
 */
export async function openServer(config: ServerConfig, max: number, log: Logger): Promise<pg.Pool> {
  const pool = createPool({ ...config, max, idleTimeoutMillis: IDLE, pipeline: true })
  pool.on('error', (error) => log.warn({ err: asUnavailable(error) }, 'database: an idle connection failed'))
  try {
    const client = await pool.connect()
    client.release()
    return pool
  } catch (error) {
    await pool.end()
    throw unconnected(config, error)
  }
}

/** Returns the error for a server that cannot be reached. */
export function unconnected(config: pg.ClientConfig, cause: unknown): StartError {
  return new StartError(`Could not connect to the database ${nameOf(config)}: ${reasonOf(cause)}`, { cause })
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
