import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import type { Database } from '../../src/core/context.ts'
import { transaction } from '../../src/core/context.ts'
import { newId } from '../../src/core/id.ts'
import { plainRows } from '../../src/database/transaction.ts'
import { Prisma } from '../../src/generated/prisma/client.ts'
import { testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const { prisma } = await testDatabase()
const ctx = testContext(prisma)
afterEach(() => vi.restoreAllMocks())

const insert = (id: string) => Prisma.sql`
  INSERT INTO "IdempotencyKey" (id, hash, answer, "createdAt") VALUES (${id}, 'hash', '{}', ${new Date()})`
const isKept = async (id: string) => (await prisma.idempotencyKey.count({ where: { id } })) === 1
const send = (db: Database, statement: Prisma.Sql) => db.$sendRaw?.(statement)

test('a statement that is not awaited is part of the transaction', async () => {
  const id = newId('Incident')
  await transaction(ctx, async ({ db }) => send(db, insert(id)))
  expect(await isKept(id)).toBe(true)
})

test('a statement that is not awaited fails the transaction with its error', async () => {
  const [id, other] = [newId('Incident'), newId('Incident')]
  const failing = transaction(ctx, async ({ db }) => {
    await db.$queryRaw(insert(id))
    send(db, insert(id))
    await db.$queryRaw(insert(other))
  })
  await expect(failing).rejects.toMatchObject({ code: '23505' })
  expect([await isKept(id), await isKept(other)]).toEqual([false, false])
  await transaction(ctx, ({ db }) => db.$queryRaw(insert(other)))
  expect(await isKept(other)).toBe(true)
})

test('a transaction that does not begin writes nothing', async () => {
  const id = newId('Incident')
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: unknown, statement: unknown) {
    const isBegin = (statement as { text?: string }).text === 'BEGIN'
    return query.call(this, isBegin ? { text: 'NO SUCH STATEMENT' } : statement) as never
  })
  const claim = { begin: (db: Database) => db.$queryRaw<void>(insert(id)), end: async () => {} }
  await expect(transaction({ ...ctx, claim }, async () => null)).rejects.toMatchObject({ code: '42601' })
  vi.restoreAllMocks()
  expect(await isKept(id)).toBe(false)
})

test('the error of a connection that ends at the beginning is that of the transaction, and of nothing else', async () => {
  const ended = Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' })
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(() => Promise.reject(ended) as never)
  const unhandled = vi.fn()
  process.once('unhandledRejection', unhandled)
  await expect(transaction(ctx, async () => null)).rejects.toThrow()
  await expect(transaction(ctx, ({ db }) => db.idempotencyKey.count())).rejects.toThrow()
  await new Promise(setImmediate)
  process.off('unhandledRejection', unhandled)
  expect(unhandled).not.toHaveBeenCalled()
})

test('prepared statements return the current columns of a table', async () => {
  const all = Prisma.sql`SELECT * FROM "IdempotencyKey" LIMIT 1`
  const names = async () => Object.keys((await plainRows<object>(prisma, all))[0] ?? {})
  const inTransaction = () => transaction(ctx, ({ db }) => db.$queryRaw<object[]>(all))
  await transaction(ctx, ({ db }) => db.$queryRaw(insert(newId('Incident'))))
  expect(await names()).not.toContain('extra')
  await inTransaction()
  await prisma.$executeRaw`ALTER TABLE "IdempotencyKey" ADD COLUMN extra int`
  const [row] = await inTransaction()
  expect(row).toHaveProperty('extra')
  expect(await names()).toContain('extra')
  await prisma.$executeRaw`ALTER TABLE "IdempotencyKey" DROP COLUMN extra`
  expect(await names()).not.toContain('extra')
})

test('models and plain SQL share a transaction, in the order in which they are called', async () => {
  const id = newId('Incident')
  const seen = await transaction(ctx, async ({ db }) => {
    send(db, insert(id))
    const found = await db.idempotencyKey.findUnique({ where: { id } })
    await db.idempotencyKey.update({ where: { id }, data: { hash: 'other' } })
    const [row] = await db.$queryRaw<{ hash: string }[]>`SELECT hash FROM "IdempotencyKey" WHERE id = ${id}`
    return [found?.hash, row?.hash]
  })
  expect(seen).toEqual(['hash', 'other'])
})

test('a transaction goes on after it has rolled back to a savepoint', async () => {
  const [id, other] = [newId('Incident'), newId('Incident')]
  await transaction(ctx, async ({ db }) => {
    await db.$executeRaw(insert(id))
    await db.$executeRaw`SAVEPOINT item`
    await expect(db.$executeRaw(insert(id))).rejects.toMatchObject({ code: '23505' })
    await db.$executeRaw`ROLLBACK TO SAVEPOINT item`
    await db.idempotencyKey.create({ data: { id: other, hash: '', answer: {}, createdAt: new Date() } })
  })
  expect([await isKept(id), await isKept(other)]).toEqual([true, true])
})

test('work that goes on after the end of its transaction writes nothing', async () => {
  const [id, other] = [newId('Incident'), newId('Incident')]
  let late: Database | undefined
  const failing = transaction(ctx, async ({ db }) => {
    late = db
    await db.idempotencyKey.count()
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  await expect(late?.$executeRaw(insert(id))).rejects.toThrow('has ended')
  await expect(
    late?.idempotencyKey.create({ data: { id: other, hash: '', answer: {}, createdAt: new Date() } }),
  ).rejects.toThrow()
  expect([await isKept(id), await isKept(other)]).toEqual([false, false])
})

test('plain SQL returns the same values in a transaction as outside', async () => {
  const at = new Date('2026-02-03T23:30:00.123Z')
  const read = (db: Database) => db.$queryRaw`
    SELECT ${at}::timestamptz AS at, ${[at]}::timestamptz[] AS times, ${at}::date AS day, 5::int8 AS large, 5::int4 AS small,
      1.50::numeric AS exact, 0.5::float8 AS float, '{"a": [1]}'::jsonb AS json, ${['a', null]}::text[] AS texts,
      ARRAY[7]::int8[] AS numbers, ARRAY['2026-02-03']::date[] AS days, ARRAY[0.1]::numeric[] AS fractions, NULL AS nothing,
      ${'\\x00ff'}::bytea = '\\x00ff'::bytea AS same, true AS yes`
  const { TZ } = process.env
  try {
    process.env['TZ'] = 'America/New_York'
    expect(await transaction(ctx, ({ db }) => read(db))).toEqual(await read(prisma))
  } finally {
    if (TZ === undefined) Reflect.deleteProperty(process.env, 'TZ')
    else process.env['TZ'] = TZ
  }
})
