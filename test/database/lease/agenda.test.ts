import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createAgenda, dueIfAny, earliestOf } from '../../../src/database/lease/agenda.ts'
import { Prisma } from '../../../src/generated/prisma/client.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { silent } from '../../support/scratch.ts'

const { pool } = await testDatabase()
await pool.query('CREATE TABLE "Due" ("dueAt" timestamptz)')
afterAll(() => pool.query('DROP TABLE "Due"'))

const inMs = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const agendas: { stop(): Promise<void> }[] = []

function newAgenda(periodMs: number) {
  const agenda = createAgenda({ pool, now: () => noon, log: silent, periodMs })
  agendas.push(agenda)
  return agenda
}

beforeEach(async () => {
  await pool.query('DELETE FROM "Due"')
})
afterEach(async () => {
  for (const agenda of agendas.splice(0)) await agenda.stop()
  vi.restoreAllMocks()
})

test('polls with one statement, and wakes only the workers with work that is due before the next poll', async () => {
  await pool.query('INSERT INTO "Due" VALUES ($1), ($2)', [inMs(0), inMs(1e9)])
  const query = vi.spyOn(pool, 'query')
  const agenda = newAgenda(1e6)
  const woken: string[] = []
  agenda.add(earliestOf('Due'), () => woken.push('due'))
  agenda.add(earliestOf('Due', Prisma.sql`"dueAt" > ${inMs(1)}`), () => woken.push('later'))
  agenda.add(dueIfAny(Prisma.sql`SELECT FROM "Due"`), () => woken.push('any'))
  agenda.add(dueIfAny(Prisma.sql`SELECT FROM "Due" WHERE "dueAt" IS NULL`), () => woken.push('none'))
  agenda.start()
  await expect.poll(() => woken.toSorted()).toEqual(['any', 'due'])
  expect(query).toHaveBeenCalledTimes(1)
})

test('finds work that becomes due without a notification', async () => {
  const agenda = newAgenda(20)
  let wakes = 0
  const forget = agenda.add(earliestOf('Due'), () => wakes++)
  agenda.start()
  await pool.query('INSERT INTO "Due" VALUES ($1)', [inMs(-1)])
  await expect.poll(() => wakes).toBeGreaterThan(0)
  forget()
})
