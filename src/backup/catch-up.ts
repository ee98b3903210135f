import type pg from 'pg'
import { StartError } from '../core/errors.ts'
import { quoted, sequencesOf, setSequences, tablesOf } from './dump.ts'

/*
 * Brings a copy up to date with a database that nobody changes any more. A row that was written after the copy carries a later
 * transaction (`xmin`), and rows that were deleted are those that are missing once these are counted.
 */

/** How many rows are read and written at once. */
const BATCH = 1000

/** How many rows each table has. */
export type Counts = ReadonlyMap<string, number>

/** Returns the first transaction whose rows a copy of this moment may lack. */
export async function markOf(connection: pg.ClientBase): Promise<number> {
  const { rows } = await connection.query<{ mark: string }>(
    'SELECT pg_snapshot_xmin(pg_current_snapshot())::xid::text AS mark',
  )
  return Number(rows[0]?.mark)
}

/** Counts all rows. */
async function countRows(connection: pg.ClientBase): Promise<Counts> {
  const counts = new Map<string, number>()
  for (const table of (await tablesOf(connection)).keys()) counts.set(table, await countOf(connection, table))
  return counts
}

async function countOf(connection: pg.ClientBase, table: string): Promise<number> {
  const { rows } = await connection.query<{ count: string }>(`SELECT count(*) AS count FROM ${quoted(table)}`)
  return Number(rows[0]?.count)
}

/**
 * Makes a copy equal to its source, in one transaction, and compares the number of rows of every table.
 * @param mark the first transaction whose rows the copy may lack.
 * @returns how many rows were written or deleted, and the number of rows of each table.
 * @throws StartError when they differ all the same.
 */
export async function catchUp(
  from: pg.ClientBase,
  to: pg.ClientBase,
  mark: number,
): Promise<{ readonly changed: number; readonly counts: Counts }> {
  const counts = await countRows(from)
  await to.query('BEGIN')
  try {
    const tables = await tablesOf(to)
    const restore = await deferChecks(to, [...tables.keys()])
    const changed: Changed[] = []
    for (const [table, columns] of tables) changed.push(await stage(from, to, table, columns, mark))
    let deleted = 0
    for (const each of changed) deleted += await deleteMissing(from, to, each, counts.get(each.table) ?? 0)
    for (const each of changed) await upsert(to, each)
    await setSequences(to, await sequencesOf(from))
    await restore()
    await requireEqual(to, counts)
    await to.query('COMMIT')
    return { changed: deleted + changed.reduce((sum, { count }) => sum + count, 0), counts }
  } catch (error) {
    await to.query('ROLLBACK')
    throw error
  }
}

/** A table, and how many of its rows were written after the copy. They are staged in a temporary table. */
interface Changed {
  readonly table: string
  readonly columns: readonly string[]
  readonly key: readonly string[]
  readonly staged: string
  readonly count: number
}

async function stage(
  from: pg.ClientBase,
  to: pg.ClientBase,
  table: string,
  columns: readonly string[],
  mark: number,
): Promise<Changed> {
  const staged = quoted(`changed ${table}`)
  await to.query(`CREATE TEMP TABLE ${staged} (LIKE ${quoted(table)}) ON COMMIT DROP`)
  let count = 0
  const changed = `SELECT t::text AS row FROM ${quoted(table)} t WHERE age(xmin) <= age('${mark}'::xid)`
  for await (const rows of batchesOf(from, changed)) {
    count += rows.length
    await to.query(`INSERT INTO ${staged} SELECT * FROM unnest($1::text[]::${quoted(table)}[])`, [rows])
  }
  return { table, columns, key: await keyOf(to, table), staged, count }
}

async function* batchesOf(connection: pg.ClientBase, select: string): AsyncGenerator<string[]> {
  await connection.query('BEGIN')
  await connection.query(`DECLARE moved NO SCROLL CURSOR FOR ${select}`)
  for (;;) {
    const { rows } = await connection.query<{ row: string }>(`FETCH ${BATCH} FROM moved`)
    if (rows.length === 0) break
    yield rows.map(({ row }) => row)
  }
  await connection.query('COMMIT')
}

async function keyOf(connection: pg.ClientBase, table: string): Promise<string[]> {
  const { rows } = await connection.query<{ name: string }>(
    `SELECT a.attname::text AS name FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
     WHERE i.indrelid = $1::regclass AND i.indisprimary ORDER BY a.attnum`,
    [quoted(table)],
  )
  if (rows.length === 0) throw new Error(`The table ${table} has no primary key.`)
  return rows.map(({ name }) => name)
}

/** Deletes what the source has no more. Only where rows are missing, all keys are compared. */
async function deleteMissing(
  from: pg.ClientBase,
  to: pg.ClientBase,
  { table, key, staged }: Changed,
  expected: number,
): Promise<number> {
  const name = quoted(table)
  const keys = key.map(quoted).join(', ')
  const isNew = `NOT EXISTS (SELECT FROM ${name} t WHERE ${same(key, 't', 's')})`
  const { rows } = await to.query<{ added: string }>(`SELECT count(*) AS added FROM ${staged} s WHERE ${isNew}`)
  const before = await countOf(to, table)
  if (before + Number(rows[0]?.added) === expected) return 0
  const kept = quoted(`kept ${table}`)
  await to.query(`CREATE TEMP TABLE ${kept} ON COMMIT DROP AS SELECT ${keys} FROM ${name} WITH NO DATA`)
  for await (const batch of batchesOf(from, `SELECT ROW(${keys})::text AS row FROM ${name}`)) {
    await to.query(`INSERT INTO ${kept} SELECT * FROM unnest($1::text[]::${kept}[])`, [batch])
  }
  await to.query(`ANALYZE ${kept}`)
  const { rowCount } = await to.query(
    `DELETE FROM ${name} t WHERE NOT EXISTS (SELECT FROM ${kept} s WHERE ${same(key, 't', 's')})`,
  )
  return rowCount ?? 0
}

const same = (key: readonly string[], one: string, other: string) =>
  key.map((column) => `${one}.${quoted(column)} = ${other}.${quoted(column)}`).join(' AND ')

async function upsert(to: pg.ClientBase, { table, columns, key, staged, count }: Changed): Promise<void> {
  if (count === 0) return
  const others = columns.filter((column) => !key.includes(column))
  const set = others.map((column) => `${quoted(column)} = EXCLUDED.${quoted(column)}`).join(', ')
  await to.query(
    `INSERT INTO ${quoted(table)} SELECT * FROM ${staged}
     ON CONFLICT (${key.map(quoted).join(', ')}) DO ${others.length === 0 ? 'NOTHING' : `UPDATE SET ${set}`}`,
  )
}

/** Leaves out triggers, whose work is among the rows, and has foreign keys checked at the end. @returns what brings both back. */
async function deferChecks(to: pg.ClientBase, tables: readonly string[]): Promise<() => Promise<void>> {
  const { rows: keys } = await to.query<{ table: string; name: string }>(
    `SELECT conrelid::regclass::text AS table, conname::text AS name FROM pg_constraint
     WHERE contype = 'f' AND connamespace = current_schema()::regnamespace AND NOT condeferrable`,
  )
  for (const table of tables) await to.query(`ALTER TABLE ${quoted(table)} DISABLE TRIGGER USER`)
  for (const { table, name } of keys) {
    await to.query(`ALTER TABLE ${table} ALTER CONSTRAINT ${quoted(name)} DEFERRABLE INITIALLY DEFERRED`)
  }
  return async () => {
    await to.query('SET CONSTRAINTS ALL IMMEDIATE')
    for (const { table, name } of keys) {
      await to.query(`ALTER TABLE ${table} ALTER CONSTRAINT ${quoted(name)} NOT DEFERRABLE`)
    }
    for (const table of tables) await to.query(`ALTER TABLE ${quoted(table)} ENABLE TRIGGER USER`)
  }
}

async function requireEqual(to: pg.ClientBase, expected: Counts): Promise<void> {
  for (const [table, count] of await countRows(to)) {
    if (expected.get(table) === count) continue
    throw new StartError(
      `The copy has ${count} rows of ${table}, and the source ${expected.get(table)}. Nothing was switched; move again.`,
    )
  }
}
