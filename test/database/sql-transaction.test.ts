import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import type { SqlContext } from '../../src/core/context.ts'
import { newId } from '../../src/core/id.ts'
import { plainRows, sqlTransaction } from '../../src/database/sql-transaction.ts'
import { Prisma } from '../../src/generated/prisma/client.ts'
import { testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const { prisma } = await testDatabase()
const ctx = testContext(prisma)
afterEach(() => vi.restoreAllMocks())

const insert = (id: string) => Prisma.sql`
  INSERT INTO "IdempotencyKey" (id, hash, answer, "createdAt") VALUES (${id}, 'hash', '{}', ${new Date()})`
const isKept = async (id: string) => (await prisma.idempotencyKey.count({ where: { id } })) === 1
const send = (db: SqlContext['db'], statement: Prisma.Sql) => db.$sendRaw?.(statement)

test('a statement that is not awaited is part of the transaction', async () => {
  const id = newId('Incident')
  await sqlTransaction(ctx, async ({ db }) => send(db, insert(id)))
  expect(await isKept(id)).toBe(true)
})

test('a statement that is not awaited fails the transaction with its error', async () => {
  const [id, other] = [newId('Incident'), newId('Incident')]
  const failing = sqlTransaction(ctx, async ({ db }) => {
    await db.$queryRaw(insert(id))
    send(db, insert(id))
    await db.$queryRaw(insert(other))
  })
  await expect(failing).rejects.toMatchObject({ code: '23505' })
  expect([await isKept(id), await isKept(other)]).toEqual([false, false])
  await sqlTransaction(ctx, ({ db }) => db.$queryRaw(insert(other)))
  expect(await isKept(other)).toBe(true)
})

test('a transaction that does not begin writes nothing', async () => {
  const id = newId('Incident')
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: unknown, statement: unknown) {
    const isBegin = (statement as { text?: string }).text === 'BEGIN'
    return query.call(this, isBegin ? { text: 'NO SUCH STATEMENT' } : statement) as never
  })
  const claim = { begin: (db: SqlContext['db']) => db.$queryRaw<void>(insert(id)), end: async () => {} }
  await expect(sqlTransaction({ ...ctx, claim }, async () => null)).rejects.toMatchObject({ code: '42601' })
  vi.restoreAllMocks()
  expect(await isKept(id)).toBe(false)
})

test('prepared statements return the current columns of a table', async () => {
  const all = Prisma.sql`SELECT * FROM "IdempotencyKey" LIMIT 1`
  const names = async () => Object.keys((await plainRows<object>(prisma, all))[0] ?? {})
  const inTransaction = () => sqlTransaction(ctx, ({ db }) => db.$queryRaw<object[]>(all))
  await sqlTransaction(ctx, ({ db }) => db.$queryRaw(insert(newId('Incident'))))
  expect(await names()).not.toContain('extra')
  await inTransaction()
  await prisma.$executeRaw`ALTER TABLE "IdempotencyKey" ADD COLUMN extra int`
  const [row] = await inTransaction()
  expect(row).toHaveProperty('extra')
  expect(await names()).toContain('extra')
  await prisma.$executeRaw`ALTER TABLE "IdempotencyKey" DROP COLUMN extra`
  expect(await names()).not.toContain('extra')
})
