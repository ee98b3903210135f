// @slow
import { describe, expect, test } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { type BorrowedDatabase, borrowDatabase, tablesOf } from './database.ts'

const organization = (id = newId('Organization')) => ({
  id,
  slug: id.slice(4),
  name: 'Acme',
  contactEmail: 'ops@example.com',
  createdAt: new Date('2026-07-01T12:00:00Z'),
})

/** Returns the number of rows of each table that is not empty. */
async function rowsIn({ database: { pool } }: BorrowedDatabase): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of await tablesOf(pool)) {
    const { rows } = await pool.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`)
    if (rows[0]?.count !== 0) counts[table] = rows[0]?.count ?? 0
  }
  return counts
}

const relations = async ({ database: { pool } }: BorrowedDatabase) =>
  (await pool.query(`SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1`)).rows

describe('a borrowed database', () => {
  test('is released without the rows of its borrower', async () => {
    const first = await borrowDatabase()
    const { prisma, pool } = first.database
    const { id: organizationId } = await prisma.organization.create({ data: organization() })
    const service = { id: newId('Service'), organizationId, name: 'API', createdAt: new Date(), position: 0 }
    await prisma.service.create({ data: service })
    await first.release()

    const second = await borrowDatabase()
    expect(second.database.pool).toBe(pool)
    expect(await rowsIn(second)).toEqual({})
    await second.release()
  })

  test.each([
    ['a table', 'CREATE TABLE left_behind ()'],
    ['a rule', 'ALTER TABLE "Organization" ADD CONSTRAINT left_behind CHECK (name <> $$left$$)'],
    ['a function', 'CREATE FUNCTION left_behind() RETURNS int LANGUAGE sql AS $$SELECT 1$$'],
  ])('is not reused with %s that its borrower has created', async (_, sql) => {
    const first = await borrowDatabase()
    const before = await relations(first)
    await first.database.pool.query(sql)
    await first.release()

    const second = await borrowDatabase()
    expect(second.database.pool).not.toBe(first.database.pool)
    expect(await relations(second)).toEqual(before)
    await second.release()
  })

  test('is not reused when closed, nor while its borrower listens', async () => {
    const closed = await borrowDatabase()
    await closed.database.close()
    await closed.release()
    const listening = await borrowDatabase()
    expect(listening.database.pool).not.toBe(closed.database.pool)
    await listening.database.listen('news', () => {})
    await listening.release()
    const third = await borrowDatabase()
    expect(third.database.pool).not.toBe(listening.database.pool)
    expect(await third.database.prisma.organization.count()).toBe(0)
    await third.release()
  })

  test('has one user until it is released', async () => {
    const [one, other] = await Promise.all([borrowDatabase(), borrowDatabase()])
    await one.database.prisma.organization.create({ data: organization() })
    expect(await other.database.prisma.organization.count()).toBe(0)
    await Promise.all([one.release(), other.release()])
  })
})
