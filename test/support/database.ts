import { randomBytes } from 'node:crypto'
import { cpSync } from 'node:fs'
import pg from 'pg'
import { afterAll, inject } from 'vitest'
import { MINUTE } from '../../src/core/time.ts'
import { type DatabaseHandle, type DatabaseOptions, openDatabase } from '../../src/database/client.ts'
import { silent, temporaryDirectory } from './scratch.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A migrated, empty database to copy: the path of a DATA_DIR, or the name of a database on the server. */
    databaseTemplate: string
  }
}

/** The server that the suite uses if TEST_DATABASE_URL is set; undefined: it uses the embedded database. */
export const serverUrl = process.env['TEST_DATABASE_URL']

/** Returns an empty, migrated database for the test file that calls this at its top; removed after the file's tests. */
export async function testDatabase(): Promise<DatabaseHandle> {
  const { database, release } = await borrowDatabase()
  afterAll(release)
  return database
}

/** A migrated database with empty tables that has one user until it is released. */
export interface BorrowedDatabase {
  readonly database: DatabaseHandle
  /** Empties it for the next borrower, or removes it if it cannot be restored to its original state. */
  release(): Promise<void>
}

interface OwnDatabase {
  readonly database: DatabaseHandle
  /** Its original schema. */
  readonly schema: string
  /** The names of its tables, quoted for SQL. */
  readonly tables: readonly string[]
  remove(): Promise<void>
}

/** The released databases of this process: emptying one takes a tenth of the time of opening one. */
const idle: OwnDatabase[] = []

/** Returns an unused database: one that an earlier test file has released, or a new one. */
export async function borrowDatabase(): Promise<BorrowedDatabase> {
  const own = idle.pop() ?? (await newDatabase())
  const { database, isClean } = observed(own.database)
  return {
    database,
    async release() {
      if (isClean() && (await empty(own))) {
        idle.push(own)
        return
      }
      await own.database.close()
      await own.remove()
    },
  }
}

/** A handle that tracks what its borrower leaves behind. */
function observed(given: DatabaseHandle): { database: DatabaseHandle; isClean(): boolean } {
  let isClosed = false
  let listeners = 0
  const database: DatabaseHandle = {
    ...given,
    async listen(channel, listener) {
      const stop = await given.listen(channel, listener)
      listeners += 1
      return () => {
        listeners -= 1
        return stop()
      }
    },
    close() {
      isClosed = true
      return given.close()
    },
  }
  const { pool } = given
  return { database, isClean: () => !isClosed && listeners === 0 && pool.totalCount === pool.idleCount }
}

/** Empties the tables that have rows. Returns whether the database is as good as new. */
async function empty({ database: { pool }, schema, tables }: OwnDatabase): Promise<boolean> {
  if ((await schemaOf(pool)) !== schema) return false
  const { rows } = await pool.query<{ name: string }>(
    tables.map((name) => `SELECT '${name}' AS name WHERE EXISTS (SELECT FROM ${name})`).join(' UNION ALL '),
  )
  const filled = rows.map(({ name }) => name)
  if (filled.length === 0) return true
  if (serverUrl !== undefined) await pool.query(`TRUNCATE ${filled.join(', ')} RESTART IDENTITY CASCADE`)
  else await deleteAll(pool, filled)
  return true
}

/**
 * Like TRUNCATE, in a fifth of the time, because that creates new files for each table and index. Needs a superuser.
 */
async function deleteAll(pool: pg.Pool, tables: readonly string[]): Promise<void> {
  const statements = tables.map((name) => `DELETE FROM ${name};`).join(' ')
  await pool.query(`BEGIN; SET LOCAL session_replication_role = replica; ${statements} COMMIT`)
  await pool.query(`VACUUM ${tables.join(', ')}`)
  await pool.query(
    `SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'S'`,
  )
}

/** Returns the names of the tables, quoted for SQL. */
export async function tablesOf(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT format('%I', relname) AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> '_prisma_migrations'`,
  )
  return rows.map(({ name }) => name)
}

/**
 * Returns everything in the schema that a test may change: tables and their columns, indexes, rules, functions,
 * settings.
 */
async function schemaOf(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ schema: string }>(
    `SELECT md5(string_agg(part, E'\n' ORDER BY part)) AS schema FROM (
       SELECT format('%s %s %s', relname, relkind, relnatts) AS part FROM pg_class WHERE relnamespace = 'public'::regnamespace
       UNION ALL SELECT format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint
         WHERE connamespace = 'public'::regnamespace
       UNION ALL SELECT format('%s %s', tgrelid::regclass, tgname) FROM pg_trigger WHERE NOT tgisinternal
       UNION ALL SELECT format('%s %s', proname, md5(prosrc)) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
       UNION ALL SELECT array_to_string(setconfig, ',') FROM pg_db_role_setting
         WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
     ) AS parts`,
  )
  return rows[0]?.schema ?? ''
}

async function newDatabase(): Promise<OwnDatabase> {
  const opened = await copyOfTemplate(inject('databaseTemplate'))
  const { pool } = opened.database
  return { ...opened, schema: await schemaOf(pool), tables: await tablesOf(pool) }
}

async function copyOfTemplate(template: string): Promise<{ database: DatabaseHandle; remove(): Promise<void> }> {
  if (serverUrl !== undefined) {
    const { url, remove } = await serverDatabase(serverUrl, template)
    return { database: await openPatiently({ dataDir: '', databaseUrl: url }), remove }
  }
  const { path, remove } = await temporaryDirectory()
  copyDataDir(template, path)
  return { database: await openPatiently({ dataDir: path, databaseUrl: undefined }), remove }
}

/** Opens a database with transaction timeouts that are long enough for a busy machine. */
export function openPatiently(at: Pick<DatabaseOptions, 'dataDir' | 'databaseUrl'>): Promise<DatabaseHandle> {
  return openDatabase({ ...at, log: silent, transactionTimeout: 3 * MINUTE })
}

/** Copies the DATA_DIR of a closed database: a thousand small files, in a sixth of the time that promises take. */
export function copyDataDir(from: string, to: string): void {
  cpSync(from, to, { recursive: true })
}

/**
 * Creates a database on the server of `url`: a copy of `template`, named after it, or an empty one. `remove` drops it
 * even if clients are connected, any number of times.
 */
export async function serverDatabase(
  url: string,
  template?: string,
): Promise<{ name: string; url: string; remove(): Promise<void> }> {
  const name = `${template ?? 'allclear_test'}_${randomBytes(6).toString('hex')}`
  await execute(url, `CREATE DATABASE ${name} TEMPLATE ${template ?? 'template0'}`)
  const own = new URL(url)
  own.pathname = name
  return { name, url: own.href, remove: () => drop(url, name) }
}

/** Drops a template and its remaining copies. */
export async function dropDatabases(url: string, template: string): Promise<void> {
  const named = await execute(url, `SELECT datname AS name FROM pg_database WHERE starts_with(datname, '${template}')`)
  for (const { name } of named) await drop(url, name)
}

async function drop(url: string, name: string): Promise<void> {
  await execute(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
}

async function execute(url: string, sql: string): Promise<{ name: string }[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
