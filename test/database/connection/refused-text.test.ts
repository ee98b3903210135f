import { describe, expect, test } from 'vitest'
import { Invalid, NotFound } from '../../../src/core/errors.ts'
import { refusedText } from '../../../src/database/connection/refused-text.ts'
import { testDatabase } from '../../support/database.ts'

const { prisma, pool } = await testDatabase()

/** Returns the error of a statement. @throws when it succeeds. */
async function failure(statement: Promise<unknown>): Promise<unknown> {
  const [result] = await Promise.allSettled([statement])
  if (result.status === 'rejected') return result.reason
  throw new Error('The statement has not failed.')
}

describe('a text that the database refuses', () => {
  test.each([
    ['NUL', () => pool.query('SELECT $1::text', ['a\0'])],
    ['NUL through the ORM', () => prisma.organization.findFirst({ where: { slug: 'a\0' } })],
    ['NUL in a list', () => prisma.organization.findMany({ where: { slug: { in: ['a', 'b\0'] } } })],
    ['NUL in plain SQL', () => prisma.$queryRaw`SELECT ${'a\0'}::text`],
    ['NUL in a transaction', () => prisma.$transaction((tx) => tx.organization.count({ where: { name: '\0' } }))],
    ['NUL in JSON', () => pool.query('SELECT $1::jsonb', [JSON.stringify({ a: '\0' })])],
    ['NUL in JSON through the ORM', () => prisma.$queryRaw`SELECT ${JSON.stringify(['\0'])}::jsonb`],
    ['half of a pair in JSON', () => pool.query('SELECT $1::jsonb', [JSON.stringify({ a: '\ud83d' })])],
    ['the other half', () => prisma.$queryRaw`SELECT ${JSON.stringify(['\udca5'])}::jsonb`],
  ])('%s is a mistake of the caller', async (_, run) => {
    expect(refusedText(await failure(run()))).toBeInstanceOf(Invalid)
  })

  test('is nothing else', async () => {
    const others = [
      await failure(pool.query('SELECT 1 / 0')),
      await failure(prisma.$queryRaw`SELECT 'x'::int`),
      new NotFound('Nothing.'),
      'a text',
      null,
    ]
    expect(others.map(refusedText)).toEqual(others.map(() => null))
  })
})
