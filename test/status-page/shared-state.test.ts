// @slow
import { Hono } from 'hono'
import { afterAll, describe, expect, test } from 'vitest'
import { createApiKey } from '../../src/account/api-key/api-key.ts'
import { updateOrganization } from '../../src/account/organization/organization.ts'
import { newId } from '../../src/core/id.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import type { PrismaClient } from '../../src/generated/prisma/client.ts'
import { loadAssets } from '../../src/http/assets/assets.ts'
import { closeDays } from '../../src/monitoring/uptime/uptime-days.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../src/status/incident/incident-updates.ts'
import { scheduleMaintenance } from '../../src/status/maintenance/maintenance.ts'
import { createService } from '../../src/status/service/service.ts'
import { liveScript, statusPages, statusStylesheet } from '../../src/status-page/html/routes.tsx'
import { documentRoutes } from '../../src/status-page/http/documents.ts'
import { createPageCache } from '../../src/status-page/page-cache.ts'
import { createPngRenderer } from '../../src/status-page/png-renderer.ts'
import { readWithState, sharedHistories, sharedState } from '../../src/status-page/shared-state.ts'
import { writeMonitors } from '../monitoring/histories.ts'
import { type Tenant, tenantsOf } from '../status/setup.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { nestingFaults, repeatedIds } from '../support/markup.ts'
import { pageGuardOf } from '../support/page-guard.ts'
import { uncached } from '../support/uncached.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const site = { assets: await loadAssets([liveScript, statusStylesheet]), baseUrl: 'https://allclear.example' }
const reported = { title: 'Payments fail', status: 'INVESTIGATING', impact: 'MAJOR', message: 'We are looking.' }
const pngRenderer = createPngRenderer()
afterAll(() => pngRenderer.close())

/**
 * The database, counting the statements of pages; everything else in this process, such as its health check, uses
 * another.
 */
let count = 0
const counted = prisma.$extends({
  query: {
    $allOperations({ args, query }) {
      count += 1
      return query(args)
    },
  },
}) as unknown as PrismaClient

/** The pages and documents behind one cache; only the test itself invalidates it. */
function serve(now = () => noon) {
  const cache = createPageCache(now)
  const app = new Hono()
  app.route('/', documentRoutes({ site, guard: pageGuardOf(counted, now), db: counted, cache, pngRenderer, now }))
  app.route('/', statusPages({ site, guard: pageGuardOf(counted, now), db: counted, cache, now }))
  const read = async (path: string) => {
    const response = await app.request(path)
    expect(response.status).toBe(200)
    return response.text()
  }
  const statements = async (path: string) => {
    const before = count
    await read(path)
    return count - before
  }
  return { cache, read, statements }
}

/** Adds services with 90 closed days of history, and an outage every ten days. */
async function watchedServices({ id: organizationId }: Tenant, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('Service'))
  await prisma.service.createMany({
    data: ids.map((id, position) => ({ organizationId, id, position, name: `Service ${position}`, createdAt: noon })),
  })
  const ago = (days: number) => new Date(noon.getTime() - days * DAY)
  const outages = Array.from({ length: 9 }, (_, index) => ago(85 - index * 10))
  const states = [
    ['UP', ago(90)] as const,
    ...outages.flatMap((at) => [['DOWN', at] as const, ['UP', new Date(at.getTime() + 10 * MINUTE)] as const]),
  ]
  await writeMonitors(
    prisma,
    ids.map((serviceId) => ({ organizationId, serviceId, states, lastKnownAt: noon })),
  )
  while (await closeDays(testContext(prisma)));
  return ids
}

/** Writes resolved incidents of the last 90 days. */
async function pastIncidents({ id: organizationId }: Tenant, serviceIds: readonly string[], count: number) {
  const rows = Array.from({ length: count }, (_, nth) => {
    const startedAt = new Date(noon.getTime() - ((nth + 1) / count) * 90 * DAY)
    return { id: newId('Incident'), startedAt, resolvedAt: new Date(startedAt.getTime() + HOUR) }
  })
  const over = { organizationId, title: 'Payments were slow', status: 'RESOLVED', impact: 'MINOR' } as const
  await prisma.incident.createMany({ data: rows.map((row) => ({ ...over, ...row, createdAt: row.startedAt })) })
  await prisma.incidentService.createMany({
    data: rows.map(({ id }, nth) => ({
      incidentId: id,
      serviceId: serviceIds[nth % serviceIds.length] ?? '',
      status: 'OPERATIONAL',
    })),
  })
}

describe('a change of a page with a hundred services, 90 days and a thousand incidents', async () => {
  const acme = await tenant('TEAM')
  const ids = await watchedServices(acme, 100)
  await pastIncidents(acme, ids, 1000)
  const services = ids.slice(0, 3).map((serviceId) => ({ serviceId, status: 'DEGRADED_PERFORMANCE' }))
  const { id: incidentId } = await createIncident(acme.ctx, { ...reported, services })
  const startsAt = new Date(noon.getTime() + DAY)
  const endsAt = new Date(noon.getTime() + DAY + HOUR)
  await scheduleMaintenance(acme.ctx, { title: 'New disks', message: 'Reads go on.', startsAt, endsAt })
  const page = `/status/${acme.slug}`

  test('costs at most eight statements, and documents with the same content cost none', async () => {
    const { cache, read, statements } = serve()
    await read(page)
    await createService(acme.ctx, { name: 'One more', status: 'OPERATIONAL' })
    cache.invalidate(acme.id)
    expect(await statements(page)).toBe(7)
    for (const path of ['/badge.svg', `/services/${ids[0]}/badge.svg`, '/api/v2/status.json', '/picture.png']) {
      expect([path, await statements(page + path)]).toEqual([path, 0])
    }
    for (const path of [
      '/history',
      '/api/v2/summary.json',
      '/history.atom',
      '/maintenance.ics',
      `/services/${ids[0]}`,
    ]) {
      expect([path, (await statements(page + path)) <= 8]).toEqual([path, true])
    }
  })

  test('costs two statements if it is about an incident: the days of services stay cached', async () => {
    const { cache, read, statements } = serve()
    await read(page)
    await postIncidentUpdate(acme.ctx, { incidentId, status: 'IDENTIFIED', message: 'A disk is full.' })
    cache.invalidate(acme.id)
    expect(await statements(page)).toBe(2)
    expect(await read(page)).toContain('A disk is full.')
  })

  test('shows other ranges from cached data, or from one read for all services', async () => {
    const { cache, read, statements } = serve()
    await read(page)
    expect(await statements(`${page}?range=7d`)).toBe(0)
    // One more for the service without a monitor.
    expect(await statements(`${page}?range=24h`)).toBeLessThanOrEqual(2 + 1)
    // And one for incidents older than 90 days, and one for imported days.
    expect(await statements(`${page}?range=year`)).toBeLessThanOrEqual(3 + 1 + 1 + 1)
    const strokes = async (range: string) => {
      const html = await read(`${page}?range=${range}`)
      expect(html.length).toBeLessThan(250_000)
      return Number(/<svg class="days" viewBox="0 0 (\d+) 40"/.exec(html)?.[1])
    }
    // Noon is a full hour.
    expect([await strokes('24h'), await strokes('7d'), await strokes('30d'), await strokes('year')]).toEqual(
      [24, 7, 30, 53].map((count) => 4 * count - 1),
    )
    cache.invalidate(acme.id)
    expect(await statements(`${page}?range=year`)).toBeLessThanOrEqual(1)
  })

  test('leaves at most 250 kB of HTML, which link to the days of each service and to older incidents', async () => {
    const { read } = serve()
    const html = await read(page)
    expect(html.length).toBeLessThan(250_000)
    expect(html.match(/<svg class="days"/g)).toHaveLength(101)
    expect(html.match(/<article [^>]*class="incident past"/g)).toHaveLength(25)
    expect(html).toContain(`More incidents in the last 14 days: <a href="${page}/history">Incident history</a>`)
    expect(html).not.toContain('Down 10 min.')
    expect(html).toContain(`<a class="days-link" href="${page}/services/${ids[7]}">Day by day`)
    const details = await read(`${page}/services/${ids[7]}`)
    expect(details.match(/Down 10 min\./g)).toHaveLength(9)
    expect(details).toContain('<h1 dir="auto">Service 7</h1>')
    expect(nestingFaults(details)).toEqual([])
    expect(repeatedIds(details)).toEqual([])
  })
})

describe('the state of a page', () => {
  test('stays the same object after an event that changes nothing shown, and so does the page', async () => {
    const acme = await tenant()
    const { cache, read, statements } = serve()
    const path = `/status/${acme.slug}`
    const [before, html] = [await sharedState({ db: prisma, cache, now: () => noon }, acme.slug), await read(path)]
    await createApiKey(acme.ctx, { name: 'CI', scope: 'READ' })
    cache.invalidate(acme.id)
    expect(await statements(path)).toBe(1)
    expect(await read(path)).toBe(html)
    expect(await sharedState({ db: prisma, cache, now: () => noon }, acme.slug)).toBe(before)
    await updateOrganization(acme.ctx, { description: 'All of it.' })
    cache.invalidate(acme.id)
    expect(await read(path)).toContain('All of it.')
  })

  test('is read again after a minute, even if only these events occur', async () => {
    const acme = await tenant()
    let time = noon
    const now = () => time
    const { cache } = serve(now)
    const source = { db: prisma, cache, now }
    const before = await sharedState(source, acme.slug)
    for (let second = 20; second <= 60; second += 20) {
      await createApiKey(acme.ctx, { name: 'CI', scope: 'READ' })
      cache.invalidate(acme.id)
      time = new Date(noon.getTime() + second * 1000)
      expect((await sharedState(source, acme.slug)) === before).toBe(second < 60)
    }
  })

  test('and the days of services are read again after a change of a service', async () => {
    const acme = await tenant()
    const [api = ''] = await watchedServices(acme, 1)
    const { cache } = serve()
    const source = { db: prisma, cache, now: () => noon }
    const histories = async () => sharedHistories(source, await sharedState(source, acme.slug))
    const before = await histories()
    expect(await histories()).toBe(before)
    const services = [{ serviceId: api, status: 'MAJOR_OUTAGE' }]
    await createIncident(acme.ctx, { ...reported, services })
    cache.invalidate(acme.id)
    const after = await histories()
    expect(after.histories.get(api)?.incidents.map(({ title }) => title)).toEqual(['Payments fail'])
  })
})

describe('data read beside the state', () => {
  test('belong to the same position: a concurrent change makes both be read again', async () => {
    const acme = await tenant()
    const source = uncached(prisma, () => noon)
    let attempts = 0
    const { state, value } = await readWithState(source, acme.slug, async ({ services }) => {
      attempts += 1
      if (attempts === 1) await createService(acme.ctx, { name: 'API', status: 'OPERATIONAL' })
      return services.length
    })
    expect([attempts, value, state.services.length]).toEqual([2, 1, 1])
  })

  test('are returned after three attempts on a page that changes continuously', async () => {
    const acme = await tenant('PRO')
    const source = uncached(prisma, () => noon)
    const { value } = await readWithState(source, acme.slug, async ({ services }) => {
      await createService(acme.ctx, { name: 'One more', status: 'OPERATIONAL' })
      return services.length
    })
    expect(value).toBe(2)
  })
})

test('a service of another page is not found, and its page describes what the figures count', async () => {
  const [acme, other] = [await tenant(), await tenant()]
  const [api = ''] = await acme.services('API')
  const { read, cache } = serve()
  const app = new Hono()
  app.route('/', statusPages({ site, guard: pageGuardOf(prisma, () => noon), db: prisma, cache, now: () => noon }))
  expect((await app.request(`/status/${other.slug}/services/${api}`)).status).toBe(404)
  expect((await app.request(`/status/${acme.slug}/services/x`)).status).toBe(404)
  expect(await read(`/status/${acme.slug}/services/${api}`)).toContain('No data for this time.')
})
