import type { Database } from '../core/context.ts'

/** The state of the database server. */
export interface ServerState {
  readonly bytes: bigint
  readonly connections: number
  readonly maxConnections: string
  readonly version: string
}

/** Returns the size of the database, the open and maximum connections, and the version of PostgreSQL. */
export async function readServerState(db: Database): Promise<ServerState | undefined> {
  const [state] = await db.$queryRaw<ServerState[]>`
    SELECT pg_database_size(current_database()) AS bytes, split_part(current_setting('server_version'), ' ', 1) AS version,
      (SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()) AS connections,
      current_setting('max_connections') AS "maxConnections"`
  return state
}
