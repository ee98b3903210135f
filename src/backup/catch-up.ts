import type pg from 'pg'
import { errorCode } from '../core/error-code.ts'
import { StartError } from '../core/errors.ts'
import { type Batch, type ChangedRows, keysOf, same } from './change-log.ts'
import { dropForeignKeys, quoted, sequencesOf, setSequences, tablesOf } from './dump.ts'

/*
 * Brings a copy up to date with its source. Changed rows are staged in temporary tables first, because batches that are read while
 * the source changes are consistent with each other only once all changes are read.
 */

/** The number of rows of each table. */
export type Counts = ReadonlyMap<string, number>

/** A copy of a database that follows its source. */
export interface Copy {
  /** Stages changes for the next `apply`. */
  stage(batch: Batch): Promise<void>
  /** Applies all staged changes, which must be all changes up to one moment. @returns the number of changed rows. */
  apply(): Promise<number>
  /**
   * Finishes the copy of a source that no longer changes, and counts the rows of all tables on both sides.
   * @throws StartError if the counts differ.
   */
  finish(from: pg.ClientBase): Promise<Counts>
}

/** PostgreSQL's error code of a unique violation. */
const UNIQUE_VIOLATION = '23505'

/** Prepares a loaded copy to follow its source. The caller owns the connection. */
export async function followSource(to: pg.ClientBase): Promise<Copy> {
  const tables = await tablesOf(to)
  const keys = await keysOf(to)
  const restoreChecks = await deferChecks(to)
  // Collects statistics for the service that starts here, and makes the final counts fast.
  await to.query(`VACUUM (ANALYZE) ${[...tables.keys()].map(quoted).join(', ')}`)
  const staged = new Map<string, Staged>()

  async function stageRows(changed: ChangedRows): Promise<void> {
    const { table } = changed
    let own = staged.get(table)
    if (own === undefined) {
      own = stagedOf(table, tables.get(table) ?? [], keys.get(table) ?? [])
      await to.query(createStaged(own))
      staged.set(table, own)
    }
    await to.query(insertStaged(own), [changed.keys, changed.rows])
  }

  return {
    async stage({ changed }) {
      for (const each of changed) await stageRows(each)
    },
    async apply() {
      if (staged.size === 0) return 0
      const changed = [...staged.values()]
      const count = await inTransaction(to, () => merge(to, changed)).catch((error: unknown) => {
        if (errorCode(error) !== UNIQUE_VIOLATION) throw error
        return inTransaction(to, () => replace(to, changed))
      })
      await to.query(`DROP TABLE ${changed.map(({ name }) => name).join(', ')}`)
      staged.clear()
      return count
    },
    async finish(from) {
      await setSequences(to, await sequencesOf(from))
      await restoreChecks()
      const [counts, own] = await Promise.all([countRows(from), countRows(to)])
      requireEqual(own, counts)
      return counts
    },
  }
}

/** The changed rows of a table, in a temporary table: the columns of the key, and `row`, which is null if the row is deleted. */
interface Staged {
  readonly name: string
  /** The quoted name of the table. */
  readonly table: string
  readonly columns: readonly string[]
  readonly key: readonly string[]
}

function stagedOf(table: string, columns: readonly string[], key: readonly string[]): Staged {
  return { name: quoted(`changed ${table}`), table: quoted(table), columns, key }
}

const list = (columns: readonly string[], of = '') => columns.map((column) => of + quoted(column)).join(', ')

const createStaged = ({ name, table, key }: Staged) =>
  `CREATE TEMP TABLE ${name} AS SELECT ${list(key, 't.')}, t AS "row" FROM ${table} t WITH NO DATA;
   ALTER TABLE ${name} ADD PRIMARY KEY (${list(key)})`

const insertStaged = ({ name, table, key }: Staged) =>
  `INSERT INTO ${name} SELECT ${list(key, 'k.')}, s."row"::${table}
   FROM unnest($1::text[], $2::text[]) AS s(key, "row")
     CROSS JOIN LATERAL jsonb_populate_record(NULL::${table}, s.key::jsonb) k
   ON CONFLICT (${list(key)}) DO UPDATE SET "row" = EXCLUDED."row"`

async function inTransaction<T>(connection: pg.ClientBase, run: () => Promise<T>): Promise<T> {
  await connection.query('BEGIN')
  try {
    const result = await run()
    await connection.query('COMMIT')
    return result
  } catch (error) {
    await connection.query('ROLLBACK')
    throw error
  }
}

/** Deletes the rows that are gone, and inserts or updates the others. The log of the source contains cascaded changes too. */
async function merge(to: pg.ClientBase, changed: readonly Staged[]): Promise<number> {
  let count = 0
  for (const { name, table, key } of changed) {
    await to.query(`ANALYZE ${name}`)
    const gone = await to.query(
      `DELETE FROM ${table} t USING ${name} s WHERE ${same(key, 't', 's')} AND s."row" IS NULL`,
    )
    count += gone.rowCount ?? 0
  }
  for (const { name, table, columns, key } of changed) {
    const others = columns.filter((column) => !key.includes(column))
    const set = others.map((column) => `${quoted(column)} = EXCLUDED.${quoted(column)}`).join(', ')
    const written = await to.query(
      `INSERT INTO ${table} ${rowsOf(name)}
       ON CONFLICT (${list(key)}) DO ${others.length === 0 ? 'NOTHING' : `UPDATE SET ${set}`}`,
    )
    count += written.rowCount ?? 0
  }
  return count
}

/** Selects the staged rows that exist. The columns of a deleted row are all null. */
const rowsOf = (staged: string) => `SELECT (s."row").* FROM ${staged} s WHERE NOT (s."row" IS NULL)`

/**
 * Does the same if rows took over unique values from each other. No order of updates allows that, so all changed rows are deleted
 * first, without foreign keys, whose actions cannot be deferred. Restoring foreign keys reads all tables.
 */
async function replace(to: pg.ClientBase, changed: readonly Staged[]): Promise<number> {
  const restoreKeys = await dropForeignKeys(to)
  let count = 0
  for (const { name, table, key } of changed) {
    await to.query(`DELETE FROM ${table} t USING ${name} s WHERE ${same(key, 't', 's')}`)
    const { rows } = await to.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${name}`)
    await to.query(`INSERT INTO ${table} ${rowsOf(name)}`)
    count += rows[0]?.count ?? 0
  }
  await restoreKeys()
  return count
}

/**
 * Disables triggers, because the rows contain their effects already, and defers checks of foreign keys to the end of a transaction.
 * @returns a function that restores both.
 */
async function deferChecks(to: pg.ClientBase): Promise<() => Promise<void>> {
  const { rows: keys } = await to.query<{ table: string; name: string }>(
    `SELECT conrelid::regclass::text AS table, quote_ident(conname) AS name FROM pg_constraint
     WHERE contype = 'f' AND connamespace = current_schema()::regnamespace AND NOT condeferrable`,
  )
  const { rows: triggers } = await to.query<{ table: string; name: string }>(
    `SELECT tgrelid::regclass::text AS table, quote_ident(tgname) AS name
     FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
     WHERE NOT tgisinternal AND c.relnamespace = current_schema()::regnamespace`,
  )
  const alter = (verb: string, timing: string) => [
    ...triggers.map(({ table, name }) => `ALTER TABLE ${table} ${verb} TRIGGER ${name}`),
    ...keys.map(({ table, name }) => `ALTER TABLE ${table} ALTER CONSTRAINT ${name} ${timing}`),
  ]
  await to.query(alter('DISABLE', 'DEFERRABLE INITIALLY DEFERRED').join(';'))
  return async () => void (await to.query(alter('ENABLE', 'NOT DEFERRABLE').join(';')))
}

/** Counts all rows. */
async function countRows(connection: pg.ClientBase): Promise<Counts> {
  const counts = new Map<string, number>()
  for (const table of (await tablesOf(connection)).keys()) {
    const { rows } = await connection.query<{ count: string }>(`SELECT count(*) AS count FROM ${quoted(table)}`)
    counts.set(table, Number(rows[0]?.count))
  }
  return counts
}

function requireEqual(counts: Counts, expected: Counts): void {
  for (const [table, count] of counts) {
    if (expected.get(table) === count) continue
    throw new StartError(
      `The copy has ${count} rows in ${table}, but the source has ${expected.get(table)}. Nothing was switched. Move again.`,
    )
  }
}
