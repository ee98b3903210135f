import pino from 'pino'
import { describe, expect, test } from 'vitest'
import type { Context } from '../../../src/core/context.ts'
import { HOUR, SECOND } from '../../../src/core/time.ts'
import { claimDue } from '../../../src/database/lease/lease.ts'
import { scheduleMaintenance, updateMaintenance } from '../../../src/status/maintenance/maintenance.ts'
import { runDueMaintenance } from '../../../src/status/maintenance/maintenance-job.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { tenantsOf } from '../setup.ts'

const { prisma, pool } = await testDatabase()
const tenant = tenantsOf(prisma)

const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
/** Runs a worker's job, so many milliseconds after noon. */
const runJob = (milliseconds: number) => runDueMaintenance(worker(milliseconds))
const worker = (milliseconds: number): Context => testContext(prisma, { now: () => at(milliseconds) })
const found = (id: string) => prisma.maintenance.findUniqueOrThrow({ where: { id } })

/** A tenant with this many maintenances, planned from one to two o'clock. */
async function withMaintenance(count = 1) {
  await prisma.maintenance.deleteMany()
  const acme = await tenant()
  const ids: string[] = []
  for (let number = 1; number <= count; number++) {
    const times = { startsAt: at(HOUR), endsAt: at(2 * HOUR) }
    ids.push((await scheduleMaintenance(acme.ctx, { title: `${number}`, message: 'We work.', ...times })).id)
  }
  return { ...acme, ids, id: ids[0] ?? '', news: async () => (await acme.news()).slice(count) }
}

describe('a run of the maintenance job', () => {
  test('starts and ends maintenance on time as the system and returns the next due time', async () => {
    const { id, news, events } = await withMaintenance()
    expect(await runJob(HOUR - 1)).toEqual(at(HOUR))
    expect(await news()).toEqual([])
    expect(await runJob(HOUR)).toEqual(at(2 * HOUR))
    expect(await found(id)).toMatchObject({
      status: 'IN_PROGRESS',
      startsAt: at(HOUR),
      dueAt: at(2 * HOUR),
      version: 2,
    })
    expect(await runJob(2 * HOUR)).toBeNull()
    expect(await found(id)).toMatchObject({ status: 'COMPLETED', endsAt: at(2 * HOUR), dueAt: null, version: 3 })
    expect(await runJob(3 * HOUR)).toBeNull()
    expect(await news()).toEqual(['MAINTENANCE_STARTED 1', 'MAINTENANCE_COMPLETED 1'])
    expect((await events()).at(-1)).toMatchObject({ actorKind: 'SYSTEM', actorKeyId: null, at: at(2 * HOUR) })
    const updates = await prisma.maintenanceUpdate.findMany({
      where: { maintenanceId: id },
      orderBy: { createdAt: 'asc' },
    })
    expect(updates.map(({ status, message }) => [status, message])).toEqual([
      ['SCHEDULED', 'We work.'],
      ['IN_PROGRESS', ''],
      ['COMPLETED', ''],
    ])
  })

  test('keeps the planned times when late and makes both transitions if both are due', async () => {
    const { id, news } = await withMaintenance()
    await runJob(5 * HOUR)
    expect(await found(id)).toMatchObject({
      status: 'COMPLETED',
      startsAt: at(HOUR),
      endsAt: at(2 * HOUR),
      dueAt: null,
    })
    expect(await news()).toEqual(['MAINTENANCE_STARTED 1', 'MAINTENANCE_COMPLETED 1'])
  })

  test('ends a maintenance that is being verified', async () => {
    const { ctx, id, news } = await withMaintenance()
    await updateMaintenance(ctx, { id, status: 'IN_PROGRESS' })
    await updateMaintenance(ctx, { id, status: 'VERIFYING' })
    await runJob(2 * HOUR)
    expect((await news()).at(-1)).toBe('MAINTENANCE_COMPLETED 1')
  })

  test('returns null when nothing is scheduled', async () => {
    await prisma.maintenance.deleteMany()
    expect(await runJob(0)).toBeNull()
  })
})

describe('several workers', () => {
  test('start and end each maintenance once', async () => {
    const { ids, news } = await withMaintenance(12)
    for (const time of [HOUR, 2 * HOUR]) await Promise.all(Array.from({ length: 4 }, () => runJob(time)))
    const reported = await news()
    expect(reported).toHaveLength(2 * ids.length)
    expect(new Set(reported).size).toBe(2 * ids.length)
  })

  test('and an owner who starts it concurrently start it once', async () => {
    for (let attempt = 0; attempt < 6; attempt++) {
      const { id, later, news } = await withMaintenance()
      const byHand = updateMaintenance(later(HOUR), { id, status: 'IN_PROGRESS' })
      await Promise.allSettled([runJob(HOUR), byHand, runJob(HOUR)])
      expect(await news()).toEqual(['MAINTENANCE_STARTED 1'])
      expect(await found(id)).toMatchObject({ status: 'IN_PROGRESS', dueAt: at(2 * HOUR) })
    }
  })

  test('take over from a dead worker after its lease', async () => {
    const { news } = await withMaintenance()
    await claimDue(worker(HOUR), { table: 'Maintenance', dueColumn: 'dueAt', limit: 50, leaseMs: 15 * SECOND })
    expect(await runJob(HOUR + 15 * SECOND - 1)).toEqual(at(HOUR + 15 * SECOND))
    expect(await news()).toEqual([])
    await runJob(HOUR + 15 * SECOND)
    expect(await news()).toEqual(['MAINTENANCE_STARTED 1'])
  })

  test('do not start a maintenance that was rescheduled while claimed', async () => {
    const { ctx, id, news } = await withMaintenance()
    await claimDue(worker(HOUR), { table: 'Maintenance', dueColumn: 'dueAt', limit: 50, leaseMs: 15 * SECOND })
    await updateMaintenance(ctx, { id, startsAt: at(3 * HOUR), endsAt: at(4 * HOUR) })
    expect(await runJob(2 * HOUR)).toEqual(at(3 * HOUR))
    expect(await news()).toEqual(['MAINTENANCE_RESCHEDULED 1'])
  })
})

test('a failing maintenance changes nothing, delays no other and is retried', async () => {
  const { ids, news } = await withMaintenance(3)
  await pool.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF NEW."subjectId" = '${ids[0]}' THEN RAISE 'refused'; END IF; RETURN NEW; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON "Event" FOR EACH ROW EXECUTE FUNCTION refuse()`)
  const errors: unknown[] = []
  const log = pino({ level: 'error' }, { write: (line) => errors.push(JSON.parse(line)) })
  await runDueMaintenance({ ...worker(HOUR), log })
  await pool.query('DROP TRIGGER refuse ON "Event"; DROP FUNCTION refuse')
  expect(errors).toMatchObject([{ maintenance: ids[0], err: { message: expect.stringContaining('refused') } }])
  // All were due at the same time, so they can run in any order.
  expect((await news()).sort()).toEqual(['MAINTENANCE_STARTED 2', 'MAINTENANCE_STARTED 3'])
  expect(await found(ids[0] ?? '')).toMatchObject({ status: 'SCHEDULED', version: 1 })
  await runJob(HOUR + 15 * SECOND)
  expect((await news()).at(-1)).toBe('MAINTENANCE_STARTED 1')
})
