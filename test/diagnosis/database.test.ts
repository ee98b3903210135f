import { expect, test } from 'vitest'
import type { Queryable } from '../../src/diagnosis/database.ts'
import { examineDatabase, judgeConnections, judgeDatabase } from '../../src/diagnosis/database.ts'
import { examineSettings } from '../../src/diagnosis/settings.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { borrowDatabase, serverUrl } from '../support/database.ts'

const { database, release } = await borrowDatabase()
atTheEnd(release)
const now = () => new Date()

/** Wraps the test database and replaces the rows of statements that contain a text. */
function answering(text: string, change: (rows: object[]) => object[]): Queryable {
  return {
    query: async <R>(statement: string) => {
      const { rows } = await database.pool.query(statement)
      return { rows: (statement.includes(text) ? change(rows) : rows) as R[] }
    },
  }
}

/** Returns the codes found on a server, except latency, which varies on a busy machine. */
const codes = async (db: Queryable) =>
  (await examineDatabase(db, now, { connections: 12 }))
    .map(({ code }) => code)
    .filter((code) => code !== 'DATABASE_SLOW')

test('a migrated database has no problems', async () => {
  expect(await examineDatabase(database.pool, now, 'embedded')).toMatchObject([
    { code: 'DATABASE_OK', message: expect.stringMatching(/^PostgreSQL \d+\.\d+ answers within \d+ ms\.$/) },
  ])
  expect(await codes(database.pool)).toEqual(['DATABASE_OK', 'CLOCK_OK'])
})

test.each([
  [{}, ['DATABASE_OK']],
  [{ version: '12.22' }, ['DATABASE_OLD']],
  [{ version: '18beta1' }, ['DATABASE_OK']],
  [{ latencyMs: 80 }, ['DATABASE_SLOW']],
  [
    { version: '9.6', lacking: 3, newer: '99991231_of_tomorrow' },
    ['DATABASE_OLD', 'DATABASE_BEHIND', 'DATABASE_NEWER'],
  ],
])('finds the problems of a server with %j: %j', (state, found) => {
  const well = { version: '17.2', latencyMs: 1, lacking: 0, newer: null }
  expect(judgeDatabase({ ...well, ...state }, false).map(({ code }) => code)).toEqual(found)
})

test.each([
  [{ allowed: 97, instances: 8 }, []],
  [{ allowed: 97, instances: 9 }, ['The database server allows 97 connections, but 9 instances may open 108.']],
  [{ allowed: 10, instances: 0 }, ['The database server allows 10 connections, but this instance may open 12.']],
])('compares the connections of the instances with those of a server: %j', (state, messages) => {
  expect(judgeConnections(state, 12).map(({ message }) => message)).toEqual(messages)
})

test('an embedded database on a busy machine is not slow', () => {
  const state = { version: '17.2', latencyMs: 80, lacking: 0, newer: null }
  expect(judgeDatabase(state, true)).toMatchObject([{ code: 'DATABASE_OK' }])
})

test('finds a different clock, and migrations of another version', async () => {
  const later = () => new Date(Date.now() + 60_000)
  const clock = (await examineDatabase(database.pool, later, { connections: 12 })).at(-1)
  expect(clock?.code).toBe('CLOCK_OFF')
  const newer = answering('migration_name', (rows) => [...rows.slice(1), { name: '99991231_of_tomorrow' }])
  const findings = await examineDatabase(newer, now, 'embedded')
  expect(findings.map(({ code }) => code)).toEqual(['DATABASE_BEHIND', 'DATABASE_NEWER'])
  expect(findings[0]?.message).toContain('lacks 1 of')
  expect(findings[1]?.message).toContain('99991231_of_tomorrow')
})

test('an empty database lacks all migrations', async () => {
  const empty = answering('_prisma_migrations', () => [{ exists: false }])
  expect(await codes(empty)).toEqual(['DATABASE_BEHIND', 'CLOCK_OK'])
})

test('finds a server in the settings that is down or refuses the connection', async () => {
  const env = { DATABASE_URL: 'postgresql://127.0.0.1:9/x', DATA_DIR: '/nowhere/at/all' }
  expect(await examineSettings(env, now)).toMatchObject([
    { code: 'DATABASE_UNREACHABLE', message: expect.stringContaining('ECONNREFUSED') },
  ])
})

test.skipIf(serverUrl === undefined)('examines the server in the settings', async () => {
  const findings = await examineSettings({ DATABASE_URL: serverUrl, DATA_DIR: '/nowhere' }, now)
  expect(findings.map(({ code }) => code)).toEqual(expect.arrayContaining(['DATABASE_BEHIND', 'CLOCK_OK']))
  const wrong = await examineSettings(
    { DATABASE_URL: new URL('/no_such_database', serverUrl).href, DATA_DIR: '/nowhere' },
    now,
  )
  expect(wrong).toMatchObject([{ code: 'DATABASE_UNREACHABLE', message: expect.stringContaining('no_such_database') }])
})

test('reports each invalid setting, without secrets', async () => {
  const findings = await examineSettings({ PORT: 'x', SMTP_URL: 'nonsense:secret' }, now)
  expect(findings.map(({ code }) => code)).toEqual(['SETTINGS_INVALID', 'SETTINGS_INVALID'])
  expect(JSON.stringify(findings)).not.toContain('nonsense')
})
