import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { DIRECT } from '../../../src/database/connection/route.ts'
import { serverConfig } from '../../../src/database/connection/server-config.ts'
import { migrate, migrationsDirectory, readMigrations } from '../../../src/database/migration/migrate.ts'
import { startSchemaEngine } from '../../../src/database/migration/schema-engine.ts'
import { testDatabase } from '../../support/database.ts'
import { temporaryDirectory } from '../../support/scratch.ts'

const database = await testDatabase()
const url = database.pool.options.connectionString
const pool = url === undefined ? database.pool : new pg.Pool({ ...serverConfig(url, DIRECT), max: 1 })
const { path: directory, remove } = await temporaryDirectory()
afterAll(async () => {
  await remove()
  if (pool !== database.pool) await pool.end()
})

const first = '20260101000000_first'
const second = '20260202000000_second'

async function write(name: string, sql: string): Promise<void> {
  await mkdir(join(directory, name), { recursive: true })
  await writeFile(join(directory, name, 'migration.sql'), sql)
}

beforeEach(async () => {
  await pool.query('DROP SCHEMA public CASCADE')
  await pool.query('CREATE SCHEMA public')
  await rm(directory, { recursive: true })
  await mkdir(directory)
  await write(first, 'CREATE TABLE one (id int);')
})

test('migrations are applied in order, once, and recorded as Prisma records them', async () => {
  await write(second, 'ALTER TABLE one ADD COLUMN name text;\nINSERT INTO one VALUES (1);')
  expect(await migrate(pool, directory)).toBe(2)
  expect(await migrate(pool, directory)).toBe(0)
  expect((await pool.query('SELECT * FROM one')).rows).toEqual([{ id: 1, name: null }])
  const { rows } = await pool.query('SELECT * FROM _prisma_migrations ORDER BY migration_name')
  const sha256 = async (name: string) =>
    createHash('sha256')
      .update(await readFile(join(directory, name, 'migration.sql')))
      .digest('hex')
  for (const [index, name] of [first, second].entries()) {
    expect(rows[index]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      checksum: await sha256(name),
      finished_at: expect.any(Date),
      migration_name: name,
      logs: null,
      rolled_back_at: null,
      started_at: expect.any(Date),
      applied_steps_count: 1,
    })
  }
})

test("Prisma's own engine accepts the records and finds no pending migrations", async () => {
  await migrate(pool, directory)
  await write(second, 'CREATE TABLE two (id int);')
  expect(await applyWithEngine()).toEqual([second])
  expect(await applyWithEngine()).toEqual([])
  expect(await migrate(pool, directory)).toBe(0)
  const { rows } = await pool.query(
    `SELECT count(*)::int AS count, count(DISTINCT (applied_steps_count, logs, rolled_back_at, finished_at >= started_at))::int AS kinds
     FROM _prisma_migrations`,
  )
  expect(rows).toEqual([{ count: 2, kinds: 1 }])
})

async function applyWithEngine(): Promise<readonly string[]> {
  const engine = await startSchemaEngine(pool)
  try {
    const { appliedMigrationNames } = await engine.applyMigrations({
      migrationsList: {
        baseDir: directory,
        lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"' },
        shadowDbInitScript: '',
        migrationDirectories: (await readMigrations(directory)).map(({ name, sql }) => ({
          path: name,
          migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
        })),
      },
      filters: { externalTables: [], externalEnums: [] },
    })
    return appliedMigrationNames
  } finally {
    engine.free()
  }
}

test('a database with tables of another program is left unchanged', async () => {
  await pool.query('CREATE TABLE theirs (id int)')
  await expect(migrate(pool, directory)).rejects.toThrow('tables of another program, such as "theirs"')
  expect((await pool.query(`SELECT to_regclass('one') AS one`)).rows).toEqual([{ one: null }])
})

test('a migration and its record commit together', async () => {
  await pool.query(
    `CREATE SCHEMA other; CREATE FUNCTION other.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF NEW.finished_at IS NOT NULL THEN RAISE 'no more records'; END IF; RETURN NEW; END; $$;`,
  )
  try {
    await migrate(pool, directory)
    await pool.query(
      'CREATE TRIGGER refuse BEFORE INSERT ON _prisma_migrations FOR EACH ROW EXECUTE FUNCTION other.refuse()',
    )
    await write(second, 'CREATE TABLE two (id int);')
    await expect(migrate(pool, directory)).rejects.toThrow('no more records')
    expect((await pool.query(`SELECT to_regclass('two') AS two`)).rows).toEqual([{ two: null }])
  } finally {
    await pool.query('DROP SCHEMA other CASCADE')
  }
})

test('only new migrations are applied', async () => {
  expect(await migrate(pool, directory)).toBe(1)
  await write(second, 'CREATE TABLE two (id int);')
  expect(await migrate(pool, directory)).toBe(1)
})

test('semicolons in strings, comments and function bodies do not split a migration', async () => {
  await write(
    second,
    `-- a comment; with one
     CREATE FUNCTION f() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN 'a;b'; END; $$;
     INSERT INTO one VALUES (length('c;d'));`,
  )
  await migrate(pool, directory)
  expect((await pool.query('SELECT f(), id FROM one')).rows).toEqual([{ f: 'a;b', id: 3 }])
})

test('a failed migration is rolled back and stops every start until it is fixed', async () => {
  await write(second, 'CREATE TABLE two (id int);\nINSERT INTO missing VALUES (1);')
  const failure = await migrate(pool, directory).catch((error: Error) => error.message)
  expect(failure).toMatch(new RegExp(`^The migration ${second} has failed on this database: .*missing.*Fix the cause`))
  expect((await pool.query(`SELECT to_regclass('one') AS one, to_regclass('two') AS two`)).rows).toEqual([
    { one: 'one', two: null },
  ])
  await expect(migrate(pool, directory)).rejects.toThrow(String(failure))
  const remedy = /UPDATE .*?;/.exec(String(failure))?.[0]
  await pool.query(String(remedy))
  await write(second, 'CREATE TABLE two (id int);')
  expect(await migrate(pool, directory)).toBe(1)
})

test('an applied migration that was edited stops the start', async () => {
  await migrate(pool, directory)
  await write(first, 'CREATE TABLE one (id bigint);')
  await expect(migrate(pool, directory)).rejects.toThrow(`The migration ${first} differs from the one that was applied`)
})

test('a database of a newer version stops the start', async () => {
  await write(second, 'CREATE TABLE two (id int);')
  await migrate(pool, directory)
  await rm(join(directory, second), { recursive: true })
  await expect(migrate(pool, directory)).rejects.toThrow(
    `The database has the migration ${second}, which this version does`,
  )
})

test('the migrations of this program have names that sort by time', async () => {
  for (const { name } of await readMigrations(migrationsDirectory)) expect(name).toMatch(/^\d{14}_[a-z0-9_]+$/)
})
