import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { StartError } from '../../core/errors.ts'
import { root } from '../../core/process/paths.ts'

/** The directory of the migrations: one folder each, ordered by name. */
export const migrationsDirectory = fileURLToPath(new URL('prisma/migrations', root))

/** One migration, as read from its folder. */
export interface Migration {
  readonly name: string
  readonly sql: string
}

/** Returns the migrations of a folder in the order of application. */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => ({ name, sql: await readFile(join(directory, name, 'migration.sql'), 'utf8') })),
  )
}

/**
 * Applies the pending migrations of a folder, and records them as `prisma migrate deploy` does.
 * @returns how many migrations it applied.
 * @throws StartError when the database and the folder do not match, or a migration fails.
 */
export async function migrate(pool: pg.Pool, directory = migrationsDirectory): Promise<number> {
  return migrateTo(pool, await readMigrations(directory))
}

/** Does the same as `migrate`, with migrations that were already read. */
export async function migrateTo(pool: pg.Pool, migrations: readonly Migration[]): Promise<number> {
  const pending = unapplied(migrations, await readRecords(pool))
  if (pending.length > 0) await apply(pool, pending)
  return pending.length
}

/** A migration's record in Prisma's table. A migration whose record is marked as rolled back counts as never run. */
interface MigrationRecord {
  readonly name: string
  readonly checksum: string
  readonly finished: boolean
  readonly logs: string | null
}

async function readRecords(pool: pg.Pool): Promise<MigrationRecord[]> {
  const table = await pool.query(`SELECT to_regclass('"_prisma_migrations"') IS NOT NULL AS exists`)
  if (!table.rows[0]?.exists) {
    await requireEmpty(pool)
    return []
  }
  const records = await pool.query<MigrationRecord>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished, logs
     FROM "_prisma_migrations" WHERE rolled_back_at IS NULL ORDER BY started_at`,
  )
  return records.rows
}

/** @throws StartError when the schema already has tables, which belong to another program. */
async function requireEmpty(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') ORDER BY relname LIMIT 1`,
  )
  const [other] = rows
  if (other) throw new StartError(occupied(other.name))
}

/** Returns the pending migrations. */
function unapplied(migrations: readonly Migration[], records: readonly MigrationRecord[]): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration]))
  for (const { name, checksum, finished, logs } of records) {
    if (!finished) throw new StartError(failed(name, logs))
    const migration = known.get(name)
    if (!migration) throw new StartError(unknown(name))
    if (checksumOf(migration.sql) !== checksum) throw new StartError(edited(name))
  }
  const applied = new Set(records.map((record) => record.name))
  return migrations.filter((migration) => !applied.has(migration.name))
}

/** Returns Prisma's checksum of a migration. */
export function checksumOf(sql: string): string {
  return createHash('sha256').update(sql).digest('hex')
}

const failed = (name: string, logs: string | null) =>
  `The migration ${name} has failed on this database: ${logs ? withoutTrace(logs) : 'it was interrupted'}. All of it was rolled back. Fix the cause, then run UPDATE "_prisma_migrations" SET rolled_back_at = now() WHERE migration_name = '${name}' AND finished_at IS NULL; and restart.`
const occupied = (table: string) =>
  `The database already has tables of another program, such as "${table}". Create a separate database for Allclear.`
const unknown = (name: string) =>
  `The database has the migration ${name}, which this version does not know: a newer version has used the database. Start that version, or restore a backup from before it.`
const edited = (name: string) =>
  `The migration ${name} differs from the one that was applied to this database: its file has changed since then. Restore the file prisma/migrations/${name}/migration.sql.`

/**
 * Runs each migration and records it in one transaction, so that an interrupted start leaves none half applied.
 * @throws StartError when a migration fails. The failure is recorded.
 */
async function apply(pool: pg.Pool, pending: readonly Migration[]): Promise<void> {
  const connection = await pool.connect()
  try {
    await applyOn(connection, pending)
  } finally {
    connection.release()
  }
}

/** Runs and records migrations on a connection, each in its own transaction. @throws StartError when one fails. */
export async function applyOn(connection: pg.ClientBase, migrations: readonly Migration[]): Promise<void> {
  await connection.query(recordTable)
  for (const migration of migrations) await applyOne(connection, migration)
}

async function applyOne(connection: pg.ClientBase, { name, sql }: Migration): Promise<void> {
  const checksum = checksumOf(sql)
  try {
    await connection.query('BEGIN')
    // The server accepts several statements in one query if it has no parameters.
    await connection.query(sql)
    await connection.query(
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, clock_timestamp(), 1)`,
      [randomUUID(), checksum, name],
    )
    await connection.query('COMMIT')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    if (!(error instanceof pg.DatabaseError)) {
      throw new StartError(`The database could not be migrated: ${reason}.`, { cause: error })
    }
    await connection.query('ROLLBACK')
    await connection.query(
      'INSERT INTO "_prisma_migrations" (id, checksum, migration_name, logs) VALUES ($1, $2, $3, $4)',
      [randomUUID(), checksum, name, reason],
    )
    throw new StartError(failed(name, reason), { cause: error })
  }
}

/** Creates the table as Prisma does (schema-engine, `create_migrations_table` of its PostgreSQL flavour). */
const recordTable = `
  CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
    id VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum VARCHAR(64) NOT NULL,
    finished_at TIMESTAMPTZ,
    migration_name VARCHAR(255) NOT NULL,
    logs TEXT,
    rolled_back_at TIMESTAMPTZ,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`

/** Returns a recorded error without the stack trace that the engine of earlier versions appended. */
function withoutTrace(message: string): string {
  return (message.split(/\n[^\S\n]*0: /)[0] ?? message).trim().replace(/\s+/g, ' ')
}

/** The table that marks a database while a restore or a move is filling it. */
export const MOVE_MARK = '_allclear_move'

/** @throws StartError if a restore or a move into the database has not finished: it has only part of the data. */
export async function requireMoved(pool: Pick<pg.Pool, 'query'>): Promise<void> {
  const { rows } = await pool.query<{ isMarked: boolean }>('SELECT to_regclass($1) IS NOT NULL AS "isMarked"', [
    `"${MOVE_MARK}"`,
  ])
  if (!rows[0]?.isMarked) return
  throw new StartError(
    'A restore or a move into this database has not finished. Wait for it, or run the same command again. Until then, use the database that it copies from.',
  )
}
