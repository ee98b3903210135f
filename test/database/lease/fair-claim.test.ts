import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createFairClaim } from '../../../src/database/lease/fair-claim.ts'
import { Prisma } from '../../../src/generated/prisma/client.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'

const { prisma, pool } = await testDatabase()
await pool.query(`
  CREATE TABLE "Work" (id text PRIMARY KEY, "dueAt" timestamptz(3), "organizationId" text NOT NULL, "isOpen" boolean NOT NULL DEFAULT true);
  CREATE INDEX ON "Work" ("organizationId", "dueAt", id) WHERE "dueAt" IS NOT NULL;
  CREATE SEQUENCE reads`)
afterAll(() => pool.query('DROP TABLE "Work"; DROP SEQUENCE reads'))

beforeEach(async () => {
  await pool.query(`DELETE FROM "Work"; SELECT setval('reads', 1)`)
})

const LEASE_MS = 60_000

/** Inserts rows that became due one second after the other, from `hours` ago on. */
async function due(owner: string, count: number, hours = 1, isOpen = true): Promise<void> {
  await pool.query(
    `INSERT INTO "Work" SELECT $1 || ' ' || hours || ' ' || lpad(each::text, 7, '0'), $2::timestamptz - make_interval(hours => hours, secs => -each), $1, $3
     FROM generate_series(1, $4::int) AS each, (SELECT $5::int AS hours) AS since`,
    [owner, noon, isOpen, count, hours],
  )
}

const open = Prisma.sql`"Work"."isOpen" AND nextval('reads') > 0`

const ownerOf = (id: string) => id.slice(0, id.indexOf(' '))

/** A worker’s claims, at a time that the test moves on. */
function claims() {
  const clock = { now: noon }
  const fair = createFairClaim({ db: prisma, now: () => clock.now }, { table: 'Work', dueColumn: 'dueAt' })
  return {
    clock,
    /** Claims rows. Returns how many of each owner. */
    async claim(limit: number, full: readonly string[] = [], where = open) {
      clock.now = new Date(clock.now.getTime() + 1)
      const { taken, isMore } = await fair.claim({ where, limit, leaseMs: LEASE_MS, full })
      const counts: Record<string, number> = {}
      for (const { id } of taken) counts[ownerOf(id)] = (counts[ownerOf(id)] ?? 0) + 1
      return { taken: taken.map(({ id }) => id), counts, isMore }
    },
  }
}

/** How many rows passed to the condition since the last call. */
async function rowsRead(): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT last_value::int - 1 AS count, setval('reads', 1) FROM reads`,
  )
  return rows[0]?.count ?? 0
}

describe('an owner with very many due rows', () => {
  test('shares each claim with the others, who get theirs at once', async () => {
    await due('flood', 5000, 9)
    await due('few', 2)
    await due('some', 12)
    const { claim } = claims()
    const first = await claim(20)
    expect(first).toMatchObject({ counts: { flood: 9, few: 2, some: 9 }, isMore: true })
    expect((await claim(20)).counts).toEqual({ flood: 17, some: 3 })
    expect((await claim(20)).counts).toEqual({ flood: 20 })
  })

  test('gives its rows in order, the earliest due first', async () => {
    await due('flood', 100, 2)
    await due('flood', 100, 3)
    const { claim } = claims()
    const seen: string[] = []
    for (let round = 0; round < 4; round++) seen.push(...(await claim(50)).taken)
    const { rows } = await pool.query<{ id: string }>(
      `SELECT id FROM "Work" ORDER BY split_part(id, ' ', 2) DESC, id COLLATE "C"`,
    )
    expect(seen).toEqual(rows.map(({ id }) => id))
    expect(await claim(50)).toMatchObject({ taken: [], isMore: false })
  })

  test('costs nothing while it is full', async () => {
    await due('flood', 20_000, 9)
    await due('other', 3)
    const { claim } = claims()
    expect((await claim(20, ['flood'])).counts).toEqual({ other: 3 })
    expect(await rowsRead()).toBe(3)
  })
})

test('rows that must wait hide no others, and are read in bounded parts', async () => {
  await due('flood', 5000, 9, false)
  await due('flood', 30, 1)
  await due('other', 1)
  const { claim } = claims()
  expect((await claim(20)).counts).toEqual({ other: 1 })
  const found: string[] = []
  for (let round = 0; round < 8 && found.length < 30; round++) {
    const all = Prisma.sql`nextval('reads') > 0 AND "Work"."isOpen"`
    found.push(...(await claim(20, [], all)).taken)
    expect(await rowsRead()).toBeLessThanOrEqual(2000)
  }
  expect(found).toHaveLength(30)
  // The first ones are read again by every claim, so they are found as soon as they need not wait.
  await pool.query(`UPDATE "Work" SET "isOpen" = true WHERE id = 'flood 9 0000001'`)
  expect((await claim(20)).taken).toEqual(['flood 9 0000001'])
})

test('reads refused rows to their end, and then from the start', async () => {
  await due('flood', 4500, 9, false)
  const { claim } = claims()
  const more: boolean[] = []
  for (let round = 0; round < 5; round++) more.push((await claim(20)).isMore)
  expect(more).toEqual([true, true, true, false, true])
})

test('of more owners than a claim takes, those go first who have waited longest, also in vain', async () => {
  for (let owner = 0; owner < 10; owner++) await due(`stuck${owner}`, 1, 30 + owner, false)
  for (let owner = 0; owner < 10; owner++) await due(`free${owner}`, 2, 10 + owner)
  const { claim } = claims()
  const order: string[] = []
  for (let round = 0; round < 40; round++) order.push(...Object.keys((await claim(2)).counts))
  expect(order).toHaveLength(20)
  expect(order.slice(0, 2).sort()).toEqual(['free8', 'free9'])
})

test('visits hundreds of owners in some claims', async () => {
  for (let owner = 0; owner < 450; owner++) await due(`owner${owner}`, 1)
  const { claim } = claims()
  const seen = new Set<string>()
  for (let round = 0; round < 3; round++) for (const id of (await claim(400)).taken) seen.add(id)
  expect(seen.size).toBe(450)
  const more: boolean[] = []
  for (let round = 0; round < 3; round++) more.push((await claim(400)).isMore)
  expect(more, 'only the last claim of a pass says that nothing is left').toEqual([true, true, false])
})

test('two workers claim different rows at once', async () => {
  await due('flood', 300)
  const [one, other] = [claims(), claims()]
  const ids: string[] = []
  for (let round = 0; round < 6; round++) {
    const both = await Promise.all([one.claim(25), other.claim(25)])
    ids.push(...both.flatMap(({ taken }) => taken))
  }
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.length).toBe(300)
})
