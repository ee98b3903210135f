import type pg from 'pg'
import { quoted } from '../../../src/backup/dump.ts'

/**
 * The rows of each table: one with all columns, one with only the required columns, and one with all columns and the
 * last value of each enum.
 */
const ROWS = 3

interface Column {
  readonly table: string
  readonly name: string
  /** The type of a value, or of the values of an array. */
  readonly type: string
  readonly isArray: boolean
  readonly isRequired: boolean
  /** The values of an enumeration; null: it is not one. */
  readonly labels: readonly string[] | null
  /** The table and column that it refers to; null: none. */
  readonly parentTable: string | null
  readonly parentColumn: string | null
}

/** Columns whose values matter to a migration, or that refer to another table without a foreign key. */
const known: Readonly<Record<string, (row: number) => unknown>> = {
  'Organization.pageId': (row) => `Page.id ${row}`,
  'Organization.timeZone': () => 'Europe/Berlin',
  'Page.isFirst': () => true,
  'Watch.steadiness': (row) => ({ pieces: [[row, 1]] }),
  'Watch.stability': (row) => ({ intervals: [[row, 1]] }),
  'ProbeResult.detail': (row) => ({ said: `PONG ${row}` }),
}

/**
 * Fills every table of a database with rows generated from its catalog, with every type and every relation. Works with
 * any schema; the same schema gets the same rows. Needs a superuser, to defer triggers and foreign keys.
 */
export async function fillTables(connection: pg.ClientBase): Promise<void> {
  const columns = await columnsOf(connection)
  await connection.query('SET session_replication_role = replica')
  for (const table of new Set(columns.map((column) => column.table))) {
    const own = columns.filter((column) => column.table === table)
    for (let row = 1; row <= ROWS; row++) {
      const given = Object.fromEntries(own.map((column) => [column.name, sampleOf(column, row, columns)]))
      await connection.query(
        `INSERT INTO ${quoted(table)} SELECT (jsonb_populate_record(NULL::${quoted(table)}, $1)).*`,
        [JSON.stringify(given)],
      )
    }
  }
  await connection.query('RESET session_replication_role')
}

async function columnsOf(connection: pg.ClientBase): Promise<Column[]> {
  const { rows } = await connection.query<Column>(
    `SELECT c.relname::text AS "table", a.attname::text AS name, a.attnotnull AS "isRequired",
       t.typelem <> 0 AND t.typcategory = 'A' AS "isArray", of.typname::text AS type,
       (SELECT array_agg(e.enumlabel::text ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = of.oid) AS labels,
       f.confrelid::regclass::text AS "parentTable",
       (SELECT p.attname::text FROM pg_attribute p
        WHERE p.attrelid = f.confrelid AND p.attnum = f.confkey[array_position(f.conkey, a.attnum)]) AS "parentColumn"
     FROM pg_class c
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     JOIN pg_type t ON t.oid = a.atttypid
     JOIN pg_type of ON of.oid = CASE WHEN t.typelem <> 0 AND t.typcategory = 'A' THEN t.typelem ELSE t.oid END
     LEFT JOIN LATERAL (
       SELECT * FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'f' AND a.attnum = ANY (k.conkey)
       ORDER BY conname LIMIT 1
     ) f ON true
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> '_prisma_migrations'
     ORDER BY c.relname, a.attnum`,
  )
  return rows.map((row) => ({ ...row, parentTable: row.parentTable?.replaceAll('"', '') ?? null }))
}

/** The second row has only the required columns. */
function sampleOf(column: Column, row: number, columns: readonly Column[]): unknown {
  const value = filledSample(column, row, columns)
  return row === 2 && !column.isRequired && !column.isArray ? null : value
}

function filledSample(column: Column, row: number, columns: readonly Column[]): unknown {
  const name = `${column.table}.${column.name}`
  const special = known[name]
  if (special !== undefined) return special(row)
  if (column.parentTable === column.table) return column.isRequired ? `${column.table}.id ${row}` : null
  const parent = columns.find((each) => each.table === column.parentTable && each.name === column.parentColumn)
  if (parent !== undefined) return filledSample(parent, row, columns)
  const plain = plainValue(column, row, name)
  return column.isArray ? [plain] : plain
}

function plainValue({ type, labels }: Column, row: number, name: string): unknown {
  if (labels !== null) return row === 1 ? labels[0] : labels.at(-1)
  const make = byType[type]
  if (make === undefined) throw new Error(`${name} is of the type ${type}, of which no sample is made here.`)
  return make(row, name)
}

const byType: Readonly<Record<string, (row: number, name: string) => unknown>> = {
  text: (row, name) => `${name} ${row}`,
  int4: (row) => row,
  int8: (row) => row + 2 ** 40,
  float8: (row) => row + 0.25,
  bool: (row) => row === 1,
  bytea: (row) => `\\x00ff0${row}`,
  json: (row, name) => ({ [name]: [row, 'ü', null] }),
  jsonb: (row, name) => ({ [name]: [row, 'ü', null] }),
  date: (row) => `2026-11-0${row}`,
  timestamptz: (row) => `2026-11-0${row}T12:34:56.789Z`,
}
