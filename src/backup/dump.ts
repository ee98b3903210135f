import pg from 'pg'
import { z } from 'zod'
import { StartError } from '../core/errors.ts'
import type { Migration } from '../database/migration/migrate.ts'
import { applyOn, checksumOf, MOVE_MARK } from '../database/migration/migrate.ts'

/*
 * The lines of a backup, each JSON: a head; for each table its name and columns, then batches of its rows in PostgreSQL's text
 * form; the sequences; and an end with the number of rows. The text of a row is the same on every kind of database.
 */

const head = z.object({
  /** The checksums of the migrations that the database has, by name, in order. */
  migrations: z.record(z.string(), z.string()),
  /** The content of the secret key's file; null: the key is a setting. */
  secretKey: z.string().max(1000).nullable(),
})

/** The first line. */
export type DumpHead = z.infer<typeof head>

const sequence = z.object({ name: z.string(), value: z.string().regex(/^-?\d{1,19}$/), isCalled: z.boolean() })

type Sequence = z.infer<typeof sequence>

const content = z.union([
  z.array(z.string()),
  z.object({ table: z.string(), columns: z.array(z.string()).readonly() }),
  z.object({ sequences: z.array(sequence) }),
  z.object({ rows: z.int() }),
])

type Line = z.infer<typeof content>

/** Reads the first line of a dump. @throws StartError for anything else. */
export function readHead(text: string): DumpHead {
  return parsed(head, text)
}

function parsed<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text))
  } catch (cause) {
    throw new StartError('The backup has contents that no version writes. Nothing was restored.', { cause })
  }
}

/** The name of the table in which a move logs the changes of its source, and of its function; its triggers begin with it. */
export const CHANGE_LOG = '_allclear_changes'

/** How many rows are read and written at once: at first, and at most if they are small. */
const FIRST_BATCH = 50
const MAX_BATCH = 5000
/** The approximate length of the text of a batch. */
const BATCH_CHARACTERS = 512 * 1024
/** The length of the rows in a line, unless it has only one. Most lines are shorter. */
const MAX_LINE_CHARACTERS = 8 * BATCH_CHARACTERS

/**
 * Reads a database as of one moment. The caller owns the connection, and must not use it in the meantime.
 * @param onBegin runs at that moment.
 */
export async function* dump(
  connection: pg.ClientBase,
  secretKey: string | null,
  onBegin: () => Promise<void> = async () => {},
): AsyncGenerator<string> {
  await connection.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  await onBegin()
  const { rows: applied } = await connection.query<{ name: string; checksum: string }>(
    `SELECT migration_name AS name, checksum FROM "_prisma_migrations"
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name`,
  )
  yield line({ migrations: Object.fromEntries(applied.map(({ name, checksum }) => [name, checksum])), secretKey })
  let count = 0
  for (const [table, columns] of await tablesOf(connection)) {
    yield line({ table, columns })
    await connection.query(`DECLARE backup NO SCROLL CURSOR FOR SELECT t::text AS row FROM ONLY ${quoted(table)} t`)
    let size = FIRST_BATCH
    for (;;) {
      const { rows } = await connection.query<{ row: string }>(`FETCH ${size} FROM backup`)
      if (rows.length === 0) break
      count += rows.length
      const texts = rows.map(({ row }) => row)
      yield* inLines(texts)
      size = nextSize(size, lengthOf(texts) / rows.length)
    }
    await connection.query('CLOSE backup')
  }
  yield line({ sequences: await sequencesOf(connection) })
  await connection.query('COMMIT')
  yield line({ rows: count })
}

/** Returns how many rows to read next, from the mean length of the previous ones: a row may be an image, or ten bytes. */
export function nextSize(size: number, meanLength: number, most = MAX_BATCH): number {
  return Math.max(1, Math.min(Math.floor(BATCH_CHARACTERS / meanLength), size * 4, most))
}

const lengthOf = (texts: readonly string[]) => texts.reduce((sum, { length }) => sum + length, 0)

/** Yields rows in lines of limited length, because a reader holds a line in memory. A long row has a line of its own. */
function* inLines(texts: readonly string[]): Generator<string> {
  let batch: string[] = []
  let length = 0
  for (const text of texts) {
    if (batch.length > 0 && length + text.length > MAX_LINE_CHARACTERS) {
      yield line(batch)
      batch = []
      length = 0
    }
    batch.push(text)
    length += text.length
  }
  yield line(batch)
}

const line = (content: Line | DumpHead) => JSON.stringify(content)

/** Quotes a name for SQL. */
export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Returns the tables with their columns. */
export async function tablesOf(connection: Pick<pg.ClientBase, 'query'>): Promise<Map<string, readonly string[]>> {
  const { rows } = await connection.query<{ table: string; columns: string[] }>(
    `SELECT c.relname::text AS table, array_agg(a.attname::text ORDER BY a.attnum) AS columns
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
       AND c.relname NOT IN ('_prisma_migrations', '${MOVE_MARK}', '${CHANGE_LOG}')
     GROUP BY c.relname ORDER BY c.relname`,
  )
  return new Map(rows.map(({ table, columns }) => [table, columns]))
}

/** Returns the sequences with their positions. */
export async function sequencesOf(connection: pg.ClientBase): Promise<Sequence[]> {
  const { rows } = await connection.query<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind = 'S' ORDER BY relname`,
  )
  const sequences: Sequence[] = []
  for (const { name } of rows) {
    const found = await connection.query<{ value: string; isCalled: boolean }>(
      `SELECT last_value::text AS value, is_called AS "isCalled" FROM ${quoted(name)}`,
    )
    for (const row of found.rows) sequences.push({ name, ...row })
  }
  return sequences
}

/**
 * Loads the lines of a dump into an empty database, all rows or none. The caller owns the connection.
 * @param known the migrations of this version.
 * @returns the number of rows, and the secret key of the dump.
 * @throws StartError when the dump is of another version, or incomplete.
 */
export async function load(
  connection: pg.ClientBase,
  lines: AsyncGenerator<string>,
  known: readonly Migration[],
): Promise<{ readonly rows: number; readonly secretKey: string | null }> {
  const { value, done } = await lines.next()
  if (done) throw incomplete()
  const { migrations, secretKey } = readHead(value)
  // Runs each migration in its own transaction, because PostgreSQL cannot use a new enum value in the one that adds it.
  await applyOn(connection, migrationsOf(migrations, known))
  await connection.query('BEGIN')
  try {
    const rows = await loadRows(connection, lines)
    await connection.query('COMMIT')
    return { rows, secretKey }
  } catch (error) {
    await connection.query('ROLLBACK')
    // The database refuses rows that it would not have written.
    if (error instanceof pg.DatabaseError && /^(?:22|23|42)/.test(error.code ?? ''))
      throw new StartError(`The backup has rows that do not fit: ${error.message}. Nothing was restored.`, {
        cause: error,
      })
    throw error
  }
}

const incomplete = () => new StartError('The backup is incomplete. Nothing was restored.')

async function loadRows(connection: pg.ClientBase, lines: AsyncIterable<string>): Promise<number> {
  const tables = await tablesOf(connection)
  const restoreChecks = await withoutChecks(connection, [...tables.keys()])
  let table = ''
  let count = 0
  let isComplete = false
  for await (const text of lines) {
    const read = parsed(content, text)
    if (Array.isArray(read)) {
      count += read.length
      await insert(connection, table, read)
    } else if ('table' in read) {
      table = read.table
      requireColumns(table, read.columns, tables.get(table))
    } else if ('sequences' in read) await setSequences(connection, read.sequences)
    else isComplete = read.rows === count
  }
  if (!isComplete) throw incomplete()
  await restoreChecks()
  return count
}

/** Sets sequences. */
export async function setSequences(connection: pg.ClientBase, sequences: readonly Sequence[]): Promise<void> {
  for (const { name, value, isCalled } of sequences) {
    await connection.query('SELECT setval($1::regclass, $2, $3)', [quoted(name), value, isCalled])
  }
}

/** Returns the migrations of a dump. @throws StartError when this version does not know one of them. */
function migrationsOf(migrations: DumpHead['migrations'], known: readonly Migration[]): Migration[] {
  return Object.entries(migrations).map(([name, checksum]) => {
    const migration = known.find((each) => each.name === name)
    if (migration !== undefined && checksumOf(migration.sql) === checksum) return migration
    throw new StartError(`A newer version made this backup (migration ${name}). Restore it with that version.`)
  })
}

function requireColumns(table: string, columns: readonly string[], found: readonly string[] | undefined): void {
  if (found !== undefined && columns.join() === found.join()) return
  throw new StartError(`Table ${table} in the backup doesn’t match this version. Nothing was restored.`)
}

/** Inserts rows. Parses the text of each row once: `(row::table).*` would parse it for each column. */
async function insert(connection: pg.ClientBase, table: string, rows: readonly string[]): Promise<void> {
  const name = quoted(table)
  await connection.query(`INSERT INTO ${name} SELECT * FROM unnest($1::text[]::${name}[])`, [rows])
}

/**
 * Empties the tables, which migrations may have filled, drops foreign keys and disables triggers, because rows come in any order
 * and contain the effects of triggers already.
 * @returns a function that restores both, and checks foreign keys.
 */
async function withoutChecks(connection: pg.ClientBase, tables: readonly string[]): Promise<() => Promise<void>> {
  const restoreKeys = await dropForeignKeys(connection)
  for (const table of tables) await connection.query(`ALTER TABLE ${quoted(table)} DISABLE TRIGGER USER`)
  await connection.query(`TRUNCATE ${tables.map(quoted).join(', ')}`)
  return async () => {
    for (const table of tables) await connection.query(`ALTER TABLE ${quoted(table)} ENABLE TRIGGER USER`)
    await restoreKeys()
  }
}

/** Drops all foreign keys. @returns a function that restores and checks them. */
export async function dropForeignKeys(connection: pg.ClientBase): Promise<() => Promise<void>> {
  const { rows: keys } = await connection.query<{ table: string; name: string; definition: string }>(
    `SELECT conrelid::regclass::text AS table, conname::text AS name, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace`,
  )
  for (const { table, name } of keys) await connection.query(`ALTER TABLE ${table} DROP CONSTRAINT ${quoted(name)}`)
  return async () => {
    for (const { table, name, definition } of keys) {
      await connection.query(`ALTER TABLE ${table} ADD CONSTRAINT ${quoted(name)} ${definition}`)
    }
  }
}
