import { describe, expect, test } from 'vitest'
import { readPages } from '../../src/account/page.ts'
import { newId } from '../../src/core/id.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { correctUptime } from '../../src/monitoring/objective/correction.ts'
import { createObjective } from '../../src/monitoring/objective/objective.ts'
import { createIncident } from '../../src/status/incident.ts'
import { readReport, reportMonths } from '../../src/status-page/report.ts'
import { reportCsv, reportJson } from '../../src/status-page/report-files.ts'
import { writeMonitor } from '../monitoring/histories.ts'
import { tenantsOf } from '../status/setup.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const october = (day: number, hour = 0, minute = 0) => new Date(Date.UTC(2026, 9, day, hour, minute))

/** A page in Berlin whose shop was down for an hour in October, and for half an hour just before it began there. */
async function filled() {
  const made = await tenant('TEAM')
  await prisma.organization.update({
    where: { id: made.id },
    data: { timeZone: 'Europe/Berlin', createdAt: new Date('2026-01-01') },
  })
  const [shop = '', blog = ''] = await made.services('Shop, "new"', '=Blog')
  const monitorId = await writeMonitor(prisma, {
    organizationId: made.id,
    serviceId: shop,
    states: [
      ['UP', new Date('2026-08-01')],
      // October begins at 22:00 UTC in Berlin.
      ['DOWN', new Date('2026-09-30T21:30:00Z')],
      ['UP', new Date('2026-09-30T22:00:00Z')],
      ['DOWN', october(10)],
      ['UP', october(10, 1)],
    ],
    lastKnownAt: noon,
  })
  const ctx = testContext(prisma, { now: () => noon })
  const organization = () => prisma.organization.findUniqueOrThrow({ where: { id: made.id } })
  const report = async (month: string) => {
    const [page] = await readPages(prisma, 'organizationId', [made.id])
    if (page === undefined) throw new Error('There is a page.')
    return readReport(ctx, await organization(), page, month)
  }
  return { made, shop, blog, monitorId, report, organization }
}

describe('the report of a month', () => {
  test('has its uptime, coverage, corrections, incidents, maintenance and mean times', async () => {
    const { made, shop, monitorId, report } = await filled()
    await createObjective(made.ctx, { serviceId: shop, target: 99.9 })
    await createObjective(made.ctx, { serviceId: shop, target: 99, windowDays: 30 })
    const about = { serviceId: shop, kind: 'GOOD', reason: 'The probe was wrong.' }
    await correctUptime(made.ctx, { ...about, startsAt: october(10), endsAt: october(10, 0, 15) })
    const past = { title: 'Shop is down', status: 'RESOLVED', impact: 'MAJOR', message: 'It was.' }
    const services = [{ serviceId: shop, status: 'MAJOR_OUTAGE' }]
    for (const [startedAt, resolvedAt] of [
      [october(10), october(10, 1)],
      [october(20), october(20, 3)],
    ])
      await createIncident(made.ctx, { ...past, services, startedAt, resolvedAt })
    const alert = (from: Date, acknowledgedAt: Date | null) => ({
      ...{ id: newId('Alert'), organizationId: made.id, monitorId, monitorName: 'Shop', change: 'DOWN' as const },
      ...{ state: 'DOWN' as const, since: from, message: '', openedAt: from, acknowledgedAt },
    })
    await prisma.alert.createMany({
      data: [
        alert(october(10), october(10, 0, 10)),
        alert(october(20), october(20, 0, 20)),
        alert(october(21), null),
        alert(new Date('2026-09-01'), new Date('2026-09-02')),
      ],
    })
    const found = await report('2026-10')
    expect(found).toMatchObject({
      from: new Date('2026-09-30T22:00:00Z'),
      to: new Date('2026-10-31T23:00:00Z'),
      isClosed: true,
      acknowledgement: { count: 2, meanMs: 15 * MINUTE },
      recovery: { count: 2, meanMs: 2 * HOUR },
    })
    const [service] = found.services
    expect(service?.account).toMatchObject({ bad: 45 * MINUTE, corrected: 15 * MINUTE, unknown: 0 })
    // October has an hour more in Berlin.
    const month = 31 * DAY + HOUR
    expect(service?.percent).toBe(Math.floor((100_000 * (month - 45 * MINUTE)) / month) / 1000)
    expect(service).toMatchObject({ coverage: 100, source: 'MONITORS' })
    expect(service?.objectives).toEqual([
      { target: 99_900, isMet: false },
      { target: 99_000, isMet: true },
    ])
    expect(found.corrections).toMatchObject([{ service: 'Shop, "new"', reason: 'The probe was wrong.' }])
    expect(found.incidents).toHaveLength(2)
  })

  test('is CSV that no spreadsheet computes, and JSON', async () => {
    const { report } = await filled()
    const found = await report('2026-10')
    const lines = reportCsv(found).split('\r\n')
    expect(lines[1]).toBe(
      '"Shop, ""new""",2026-09-30T22:00:00.000Z,2026-10-31T23:00:00.000Z,99.865,100,3600,2682000,0,0,0,0,,',
    )
    expect(lines[2]).toMatch(/^'=Blog,/)
    expect(reportJson(found)).toMatchObject({
      month: '2026-10',
      complete: true,
      services: [{ uptime_percent: 99.865, down_seconds: 3600 }, {}],
      time_to_recover: { count: 0, mean_seconds: null },
    })
  })

  test('of the current month counts so far, and one that is over is kept until something happens', async () => {
    const { made, shop, monitorId, report } = await filled()
    expect(await report('2026-11')).toMatchObject({ isClosed: false })
    const first = await report('2026-10')
    await prisma.monitorInterval.deleteMany({ where: { monitorId, state: 'DOWN' } })
    expect(await report('2026-10')).toBe(first)
    const about = { serviceId: shop, kind: 'EXCLUDED', reason: 'A test.' }
    await correctUptime(made.ctx, { ...about, startsAt: october(1), endsAt: october(2) })
    expect((await report('2026-10')).services[0]?.account).toMatchObject({ excluded: DAY })
  })

  test('is missing for what is no month, is to come, or is older than the history', async () => {
    const { report, organization } = await filled()
    for (const month of ['2026-12', '2026-13', '2026-00', '2020-01', '', '2026-10-01', "2026-10'"])
      await expect(report(month)).rejects.toThrow('There is no report of this month.')
    expect(reportMonths(await organization(), noon)).toEqual([
      ...['2026-11', '2026-10', '2026-09', '2026-08', '2026-07', '2026-06'],
      ...['2026-05', '2026-04', '2026-03', '2026-02', '2026-01'],
    ])
    expect(reportMonths({ ...(await organization()), tier: 'FREE' }, noon)).toEqual(['2026-11', '2026-10'])
  })
})
