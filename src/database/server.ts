import pg from 'pg'
import type { Logger } from 'pino'
import { StartError } from '../errors.ts'
import { SECOND } from '../time.ts'

/**
 * How to connect to the server that DATABASE_URL names: in UTC, whatever the server's own time zone, because the Prisma
 * adapter takes every time without an offset for UTC.
 */
export function serverConfig(databaseUrl: string): pg.ClientConfig {
  return {
    connectionString: databaseUrl,
    application_name: 'allclear',
    options: '-c TimeZone=UTC',
    connectionTimeoutMillis: 10 * SECOND,
  }
}

/**
 * A pool of at most `max` connections.
 * @throws StartError when the server cannot be used: it names the host and the database, never the password.
 */
export async function openServer(config: pg.ClientConfig, max: number, log: Logger): Promise<pg.Pool> {
  const pool = new pg.Pool({ ...config, max })
  pool.on('error', (error) => log.warn({ err: error }, 'database: an idle connection failed'))
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
