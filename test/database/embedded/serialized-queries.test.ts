import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { randomText } from '../../../src/core/id.ts'
import { serializeQueries } from '../../../src/database/embedded/serialized-queries.ts'
import { tenantsOf } from '../../status/setup.ts'
import { testDatabase } from '../../support/database.ts'

const { prisma, pool } = await testDatabase()
const acme = await tenantsOf(prisma)()
afterEach(() => vi.restoreAllMocks())

/** Returns the maximum number of statements that a client had in progress at the same time. */
function overlapping(): () => number {
  const underWay = new Map<unknown, number>()
  let most = 0
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  const count = (client: unknown, by: number) => {
    underWay.set(client, (underWay.get(client) ?? 0) + by)
    most = Math.max(most, underWay.get(client) ?? 0)
  }
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: unknown, ...args: unknown[]) {
    const result = query.apply(this, args)
    if (!(result instanceof Promise)) return result as never
    count(this, 1)
    return result.finally(() => count(this, -1)) as never
  })
  return () => most
}

test('concurrent reads of relations in a transaction run one after the other', async () => {
  const include = { services: true, incidents: true, maintenances: true, monitors: true, apiKeys: true }
  const [found, most] = await prisma.$transaction(async (tx) => {
    // `BEGIN` is sent with the first statement.
    await tx.$queryRaw`SELECT 1`
    const counted = overlapping()
    return [await tx.organization.findUnique({ where: { id: acme.id }, include }), counted]
  })
  expect(found).toMatchObject({ id: acme.id, services: [], incidents: [] })
  expect(most()).toBe(1)
})

test('a failed statement rejects for its caller, and the next one runs', async () => {
  const client = await serializeQueries(pool).connect()
  const answers = [{ text: 'SELECT 1 / 0' }, { text: 'SELECT 7 AS seven' }].map((statement) => client.query(statement))
  await expect(answers[0]).rejects.toThrow('division by zero')
  expect(await answers[1]).toMatchObject({ rows: [{ seven: 7 }] })
  client.release()
})

test('a connection is reset after its transaction', async () => {
  await prisma.$transaction((tx) => tx.organization.count())
  const client = await pool.connect()
  try {
    expect(Object.hasOwn(client, 'query')).toBe(false)
    const name = randomText(5)
    await new Promise<void>((resolve, reject) =>
      client.query(`SELECT $1 AS name`, [name], (error, { rows }) => {
        expect(rows).toEqual([{ name }])
        return error ? reject(error) : resolve()
      }),
    )
  } finally {
    client.release()
  }
})
