import { LISTENS } from '../database/connection/notifications.ts'
import { migrationsDirectory, readMigrations } from '../database/migration/migrate.ts'
import { examineClock } from './clock.ts'
import type { Finding } from './finding.ts'
import { found } from './finding.ts'

/** The oldest PostgreSQL version in the tests. Older ones no longer get fixes (postgresql.org/support/versioning). */
const OLDEST_MAJOR = 15
/** The latency of an empty statement, in milliseconds, that counts as slow: a page with ten statements takes half a second. */
const SLOW_MS = 50
const PINGS = 3

/** Runs statements, such as a pool. */
export interface Queryable {
  query<R>(text: string): Promise<{ readonly rows: R[] }>
}

/** Measurements of a database. */
export interface DatabaseState {
  readonly version: string
  /** The lowest latency of several empty statements, in milliseconds. */
  readonly latencyMs: number
  /** The number of this version’s migrations that it lacks. */
  readonly lacking: number
  /** The last applied migration that this version does not know; null: none. */
  readonly newer: string | null
}

/**
 * The embedded database, which shares this machine’s speed and clock, or a server, to which each instance may open
 * `connections`.
 */
export type ExaminedKind = 'embedded' | { readonly connections: number }

/**
 * Examines a PostgreSQL database: its version, latency, clock and migrations, and the connections that a server allows.
 * @throws the errors of the database.
 */
export async function examineDatabase(db: Queryable, now: () => Date, kind: ExaminedKind): Promise<Finding[]> {
  let latencyMs = Number.POSITIVE_INFINITY
  for (let ping = 0; ping < PINGS; ping++) {
    const start = performance.now()
    await db.query('SELECT 1')
    latencyMs = Math.min(latencyMs, performance.now() - start)
  }
  const before = now()
  const { rows } = await db.query<{ version: string; at: Date }>(
    `SELECT split_part(current_setting('server_version'), ' ', 1) AS version, clock_timestamp() AS at`,
  )
  const after = now()
  const [{ version, at } = { version: '', at: after }] = rows
  const state = { version, latencyMs, ...(await readMigrated(db)) }
  if (kind === 'embedded') return judgeDatabase(state, true)
  const clock = examineClock({ before, after, other: new Date(at), than: 'the database server’s' })
  return [...judgeDatabase(state, false), ...judgeConnections(await readConnections(db), kind.connections), clock]
}

/** The connections of a server. */
export interface ServerConnections {
  /** How many it allows those who are not superusers. */
  readonly allowed: number
  /** How many instances of the service are connected. */
  readonly instances: number
}

/** Returns the finding if the instances may open more connections than the server allows. */
export function judgeConnections({ allowed, instances }: ServerConnections, each: number): Finding[] {
  const running = Math.max(instances, 1)
  return running * each > allowed ? [found('DATABASE_CONNECTIONS_FEW', { allowed, instances: running, each })] : []
}

/** Each instance has one connection for notifications. */
async function readConnections(db: Queryable): Promise<ServerConnections> {
  const { rows } = await db.query<ServerConnections>(
    `SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         - coalesce(current_setting('reserved_connections', true), '0')::int AS allowed,
       (SELECT count(*)::int FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = '${LISTENS}') AS instances`,
  )
  return rows[0] ?? { allowed: Number.POSITIVE_INFINITY, instances: 0 }
}

/** Returns the findings for measurements of a database. */
export function judgeDatabase({ version, latencyMs, lacking, newer }: DatabaseState, embedded: boolean): Finding[] {
  const milliseconds = Math.ceil(latencyMs)
  const problems = [
    ...(Number.parseInt(version, 10) < OLDEST_MAJOR ? [found('DATABASE_OLD', { version, oldest: OLDEST_MAJOR })] : []),
    ...(latencyMs > SLOW_MS && !embedded ? [found('DATABASE_SLOW', { milliseconds })] : []),
    ...(lacking > 0 ? [found('DATABASE_BEHIND', { count: lacking })] : []),
    ...(newer === null ? [] : [found('DATABASE_NEWER', { name: newer })]),
  ]
  return problems.length > 0 ? problems : [found('DATABASE_OK', { version, milliseconds })]
}

async function readMigrated(db: Queryable): Promise<Pick<DatabaseState, 'lacking' | 'newer'>> {
  const names = (await readMigrations(migrationsDirectory)).map(({ name }) => name)
  const table = await db.query<{ exists: boolean }>(`SELECT to_regclass('"_prisma_migrations"') IS NOT NULL AS exists`)
  if (!table.rows[0]?.exists) return { lacking: names.length, newer: null }
  const { rows } = await db.query<{ name: string }>(
    `SELECT migration_name AS name FROM "_prisma_migrations"
     WHERE rolled_back_at IS NULL AND finished_at IS NOT NULL ORDER BY started_at`,
  )
  const applied = new Set(rows.map(({ name }) => name))
  const newer = rows.findLast(({ name }) => !names.includes(name))
  return { lacking: names.filter((name) => !applied.has(name)).length, newer: newer?.name ?? null }
}
