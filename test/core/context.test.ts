import { describe, expect, test } from 'vitest'
import type { Context } from '../../src/core/context.ts'
import { afterTransaction, transaction } from '../../src/core/context.ts'
import { testContext } from '../support/context.ts'
import { serverUrl, testDatabase } from '../support/database.ts'

const database = await testDatabase()
const ctx = testContext(database.prisma)

describe('a transaction', () => {
  // The embedded database serves one connection, so transactions cannot wait for each other.
  test.runIf(serverUrl !== undefined)('runs again after a deadlock', async () => {
    await Promise.all(['one', 'other'].map((id) => insertRegion(ctx, id)))
    let runs = 0
    let meeting = 2
    let meet = () => {}
    const met = new Promise<void>((resolve) => {
      meet = resolve
    })
    const touchBoth = (first: string, second: string) =>
      transaction(ctx, async (tx) => {
        runs += 1
        await touch(tx, first)
        meeting -= 1
        if (meeting === 0) meet()
        await met
        await touch(tx, second)
      })
    await Promise.all([touchBoth('one', 'other'), touchBoth('other', 'one')])
    expect(runs).toBe(3)
  })

  test('rolls back and does not run again after another error', async () => {
    let runs = 0
    const failing = transaction(ctx, async (tx) => {
      runs += 1
      await insertRegion(tx, 'gone')
      throw new Error('It is wrong.')
    })
    await expect(failing).rejects.toThrow('It is wrong.')
    expect(runs).toBe(1)
    expect(await ctx.db.region.count({ where: { name: 'gone' } })).toBe(0)
  })

  test('joins the caller’s open transaction', async () => {
    const failing = transaction(ctx, async (tx) => {
      await transaction(tx, (inner) => insertRegion(inner, 'inner'))
      throw new Error('The outer one failed.')
    })
    await expect(failing).rejects.toThrow('The outer one failed.')
    expect(await ctx.db.region.count({ where: { name: 'inner' } })).toBe(0)
  })

  test('calls what waits for its end once the outermost one has ended, also if it fails', async () => {
    const seen: number[] = []
    const count = () => ctx.db.region.count({ where: { name: { startsWith: 'after' } } })
    const finish = () => void seen.push(seen.length)
    afterTransaction(ctx, finish)
    expect(seen).toHaveLength(1)
    await transaction(ctx, async (tx) => {
      await transaction(tx, async (inner) => {
        afterTransaction(inner, finish)
        await insertRegion(inner, 'after')
      })
      expect(seen).toHaveLength(1)
    })
    expect([seen.length, await count()]).toEqual([2, 1])
    const failing = transaction(ctx, async (tx) => {
      afterTransaction(tx, finish)
      throw new Error('It is wrong.')
    })
    await expect(failing).rejects.toThrow('It is wrong.')
    expect(seen).toHaveLength(3)
  })
})

const insertRegion = ({ db, now }: Context, name: string) => db.region.create({ data: { name, lastSeenAt: now() } })
const touch = ({ db, now }: Context, name: string) => db.region.update({ where: { name }, data: { lastSeenAt: now() } })
