import type pg from 'pg'
import { expect, test } from 'vitest'
import { claimWatches } from '../../../src/monitoring/watch/due-watch.ts'
import { ANYWHERE } from '../../../src/monitoring/watch/live-region.ts'
import { tenantsOf } from '../../status/setup.ts'
import { testDatabase } from '../../support/database.ts'
import { type Plan, planOf, rowsOf } from '../../support/plan.ts'
import { watchingIn } from '../workers.ts'

const database = await testDatabase()
const { prisma, pool } = database
const tenant = tenantsOf(prisma)
const watching = watchingIn(database)
const { at } = watching

/** Explains a statement instead of running it. */
function explaining(plans: Plan[]): Pick<pg.Pool, 'query'> {
  const query = async ({ text, values }: pg.QueryConfig) => {
    plans.push(...(await planOf(pool, text, values)))
    return { rows: [] }
  }
  return { query: query as unknown as pg.Pool['query'] }
}

test('a claim takes the most overdue watches of its regions, and reads no more of a backlog than it may take', async () => {
  const acme = await tenant('TEAM')
  await watching.monitors(acme.id, 3000)
  const [anywhere] = await watching.monitors(acme.id, 1)
  await prisma.watch.update({ where: { id: anywhere ?? '' }, data: { region: ANYWHERE, dueAt: at(-10) } })
  const [elsewhere] = await watching.monitors(acme.id, 1)
  await prisma.watch.update({ where: { id: elsewhere ?? '' }, data: { region: 'mars', dueAt: at(-20) } })
  await pool.query('ANALYZE "Watch", "Monitor"')
  const until = at(40)
  const parts = { table: 'Watch', dueColumn: 'dueAt', partColumn: 'region', parts: ['local', ANYWHERE] }
  const claim = { ...parts, limit: 50, now: at(1), until }
  const plans: Plan[] = []
  await claimWatches(explaining(plans), claim)
  const reads = plans.filter((node) => node['Index Name'] === 'Watch_region_dueAt_idx' || node['Node Type'] === 'Sort')
  expect(reads.length).toBeGreaterThan(1)
  expect(Math.max(...reads.map(rowsOf))).toBeLessThanOrEqual(2 * 50)
  const taken = await claimWatches(pool, claim)
  expect(taken).toHaveLength(50)
  expect(taken.find(({ row }) => row.id === anywhere)).toMatchObject({ dueAt: at(-10), row: { dueAt: until } })
  expect(await prisma.watch.count({ where: { dueAt: until } })).toBe(50)
  const rest = await claimWatches(pool, claim)
  expect(new Set([...taken, ...rest].map(({ row }) => row.id)).size).toBe(100)
})
