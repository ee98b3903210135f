import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { errorCode } from '../core/error-code.ts'
import { StartError } from '../core/errors.ts'
import { SECOND } from '../core/time.ts'
import { CHANGE_LOG, nextSize, quoted, tablesOf } from './dump.ts'

/*
 * While a move copies a database, triggers log the key of every row that is written or deleted, in the same transaction. The log
 * then contains exactly the rows that the copy lacks, and the time to catch up depends on the changes, not on the size of the
 * tables.
 */

type Queries = Pick<pg.ClientBase, 'query'>

/** How many changes are read at once: at first, and at most. */
const FIRST_BATCH = 50
const MAX_BATCH = 1000

/** The maximum number of attempts to lock a table. */
const ATTEMPTS = 60
const LOCK_NOT_AVAILABLE = '55P03'

/** The key of the advisory lock of a move from a server. It ends with the connection. */
const LOG_LOCK = 7_234_117_004
/** Stops triggers that a killed move left on a server from logging. On the embedded database, the service drops them. */
const ONLY_WHILE_LOCKED = `IF pg_try_advisory_xact_lock_shared(${LOG_LOCK}) THEN RETURN NULL; END IF;`

const log = quoted(CHANGE_LOG)
const EVENTS = {
  insert: 'NEW TABLE AS changed',
  update: 'OLD TABLE AS earlier NEW TABLE AS changed',
  delete: 'OLD TABLE AS changed',
} as const

/** The rows of a table that were changed. */
export interface ChangedRows {
  readonly table: string
  /** The keys of the rows, each a JSON object. */
  readonly keys: readonly string[]
  /** The rows in PostgreSQL's text form; null: the row was deleted. */
  readonly rows: readonly (string | null)[]
}

/** A batch of changes, with all rows as of one moment. */
export interface Batch {
  readonly changed: readonly ChangedRows[]
  /** Whether the log had no other changes at that moment. */
  readonly isLast: boolean
}

/** Makes a server log changes while this connection is open. @throws StartError if another move is running. */
export async function beginLogOnServer(connection: pg.ClientBase): Promise<void> {
  const { rows } = await connection.query<{ isOnly: boolean }>('SELECT pg_try_advisory_lock($1) AS "isOnly"', [
    LOG_LOCK,
  ])
  if (rows[0]?.isOnly !== true) throw new StartError('Another move from this database is running.')
  await begin(connection, ONLY_WHILE_LOCKED)
}

/** Makes the embedded database log changes until the log is dropped. @returns the id of the log. */
export function beginLog(connection: Queries): Promise<string> {
  return begin(connection, '')
}

async function begin(connection: Queries, guard: string): Promise<string> {
  await dropLog(connection)
  const id = randomUUID()
  await connection.query(`
    CREATE TABLE ${log} ("table" text NOT NULL, key jsonb NOT NULL);
    COMMENT ON TABLE ${log} IS '${id}';
    CREATE FUNCTION ${log}() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE keys text := format('SELECT %L, jsonb_build_object(%s) FROM ', TG_TABLE_NAME, TG_ARGV[0]);
    BEGIN
      ${guard}
      EXECUTE format('INSERT INTO %I.${log} ', TG_TABLE_SCHEMA) || keys || 'changed'
        || CASE TG_OP WHEN 'UPDATE' THEN ' UNION ' || keys || 'earlier' ELSE '' END;
      RETURN NULL;
    END $$`)
  for (const [table, key] of await keysOf(connection)) await whenFree(connection, createTriggers(table, key))
  return id
}

function createTriggers(table: string, key: readonly string[]): string {
  const values = key.map((column) => `${literal(column)}, ${quoted(column)}`).join(', ')
  return Object.entries(EVENTS)
    .map(
      ([event, tables]) =>
        `CREATE TRIGGER ${triggerOf(event)} AFTER ${event} ON ${quoted(table)} REFERENCING ${tables}
         FOR EACH STATEMENT EXECUTE FUNCTION ${log}(${literal(values)})`,
    )
    .join(';')
}

const triggerOf = (event: string) => quoted(`${CHANGE_LOG}_${event}`)
const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

/** Drops a log, or the remains of one that a killed move left. */
export async function dropLog(connection: Queries): Promise<void> {
  const { rows } = await connection.query<{ table: string }>(
    `SELECT DISTINCT tgrelid::regclass::text AS table FROM pg_trigger WHERE tgfoid = to_regproc($1)`,
    [log],
  )
  for (const { table } of rows) {
    const drops = Object.keys(EVENTS).map((event) => `DROP TRIGGER IF EXISTS ${triggerOf(event)} ON ${table}`)
    await whenFree(connection, drops.join(';'))
  }
  await connection.query(`DROP FUNCTION IF EXISTS ${log}(); DROP TABLE IF EXISTS ${log}`)
}

/** Requires that the log with this id still exists. @throws StartError if it does not. */
export async function requireLog(connection: Queries, id: string): Promise<void> {
  const { rows } = await connection.query<{ id: string | null }>(
    `SELECT obj_description(to_regclass($1), 'pg_class') AS id`,
    [log],
  )
  if (rows[0]?.id !== id) throw notLogged()
}

/** Creates the error for a service that no longer logs its changes. */
export const notLogged = () =>
  new StartError(
    'The service restarted during the move, or could not log its changes; see its log. Nothing was switched. Move again.',
  )

/**
 * Changes the schema of a table that running services use. Their statements queue behind the lock, so an attempt gives up after a
 * second and is repeated.
 */
async function whenFree(connection: Queries, statements: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await connection.query(`SET LOCAL lock_timeout = ${SECOND}; ${statements}`)
      return
    } catch (error) {
      if (errorCode(error) !== LOCK_NOT_AVAILABLE || attempt === ATTEMPTS) throw error
      await pause(SECOND / 4)
    }
  }
}

/** Returns the columns of the primary key of each table. */
export async function keysOf(connection: Queries): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await connection.query<{ table: string; columns: string[] }>(
    `SELECT c.relname::text AS table, array_agg(a.attname::text ORDER BY a.attnum) AS columns
     FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
     WHERE i.indisprimary AND c.relnamespace = current_schema()::regnamespace GROUP BY c.relname`,
  )
  const keys = new Map(rows.map(({ table, columns }) => [table, columns]))
  const found = new Map<string, readonly string[]>()
  for (const table of (await tablesOf(connection)).keys()) {
    const key = keys.get(table)
    if (key === undefined) throw new Error(`The table ${table} has no primary key.`)
    found.set(table, key)
  }
  return found
}

/**
 * Creates a function that reads the next changes from a log. They stay in the log until the next call, so that an answer that was
 * lost because the service stopped is read again.
 */
export async function createChangeReader(queries: Queries): Promise<(connection: pg.ClientBase) => Promise<Batch>> {
  const keys = await keysOf(queries)
  let size = FIRST_BATCH
  let taken: readonly string[] = []
  return async (connection) => {
    // Uses one snapshot, so that rows and log are consistent.
    await connection.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    try {
      await connection.query(`DELETE FROM ${log} WHERE ctid = ANY ($1::tid[])`, [taken])
      const { rows: entries } = await connection.query<Entry>(
        `SELECT ctid::text AS place, "table", key::text AS key FROM ${log} LIMIT ${size}`,
      )
      const changed: ChangedRows[] = []
      for (const [table, entryKeys] of byTable(entries)) {
        changed.push(await readRows(connection, table, keys.get(table) ?? [], entryKeys))
      }
      await connection.query('COMMIT')
      const isLast = entries.length < size
      taken = entries.map(({ place }) => place)
      if (!isLast) size = nextSize(size, lengthOf(changed) / entries.length, MAX_BATCH)
      return { changed, isLast }
    } catch (error) {
      await connection.query('ROLLBACK')
      throw error
    }
  }
}

/** A row of the log. */
interface Entry {
  readonly place: string
  readonly table: string
  readonly key: string
}

function byTable(entries: readonly Entry[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const { table, key } of entries) {
    const keys = found.get(table) ?? new Set()
    found.set(table, keys.add(key))
  }
  return found
}

async function readRows(
  connection: pg.ClientBase,
  table: string,
  key: readonly string[],
  keys: ReadonlySet<string>,
): Promise<ChangedRows> {
  const name = quoted(table)
  const { rows } = await connection.query<{ key: string; row: string | null }>(
    `SELECT s.key, t::text AS row FROM unnest($1::text[]) AS s(key)
       CROSS JOIN LATERAL jsonb_populate_record(NULL::${name}, s.key::jsonb) k
       LEFT JOIN ${name} t ON ${same(key, 't', 'k')}`,
    [[...keys]],
  )
  return { table, keys: rows.map((each) => each.key), rows: rows.map(({ row }) => row) }
}

/** Compares the keys of two rows in SQL. */
export const same = (key: readonly string[], one: string, other: string) =>
  key.map((column) => `${one}.${quoted(column)} = ${other}.${quoted(column)}`).join(' AND ')

const lengthOf = (changed: readonly ChangedRows[]) =>
  changed.reduce(
    (sum, { keys, rows }) => [...keys, ...rows].reduce((length, text) => length + (text?.length ?? 0), sum),
    0,
  )
