import { Hono } from 'hono'
import { afterAll, describe, expect, test } from 'vitest'
import { readPages } from '../../src/account/page/page.ts'
import { updatePageReports } from '../../src/account/page/page-reports.ts'
import { newId } from '../../src/core/id.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { listenToLogs } from '../../src/event-log/event.ts'
import { loadAssets } from '../../src/http/assets/assets.ts'
import { correctUptime } from '../../src/monitoring/objective/correction.ts'
import { createObjective } from '../../src/monitoring/objective/objective.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { liveScript, statusPages, statusStylesheet } from '../../src/status-page/html/routes.tsx'
import { documentRoutes } from '../../src/status-page/http/documents.ts'
import { readReport, reportMonths } from '../../src/status-page/monthly-report.ts'
import { createPageCache } from '../../src/status-page/page-cache.ts'
import type { PngRenderer } from '../../src/status-page/png-renderer.ts'
import { reportCsv, reportJson } from '../../src/status-page/report-files.ts'
import { writeMonitor } from '../monitoring/histories.ts'
import { tenantsOf } from '../status/setup.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { nestingFaults, repeatedIds } from '../support/markup.ts'
import { pageGuardOf } from '../support/page-guard.ts'

const database = await testDatabase()
const { prisma } = database
const tenant = tenantsOf(prisma)
const october = (day: number, hour = 0, minute = 0) => new Date(Date.UTC(2026, 9, day, hour, minute))

/**
 * A page in Berlin whose shop was down for an hour in October, and for half an hour just before October began there.
 */
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
      // October in Berlin begins at 22:00 UTC.
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
      ...{
        id: newId('Alert'),
        organizationId: made.id,
        subjectId: monitorId,
        subjectName: 'Shop',
        change: 'DOWN' as const,
      },
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
    // The monitor’s hour, less its correction, and the three hours that were declared.
    const bad = 3 * HOUR + 45 * MINUTE
    expect(service?.tally).toMatchObject({ bad, corrected: 15 * MINUTE, unknown: 0 })
    // October has an extra hour in Berlin.
    const month = 31 * DAY + HOUR
    expect(service?.percent).toBe(Math.floor((100_000 * (month - bad)) / month) / 1000)
    expect(service).toMatchObject({ coverage: 100, source: 'MONITORS_AND_INCIDENTS' })
    expect(service?.objectives).toEqual([
      { target: 99_900, isMet: false },
      { target: 99_000, isMet: true },
    ])
    expect(found.corrections).toMatchObject([{ service: 'Shop, "new"', reason: 'The probe was wrong.' }])
    expect(found.incidents).toHaveLength(2)
  })

  test('is available as CSV without formulas, and as JSON', async () => {
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

  test('covers the current month so far, and is cached for past months until something changes', async () => {
    const { made, shop, monitorId, report } = await filled()
    expect(await report('2026-11')).toMatchObject({ isClosed: false })
    const first = await report('2026-10')
    await prisma.monitorInterval.deleteMany({ where: { monitorId, state: 'DOWN' } })
    expect(await report('2026-10')).toBe(first)
    const about = { serviceId: shop, kind: 'EXCLUDED', reason: 'A test.' }
    await correctUptime(made.ctx, { ...about, startsAt: october(1), endsAt: october(2) })
    expect((await report('2026-10')).services[0]?.tally).toMatchObject({ excluded: DAY })
  })

  test('of a past month is computed once for concurrent requests', async () => {
    const { report } = await filled()
    const [one, ...others] = await Promise.all(Array.from({ length: 5 }, () => report('2026-10')))
    for (const other of others) expect(other).toBe(one)
    expect(await report('2026-10')).toBe(one)
  })

  test('does not exist for invalid and future months, and months before the history', async () => {
    const { report, organization } = await filled()
    for (const month of ['2026-12', '2026-13', '2026-00', '2020-01', '', '2026-10-01', "2026-10'"])
      await expect(report(month)).rejects.toThrow('There is no report of this month.')
    expect(reportMonths(await organization(), noon)).toEqual([
      ...['2026-11', '2026-10', '2026-09', '2026-08', '2026-07', '2026-06'],
      ...['2026-05', '2026-04', '2026-03', '2026-02', '2026-01'],
    ])
    expect(reportMonths({ ...(await organization()), tier: 'FREE' }, noon)).toEqual(['2026-11', '2026-10'])
    // PRO shows 365 days, today included: the first of them is 1 November 2025 in its zone, at any time of 31 October.
    for (const [time, has] of [
      ['2026-10-31T00:00:00Z', true],
      ['2026-10-31T23:59:00Z', true],
      ['2026-11-01T00:00:00Z', false],
    ] as const) {
      const months = reportMonths({ timeZone: 'UTC', tier: 'PRO', createdAt: new Date(0) }, new Date(time))
      expect([time, months.includes('2025-11')]).toEqual([time, has])
    }
  })
})

describe('a published report', () => {
  const assets = loadAssets([liveScript, statusStylesheet])

  test('is public as a page, CSV and JSON, without members’ data', async () => {
    const cache = createPageCache(() => noon)
    afterAll(await listenToLogs(database, cache.invalidate))
    const site = { assets: await assets, baseUrl: 'https://allclear.example' }
    const options = { site, guard: pageGuardOf(prisma, () => noon), db: prisma, cache, now: () => noon }
    const app = new Hono()
      .route('/', documentRoutes({ ...options, pngRenderer: {} as PngRenderer }))
      .route('/', statusPages(options))
    app.onError((_error, c) => c.text('Nothing.', 404))
    const { made, shop } = await filled()
    await createObjective(made.ctx, { serviceId: shop, target: 97.531 })
    const about = { serviceId: shop, kind: 'GOOD', reason: 'A secret reason.' }
    await correctUptime(made.ctx, { ...about, startsAt: october(10), endsAt: october(10, 0, 15) })
    const past = { title: 'Shop was <down>', status: 'RESOLVED', impact: 'MAJOR', message: 'It was.' }
    await createIncident(made.ctx, { ...past, startedAt: october(10), resolvedAt: october(10, 2) })
    await createIncident(made.ctx, {
      ...past,
      title: 'A draft',
      visibility: 'DRAFT',
      startedAt: october(11),
      status: 'INVESTIGATING',
    })
    const base = `/status/${made.slug}/reports`
    const paths = [base, `${base}/2026-10`, `${base}/2026-10/report.csv`, `${base}/2026-10/report.json`]
    const ask = async (path: string) => {
      const response = await app.request(path)
      return { status: response.status, text: await response.text() }
    }
    for (const path of paths) expect(await ask(path)).toMatchObject({ status: 404 })
    const reads = async () => (await Promise.all(paths.map(ask))).map(({ status }) => status)
    await updatePageReports(made.ctx, { pageId: made.id, published: true })
    await expect.poll(reads).toEqual([200, 200, 200, 200])
    const [list, page, csv, json] = (await Promise.all(paths.map(ask))).map(({ text }) => text)
    expect(list).toContain(`<a href="${base}/2026-10">October 2026</a>`)
    // The current month has none.
    expect(list).not.toContain('2026-11')
    expect((await ask(`${base}/2026-11`)).status).toBe(404)
    expect((await ask(`${base}/2026-13`)).status).toBe(404)
    expect(page).toContain('99.899% uptime')
    expect(page).toContain('Shop was &lt;down&gt;')
    expect(page).toContain('counted as available')
    expect(nestingFaults(page ?? '')).toEqual([])
    expect(repeatedIds(page ?? '')).toEqual([])
    expect(csv?.split('\r\n')[1]).toMatch(/^"Shop, ""new""",.*,99.899,100,2700,2682000,0,0,0,900$/)
    expect(JSON.parse(json ?? '')).toMatchObject({
      services: [{ uptime_percent: 99.899, corrected_seconds: 900 }, {}],
      corrections: [{ service: 'Shop, "new"', kind: 'GOOD' }],
      time_to_recover: { count: 1, mean_seconds: 7200 },
    })
    for (const text of [list, page, csv, json]) {
      expect(text).not.toMatch(/secret reason|97\.531|A draft|acknowledge|objective|author/i)
      expect(text).not.toContain('api_key')
    }
    await updatePageReports(made.ctx, { pageId: made.id, published: false })
    await expect.poll(reads).toEqual([404, 404, 404, 404])
  })
})
