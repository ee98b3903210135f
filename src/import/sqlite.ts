import { createRequire } from 'node:module'
import { Unreadable } from './translation.ts'

/** The default row limit, more than an organization can have. */
const MAX_ROWS = 5000
/** The maximum length of a value. Longer values count as absent. */
const MAX_VALUE_BYTES = 200_000

/** A row of a statement. */
export type Row = Readonly<Record<string, unknown>>

/** Runs a statement. */
export type Query = (sql: string, values: readonly (string | number)[]) => readonly Row[]

/** A database opened for reading. */
export interface OpenDatabase {
  readonly query: Query
  /** Reads at most `limit` rows of a table. Empty if the table does not exist. */
  table(name: string, limit?: number): readonly Row[]
  /** Returns the stored columns of a table. Empty if the table does not exist. */
  columnsOf(table: string): string[]
  /** Returns the names of all tables. */
  tables(): string[]
}

/**
 * Reads a SQLite database.
 * @param path the path of a private copy, next to its write-ahead log. Reading may change both.
 * @throws Unreadable with `advice` if it cannot be read.
 */
export function readSqlite<T>(path: string, advice: string, work: (database: OpenDatabase) => T): T {
  // Loaded on demand, because it has a megabyte of WebAssembly.
  const { Database } = createRequire(import.meta.url)('node-sqlite3-wasm') as typeof import('node-sqlite3-wasm')
  const database = new Database(path, { fileMustExist: true })
  try {
    // Without exclusive locking, a write-ahead log needs shared memory.
    database.exec('PRAGMA locking_mode=EXCLUSIVE; PRAGMA trusted_schema=OFF; PRAGMA query_only=ON')
    const query: Query = (sql, values) => database.all(sql, [...values])
    const columnsOf = (table: string) => storedColumns(query, table)
    return work({
      query,
      columnsOf,
      table: (name, limit = MAX_ROWS) => rowsOf(query, name, columnsOf(name), limit),
      tables: () =>
        query(`SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 1000`, []).map(({ name }) => String(name)),
    })
  } catch (error) {
    if (error instanceof Unreadable) throw error
    throw new Unreadable(`Cannot read this database. ${advice}`)
  } finally {
    database.close()
  }
}

/** Reads only stored values, because a view or a computed column could run forever. */
function rowsOf(query: Query, table: string, stored: readonly string[], limit: number): readonly Row[] {
  const columns = stored.map(quoted)
  if (columns.length === 0) return []
  const values = columns.map((name) => `CASE WHEN length(${name}) <= ${MAX_VALUE_BYTES} THEN ${name} END AS ${name}`)
  return query(`SELECT ${values.join(', ')} FROM ${quoted(table)} LIMIT ${limit}`, [])
}

function storedColumns(query: Query, table: string): string[] {
  const own = `SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? AND sql LIKE 'CREATE TABLE%'`
  if (query(own, [table]).length === 0) return []
  return query('SELECT name FROM pragma_table_info(?)', [table]).map(({ name }) => String(name))
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
