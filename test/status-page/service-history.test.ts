// @slow
import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { updateOrganization } from '../../src/account/organization/organization.ts'
import { newId } from '../../src/core/id.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import type { PrismaClient } from '../../src/generated/prisma/client.ts'
import { loadAssets } from '../../src/http/assets/assets.ts'
import { wordsOf } from '../../src/language/catalogue.ts'
import { bucketOf } from '../../src/monitoring/uptime/histogram.ts'
import { enterState } from '../../src/monitoring/uptime/state-intervals.ts'
import type { Tally } from '../../src/monitoring/uptime/uptime.ts'
import { closeDays } from '../../src/monitoring/uptime/uptime-days.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../src/status/incident/incident-updates.ts'
import { liveScript, statusPages, statusStylesheet } from '../../src/status-page/html/routes.tsx'
import { readPage } from '../../src/status-page/read-page.ts'
import type { ServiceHistory } from '../../src/status-page/service-history.ts'
import { groupBars, serviceHistoryViews, worstMark } from '../../src/status-page/service-history.ts'
import { zoneOf } from '../../src/status-page/time-format.ts'
import { writeMonitor, writeMonitors } from '../monitoring/histories.ts'
import { type Tenant, tenantsOf } from '../status/setup.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { nestingFaults, repeatedIds } from '../support/markup.ts'
import { pageSourceOf } from '../support/page-guard.ts'
import { countTurns } from '../support/turns.ts'
import { uncached } from '../support/uncached.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const assets = await loadAssets([liveScript, statusStylesheet])
const site = { assets, baseUrl: 'https://allclear.example' }
const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const none: Tally = { up: 0, degraded: 0, partial: 0, down: 0, unknown: 0, maintenance: 0 }

/** The current page, without a cache. */
async function read(slug: string, now = noon): Promise<string> {
  const app = new Hono()
  app.route('/', statusPages(pageSourceOf(site, prisma, () => now)))
  return (await app.request(`/status/${slug}`)).text()
}

describe('a service history view', () => {
  const dayOf = (daysAgo: number, tally: Partial<Tally>) => {
    const day = new Date(Date.UTC(2026, 10, 20 - daysAgo))
    return { day, from: day, to: new Date(day.getTime() + DAY), tally: { ...none, ...tally } }
  }
  const shown = async (
    days: ServiceHistory['days'],
    incidents: ServiceHistory['incidents'] = [],
    others = 0,
    source: ServiceHistory['source'] = 'MONITORS',
  ) => {
    const history = { source, days, latencies: [], incidents }
    const all = Array.from({ length: others }, (_, n) => [`other${n}`, history] as const)
    const past = (await serviceHistoryViews(new Map([['svc', history], ...all]), zoneOf('UTC'))).get('svc')
    if (!past) throw new Error('It has no past.')
    return past
  }

  test('marks a day with its worst state and notes every state', async () => {
    const { days } = await shown([
      dayOf(5, { unknown: DAY }),
      dayOf(4, { up: 20 * HOUR, unknown: 4 * HOUR }),
      dayOf(3, { up: 23 * HOUR, maintenance: HOUR }),
      dayOf(2, { up: DAY - HOUR, degraded: HOUR }),
      dayOf(1, { up: 20 * HOUR, down: 12 * MINUTE, degraded: 48 * MINUTE, maintenance: 3 * HOUR }),
      dayOf(0, { up: DAY }),
    ])
    expect(days.map(({ key, mark, notes: happenings }) => [key, mark, happenings])).toEqual([
      ['2026-11-15', 'none', []],
      ['2026-11-16', 'up', ['no data 4 h']],
      ['2026-11-17', 'maintenance', ['maintenance 1 h']],
      ['2026-11-18', 'degraded', ['degraded 1 h']],
      ['2026-11-19', 'down', ['down 12 min', 'degraded 48 min', 'maintenance 3 h']],
      ['2026-11-20', 'up', []],
    ])
  })

  test.each([
    ['none', null, 'none'],
    ['none', 'DEGRADED_PERFORMANCE', 'degraded'],
    ['none', 'MAJOR_OUTAGE', 'down'],
    ['up', null, 'up'],
    ['up', 'DEGRADED_PERFORMANCE', 'degraded'],
    ['up', 'PARTIAL_OUTAGE', 'partial'],
    ['up', 'MAJOR_OUTAGE', 'down'],
    ['maintenance', null, 'maintenance'],
    ['maintenance', 'DEGRADED_PERFORMANCE', 'degraded'],
    ['degraded', 'PARTIAL_OUTAGE', 'partial'],
    ['degraded', 'DEGRADED_PERFORMANCE', 'degraded'],
    ['down', 'DEGRADED_PERFORMANCE', 'down'],
    ['down', 'PARTIAL_OUTAGE', 'down'],
    ['down', null, 'down'],
  ] as const)('a day measured as %s, with an incident status of %s, is marked %s', (measured, effect, mark) => {
    expect(worstMark(measured, effect)).toBe(mark)
  })

  test('shows no percentage without data', async () => {
    expect(await shown([dayOf(0, { unknown: DAY })])).toMatchObject({
      uptime: 'No data',
      summary: 'No data for this time.',
    })
    expect((await shown([dayOf(0, { maintenance: DAY })])).uptime).toBe('No data')
  })

  test('names the monitored time of an incomplete uptime', async () => {
    expect(await shown([dayOf(0, { up: DAY })])).toMatchObject({
      uptime: '100% uptime',
      summary: 'No outages in 1 d monitored.',
    })
    const partly = dayOf(1, { up: 11 * HOUR, down: HOUR, degraded: 6 * HOUR, unknown: 4 * HOUR, maintenance: 2 * HOUR })
    expect(await shown([partly])).toMatchObject({
      uptime: '94.444% uptime in 18 h of data',
      summary: 'Down 1 h and degraded 6 h in 18 h monitored. Not counted: 4 h without data and 2 h of maintenance.',
    })
  })

  test('lists an incident on each day on which it was open', async () => {
    const incident = (startedAt: Date, resolvedAt: Date | null) => ({
      id: 'inc_1',
      title: 'Disks',
      startedAt,
      resolvedAt,
      begunAt: startedAt,
      endedAt: resolvedAt,
      isDeclared: true,
      effects: [],
    })
    const days = [dayOf(2, {}), dayOf(1, {}), dayOf(0, {})]
    const counts = async (one: ServiceHistory['incidents'][number]) =>
      (await shown(days, [one])).days.map((day) => day.incidents.length)
    const [first = noon, second = noon, third = noon] = days.map(({ from }) => from)
    expect(await counts(incident(first, second))).toEqual([1, 0, 0])
    expect(await counts(incident(first, new Date(second.getTime() + 1)))).toEqual([1, 1, 0])
    expect(await counts(incident(third, null))).toEqual([0, 0, 1])
    expect(await counts(incident(new Date(0), null))).toEqual([1, 1, 1])
  })
  test('names a few incidents of a day and counts the others', async () => {
    const always = { startedAt: new Date(0), resolvedAt: null, begunAt: new Date(0), endedAt: null }
    const open = { title: 'Disks', ...always, isDeclared: true, effects: [] }
    const incidents = Array.from({ length: 5 }, (_, n) => ({ ...open, id: `inc_${n}` }))
    const { days } = await shown([dayOf(0, {})], incidents)
    expect(days[0]?.incidents.map(({ id }) => id)).toEqual(['inc_0', 'inc_1', 'inc_2'])
    expect(days[0]?.moreIncidents).toBe(2)
  })

  test('lists every day with an outage, or the newest ones when there are many services', async () => {
    const days = Array.from({ length: 90 }, (_, n) => dayOf(89 - n, n === 50 ? { up: DAY } : { down: MINUTE }))
    const alone = await shown(days)
    expect(alone.eventful).toHaveLength(89)
    expect(alone.hasOlder).toBe(false)
    const among = await shown(days, [], 29)
    expect(among.days).toHaveLength(90)
    expect(among.eventful.map(({ key }) => key)).toEqual(
      among.days
        .slice(-10)
        .map(({ key }) => key)
        .toReversed(),
    )
    expect(among.hasOlder).toBe(true)
    expect((await shown(days, [], 999)).eventful).toHaveLength(4)
  })
})

describe('the page', () => {
  test('shows incidents in the bar of a service without monitors', async () => {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    await prisma.service.update({ where: { id: api }, data: { createdAt: at(-20 * DAY), statedAt: at(-20 * DAY) } })
    const reported = { title: 'Disks', impact: 'MAJOR', message: 'We look.', status: 'INVESTIGATING' }
    const services = [{ serviceId: api, status: 'PARTIAL_OUTAGE' }]
    const { id } = await createIncident(acme.later(-2 * HOUR), { ...reported, services })
    const html = await read(`${acme.slug}/services/${api}`)
    expect(html).toContain(
      'aria-label="API, last 30 days: 99.875% based on incidents in 20 d of data. 1 day with a partial outage, 20 days without problems and 9 days without data."',
    )
    expect(html).toContain(
      `Partial outage for 2 h: <a href="/status/${acme.slug}/incidents/${id}" dir="auto">Disks</a>`,
    )
    expect(html).toContain('Partial outage 2 h in 20 d, based on incidents.')
  })

  test('shows the worse of probe results and incidents', async () => {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    const states = [['UP', at(-40 * DAY)]] as const
    await writeMonitor(prisma, { organizationId: acme.id, serviceId: api, states, lastKnownAt: noon })
    const reported = { title: 'Disks', impact: 'MAJOR', message: 'We look.', status: 'INVESTIGATING' }
    await createIncident(acme.ctx, { ...reported, services: [{ serviceId: api, status: 'PARTIAL_OUTAGE' }] })
    expect(await read(`${acme.slug}/services/${api}`)).toContain(
      'aria-label="API, last 30 days: 100% uptime. 1 day with a partial outage and 29 days without problems."',
    )
    await updateOrganization(acme.ctx, { uptimeSource: 'INCIDENTS' })
    expect(await read(`${acme.slug}/services/${api}`)).toContain('last 30 days: No data.')
  })

  test('shows the days, the uptime and the incidents of a service', async () => {
    const acme = await tenant('PRO')
    await updateOrganization(acme.ctx, { uptimeSource: 'MONITORS' })
    const [api = ''] = await acme.services('API')
    const monitorId = await writeMonitor(prisma, {
      organizationId: acme.id,
      serviceId: api,
      states: [
        ['UP', at(-40 * DAY)],
        ['DOWN', at(-3 * DAY)],
        ['UP', at(-3 * DAY + 12 * MINUTE)],
      ],
      lastKnownAt: noon,
    })
    const incident = {
      title: 'The <disk> is full',
      impact: 'MAJOR',
      message: 'We are looking.',
      startedAt: at(-3 * DAY),
    }
    const services = [{ serviceId: api, status: 'MAJOR_OUTAGE' }]
    const { id } = await createIncident(acme.later(-3 * DAY), { ...incident, status: 'INVESTIGATING', services })
    await postIncidentUpdate(acme.later(-3 * DAY + HOUR), {
      incidentId: id,
      status: 'RESOLVED',
      message: 'It is well.',
    })
    const latencies = new Array<number>(64).fill(0)
    latencies[bucketOf(120)] = 60
    const counts = { up: 60, degraded: 0, down: 0, unknown: 0, latencies }
    await prisma.monitorHour.create({ data: { monitorId, hour: at(-HOUR), ...counts } })

    const html = await read(`${acme.slug}/services/${api}`)
    expect(html).toMatch(
      /<svg class="days" viewBox="0 0 359 40" preserveAspectRatio="none" role="group" aria-label="API, last 90 days: 99.979% uptime in 40 d of data. 1 day with an outage, 40 days without problems and 49 days without data.">/,
    )
    const overview = await read(acme.slug)
    expect(overview).toContain('<span class="figure">99.979%</span>')
    // Screen readers get what the strokes of the bar show.
    expect(overview).toMatch(/aria-label="Last \d+ days: [^"]*\d+ days? with an outage/)
    // One path per mark for any number of days, and one tooltip per day with notes or incidents.
    expect(html.match(/<svg class="days".*?<\/svg>/)?.[0].match(/<path class="\w+"/g)).toEqual([
      '<path class="up"',
      '<path class="down"',
      '<path class="none"',
    ])
    expect(html).toContain('<title>Tuesday, 17 November 2026: down 12 min, The &lt;disk&gt; is full</title>')
    expect(html).toContain('<a href="?day=2026-11-17" tabindex="-1" data-day="true">')
    // The tab key stops at the newest day alone.
    expect(html.match(/tabindex="0"/g)).toHaveLength(1)
    expect(html).toContain('Down 12 min.')
    expect(html).toContain(`<a href="/status/${acme.slug}/incidents/${id}" dir="auto">The &lt;disk&gt; is full</a>`)
    expect(html).toContain('Down 12 min in 40 d monitored. Not counted: 49 d 12 h without data.')
    expect(html).toContain('last 90 days, by day. Median (solid line): about 130 ms.')
    expect(html).toMatch(/<path class="p50" d="M1780 37.3H1800"/)
    const hourly = await read(`${acme.slug}/services/${api}?range=24h`)
    expect(hourly).toContain('last 24 hours, by hour. Median (solid line): about 130 ms.')
    expect(hourly).toMatch(/<path class="p50" d="M440 37.3H460"/)
    expect(hourly).toContain('No outages in 1 d monitored.')
    expect(await read(`${acme.slug}/services/${api}?range=7d`)).toContain(
      'aria-label="API, last 7 days: 99.871% uptime.',
    )
    const year = await read(`${acme.slug}/services/${api}?range=year`)
    expect(year).toContain('aria-label="API, last 365 days: 99.979% uptime in 40 d of data"')
    expect(year).toMatch(
      /<a href="\?day=2026-11-14&amp;days=7"[^>]*><title>7 days from Saturday, 14 November 2026: down 12 min/,
    )

    const day = await read(`${acme.slug}/services/${api}?day=2026-11-17`)
    const text = day.replace(/<[^>]+>/g, '').replace(/\s+/g, ' ')
    expect(text).toContain('Tuesday, 17 November 2026')
    expect(text).toContain('Outage 12:00 UTC to 12:12 UTC12 min')
    expect(text).toContain('Major outage: The &lt;disk&gt; is full17 Nov 2026, 12:00 UTC to 17 Nov 2026, 13:00 UTC')
    expect(text).toContain('99.166%')
    expect(nestingFaults(day)).toEqual([])
    const week = await read(`${acme.slug}/services/${api}?day=2026-11-14&days=7`)
    expect(week).toContain('Saturday, 14 November 2026 to Friday, 20 November 2026')
    expect(week).toContain('Down 12 min in 6 d 12 h monitored.')
    expect(await read(`${acme.slug}/services/${api}?day=2026-11-16`)).toContain('Nothing to report.')
    for (const query of ['day=2026-11-21', 'day=2025-11-20', 'day=x', 'range=2d', 'day=2026-11-17&days=8']) {
      expect(await read(`${acme.slug}/services/${api}?${query}`)).toContain('Page not found')
    }
    expect(html).not.toMatch(/ style="|<style/)
    expect(nestingFaults(html)).toEqual([])
    expect(repeatedIds(html)).toEqual([])
  })

  test('shows as many days as the tier allows, and marks days without data', async () => {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    await writeMonitor(prisma, {
      organizationId: acme.id,
      serviceId: api,
      states: [['PENDING', noon]],
      lastKnownAt: null,
    })
    const html = await read(`${acme.slug}/services/${api}`)
    expect(html).toContain('aria-label="API, last 30 days: No data. 30 days without data."')
    expect(await read(acme.slug)).toContain('<span class="figure">No data</span>')
    expect(html).not.toMatch(/\d% uptime|class="p50"/)
  })

  test('reveals nothing about the monitors of its services', async () => {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    const states = [
      ['UP', at(-DAY)],
      ['DOWN', at(-HOUR)],
    ] as const
    await writeMonitor(prisma, { organizationId: acme.id, serviceId: api, states, lastKnownAt: noon })
    expect(await read(acme.slug)).not.toMatch(/Front page|DOWN it was|mon_/)
  })

  test('runs no more statements for a hundred services than for one', async () => {
    const count = async (slug: string) => {
      let statements = 0
      const counted = prisma.$extends({
        query: {
          $allOperations({ args, query }) {
            statements += 1
            return query(args)
          },
        },
      })
      const source = uncached(counted as unknown as PrismaClient, () => noon)
      const { content } = await readPage(source, slug, { page: 'overview', range: '90d' })
      return { statements, histories: content.page === 'overview' ? content.histories.histories.size : 0 }
    }
    const [small, large] = [await tenant('TEAM'), await tenant('TEAM')]
    const servicesOf = async ({ id: organizationId }: Tenant, count: number) => {
      const ids = Array.from({ length: count }, () => newId('Service'))
      const service = { organizationId, name: 'API', createdAt: noon }
      await prisma.service.createMany({ data: ids.map((id, position) => ({ ...service, id, position })) })
      const past = { organizationId, states: [['UP', at(-100 * DAY)]], lastKnownAt: noon } as const
      await writeMonitors(
        prisma,
        ids.map((serviceId) => ({ ...past, serviceId })),
      )
    }
    await servicesOf(small, 1)
    await servicesOf(large, 100)
    while (await closeDays(testContext(prisma)));
    const one = await count(small.slug)
    expect(one.histories).toBe(1)
    expect(await count(large.slug)).toEqual({ statements: one.statements, histories: 100 })
    expect(one.statements).toBe(5)
  })

  test('updates as probe results arrive', async () => {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    const states = [['UP', at(-2 * DAY)]] as const
    const id = await writeMonitor(prisma, { organizationId: acme.id, serviceId: api, states, lastKnownAt: noon })
    expect(await read(`${acme.slug}/services/${api}`)).toContain('100% uptime')
    await enterState(acme.ctx, { id, serviceId: api }, 'DOWN', at(-HOUR))
    const html = await read(`${acme.slug}/services/${api}`)
    expect(html).toContain('97.916% uptime')
    expect(html).toContain('Down 1 h.')
  })
})

test('the page states when its figures were read, which is at least once a minute', async () => {
  const acme = await tenant()
  const [api = ''] = await acme.services('API')
  const states = [['UP', at(-10 * DAY)]] as const
  await writeMonitor(prisma, { organizationId: acme.id, serviceId: api, states, lastKnownAt: noon })
  let time = noon
  const now = () => time
  const app = new Hono()
  app.route('/', statusPages(pageSourceOf(site, prisma, now)))
  const figuresUpTo = async () => {
    const html = await (await app.request(`/status/${acme.slug}`)).text()
    return /Figures up to <time [^>]*dateTime="([^"]+)"/i.exec(html)?.[1]
  }
  expect(await figuresUpTo()).toBe(at(0).toISOString())
  time = at(MINUTE - 1)
  expect(await figuresUpTo(), 'it is the page that was read before').toBe(at(0).toISOString())
  time = at(MINUTE)
  expect(await figuresUpTo()).toBe(at(MINUTE).toISOString())
})

test('other work has its turn between the bars of groups', async () => {
  const groups = Array.from({ length: 20 }, (_, index) => ({ id: `g${index}` }))
  const services = groups.map(({ id }) => ({ id: `s${id}`, groupId: id }))
  const days = [{ day: noon, from: at(-DAY), to: noon, tally: { ...none, up: DAY } }]
  const histories = new Map(services.map(({ id }) => [id, { source: 'MONITORS', days, incidents: [] } as const]))
  const { result, turns } = await countTurns(() =>
    groupBars({ groups, services } as unknown as Parameters<typeof groupBars>[0], histories, wordsOf('EN')),
  )
  expect([...result.values()].map(({ marks }) => marks)).toEqual(groups.map(() => ['up']))
  expect(turns).toBeGreaterThanOrEqual(groups.length)
})
