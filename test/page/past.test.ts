import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import type { PrismaClient } from '../../src/generated/prisma/client.ts'
import { loadAssets } from '../../src/http/assets.ts'
import { newId } from '../../src/id.ts'
import { closeDays } from '../../src/monitoring/day.ts'
import { bucketOf } from '../../src/monitoring/histogram.ts'
import { enterState } from '../../src/monitoring/interval.ts'
import type { Tally } from '../../src/monitoring/uptime.ts'
import { liveScript, statusPages, statusSheet } from '../../src/page/html.tsx'
import { createPageCache } from '../../src/page/page-cache.ts'
import type { ServicePast } from '../../src/page/past.ts'
import { shownPasts } from '../../src/page/past.ts'
import { readPage } from '../../src/page/read.ts'
import { zoneOf } from '../../src/page/zone.ts'
import { createIncident, postIncidentUpdate } from '../../src/status/incident.ts'
import { DAY, HOUR, MINUTE } from '../../src/time.ts'
import { writeMonitor, writeMonitors } from '../monitoring/pasts.ts'
import { type Tenant, tenantsOf } from '../status/setup.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { nestingFaults, repeatedIds } from '../support/markup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const assets = await loadAssets([liveScript, statusSheet])
const site = { assets, baseUrl: 'https://allclear.example' }
const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const none: Tally = { up: 0, degraded: 0, down: 0, unknown: 0, maintenance: 0 }

/** The page as it is now, without a cache. */
async function read(slug: string, now = noon): Promise<string> {
  const app = new Hono()
  app.route('/', statusPages({ site, db: prisma, cache: createPageCache(() => now), now: () => now }))
  return (await app.request(`/status/${slug}`)).text()
}

describe('a past in words', () => {
  const dayOf = (daysAgo: number, tally: Partial<Tally>) => {
    const day = new Date(Date.UTC(2026, 10, 20 - daysAgo))
    return { day, from: day, to: new Date(day.getTime() + DAY), tally: { ...none, ...tally } }
  }
  const shown = (days: ServicePast['days'], incidents: ServicePast['incidents'] = []) => {
    const past = shownPasts(new Map([['svc', { days, latencies: [], incidents }]]), zoneOf('UTC')).get('svc')
    if (!past) throw new Error('It has no past.')
    return past
  }

  test('marks a day by the worst of it, and tells all of it', () => {
    const { days } = shown([
      dayOf(5, { unknown: DAY }),
      dayOf(4, { up: 20 * HOUR, unknown: 4 * HOUR }),
      dayOf(3, { up: 23 * HOUR, maintenance: HOUR }),
      dayOf(2, { up: DAY - HOUR, degraded: HOUR }),
      dayOf(1, { up: 20 * HOUR, down: 12 * MINUTE, degraded: 48 * MINUTE, maintenance: 3 * HOUR }),
      dayOf(0, { up: DAY }),
    ])
    expect(days.map(({ key, mark, happenings }) => [key, mark, happenings])).toEqual([
      ['2026-11-15', 'none', []],
      ['2026-11-16', 'up', ['no data for 4 h']],
      ['2026-11-17', 'maintenance', ['maintenance for 1 h']],
      ['2026-11-18', 'degraded', ['degraded for 1 h']],
      ['2026-11-19', 'down', ['down for 12 min', 'degraded for 48 min', 'maintenance for 3 h']],
      ['2026-11-20', 'up', []],
    ])
  })

  test('has a figure that is neither 0 nor 100 when nothing is known', () => {
    expect(shown([dayOf(0, { unknown: DAY })])).toMatchObject({
      uptime: 'No data',
      basis: 'Nothing is known of this time.',
    })
    expect(shown([dayOf(0, { maintenance: DAY })]).uptime).toBe('No data')
  })

  test('has a figure that says of how much it is', () => {
    expect(shown([dayOf(0, { up: DAY })])).toMatchObject({
      uptime: '100% uptime',
      basis: 'No outage in the 1 d that are known.',
    })
    const partly = dayOf(1, { up: 11 * HOUR, down: HOUR, degraded: 6 * HOUR, unknown: 4 * HOUR, maintenance: 2 * HOUR })
    expect(shown([partly])).toMatchObject({
      uptime: '94.444% uptime in 18 h of data',
      basis:
        '1 h of outages and 6 h of degraded performance in the 18 h that are known. Left out: 4 h without data and 2 h of maintenance.',
    })
  })

  test('has an incident on every day on which it was open', () => {
    const incident = (startedAt: Date, resolvedAt: Date | null) => ({
      id: 'inc_1',
      title: 'Disks',
      startedAt,
      resolvedAt,
    })
    const days = [dayOf(2, {}), dayOf(1, {}), dayOf(0, {})]
    const counts = (one: ServicePast['incidents'][number]) => shown(days, [one]).days.map((day) => day.incidents.length)
    const [first = noon, second = noon, third = noon] = days.map(({ from }) => from)
    expect(counts(incident(first, second))).toEqual([1, 0, 0])
    expect(counts(incident(first, new Date(second.getTime() + 1)))).toEqual([1, 1, 0])
    expect(counts(incident(third, null))).toEqual([0, 0, 1])
    expect(counts(incident(new Date(0), null))).toEqual([1, 1, 1])
  })
})

describe('the page', () => {
  test('shows no bar for what is not monitored', async () => {
    const acme = await tenant()
    await acme.services('API')
    const html = await read(acme.slug)
    expect(html).not.toContain('class="days"')
    expect(html).not.toContain('Each bar is a day')
  })

  test('shows the days of a service, its figure, and what happened', async () => {
    const acme = await tenant('PRO')
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

    const html = await read(acme.slug)
    expect(html).toMatch(
      /<svg class="days" viewBox="0 0 359 40" preserveAspectRatio="none" role="img" aria-label="API, last 90 days: 99.979% uptime in 40 d of data. 1 day with an outage, 40 days without any, 49 days without data.">/,
    )
    expect(html).toContain('<span>99.979% uptime in 40 d of data</span>')
    // One path for each mark, however many days have it, and one place to point at for each day with something to tell.
    expect(html.match(/<svg class="days".*?<\/svg>/)?.[0].match(/<path class="\w+"/g)).toEqual([
      '<path class="up"',
      '<path class="down"',
      '<path class="none"',
    ])
    expect(html).toContain('<title>Tuesday, 17 November 2026: down for 12 min, The &lt;disk&gt; is full</title>')
    expect(html).toContain('Down for 12 min.')
    expect(html).toContain(`<a href="/status/${acme.slug}/incidents/${id}">The &lt;disk&gt; is full</a>`)
    expect(html).toContain('12 min of outages in the 40 d that are known. Left out: 49 d 12 h without data.')
    expect(html).toContain('Median of each hour (solid line): about 130 ms.')
    expect(html).toMatch(/<path class="p50" d="M440 37.3H460"/)
    expect(html).not.toMatch(/ style="|<style/)
    expect(nestingFaults(html)).toEqual([])
    expect(repeatedIds(html)).toEqual([])
  })

  test('shows as many days as the tier does, and what nobody knows as such', async () => {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    await writeMonitor(prisma, {
      organizationId: acme.id,
      serviceId: api,
      states: [['PENDING', noon]],
      lastKnownAt: null,
    })
    const html = await read(acme.slug)
    expect(html).toContain('aria-label="API, last 30 days: No data. 30 days without data."')
    expect(html).toContain('<span>No data</span>')
    expect(html).not.toMatch(/\d% uptime|class="p50"/)
  })

  test('says nothing of how its services are watched', async () => {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    const states = [
      ['UP', at(-DAY)],
      ['DOWN', at(-HOUR)],
    ] as const
    await writeMonitor(prisma, { organizationId: acme.id, serviceId: api, states, lastKnownAt: noon })
    expect(await read(acme.slug)).not.toMatch(/Front page|DOWN it was|mon_/)
  })

  test('of a hundred services costs as few statements as of one', async () => {
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
      const { subject } = await readPage(counted as unknown as PrismaClient, slug, { page: 'overview' }, noon)
      return { statements, pasts: subject.page === 'overview' ? subject.pasts.size : 0 }
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
    expect(one.pasts).toBe(1)
    expect(await count(large.slug)).toEqual({ statements: one.statements, pasts: 100 })
    expect(one.statements).toBeLessThanOrEqual(16)
  })

  test('follows what is found of a service as it happens', async () => {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    const states = [['UP', at(-2 * DAY)]] as const
    const id = await writeMonitor(prisma, { organizationId: acme.id, serviceId: api, states, lastKnownAt: noon })
    expect(await read(acme.slug)).toContain('100% uptime')
    await enterState(acme.ctx, { id, serviceId: api }, 'DOWN', at(-HOUR))
    const html = await read(acme.slug)
    expect(html).toContain('97.916% uptime')
    expect(html).toContain('Down for 1 h.')
  })
})
