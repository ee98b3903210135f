// @slow
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { currentOwner, OURS, onBehalfOf, renameOwner } from '../../../src/core/concurrency/owner.ts'
import { type DatabaseHandle, openDatabase } from '../../../src/database/client.ts'
import { copyDataDir, serverUrl } from '../../support/database.ts'
import { silent, temporaryDirectory } from '../../support/scratch.ts'

async function withDatabase(work: (database: DatabaseHandle) => Promise<void>): Promise<void> {
  const { path, remove } = await temporaryDirectory()
  const dataDir = join(path, 'data')
  copyDataDir(inject('databaseTemplate'), dataDir)
  const database = await openDatabase({ dataDir, databaseUrl: undefined, log: silent })
  try {
    await work(database)
  } finally {
    await database.close()
    await remove()
  }
}

describe.skipIf(serverUrl !== undefined)('statements beside an owner with very many', () => {
  test('wait for one of them each', async () => {
    const order: string[] = []
    await withDatabase(async ({ pool }) => {
      const as = (owner: string, count: number) =>
        onBehalfOf(
          () => owner,
          () => Array.from({ length: count }, () => pool.query('SELECT 1').then(() => order.push(owner))),
        )
      await Promise.all([...as('much', 1000), ...as('little', 3), ...as('other', 3)])
    })
    expect(order).toHaveLength(1006)
    expect(order.lastIndexOf('little')).toBeLessThan(12)
    expect(order.lastIndexOf('other')).toBeLessThan(12)
  })

  test('wait for one of its transactions each', async () => {
    const order: string[] = []
    await withDatabase(async ({ prisma, pool }) => {
      const much = onBehalfOf(
        () => 'much',
        () =>
          Array.from({ length: 50 }, () =>
            prisma.$transaction(async (tx) => {
              await tx.$queryRaw`SELECT 1`
              await tx.$queryRaw`SELECT 2`
              order.push('much')
            }),
          ),
      )
      const little = onBehalfOf(
        () => 'little',
        () => pool.query('SELECT 1').then(() => order.push('little')),
      )
      await Promise.all([...much, little])
    })
    expect(order.indexOf('little')).toBeLessThan(4)
  })

  test('that fail or lose the connection leave it to the next', async () => {
    await withDatabase(async ({ pool }) => {
      const ended = Array.from({ length: 20 }, (_, n) =>
        onBehalfOf(
          () => `owner ${n % 3}`,
          () =>
            pool.query(n % 2 === 0 ? 'SELECT 1 / 0' : 'SELECT 1').then(
              () => 'ok',
              () => 'failed',
            ),
        ),
      )
      const client = await pool.connect()
      const waiting = pool.query('SELECT 2 AS two')
      client.release(new Error('broken'))
      expect((await waiting).rows).toEqual([{ two: 2 }])
      expect(new Set(await Promise.all(ended))).toEqual(new Set(['ok', 'failed']))
    })
  })
})

test.skipIf(serverUrl !== undefined)('an owner is renamed for what follows, and our own work has none', async () => {
  await withDatabase(async () => {})
  expect(currentOwner()).toBe(OURS)
  renameOwner('nobody')
  expect(currentOwner()).toBe(OURS)
  await onBehalfOf(
    () => '192.0.2.1',
    async () => {
      const begun = currentOwner()
      renameOwner('org_1')
      await new Promise(setImmediate)
      expect([begun, currentOwner()]).toEqual(['192.0.2.1', 'org_1'])
      expect(onBehalfOf(() => OURS, currentOwner)).toBe(OURS)
    },
  )
})
