import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { StartError } from '../errors.ts'
import { root } from '../paths.ts'
import { startSchemaEngine } from './schema-engine.ts'

/** Where this program keeps its migrations: one folder each, named so that their order is the order of their names. */
export const migrationsDirectory = fileURLToPath(new URL('prisma/migrations', root))

/** One migration as it stands in its folder. */
export interface Migration {
  readonly name: string
  readonly sql: string
}

/** The migrations of a folder in the order in which they apply. */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => ({ name, sql: await readFile(join(directory, name, 'migration.sql'), 'utf8') })),
  )
}

/**
 * Brings the database of `pool` up to date with the migrations of a folder, recording them as `prisma migrate deploy` does.
 * The pool must have one connection: it holds Prisma's own advisory lock, so that this and any other start or deploy wait
 * for each other. The lock ends with the connection.
 * @returns how many migrations it applied.
 * @throws StartError when the database and the folder do not fit together, or a migration fails.
 */
export async function migrate(pool: pg.Pool, directory = migrationsDirectory): Promise<number> {
  const migrations = await readMigrations(directory)
  await pool.query('SELECT pg_advisory_lock($1)', [migrationLock])
  const outstanding = unapplied(migrations, await readRecords(pool))
  if (outstanding.length > 0) await apply(pool, directory, migrations)
  return outstanding.length
}

/** The key of the advisory lock under which Prisma migrates (schema-engine, `acquire_lock` of its PostgreSQL flavour). */
const migrationLock = 72_707_369

/** What Prisma's table remembers of a migration. One that was marked as rolled back counts as never run. */
interface MigrationRecord {
  readonly name: string
  readonly checksum: string
  readonly finished: boolean
  readonly logs: string | null
}

async function readRecords(pool: pg.Pool): Promise<MigrationRecord[]> {
  const table = await pool.query(`SELECT to_regclass('"_prisma_migrations"') IS NOT NULL AS exists`)
  if (!table.rows[0]?.exists) return []
  const records = await pool.query<MigrationRecord>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished, logs
     FROM "_prisma_migrations" WHERE rolled_back_at IS NULL ORDER BY started_at`,
  )
  return records.rows
}

/** The migrations that the database has yet to see. */
function unapplied(migrations: readonly Migration[], records: readonly MigrationRecord[]): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration]))
  for (const { name, checksum, finished, logs } of records) {
    if (!finished) throw new StartError(failed(name, logs))
    const migration = known.get(name)
    if (!migration) throw new StartError(unknown(name))
    if (checksumOf(migration) !== checksum) throw new StartError(edited(name))
  }
  const applied = new Set(records.map((record) => record.name))
  return migrations.filter((migration) => !applied.has(migration.name))
}

function checksumOf(migration: Migration): string {
  return createHash('sha256').update(migration.sql).digest('hex')
}

const failed = (name: string, logs: string | null) =>
  `The migration ${name} has failed on this database: ${logs ? withoutTrace(logs) : 'it was interrupted'}. It was undone as a whole. Mend its cause, then run UPDATE "_prisma_migrations" SET rolled_back_at = now() WHERE migration_name = '${name}' AND finished_at IS NULL; and start again.`
const unknown = (name: string) =>
  `The database has the migration ${name}, which this version does not know: a newer version has used it. Start that version, or restore a backup from before it.`
const edited = (name: string) =>
  `The migration ${name} is not the one that was applied to this database: its file has changed since. Restore the file prisma/migrations/${name}/migration.sql.`

async function apply(pool: pg.Pool, directory: string, migrations: readonly Migration[]): Promise<void> {
  const engine = await startSchemaEngine(pool)
  try {
    await engine.applyMigrations({
      migrationsList: {
        baseDir: directory,
        lockfile: {
          path: 'migration_lock.toml',
          content: await readFile(join(directory, 'migration_lock.toml'), 'utf8'),
        },
        shadowDbInitScript: '',
        migrationDirectories: migrations.map(({ name, sql }) => ({
          path: name,
          migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
        })),
      },
      filters: { externalTables: [], externalEnums: [] },
    })
  } catch (error) {
    unapplied(migrations, await readRecords(pool))
    const reason = withoutTrace(error instanceof Error ? error.message : String(error))
    throw new StartError(`The database could not be migrated: ${reason}.`, { cause: error })
  } finally {
    engine.free()
  }
}

/** What the engine says, without the places in its own code that it adds below. */
function withoutTrace(message: string): string {
  return (message.split(/\n\s*0: /)[0] ?? message).trim().replace(/\s+/g, ' ')
}
