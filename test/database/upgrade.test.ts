// @slow
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type pg from 'pg'
import pino from 'pino'
import { beforeAll, expect, test } from 'vitest'
import { readArchive } from '../../src/backup/archive.ts'
import { onEmbedded, onServer } from '../../src/backup/backup.ts'
import { load, quoted, tablesOf } from '../../src/backup/dump.ts'
import { root } from '../../src/core/process/paths.ts'
import { type DatabaseHandle, openDatabase } from '../../src/database/client.ts'
import { openEmbedded } from '../../src/database/embedded/embedded.ts'
import { migrationsDirectory, readMigrations } from '../../src/database/migration/migrate.ts'
import { Prisma } from '../../src/generated/prisma/client.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { copyDataDir, serverDatabase, serverUrl } from '../support/database.ts'
import { silent, temporaryDirectory } from '../support/scratch.ts'
import { fileOf, fixtures, releases } from './upgrades/fixtures.ts'

const migrations = await readMigrations(migrationsDirectory)

/** The changes that migrations made to existing tables and columns. Everything else must be unchanged. */
const moved = {
  tables: { Notice: 'NotificationPayload' },
  columns: { 'Event.entryId': 'updateId', 'Watch.steadiness': 'stability' },
  gone: [
    // Domains belong to pages and must be proven first.
    'Organization.customDomain',
  ],
  computed: [
    // 20261122052413_payments_only_help: the operator's setting is a minimum.
    'Organization.tierFloor',
    // 20261128064001_uptime_of_both_by_default: the former default became the new one.
    'Organization.uptimeSource',
    // 20261122215305_plain_names: members of their JSON were renamed.
    'Watch.steadiness',
    'ProbeResult.detail',
    // 20261123073936_page_of_logo_and_access: computed as the first page of the organization.
    'Logo.pageId',
  ],
} as const

/** A schema with its rows, as a released version left it. */
interface Place {
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  use<T>(work: (connection: pg.ClientBase) => Promise<T>): Promise<T>
}

/** An embedded database without tables, cached because PGlite takes seconds to create it. */
let empty = ''
beforeAll(async () => {
  if (serverUrl !== undefined) return
  const { path, remove } = await temporaryDirectory()
  atTheEnd(remove)
  empty = join(path, 'database')
  await (await openEmbedded(empty, async () => null)).close()
})

async function emptyPlace(): Promise<Place> {
  if (serverUrl !== undefined) {
    const { url, remove } = await serverDatabase(serverUrl)
    atTheEnd(remove)
    return { dataDir: '', databaseUrl: url, use: (work) => onServer(url, work) }
  }
  const { path, remove } = await temporaryDirectory()
  atTheEnd(remove)
  copyDataDir(empty, join(path, 'database'))
  return { dataDir: path, databaseUrl: undefined, use: (work) => onEmbedded(join(path, 'database'), work) }
}

type Row = Readonly<Record<string, unknown>>

async function rowsOf(connection: pg.ClientBase): Promise<Map<string, Row[]>> {
  const content = new Map<string, Row[]>()
  for (const table of (await tablesOf(connection)).keys()) {
    const { rows } = await connection.query<{ row: Row }>(`SELECT to_jsonb(t) AS row FROM ${quoted(table)} t`)
    content.set(
      table,
      rows.map(({ row }) => row),
    )
  }
  return content
}

/** Loads a fixture. Returns its rows in the schema of its version. */
async function loadFixture(fixture: string, place: Place): Promise<Map<string, Row[]>> {
  return place.use(async (connection) => {
    await load(connection, readArchive(fileOf(fixture), null), migrations)
    return rowsOf(connection)
  })
}

async function open({ dataDir, databaseUrl }: Place, log = silent): Promise<DatabaseHandle> {
  const database = await openDatabase({ dataDir, databaseUrl, log })
  atTheEnd(() => database.close())
  return database
}

const memberOf = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined => record[name]

/** Returns the expected content of a row, with the current names. */
function expectedRow(table: string, row: Row): Row {
  const kept = Object.entries(row).flatMap(([column, value]) => {
    const name = `${table}.${column}`
    const isElsewhere = [...moved.gone, ...moved.computed].some((each) => each === name)
    return isElsewhere ? [] : [[memberOf(moved.columns, name) ?? column, value]]
  })
  return Object.fromEntries(kept)
}

const has = (row: Row, expected: Row) =>
  Object.entries(expected).every(([column, value]) => isDeepStrictEqual(row[column], value))

type Content = ReadonlyMap<string, readonly Row[]>

test.each(fixtures)('a database of %s is upgraded with all its rows', async (fixture) => {
  const place = await emptyPlace()
  const before = await loadFixture(fixture, place)
  for (const [table, rows] of before) expect([table, rows.length]).toEqual([table, 3])
  const database = await open(place)
  const connection = await database.pool.connect()
  const after = await rowsOf(connection).finally(() => connection.release())
  for (const [table, rows] of before) expectKept(table, rows, after)
  expectDerived(before, after)
  await readAll(database)
  await database.close()
  if (fixture === fixtures.at(-1)) await place.use((again) => rewriteAll(again, before))
})

function expectKept(table: string, rows: readonly Row[], after: Content): void {
  const now = after.get(memberOf(moved.tables, table) ?? table) ?? []
  for (const row of rows) {
    const expected = expectedRow(table, row)
    expect(now.some((each) => has(each, expected)) ? [] : now, `${table}: ${JSON.stringify(expected)}`).toEqual([])
  }
  // Domains of organizations are added to it.
  if (table !== 'CustomDomain') expect([table, now.length]).toEqual([table, rows.length])
}

/** Asserts the results of migrations. */
function expectDerived(before: Content, after: Content): void {
  for (const { id, pageId } of after.get('Organization') ?? []) {
    const first = expect.objectContaining({ id: pageId, organizationId: id, isFirst: true })
    expect(after.get('Page')).toContainEqual(first)
  }
  const organizations = before.has('CustomDomain') ? [] : (before.get('Organization') ?? [])
  const domains = organizations.map((row) => row['customDomain']).filter((name) => typeof name === 'string')
  for (const name of domains) {
    expect(after.get('CustomDomain')).toContainEqual(expect.objectContaining({ name, state: 'PENDING' }))
  }
  const stated = before.get('Service')?.some((row) => 'statedAt' in row) ?? false
  for (const row of stated ? [] : (after.get('Service') ?? [])) expect(row['statedAt']).toBe(row['createdAt'])
  for (const { stability } of after.get('Watch') ?? []) expect(Object.keys(stability ?? {})).not.toContain('pieces')
}

/** Asserts that this version can read all rows. */
async function readAll({ prisma }: DatabaseHandle): Promise<void> {
  for (const model of Object.values(Prisma.ModelName)) {
    const name = `${model.charAt(0).toLowerCase()}${model.slice(1)}` as Uncapitalize<typeof model>
    const { findMany } = prisma[name] as { readonly findMany: () => Promise<unknown[]> }
    expect(await findMany()).toBeInstanceOf(Array)
  }
}

/** Rewrites all rows as the previous version does, whose instances run until they are replaced. */
async function rewriteAll(connection: pg.ClientBase, before: Content): Promise<void> {
  await connection.query('SET session_replication_role = replica')
  for (const [table, rows] of before) await rewrite(connection, table, rows)
}

test('every released version has a fixture; otherwise run npm run upgrade-fixture', async () => {
  const changelog = await readFile(new URL('CHANGELOG.md', root), 'utf8')
  const versions = [...changelog.matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, version]) => version)
  expect(releases).toEqual(expect.arrayContaining(versions))
})

test.skipIf(serverUrl === undefined)('instances that start together migrate once', async () => {
  const [first = ''] = fixtures
  const place = await emptyPlace()
  const count = await loadFixture(first, place).then(() => place.use(countApplied))
  const lines: string[] = []
  const log = pino({ base: undefined }, { write: (line: string) => void lines.push(line) })
  await Promise.all([open(place, log), open(place, log), open(place, log)])
  const applied = lines.flatMap((line) => /(\d+) migrations applied|up to date/.exec(line)?.[1] ?? [])
  expect(applied).toEqual([String(migrations.length - count)])
  expect(await place.use(countApplied)).toBe(migrations.length)
})

async function countApplied(connection: pg.ClientBase): Promise<number> {
  const { rows } = await connection.query('SELECT count(*)::int AS count FROM "_prisma_migrations"')
  return rows[0]?.count
}

/** Runs the statements of another version on a table, with the columns of that version. */
async function rewrite(connection: pg.ClientBase, table: string, rows: readonly Row[]): Promise<void> {
  const name = quoted(table)
  const columns = Object.keys(rows[0] ?? {}).map(quoted)
  await connection.query(`DELETE FROM ${name}`)
  for (const row of rows) {
    await connection.query(
      `INSERT INTO ${name} (${columns.join(', ')})
       SELECT ${columns.join(', ')} FROM jsonb_populate_record(NULL::${name}, $1)`,
      [JSON.stringify(row)],
    )
  }
  await connection.query(`UPDATE ${name} SET ${columns.map((column) => `${column} = ${column}`).join(', ')}`)
  const { rows: found } = await connection.query(`SELECT ${columns.join(', ')} FROM ${name}`)
  expect([table, found.length]).toEqual([table, rows.length])
}
