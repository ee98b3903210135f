// @slow
import { describe, expect, test } from 'vitest'
import { updateOrganization } from '../../../src/account/organization/organization.ts'
import type { Context } from '../../../src/core/context.ts'
import { newId } from '../../../src/core/id.ts'
import { DAY, HOUR, MINUTE } from '../../../src/core/time.ts'
import type { PrismaClient } from '../../../src/generated/prisma/client.ts'
import type { Tier } from '../../../src/generated/prisma/enums.ts'
import { deleteWatches } from '../../../src/monitoring/monitor/watches.ts'
import { enterState } from '../../../src/monitoring/uptime/state-intervals.ts'
import type { Tally } from '../../../src/monitoring/uptime/uptime.ts'
import { closeDays, historyStart, readDays, visibleSpan } from '../../../src/monitoring/uptime/uptime-days.ts'
import { readOutages, readUptimes } from '../../../src/monitoring/uptime/uptime-history.ts'
import {
  advanceMaintenance,
  scheduleMaintenance,
  updateMaintenance,
} from '../../../src/status/maintenance/maintenance.ts'
import { tenantsOf, together } from '../../status/setup.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { writeMonitor, writeMonitors } from '../histories.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const system = (milliseconds = 0) => testContext(prisma, { now: () => at(milliseconds) })
const none: Tally = { up: 0, degraded: 0, partial: 0, down: 0, unknown: 0, maintenance: 0 }
const berlin = { timeZone: 'Europe/Berlin', tier: 'FREE' } as const
const utc = { timeZone: 'UTC', tier: 'FREE' } as const

const tallies = async (
  organization: { readonly timeZone: string; readonly tier: Tier },
  id: string,
  count: number,
  now = noon,
) => (await readDays(prisma, organization, [id], count, now)).get(id)?.map((day) => day.tally)
const closedOf = (subjectId: string) => prisma.uptimeDay.findMany({ where: { subjectId }, orderBy: { day: 'asc' } })
const dates = (rows: readonly { readonly day: Date }[]) => rows.map(({ day }) => day.toISOString().slice(0, 10))
/** Closes days until there are none to close. */
async function closeAll(ctx: Context) {
  while (await closeDays(ctx));
}

/** Returns the number of statements that `work` runs. */
async function statements(work: (db: PrismaClient) => Promise<unknown>): Promise<number> {
  let count = 0
  const counted = prisma.$extends({
    query: {
      $allOperations({ args, query }) {
        count += 1
        return query(args)
      },
    },
  })
  await work(counted as unknown as PrismaClient)
  return count
}

describe('days', () => {
  test('are computed from the history up to now, in the organization’s time zone', async () => {
    const { id: organizationId } = await tenant()
    // Noon UTC is one o'clock in Berlin.
    const id = await writeMonitor(prisma, {
      organizationId,
      states: [
        ['UP', at(-36 * HOUR)],
        ['DOWN', at(-13.5 * HOUR)],
        ['UP', at(-12.5 * HOUR)],
      ],
      lastKnownAt: at(-MINUTE),
    })
    const days = (await readDays(prisma, berlin, [id], 3, noon)).get(id)
    expect(days?.map((day) => day.day.toISOString())).toEqual([
      '2026-11-18T00:00:00.000Z',
      '2026-11-19T00:00:00.000Z',
      '2026-11-20T00:00:00.000Z',
    ])
    expect(days?.map((day) => day.tally)).toEqual([
      { ...none, unknown: 24 * HOUR },
      { ...none, unknown: HOUR, up: 22.5 * HOUR, down: 0.5 * HOUR },
      { ...none, down: 0.5 * HOUR, up: 12.5 * HOUR },
    ])
    expect(days?.[2]).toMatchObject({ from: at(-13 * HOUR), to: noon })
  })

  test('go back as far as the tier allows', async () => {
    const { id: organizationId } = await tenant()
    const id = await writeMonitor(prisma, { organizationId, states: [['UP', at(-90 * DAY)]], lastKnownAt: noon })
    expect(await tallies(utc, id, 90)).toHaveLength(30)
    expect(await tallies({ ...utc, tier: 'PRO' }, id, 90)).toHaveLength(90)
    expect(historyStart(utc, noon)).toEqual(new Date('2026-10-22'))
    expect(historyStart(berlin, noon)).toEqual(new Date('2026-10-21T22:00:00Z'))
  })

  test('of unknown ids are unknown', async () => {
    expect(await tallies(utc, 'mon_none', 1)).toEqual([{ ...none, unknown: 12 * HOUR }])
  })

  test('of a service cover all its monitors, and leave out its maintenance', async () => {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    const of = { organizationId: acme.id, serviceId: api, lastKnownAt: noon }
    const first = await writeMonitor(prisma, {
      ...of,
      states: [
        ['UP', at(-4 * HOUR)],
        ['DOWN', at(-HOUR)],
      ],
    })
    await writeMonitor(prisma, { ...of, states: [['PAUSED', at(-9 * HOUR)]] })
    await writeMonitor(prisma, { ...of, states: [['DEGRADED', at(-2 * HOUR)]] })
    const maintenance = { startsAt: at(-30 * MINUTE), endsAt: at(HOUR), serviceIds: [api] }
    await scheduleMaintenance(acme.later(-30 * MINUTE), { title: 'Disks', message: 'New ones.', ...maintenance })
    expect(await tallies(utc, api, 1)).toEqual([
      {
        partial: 0,
        unknown: 8 * HOUR,
        up: 2 * HOUR,
        degraded: HOUR,
        down: 30 * MINUTE,
        maintenance: 30 * MINUTE,
      },
    ])
    // The service's maintenance applies to its monitors.
    expect((await tallies(utc, first, 1))?.[0]).toMatchObject({ down: 30 * MINUTE, maintenance: 30 * MINUTE })
  })

  test('are unknown in gaps, and from when the monitor became stale', async () => {
    const { id: organizationId } = await tenant()
    const monitor = { organizationId, states: [['UP', at(-12 * HOUR)]] as const }
    const late = await writeMonitor(prisma, { ...monitor, lastKnownAt: at(-2 * MINUTE) })
    expect(await tallies(utc, late, 1)).toEqual([{ ...none, up: 12 * HOUR }])
    const gaps = [{ from: at(-3 * HOUR), to: at(-2 * HOUR) }]
    const left = await writeMonitor(prisma, { ...monitor, gaps, lastKnownAt: at(-HOUR) })
    expect(await tallies(utc, left, 1)).toEqual([{ ...none, up: 10 * HOUR + MINUTE, unknown: 2 * HOUR - MINUTE }])
    const never = await writeMonitor(prisma, { ...monitor, lastKnownAt: null })
    expect(await tallies(utc, never, 1)).toEqual([{ ...none, unknown: 12 * HOUR }])
  })

  test('stay unknown after the watches of a stale monitor are deleted', async () => {
    const acme = await tenant()
    const states = [['UP', at(-12 * HOUR)]] as const
    const id = await writeMonitor(prisma, { organizationId: acme.id, states, lastKnownAt: at(-HOUR) })
    const expected = await tallies(utc, id, 1)
    await deleteWatches(system(), { id })
    await enterState(system(), { id, serviceId: null }, 'PAUSED', noon)
    expect(await tallies(utc, id, 1)).toEqual(expected)
    expect(expected).toEqual([{ ...none, up: 11 * HOUR + MINUTE, unknown: 59 * MINUTE }])
  })

  test('need as many statements for many services as for one', async () => {
    const acme = await tenant()
    const names = Array.from({ length: 10 }, (_, index) => `Service ${index}`)
    const services = await acme.services(...names)
    for (const serviceId of services) {
      await writeMonitor(prisma, { organizationId: acme.id, serviceId, states: [['UP', at(-DAY)]], lastKnownAt: noon })
    }
    const one = await statements((db) => readDays(db, utc, services.slice(0, 1), 30, noon))
    expect(await statements((db) => readDays(db, utc, services, 30, noon))).toBe(one)
    expect(one).toBe(3)
  })
})

describe('the uptime of a span', () => {
  test('covers the span up to now, and returns how much of it is known', async () => {
    const { id: organizationId } = await tenant()
    const id = await writeMonitor(prisma, {
      organizationId,
      states: [
        ['UP', at(-3 * HOUR)],
        ['DOWN', at(-HOUR)],
      ],
      lastKnownAt: noon,
    })
    const asked = [
      { id, from: at(-4 * HOUR), to: at(DAY) },
      { id, from: at(-3 * HOUR), to: at(-2 * HOUR) },
      { id, from: at(HOUR), to: at(DAY) },
    ]
    expect(await readUptimes(prisma, asked, noon)).toEqual([
      {
        from: at(-4 * HOUR),
        to: noon,
        tally: { ...none, unknown: HOUR, up: 2 * HOUR, down: HOUR },
        percent: 66.666,
        coverage: 75,
      },
      { from: at(-3 * HOUR), to: at(-2 * HOUR), tally: { ...none, up: HOUR }, percent: 100, coverage: 100 },
      { from: noon, to: noon, tally: none, percent: null, coverage: null },
    ])
    const [outages] = await readOutages(prisma, asked, noon)
    expect(outages).toEqual([{ startedAt: at(-HOUR), endedAt: null, cause: 'DOWN it was.', downMs: HOUR }])
  })
})

describe('closing days', () => {
  const states = [
    ['UP', at(-3 * DAY)],
    ['DOWN', at(-DAY)],
    ['UP', at(-DAY + HOUR)],
  ] as const

  test('stores past days of monitors and services without changing results', async () => {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    const id = await writeMonitor(prisma, { organizationId: acme.id, serviceId: api, states, lastKnownAt: noon })
    const before = [await tallies(utc, id, 5), await tallies(utc, api, 5)]
    await closeAll(system())
    expect(dates(await closedOf(id))).toEqual(['2026-11-17', '2026-11-18', '2026-11-19'])
    expect(await closedOf(id)).toMatchObject([
      { up: 12 * HOUR, unknown: 12 * HOUR },
      { up: DAY },
      { up: 23 * HOUR, down: HOUR },
    ])
    expect(dates(await closedOf(api))).toHaveLength(3)
    expect([await tallies(utc, id, 5), await tallies(utc, api, 5)]).toEqual(before)
    // The days are read, not recomputed.
    await prisma.monitorInterval.deleteMany({ where: { monitorId: id, endedAt: { not: null } } })
    expect(await tallies(utc, id, 5)).toEqual(before[0])
    expect(await closeDays(system())).toBe(false)
  })

  test('waits for a result after the day, because a gap in it may still be written', async () => {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    const of = { organizationId: acme.id, serviceId: api, states }
    const silent = await writeMonitor(prisma, { ...of, lastKnownAt: at(-12 * HOUR - 1) })
    const known = await writeMonitor(prisma, { ...of, lastKnownAt: at(-12 * HOUR) })
    await closeAll(system())
    expect(await closedOf(silent)).toEqual([])
    expect(await closedOf(api)).toEqual([])
    expect(await closedOf(known)).toHaveLength(3)
    await prisma.watch.updateMany({ where: { monitorId: silent }, data: { lastKnownAt: noon } })
    await closeAll(system())
    expect(await closedOf(silent)).toHaveLength(3)
    expect(await closedOf(api)).toHaveLength(3)
  })

  test('does not wait for a paused or pending monitor', async () => {
    const { id: organizationId } = await tenant()
    const paused = [...states, ['PAUSED', at(-20 * HOUR)]] as const
    const id = await writeMonitor(prisma, { organizationId, states: paused, lastKnownAt: null })
    await closeAll(system())
    expect((await closedOf(id)).at(-1)).toMatchObject({ up: 15 * HOUR, down: HOUR, unknown: 8 * HOUR })
  })

  test('waits for overdue maintenance', async () => {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    const of = { organizationId: acme.id, serviceId: api, states }
    const id = await writeMonitor(prisma, { ...of, lastKnownAt: noon })
    const times = { startsAt: at(-13 * HOUR), endsAt: at(-11 * HOUR) }
    const plan = { title: 'Disks', message: 'New ones.', ...times, serviceIds: [api] }
    const maintenance = await scheduleMaintenance(acme.later(-2 * DAY), plan)
    await closeAll(system())
    expect(await closedOf(id)).toEqual([])
    await advanceMaintenance(system(), maintenance.id)
    await closeAll(system())
    expect((await closedOf(id)).at(-1)).toMatchObject({ maintenance: HOUR, up: 22 * HOUR, down: HOUR })
  })

  test('continues after the last closed day', async () => {
    const { id: organizationId } = await tenant()
    const id = await writeMonitor(prisma, { organizationId, states, lastKnownAt: at(3 * DAY) })
    await closeAll(system(-DAY))
    expect(dates(await closedOf(id))).toEqual(['2026-11-17', '2026-11-18'])
    await closeAll(system(DAY))
    expect(dates(await closedOf(id))).toEqual(['2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'])
    expect((await closedOf(id)).at(-1)).toMatchObject({ up: DAY })
  })

  test('is undone by late results of a day, and repeated', async () => {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    const id = await writeMonitor(prisma, { organizationId: acme.id, serviceId: api, states, lastKnownAt: noon })
    await closeAll(system())
    await enterState(system(), { id, serviceId: api }, 'DOWN', at(-12 * HOUR - MINUTE))
    for (const subject of [id, api]) {
      expect(dates(await closedOf(subject))).toEqual(['2026-11-17'])
      expect((await tallies(utc, subject, 2))?.[0]).toEqual({ ...none, up: 23 * HOUR - MINUTE, down: HOUR + MINUTE })
    }
    await closeAll(system())
    expect(await closedOf(api)).toHaveLength(3)
    expect((await closedOf(api)).at(-1)).toMatchObject({ down: HOUR + MINUTE })
  })

  test('is undone by a change of the time zone', async () => {
    const acme = await tenant()
    const id = await writeMonitor(prisma, { organizationId: acme.id, states, lastKnownAt: noon })
    await closeAll(system())
    await updateOrganization(acme.ctx, { name: 'Acme Ltd' })
    expect(await closedOf(id)).toHaveLength(3)
    await updateOrganization(acme.ctx, { timeZone: 'Pacific/Kiritimati' })
    expect(await closedOf(id)).toEqual([])
    await closeAll(system())
    // In that time zone, it is already the 21st.
    expect(dates(await closedOf(id)).at(-1)).toBe('2026-11-20')
    expect((await closedOf(id))[0]).toMatchObject({ up: 22 * HOUR, unknown: 2 * HOUR })
  })

  test('is undone when the services of a past maintenance change', async () => {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    const of = { organizationId: acme.id, serviceId: api, states }
    const id = await writeMonitor(prisma, { ...of, lastKnownAt: noon })
    const times = { startsAt: at(-2 * DAY), endsAt: at(DAY) }
    const plan = { title: 'Disks', message: 'New ones.', ...times, serviceIds: [] }
    const maintenance = await scheduleMaintenance(acme.later(-2 * DAY), plan)
    await closeAll(system())
    expect((await closedOf(id)).at(-1)).toMatchObject({ maintenance: 0 })
    await updateMaintenance(acme.ctx, { id: maintenance.id, serviceIds: [api] })
    await closeAll(system())
    expect(await closedOf(id)).toMatchObject([{}, { maintenance: 12 * HOUR }, { maintenance: DAY }])
  })

  test('stores every day as computed, for any history, even before there was a monitor', async () => {
    const acme = await tenant('TEAM')
    const zones = ['UTC', 'America/New_York', 'Pacific/Chatham', 'Asia/Kolkata']
    // The history is deterministic, and spans three weeks in which New York's clocks change.
    let seed = 7
    const random = (most: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % most
    }
    const moment = (from: number) => at(-from * DAY + random(from * DAY - HOUR))
    const services = await acme.services(...Array.from({ length: 12 }, (_, index) => `Service ${index}`))
    const pasts = services.flatMap((serviceId, index) =>
      Array.from({ length: 1 + (index % 2) }, () => {
        const times = Array.from({ length: 2 + random(6) }, () => moment(1 + random(20))).sort((a, b) => +a - +b)
        const kinds = ['UP', 'DOWN', 'DEGRADED', 'PENDING', 'PAUSED'] as const
        const states = times.map((time, place) => [kinds[place === 0 ? 3 : random(5)] ?? 'UP', time] as const)
        const from = moment(10)
        const gaps = [{ from, to: new Date(Math.min(+from + random(DAY), +noon)) }]
        return { organizationId: acme.id, serviceId, states, gaps, lastKnownAt: noon }
      }),
    )
    const monitors = await writeMonitors(prisma, pasts)
    for (const [index, serviceId] of services.entries()) {
      const startedAt = moment(20)
      const endedAt = new Date(Math.min(+startedAt + random(2 * DAY), +noon))
      await prisma.maintenance.create({
        data: {
          ...{
            id: newId('Maintenance'),
            organizationId: acme.id,
            title: `No. ${index}`,
            status: 'COMPLETED',
            startedAt,
          },
          ...{ endedAt, startsAt: startedAt, endsAt: endedAt, createdAt: startedAt },
          services: { create: { serviceId } },
        },
      })
    }
    const subjects = [...services, ...monitors]
    for (const timeZone of zones) {
      await prisma.organization.update({ where: { id: acme.id }, data: { timeZone } })
      await prisma.uptimeDay.deleteMany({ where: { organizationId: acme.id } })
      const read = () => readDays(prisma, { timeZone, tier: 'TEAM' }, subjects, 25, noon)
      const live = await read()
      await closeAll(system())
      expect(await prisma.uptimeDay.count({ where: { organizationId: acme.id } })).toBeGreaterThan(100)
      expect(await read()).toEqual(live)
    }
  })

  test('can run in two workers at once', async () => {
    const { id: organizationId } = await tenant()
    const id = await writeMonitor(prisma, { organizationId, states, lastKnownAt: noon })
    const { refused } = await together([closeDays(system()), closeDays(system()), closeDays(system())])
    expect(refused).toEqual([])
    expect(await closedOf(id)).toHaveLength(3)
  })

  test('handles more monitors than fit in one transaction', async () => {
    const { id: organizationId } = await tenant('TEAM')
    const past = { organizationId, states: [['UP', at(-DAY)]], lastKnownAt: noon } as const
    await writeMonitors(prisma, new Array(70).fill(past))
    expect(await closeDays(system())).toBe(true)
    await closeAll(system())
    expect(await prisma.uptimeDay.count({ where: { organizationId } })).toBe(70)
  })
})

test('a requested span is 30 days by default, and is limited to the visible history and to now', () => {
  const begin = new Date('2026-10-22')
  expect(visibleSpan(utc, {}, noon)).toEqual({ from: begin, to: noon })
  expect(visibleSpan({ ...utc, tier: 'PRO' }, {}, noon)).toEqual({ from: at(-30 * DAY), to: noon })
  expect(visibleSpan(utc, { from: at(-HOUR), to: at(HOUR) }, noon)).toEqual({ from: at(-HOUR), to: noon })
  expect(visibleSpan(utc, { from: new Date(0), to: at(-HOUR) }, noon)).toEqual({ from: begin, to: at(-HOUR) })
  const before = at(-365 * DAY)
  expect(visibleSpan(utc, { from: new Date(0), to: before }, noon), 'nothing of it').toEqual({
    from: before,
    to: before,
  })
  expect(() => visibleSpan(utc, { from: noon, to: at(-HOUR) }, noon)).toThrow('must not be after the end')
})
