// @slow
import { describe, expect, test } from 'vitest'
import type { Context } from '../../../src/core/context.ts'
import { DAY, HOUR, MINUTE } from '../../../src/core/time.ts'
import { cancelMaintenance, deleteMaintenance, updateMaintenance } from '../../../src/status/maintenance/maintenance.ts'
import { runDueMaintenance } from '../../../src/status/maintenance/maintenance-job.ts'
import {
  advanceSeries,
  createMaintenanceSeries,
  deleteMaintenanceSeries,
  endMaintenanceSeries,
  ruleWithEnd,
  runDueSeries,
  updateMaintenanceSeries,
} from '../../../src/status/maintenance/maintenance-series.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import type { Tenant } from '../setup.ts'
import { tenantsOf } from '../setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const worker = (milliseconds: number): Context => testContext(prisma, { now: () => at(milliseconds) })
/** A series each Sunday at 02:00 in Berlin, beginning on 22 November 2026, two days after noon. */
const plan = {
  title: 'Weekly restart',
  message: 'We restart.',
  startsAt: new Date('2026-11-22T01:00Z'),
  durationMinutes: 60,
  rule: 'FREQ=WEEKLY;BYDAY=SU',
  timeZone: 'Europe/Berlin',
}
const rows = (seriesId: string | null) =>
  prisma.maintenance.findMany({ where: { seriesId }, orderBy: { startsAt: 'asc' }, include: { services: true } })
const startsOf = async (seriesId: string) =>
  (await rows(seriesId)).map(({ startsAt }) => startsAt.toISOString().slice(0, 16))
const series = (id: string) => prisma.maintenanceSeries.findUniqueOrThrow({ where: { id } })
async function create(acme: Tenant, of: object = {}) {
  return (await createMaintenanceSeries(acme.ctx, { ...plan, ...of })).id
}

describe('a series', () => {
  test('schedules its next three dates, and reports the first', async () => {
    const acme = await tenant()
    const [service = ''] = await acme.services('API')
    const id = await create(acme, { serviceIds: [service] })
    expect(await startsOf(id)).toEqual(['2026-11-22T01:00', '2026-11-29T01:00', '2026-12-06T01:00'])
    const [first] = await rows(id)
    expect(first).toMatchObject({ title: 'Weekly restart', status: 'SCHEDULED', services: [{ serviceId: service }] })
    expect((await acme.events()).slice(1).map(({ kind, notifySubscribers }) => [kind, notifySubscribers])).toEqual([
      ['MAINTENANCE_SERIES_CREATED', true],
      ['MAINTENANCE_SCHEDULED', true],
      ['MAINTENANCE_SCHEDULED', false],
      ['MAINTENANCE_SCHEDULED', false],
    ])
  })

  test('schedules another date when one is over; each starts and ends automatically', async () => {
    const acme = await tenant()
    const id = await create(acme)
    const begins = +plan.startsAt - +noon
    await runDueMaintenance(worker(begins))
    await runDueMaintenance(worker(begins + HOUR))
    await runDueSeries(worker(begins + HOUR - 1))
    expect(await startsOf(id)).toHaveLength(3)
    expect(await runDueSeries(worker(begins + HOUR))).toEqual(at(begins + 7 * DAY + HOUR))
    expect(await startsOf(id)).toEqual(['2026-11-22T01:00', '2026-11-29T01:00', '2026-12-06T01:00', '2026-12-13T01:00'])
    expect((await rows(id)).map(({ status }) => status)).toEqual(['COMPLETED', 'SCHEDULED', 'SCHEDULED', 'SCHEDULED'])
    expect((await acme.events()).at(-1)).toMatchObject({ kind: 'MAINTENANCE_SCHEDULED', notifySubscribers: false })
  })

  test('of a distant date schedules one date, and of a rule with COUNT no more than these', async () => {
    const acme = await tenant()
    expect(await startsOf(await create(acme, { rule: 'FREQ=YEARLY' }))).toEqual(['2026-11-22T01:00'])
    const id = await create(acme, { rule: 'FREQ=WEEKLY;COUNT=2' })
    expect(await startsOf(id)).toEqual(['2026-11-22T01:00', '2026-11-29T01:00'])
    expect(ruleWithEnd(await series(id))).toBe('FREQ=WEEKLY;UNTIL=20261129T010000Z')
    await runDueSeries(worker(30 * DAY))
    expect(await startsOf(id)).toHaveLength(2)
    expect(await series(id)).toMatchObject({ dueAt: null })
  })

  test('stays at its time of day when clocks change', async () => {
    const acme = await tenant()
    const id = await create(acme)
    await runDueSeries(worker(+new Date('2027-03-22T00:00Z') - +noon))
    expect((await startsOf(id)).slice(3)).toEqual(['2027-03-28T01:00', '2027-04-04T00:00', '2027-04-11T00:00'])
  })

  test.each([
    [{ rule: 'FREQ=HOURLY' }, 'rule'],
    [{ rule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31' }, 'no future date'],
    [{ rule: 'FREQ=WEEKLY;UNTIL=20200101' }, 'no future date'],
    [{ rule: 'x'.repeat(301) }, '300'],
    [{ durationMinutes: 0 }, 'at least 1'],
    [{ durationMinutes: 20_000 }, '10080'],
    [{ timeZone: 'Nowhere/Town' }, 'time zone'],
    [{ startsAt: new Date('2020-01-01T00:00Z') }, 'a year ago'],
    [{ startsAt: new Date('9999-01-01T00:00Z') }, 'ten years'],
  ])('with %j is refused', async (of, problem) => {
    await expect(create(await tenant(), of)).rejects.toThrow(problem)
  })

  test('belongs to its organization', async () => {
    const [acme, other] = [await tenant(), await tenant()]
    const id = await create(acme)
    await expect(updateMaintenanceSeries(other.ctx, { id, title: 'Mine' })).rejects.toThrow('not found')
    await expect(endMaintenanceSeries(other.ctx, id)).rejects.toThrow('not found')
    await expect(deleteMaintenanceSeries(other.ctx, id)).rejects.toThrow('not found')
    const [service = ''] = await other.services('API')
    await expect(create(acme, { serviceIds: [service] })).rejects.toThrow('not found')
    await expect(createMaintenanceSeries(acme.as('READ'), plan)).rejects.toThrow('WRITE')
  })
})

describe('several workers', () => {
  test('schedule each date once', async () => {
    const acme = await tenant()
    const id = await create(acme)
    const late = +plan.startsAt - +noon + HOUR
    await Promise.all(Array.from({ length: 4 }, () => advanceSeries(worker(late), id)))
    await Promise.all(Array.from({ length: 4 }, () => runDueSeries(worker(late))))
    expect(await startsOf(id)).toEqual(['2026-11-22T01:00', '2026-11-29T01:00', '2026-12-06T01:00', '2026-12-13T01:00'])
    expect((await acme.news()).filter((each) => each.startsWith('MAINTENANCE_SCHEDULED'))).toHaveLength(4)
  })

  test('take over from a dead worker, whose work is rolled back, after its lease', async () => {
    const acme = await tenant()
    const id = await create(acme)
    const late = +plan.startsAt - +noon + HOUR
    const { version } = await series(id)
    const before = await acme.news()
    // The events fail after the same transaction has written the dates.
    const failing = { ...worker(late), actor: { kind: 'nobody' } } as unknown as Context
    await expect(advanceSeries(failing, id)).rejects.toThrow()
    expect(await startsOf(id)).toHaveLength(3)
    expect(await acme.news()).toEqual(before)
    // A dead worker's claim has moved the due time ahead.
    await prisma.maintenanceSeries.update({ where: { id }, data: { dueAt: at(late + 15_000) } })
    await runDueSeries(worker(late + 14_999))
    expect(await startsOf(id)).toHaveLength(3)
    await runDueSeries(worker(late + 15_000))
    expect(await startsOf(id)).toHaveLength(4)
    expect((await series(id)).version).toBe(version)
  })
})

describe('one date', () => {
  test('that is deleted is skipped from then on, and another date replaces it', async () => {
    const acme = await tenant()
    const id = await create(acme)
    const [, second] = await rows(id)
    await deleteMaintenance(acme.ctx, second?.id ?? '')
    await runDueSeries(worker(0))
    expect((await series(id)).skipped).toEqual(['2026-11-29T02:00'])
    expect(await startsOf(id)).toEqual(['2026-11-22T01:00', '2026-12-06T01:00', '2026-12-13T01:00'])
  })

  test('that was moved or cancelled does not change with the series', async () => {
    const acme = await tenant()
    const id = await create(acme)
    const [first, second, third] = await rows(id)
    await updateMaintenance(acme.ctx, { id: first?.id, startsAt: at(DAY), endsAt: at(DAY + HOUR) })
    await cancelMaintenance(acme.ctx, { id: second?.id })
    await updateMaintenanceSeries(acme.ctx, { id, title: 'Restart', durationMinutes: 30 })
    expect((await rows(id)).map(({ title, status, detached }) => [title, status, detached])).toEqual([
      ['Weekly restart', 'SCHEDULED', true],
      ['Weekly restart', 'CANCELLED', true],
      ['Restart', 'SCHEDULED', false],
    ])
    expect((await rows(id))[2]).toMatchObject({ id: third?.id, endsAt: new Date('2026-12-06T01:30Z') })
    await runDueSeries(worker(0))
    expect(await startsOf(id)).toHaveLength(3)
  })
})

describe('an edit of the series', () => {
  test('changes scheduled dates, keeps their ids, and does not change past dates', async () => {
    const acme = await tenant()
    const [service = '', other = ''] = await acme.services('API', 'Web')
    const id = await create(acme, { serviceIds: [service] })
    const begins = +plan.startsAt - +noon
    await runDueMaintenance(worker(begins))
    await runDueMaintenance(worker(begins + HOUR))
    await runDueSeries(worker(begins + HOUR))
    const before = await rows(id)
    const later = acme.later(begins + HOUR)
    await updateMaintenanceSeries(later, { id, title: 'Restart', message: 'Short.', serviceIds: [other], version: 1 })
    const after = await rows(id)
    expect(after.map((each) => each.id)).toEqual(before.map((each) => each.id))
    expect(after.map(({ title, services }) => [title, services[0]?.serviceId])).toEqual([
      ['Weekly restart', service],
      ['Restart', other],
      ['Restart', other],
      ['Restart', other],
    ])
    const updates = await prisma.maintenanceUpdate.findMany({ where: { maintenanceId: after[1]?.id ?? '' } })
    expect(updates.map(({ message }) => message)).toEqual(['Short.'])
    await expect(updateMaintenanceSeries(later, { id, title: 'Late', version: 1 })).rejects.toThrow(
      'current version is 2',
    )
  })

  test('of its rule moves the dates, and deletes those that no longer match', async () => {
    const acme = await tenant()
    const id = await create(acme)
    const [first] = await rows(id)
    await updateMaintenanceSeries(acme.ctx, { id, rule: 'FREQ=WEEKLY;INTERVAL=2;BYDAY=SU' })
    expect(await startsOf(id)).toEqual(['2026-11-22T01:00', '2026-12-06T01:00', '2026-12-20T01:00'])
    expect((await rows(id))[0]?.id).toBe(first?.id)
    await updateMaintenanceSeries(acme.ctx, { id, rule: 'FREQ=DAILY', startsAt: new Date('2026-11-21T03:00Z') })
    expect(await startsOf(id)).toEqual(['2026-11-21T03:00', '2026-11-22T03:00', '2026-11-23T03:00'])
    expect(await series(id)).toMatchObject({ firstStart: '2026-11-21T04:00', rule: 'FREQ=DAILY' })
  })

  test('without a change does nothing', async () => {
    const acme = await tenant()
    const id = await create(acme)
    const news = await acme.news()
    await updateMaintenanceSeries(acme.ctx, { id, title: plan.title, rule: plan.rule, startsAt: plan.startsAt })
    expect([await acme.news(), (await series(id)).version]).toEqual([news, 1])
  })

  test('skips dates', async () => {
    const acme = await tenant()
    const id = await create(acme, { skips: [plan.startsAt] })
    expect(await startsOf(id)).toEqual(['2026-11-29T01:00', '2026-12-06T01:00', '2026-12-13T01:00'])
    await updateMaintenanceSeries(acme.ctx, { id, skips: [] })
    expect(await startsOf(id)).toEqual(['2026-11-22T01:00', '2026-11-29T01:00', '2026-12-06T01:00'])
  })
})

describe('the end', () => {
  test('deletes future dates; dates that ran or were edited stay', async () => {
    const acme = await tenant()
    const id = await create(acme)
    const begins = +plan.startsAt - +noon
    await runDueMaintenance(worker(begins))
    const [, second] = await rows(id)
    await updateMaintenance(acme.ctx, { id: second?.id, title: 'Larger restart' })
    await endMaintenanceSeries(acme.later(begins + MINUTE), id)
    expect((await rows(id)).map(({ title, status }) => [title, status])).toEqual([
      ['Weekly restart', 'IN_PROGRESS'],
      ['Larger restart', 'SCHEDULED'],
    ])
    await runDueSeries(worker(begins + 30 * DAY))
    expect(await startsOf(id)).toHaveLength(2)
    await endMaintenanceSeries(acme.later(begins + HOUR), id)
    expect((await acme.news()).filter((each) => each.includes('SERIES_ENDED'))).toHaveLength(1)
  })

  test('a deletion keeps them too, without the series', async () => {
    const acme = await tenant()
    const id = await create(acme)
    await runDueMaintenance(worker(+plan.startsAt - +noon))
    await deleteMaintenanceSeries(acme.ctx, id)
    const left = await prisma.maintenance.findMany({ where: { organizationId: acme.id } })
    expect(left.map(({ status, seriesId }) => [status, seriesId])).toEqual([['IN_PROGRESS', null]])
    expect((await acme.news()).at(-1)).toBe('MAINTENANCE_SERIES_DELETED Weekly restart')
  })
})
