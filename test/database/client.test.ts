// @slow
import { readFile } from 'node:fs/promises'
import { afterAll, expect, test, vi } from 'vitest'
import { newId, randomText } from '../../src/core/id.ts'
import { difference } from '../../src/database/migration/schema-engine.ts'
import { testDatabase } from '../support/database.ts'

// The database must use UTC in any time zone of the process.
vi.stubEnv('TZ', 'Europe/Paris')
afterAll(() => vi.unstubAllEnvs())
const database = await testDatabase()
const { prisma, pool } = database

const organization = () => ({
  id: newId('Organization'),
  slug: randomText(10),
  name: 'Acme',
  contactEmail: 'ops@example.com',
  createdAt: new Date('2026-07-01T12:00:00Z'),
})

test('the migrations match schema.prisma', async () => {
  const schema = await readFile('prisma/schema.prisma', 'utf8')
  expect(await difference(pool, schema)).toBe('')
  expect(await difference(pool, `${schema}\nmodel Extra {\n  id Int @id\n}\n`)).toContain('CREATE TABLE "Extra"')
})

test('times are UTC on every connection, whatever the time zone of the process', async () => {
  const { id, createdAt } = await prisma.organization.create({ data: organization() })
  const { rows } = await pool.query(
    `SELECT extract(epoch FROM "createdAt")::float8 AS epoch, "createdAt", current_setting('TimeZone') AS zone
     FROM "Organization" WHERE id = $1`,
    [id],
  )
  expect(rows).toEqual([{ epoch: createdAt.getTime() / 1000, createdAt, zone: 'UTC' }])
  expect(await prisma.organization.findUnique({ where: { id } })).toMatchObject({ createdAt })
})

test('a constraint violation fails only its own statement', async () => {
  const data = organization()
  await prisma.organization.create({ data })
  await expect(prisma.organization.create({ data })).rejects.toMatchObject({ code: 'P2002' })
  expect(await prisma.organization.count({ where: { id: data.id } })).toBe(1)
})

test('a transaction that throws is rolled back', async () => {
  const data = organization()
  const work = prisma.$transaction(async (tx) => {
    await tx.organization.create({ data })
    throw new Error('no')
  })
  await expect(work).rejects.toThrow('no')
  expect(await prisma.organization.count({ where: { id: data.id } })).toBe(0)
})

test('500 concurrent transactions that increment a counter bring it to exactly 500', async () => {
  const key = { subject: randomText(10), day: new Date('2026-07-01') }
  await prisma.usageCounter.create({ data: { ...key, count: 0, lastGrant: 0 } })
  const increment = () =>
    prisma.$transaction(async (tx) => {
      const [row] = await tx.$queryRaw<{ count: number }[]>`
        SELECT count FROM "UsageCounter" WHERE subject = ${key.subject} FOR UPDATE`
      await tx.usageCounter.update({ where: { subject_day: key }, data: { count: (row?.count ?? 0) + 1 } })
    })
  await Promise.all(Array.from({ length: 500 }, increment))
  expect(await prisma.usageCounter.findUnique({ where: { subject_day: key } })).toMatchObject({ count: 500 })
})

test('statements during an open transaction do not fail and do not see its changes', async () => {
  const data = organization()
  const counts = prisma.$transaction(async (tx) => {
    await tx.organization.create({ data })
    const beside = Array.from({ length: 5 }, () => pool.query('SELECT 1 AS one'))
    await tx.organization.delete({ where: { id: data.id } })
    return beside
  })
  const answers = await Promise.all(await counts)
  expect(answers.map(({ rows }) => rows)).toEqual(Array(5).fill([{ one: 1 }]))
})

test('large values and many parameters arrive complete', async () => {
  const text = 'ü'.repeat(3_000_000)
  const bytes = Buffer.alloc(3_000_000, 'bytes')
  const large = await pool.query('SELECT $1::text AS text, $2::bytea AS bytes', [text, bytes])
  expect(large.rows[0].text === text).toBe(true)
  expect(bytes.equals(large.rows[0].bytes)).toBe(true)
  const numbers = Array.from({ length: 30_000 }, (_, index) => index)
  const values = numbers.map((n) => `($${n + 1}::int)`).join()
  const sum = await pool.query(`SELECT sum(n)::int AS sum FROM (VALUES ${values}) AS numbers (n)`, numbers)
  expect(sum.rows).toEqual([{ sum: 449_985_000 }])
  const rows = await pool.query('SELECT n, md5(n::text) AS hash FROM generate_series(1, 100000) n')
  expect(rows.rows).toHaveLength(100_000)
})

test('a statement that is nested too deeply fails with a normal error', async () => {
  await expect(pool.query(`SELECT ${Array(40_000).fill('1').join('+')}`)).rejects.toThrow('stack depth limit exceeded')
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
})

test('a listener receives committed notifications in order, and none after it stops', async () => {
  const heard: (string | null)[] = []
  const { promise: all, resolve } = withResolvers()
  const stop = await database.listen('Some channel', (payload) => {
    heard.push(payload)
    if (payload === 'last') resolve()
  })
  await prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT pg_notify('Some channel', 'first')`
    await tx.$executeRaw`SELECT pg_notify('another', 'elsewhere')`
  })
  const undone = prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT pg_notify('Some channel', 'undone')`
    throw new Error('no')
  })
  await expect(undone).rejects.toThrow('no')
  await pool.query('SELECT 1/0').catch(() => {})
  await pool.query(`SELECT pg_notify('Some channel', 'last')`)
  await all
  await stop()
  const { promise: later, resolve: resolveLater } = withResolvers()
  const stopLater = await database.listen('later', () => resolveLater())
  await pool.query(`SELECT pg_notify('Some channel', 'unheard'), pg_notify('later', '')`)
  await later
  await stopLater()
  expect(heard).toEqual(['first', 'last'])
})

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
