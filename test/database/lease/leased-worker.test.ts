import { afterAll, beforeEach, expect, test } from 'vitest'
import { earliestOf } from '../../../src/database/lease/agenda.ts'
import { type Claim, createLeasedWorker } from '../../../src/database/lease/leased-worker.ts'
import { Prisma } from '../../../src/generated/prisma/client.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { silent } from '../../support/scratch.ts'

const { prisma, pool } = await testDatabase()
await pool.query('CREATE TABLE "Work" (id text PRIMARY KEY, "dueAt" timestamptz, "organizationId" text)')
afterAll(() => pool.query('DROP TABLE "Work"'))

const LEASE_MS = 60_000
const minutes = (count: number) => new Date(noon.getTime() + count * 60_000)

interface Work {
  readonly id: string
  readonly dueAt: Date
  readonly organizationId: string
}

beforeEach(async () => {
  await pool.query('DELETE FROM "Work"')
})

/** Inserts rows, each with an owner of its own, or with the given one. */
async function due(rows: Readonly<Record<string, Date | null>>, owner?: string): Promise<void> {
  for (const [id, dueAt] of Object.entries(rows))
    await pool.query('INSERT INTO "Work" VALUES ($1, $2, $3)', [id, dueAt, owner ?? `owner of ${id}`])
}

/** Inserts many rows of one owner, the longest due of all. */
const flood = (owner: string, count: number) =>
  due(Object.fromEntries(Array.from({ length: count }, (_, each) => [`${owner} ${each}`, minutes(-60)])), owner)

async function dueTimes(): Promise<Record<string, Date | null>> {
  const { rows } = await pool.query<{ id: string; dueAt: Date | null }>('SELECT id, "dueAt" FROM "Work" ORDER BY id')
  return Object.fromEntries(rows.map(({ id, dueAt }) => [id, dueAt]))
}

/** Creates a worker that polls on demand. The test starts and ends the work. */
function setUp({ maxClaimed = 40, batch = 10, beforeRead = async () => {} } = {}) {
  const clock = { now: noon }
  const accepted: Claim<Work>[] = []
  const ended: string[] = []
  const worker = createLeasedWorker<Work>({
    ctx: { db: prisma, now: () => clock.now, log: silent },
    table: 'Work',
    dueColumn: 'dueAt',
    where: () => Prisma.sql`TRUE`,
    ownerOf: ({ organizationId }) => organizationId,
    leaseMs: LEASE_MS,
    maxClaimed,
    batch,
    async read(ids) {
      await beforeRead()
      return (await pool.query<Work>('SELECT * FROM "Work" WHERE id = ANY ($1)', [ids])).rows
    },
    accept: (claims) => void accepted.push(...claims),
    earliest: earliestOf('Work'),
    onEnd: () => void ended.push('one'),
    pauses: { noRoom: 1, full: 2, partial: 3, soonest: 4, wake: 5 },
    name: { room: 'test', rows: 'work' },
  })
  /** Starts the work on an accepted row. Returns a function that ends it. */
  const begin = (id: string) => {
    let end = (_isFinished: boolean) => {}
    const result = new Promise<boolean>((resolve) => {
      end = resolve
    })
    const row = accepted.find((claim) => claim.row.id === id)?.row
    if (row) worker.run(row, () => result)
    return end
  }
  return { worker, accepted, ended, clock, begin }
}

const idsOf = (claims: readonly Claim<Work>[]) => claims.map(({ row }) => row.id)

test('claims due rows, the longest due first, up to its capacity', async () => {
  await due({ a: minutes(-1), b: minutes(-3), c: minutes(-2), later: minutes(1) })
  const { worker, accepted, begin } = setUp({ maxClaimed: 2, batch: 1 })
  expect(await worker.poll()).toBe(2)
  expect(await worker.poll()).toBe(2)
  expect(await worker.poll(), 'no room').toBe(1)
  expect(accepted.map(({ row, dueAt }) => [row.id, dueAt])).toEqual([
    ['b', minutes(-3)],
    ['c', minutes(-2)],
  ])
  begin('b')(true)
  await worker.idle()
  expect(await worker.poll()).toBe(2)
  expect(idsOf(accepted)).toEqual(['b', 'c', 'a'])
})

test('a row that is due again before its work has quite ended is worked on again at once', async () => {
  await due({ a: minutes(-1) })
  const { worker, accepted, begin } = setUp()
  await worker.poll()
  const end = begin('a')
  // The last thing that work does.
  await pool.query('UPDATE "Work" SET "dueAt" = $1', [minutes(-1)])
  await worker.poll()
  expect(idsOf(accepted), 'it is still running').toEqual(['a'])
  end(true)
  await worker.idle()
  expect(await dueTimes()).toEqual({ a: noon })
  await worker.poll()
  expect(idsOf(accepted)).toEqual(['a', 'a'])
})

/** Polls often enough to claim whatever may be claimed. */
async function pollAll(worker: { poll(): Promise<number> }): Promise<void> {
  for (let poll = 0; poll < 20; poll += 1) await worker.poll()
}

test('an owner with very many rows that never end gets at most half of the claims, and delays nobody', async () => {
  await flood('flood', 100)
  const { worker, accepted } = setUp({ maxClaimed: 40, batch: 40 })
  await pollAll(worker)
  expect(accepted.length).toBeGreaterThanOrEqual(13)
  expect(accepted.length).toBeLessThanOrEqual(20)
  await due({ late: minutes(-1), later: minutes(-1) })
  await worker.poll()
  expect(idsOf(accepted).slice(-2).sort()).toEqual(['late', 'later'])
})

test('three such owners leave room for another one', async () => {
  for (const owner of ['one', 'two', 'three']) await flood(owner, 60)
  const { worker, accepted } = setUp({ maxClaimed: 100, batch: 100 })
  await pollAll(worker)
  await due({ late: minutes(-1) })
  await worker.poll()
  expect(idsOf(accepted).at(-1)).toBe('late')
})

test('an owner that had to wait is claimed again once its rows have ended', async () => {
  await flood('flood', 30)
  const { worker, accepted } = setUp({ maxClaimed: 8, batch: 8 })
  await pollAll(worker)
  const before = accepted.length
  worker.start()
  expect(await worker.poll(), 'a saturated owner is not asked for at once').toBeGreaterThanOrEqual(3)
  for (const { row } of accepted.slice()) worker.run(row, async () => true)
  await expect.poll(() => accepted.length).toBeGreaterThan(before)
  await worker.close()
})

test('pauses until the next row is due', async () => {
  await due({ never: null, later: minutes(0.005) })
  expect(await setUp().worker.poll()).toBe(300)
})

test('does not process rows that changed after the claim', async () => {
  await due({ a: minutes(-1), b: minutes(-1) })
  const { worker, accepted } = setUp({
    beforeRead: async () => void (await pool.query(`UPDATE "Work" SET "dueAt" = now() WHERE id = 'a'`)),
  })
  expect(await worker.poll()).toBe(3)
  expect(idsOf(accepted)).toEqual(['b'])
})

test('does not accept a row again while it is running, even after its lease has expired', async () => {
  await due({ a: minutes(-1) })
  const { worker, accepted, clock, begin } = setUp()
  await worker.poll()
  const end = begin('a')
  clock.now = minutes(2)
  await worker.poll()
  expect(idsOf(accepted)).toEqual(['a'])
  end(true)
  await worker.idle()
})

test('does not release a row whose work fails: its lease expires', async () => {
  await due({ a: minutes(-1) })
  const { worker, accepted, ended } = setUp()
  await worker.poll()
  const [claim] = accepted
  if (claim) worker.run(claim.row, () => Promise.reject(new Error('broken')))
  await worker.idle()
  expect([worker.running, ended]).toEqual([0, ['one']])
  await worker.close()
  expect(await dueTimes()).toEqual({ a: new Date(noon.getTime() + LEASE_MS) })
})

test('releases unstarted and unfinished work on close, and waits for the rest', async () => {
  await due({ finished: minutes(-1), stopped: minutes(-1), waiting: minutes(-1) })
  const { worker, begin } = setUp()
  await worker.poll()
  const [finish, stop] = [begin('finished'), begin('stopped')]
  let isClosed = false
  const closed = worker.close().then(() => {
    isClosed = true
  })
  expect(worker.isClosing).toBe(true)
  finish(true)
  while ((await dueTimes())['waiting']?.getTime() !== noon.getTime());
  expect(isClosed).toBe(false)
  stop(false)
  await closed
  const leased = new Date(noon.getTime() + LEASE_MS)
  expect(await dueTimes()).toEqual({ finished: leased, stopped: noon, waiting: noon })
})
