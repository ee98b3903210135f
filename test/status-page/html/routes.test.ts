// @slow
import { gunzipSync } from 'node:zlib'
import { Hono } from 'hono'
import { afterAll, describe, expect, test } from 'vitest'
import { createApiKey } from '../../../src/account/api-key/api-key.ts'
import { removeDomain } from '../../../src/account/custom-domain/custom-domain.ts'
import { updateOrganization } from '../../../src/account/organization/organization.ts'
import { DAY, HOUR, MINUTE } from '../../../src/core/time.ts'
import { announcedEvents, listenToLogs } from '../../../src/event-log/event.ts'
import { loadAssets } from '../../../src/http/assets/assets.ts'
import { deleteIncident } from '../../../src/status/incident/incident-edits.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import {
  advanceMaintenance,
  cancelMaintenance,
  scheduleMaintenance,
  updateMaintenance,
} from '../../../src/status/maintenance/maintenance.ts'
import { createService, updateService } from '../../../src/status/service/service.ts'
import { createServiceGroup } from '../../../src/status/service/service-group.ts'
import { respondMissingOnDomain } from '../../../src/status-page/html/missing-page.tsx'
import { liveScript, statusPages, statusStylesheet } from '../../../src/status-page/html/routes.tsx'
import { createPageCache } from '../../../src/status-page/page-cache.ts'
import { type Tenant, tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { nestingFaults, repeatedIds } from '../../support/markup.ts'
import { serveUnder } from '../../support/own-domain.ts'
import { pageGuardOf } from '../../support/page-guard.ts'

const database = await testDatabase()
const tenant = tenantsOf(database.prisma)
const assets = await loadAssets([liveScript, statusStylesheet])

let time = noon
const now = () => time
let queries = 0
let statements = 0
/** The database, counting its use by the pages and their statements. */
const counted = new Proxy(database.prisma, {
  get(prisma, name, receiver) {
    queries += 1
    if (name === '$queryRaw') statements += 1
    return Reflect.get(prisma, name, receiver)
  },
})

const cache = createPageCache(now)
const guard = pageGuardOf(counted, now)
const unlisten = await listenToLogs(database, (organizationId, announcement) => {
  cache.invalidate(organizationId)
  guard.invalidate(organizationId, announcedEvents(announcement))
})
afterAll(unlisten)
const site = { assets, baseUrl: 'https://allclear.example' }
const source = { site, guard, db: counted, cache, now }
const app = new Hono()
app.route('/', statusPages(source))
app.get('/', (c) => c.text('The landing page.'))
app.notFound(async (c) => (await respondMissingOnDomain(c, source)) ?? c.text('Nothing.', 404))

const get = (path: string, headers: Record<string, string> = {}) => app.request(path, { headers })
const read = async (path: string, headers: Record<string, string> = {}) => (await get(path, headers)).text()
const pathOf = ({ slug }: Tenant) => `/status/${slug}`
const incident = { title: 'Payments fail', status: 'INVESTIGATING', impact: 'MAJOR', message: 'We are **looking**.' }
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>'&{{7*7}}`

describe('the overview', () => {
  test('of a new organization shows no open incidents and is well-formed', async () => {
    const acme = await tenant()
    const response = await get(pathOf(acme))
    expect(response.status).toBe(200)
    const html = await response.text()
    expect(html).toContain('<h1>No open incidents</h1>')
    expect(html).toContain('No incidents in the last 14 days.')
    expect(html).toContain(`<link rel="canonical" href="https://allclear.example/status/${acme.slug}"/>`)
    expect(nestingFaults(html)).toEqual([])
    expect(repeatedIds(html)).toEqual([])
  })

  test('shows the ranges of its tier at their own addresses, which caches may store', async () => {
    const acme = await tenant()
    await createService(acme.ctx, { name: 'API', status: 'OPERATIONAL' })
    const path = pathOf(acme)
    await expect.poll(() => read(path)).toContain('API')
    const html = await read(path)
    expect(html.match(/href="[^"]*\?range=\w+#ranges"( aria-current="true")?/g)).toEqual([
      `href="${path}?range=24h#ranges"`,
      `href="${path}?range=7d#ranges"`,
      `href="${path}?range=30d#ranges" aria-current="true"`,
    ])
    const hours = await get(`${path}?range=24h`)
    expect(hours.headers.get('cache-control')).toBe((await get(path)).headers.get('cache-control'))
    const shown = await hours.text()
    expect(shown).toContain('aria-label="last 24 hours"')
    // The page stays where the reader chose the range.
    expect(shown).toContain('<nav class="ranges" id="ranges"')
    expect(shown).toContain('Each bar is one hour (UTC).')
    expect(shown).toContain(`<link rel="canonical" href="https://allclear.example${path}"/>`)
    expect(nestingFaults(shown)).toEqual([])
    for (const range of ['year', '365d', '']) expect((await get(`${path}?range=${range}`)).status).toBe(404)
  })

  test('does not say that there was no incident while one is open', async () => {
    const acme = await tenant()
    await createIncident(acme.ctx, incident)
    await expect.poll(() => read(pathOf(acme))).toContain('Payments fail')
    const html = await read(pathOf(acme))
    expect(html).toContain('No other incidents in the last 14 days.')
    expect(html).not.toContain('No incidents in the last')
  })

  test('shows status, open incidents, services, scheduled maintenance and past incidents, in this order', async () => {
    const acme = await tenant()
    const group = await createServiceGroup(acme.ctx, { name: 'Regions', description: 'Where it runs.' })
    const { id: api } = await createService(acme.ctx, {
      name: 'API',
      description: 'REST and GraphQL.',
      status: 'OPERATIONAL',
    })
    await createService(acme.ctx, { name: 'Frankfurt', groupId: group.id, status: 'OPERATIONAL' })
    await createIncident(acme.ctx, { ...incident, services: [{ serviceId: api, status: 'MAJOR_OUTAGE' }] })
    const over = await createIncident(acme.ctx, { ...incident, title: 'It is over' })
    await postIncidentUpdate(acme.later(2 * HOUR), { incidentId: over.id, status: 'RESOLVED', message: 'Well again.' })
    await scheduleMaintenance(acme.ctx, {
      title: 'New disks',
      message: 'Reads go on.',
      startsAt: new Date(noon.getTime() + DAY),
      endsAt: new Date(noon.getTime() + DAY + HOUR),
      serviceIds: [api],
    })
    await expect.poll(() => read(pathOf(acme))).toContain('New disks')
    const html = await read(pathOf(acme))
    const parts = [
      '<h1>Major outage: API</h1>',
      'Open incidents',
      'Payments fail',
      '<p>We are <strong>looking</strong>.</p>',
      '<h2>Services</h2>',
      'REST and GraphQL.',
      'Regions',
      'Frankfurt',
      'Scheduled maintenance',
      'New disks',
      '21 Nov 2026, 12:00 UTC',
      '13:00 UTC',
      'Past incidents',
      '<h3>Friday, 20 November 2026',
      'It is over',
      'lasted 2 h',
      'Well again.',
      'No other incidents in the last 14 days.',
    ]
    const places = parts.map((part) => html.indexOf(part))
    expect(places).not.toContain(-1)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(nestingFaults(html)).toEqual([])
    expect(repeatedIds(html)).toEqual([])
  })

  test.each([
    ['DEGRADED_PERFORMANCE', 'Degraded performance'],
    ['PARTIAL_OUTAGE', 'Partial outage'],
    ['MAJOR_OUTAGE', 'Major outage'],
    ['UNDER_MAINTENANCE', 'Under maintenance'],
    ['OPERATIONAL', 'Operational'],
  ])('shows %s with a word, a shape and a colour', async (statusOverride, word) => {
    const acme = await tenant()
    const { id } = await createService(acme.ctx, { name: 'API', status: 'OPERATIONAL' })
    await updateService(acme.ctx, { id, statusOverride })
    await expect.poll(() => read(pathOf(acme))).toContain(`<li id="${id}" data-status="${statusOverride}"`)
    expect(await read(pathOf(acme))).toMatch(new RegExp(`<span class="mark"><svg [^>]*>.*?</svg>${word}</span>`))
  })

  test('shows its owner’s texts, escaped and sanitized', async () => {
    const acme = await tenant()
    await updateOrganization(acme.ctx, {
      name: hostile.slice(0, 100),
      description: hostile,
      logoUrl: 'https://cdn.example/logo.svg?a="b"',
      links: [{ label: hostile.slice(0, 100), url: 'https://acme.example/?a=1&b="c"' }],
    })
    const { id } = await createService(acme.ctx, {
      name: hostile.slice(0, 100),
      description: hostile,
      status: 'OPERATIONAL',
    })
    await createIncident(acme.ctx, {
      title: hostile,
      status: 'INVESTIGATING',
      impact: 'MINOR',
      message: `${hostile}\n\n[x](javascript:alert(1))`,
      services: [{ serviceId: id, status: 'DEGRADED_PERFORMANCE' }],
    })
    await expect.poll(() => read(pathOf(acme))).toContain('Open incidents')
    const html = await read(pathOf(acme))
    expect(html.match(/<script[^>]*>/g)).toEqual([
      '<script type="application/ld+json">',
      `<script src="${assets.url('live.js')}" defer="" data-part>`,
    ])
    expect(html.match(/<img[^>]*>/g)).toEqual([
      '<img src="https://cdn.example/logo.svg?a=&quot;b&quot;" alt="" height="40" referrerpolicy="no-referrer"/>',
    ])
    expect(html).not.toMatch(/ style="| on[a-z]+="|<style|javascript:/)
    expect(html).toContain('href="https://acme.example/?a=1&amp;b=&quot;c&quot;"')
    expect(nestingFaults(html)).toEqual([])
  })

  test('restricts the browser to this server and the host of the logo', async () => {
    const acme = await tenant()
    const policy = (await get(pathOf(acme))).headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("img-src 'self' data:;")
    expect(policy).toContain("connect-src 'self' wss://allclear.example;")
    await updateOrganization(acme.ctx, { logoUrl: 'https://cdn.example/logo.svg' })
    await expect
      .poll(async () => (await get(pathOf(acme))).headers.get('content-security-policy'))
      .toContain("img-src 'self' https://cdn.example data:;")
    // Rows of older versions may contain an invalid host, which could change the policy.
    await database.prisma.organization.update({
      where: { id: acme.id },
      data: { logoUrl: 'https://cdn.example;script-src/logo.svg' },
    })
    await updateOrganization(acme.ctx, { description: 'Anew.' })
    await expect.poll(() => read(pathOf(acme))).not.toContain('<img')
  })

  test('shows times in its owner’s time zone, with machine-readable times', async () => {
    const acme = await tenant()
    await updateOrganization(acme.ctx, { timeZone: 'Asia/Tokyo' })
    await createIncident(acme.ctx, incident)
    await expect
      .poll(() => read(pathOf(acme)))
      .toMatch(/<time datetime="2026-11-20T12:00:00.000Z">20 Nov 2026, 21:00 (JST|GMT\+9)<\/time>/)
  })

  test('shows the newest updates of a long incident and a link to all of them', async () => {
    const acme = await tenant()
    const { id } = await createIncident(acme.ctx, incident)
    for (let minute = 1; minute <= 7; minute++) {
      const update = { incidentId: id, status: 'IDENTIFIED', message: `Update ${minute}.` }
      await postIncidentUpdate(acme.later(minute * MINUTE), update)
    }
    await expect.poll(() => read(pathOf(acme))).toContain('All 8 updates')
    expect(await read(pathOf(acme))).toContain('Update 3.')
    expect(await read(pathOf(acme))).not.toContain('Update 2.')
    expect(await read(`${pathOf(acme)}/incidents/${id}`)).toContain('Update 2.')
  })

  test('answers 404 for an unknown slug and for an id', async () => {
    const acme = await tenant()
    for (const path of ['/status/nobody', `/status/${acme.id}`, '/status/%00', `/status/${'a'.repeat(5000)}`]) {
      expect((await get(path)).status).toBe(404)
    }
  })
})

test('an address with a trailing slash redirects to the page', async () => {
  const response = await get('/status/acme/')
  expect([response.status, response.headers.get('location')]).toEqual([308, '/status/acme'])
})

describe('the page of an incident', () => {
  test('shows all updates, newest first', async () => {
    const acme = await tenant()
    const { id } = await createIncident(acme.ctx, incident)
    await postIncidentUpdate(acme.later(HOUR), { incidentId: id, status: 'RESOLVED', message: 'It was a disk.' })
    await expect.poll(() => read(`${pathOf(acme)}/incidents/${id}`)).toContain('It was a disk.')
    const html = await read(`${pathOf(acme)}/incidents/${id}`)
    expect(html).toContain('<h1 dir="auto">Payments fail</h1>')
    expect(html).toContain('lasted 1 h')
    expect(html.indexOf('It was a disk.')).toBeLessThan(html.indexOf('looking'))
    expect(nestingFaults(html)).toEqual([])
    expect(repeatedIds(html)).toEqual([])
  })

  test('answers 404 for another organization’s, an unknown or a deleted incident', async () => {
    const [acme, other] = [await tenant(), await tenant()]
    const { id } = await createIncident(other.ctx, incident)
    expect((await get(`${pathOf(other)}/incidents/${id}`)).status).toBe(200)
    expect((await get(`${pathOf(acme)}/incidents/${id}`)).status).toBe(404)
    for (const none of ['x', `inc_${'0'.repeat(24)}`, acme.id, '%00', "'"]) {
      expect((await get(`${pathOf(acme)}/incidents/${none}`)).status).toBe(404)
    }
    await deleteIncident(other.ctx, id)
    await expect.poll(async () => (await get(`${pathOf(other)}/incidents/${id}`)).status).toBe(404)
  })
})

describe('metadata', () => {
  /** Returns the structured data of a page. */
  const dataOf = (html: string) =>
    JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/s.exec(html)?.[1] ?? '')
  const metaOf = (html: string, property: string) =>
    new RegExp(`<meta property="og:${property}" content="([^"]*)"`).exec(html)?.[1]

  test('states how long there has been no incident: since the last one, or since the page was created', async () => {
    const acme = await tenant()
    const calm = async (days: number) => {
      time = new Date(noon.getTime() + days * 86_400_000)
      cache.invalidate(acme.id)
      return /<p class="calm">([^<]*)/.exec(await read(pathOf(acme)))?.[1] ?? null
    }
    try {
      // No service existed that could have had an incident.
      expect(await calm(3)).toBe(null)
      time = noon
      await createService(acme.ctx, { name: 'API', status: 'OPERATIONAL' })
      expect(await calm(0)).toBe(null)
      expect(await calm(1)).toBe('1 day without an incident')
      expect(await calm(42)).toBe('42 days without an incident')
      time = noon
      const { id } = await createIncident(acme.ctx, { ...incident, services: [] })
      expect(await calm(42)).toBe(null)
      await postIncidentUpdate({ ...acme.ctx, now }, { incidentId: id, status: 'RESOLVED', message: 'Over.' })
      expect(await calm(42)).toBe(null)
      expect(await calm(44)).toBe('2 days without an incident')
    } finally {
      time = noon
    }
  })

  test('contains feed links and a link preview', async () => {
    const acme = await tenant()
    await acme.services('API')
    const html = await read(pathOf(acme))
    for (const format of ['atom', 'rss']) {
      const link = `<link rel="alternate" type="application/${format}+xml" title="Acme status" href="${pathOf(acme)}/history.${format}"/>`
      expect(html).toContain(link)
    }
    for (const [channel, name] of [
      ['FEED', 'Feeds'],
      ['CALENDAR', 'Maintenance calendar'],
    ])
      expect(html).toContain(`<a href="${pathOf(acme)}/subscribe?channel=${channel}" aria-label="${name}"`)
    expect(metaOf(html, 'title')).toBe('All systems operational · Acme status')
    expect(metaOf(html, 'url')).toBe(`https://allclear.example${pathOf(acme)}`)
    expect(metaOf(html, 'image')).toMatch(new RegExp(`^https://allclear.example${pathOf(acme)}/picture.png\\?at=\\w+$`))
    const { description, ...data } = dataOf(html)
    expect(data).toEqual({
      '@context': 'https://schema.org',
      '@type': 'WebPage',
      name: 'All systems operational · Acme status',
      url: `https://allclear.example${pathOf(acme)}`,
      about: { '@type': 'Organization', name: 'Acme' },
    })
    expect(description).toBe(metaOf(html, 'description'))
  })

  test('has a new image address after the page changed', async () => {
    const acme = await tenant()
    const before = metaOf(await read(pathOf(acme)), 'image')
    await createService(acme.ctx, { name: 'API', status: 'OPERATIONAL' })
    await expect.poll(async () => metaOf(await read(pathOf(acme)), 'image')).not.toBe(before)
  })

  test('describes an incident as a live blog, with escaped texts', async () => {
    const acme = await tenant()
    const { id } = await createIncident(acme.ctx, { ...incident, title: '</script><script>alert(1)</script>' })
    await postIncidentUpdate(acme.later(HOUR), { incidentId: id, status: 'RESOLVED', message: 'It was *a disk*.' })
    const path = `${pathOf(acme)}/incidents/${id}`
    await expect.poll(() => read(path)).toContain('Resolved')
    const html = await read(path)
    expect(html).not.toContain('<script>')
    expect(dataOf(html)).toMatchObject({
      '@type': 'LiveBlogPosting',
      headline: '</script><script>alert(1)</script>',
      url: `https://allclear.example${path}`,
      coverageStartTime: '2026-11-20T12:00:00.000Z',
      coverageEndTime: '2026-11-20T13:00:00.000Z',
      dateModified: '2026-11-20T13:00:00.000Z',
      liveBlogUpdate: [
        { headline: 'Resolved', articleBody: 'It was a disk.', datePublished: '2026-11-20T13:00:00.000Z' },
        { headline: 'Investigating', articleBody: 'We are looking.' },
      ],
    })
    expect(metaOf(html, 'image')).toContain(`/incidents/${id}/picture.png?at=`)
  })

  test('names the address on the custom domain as canonical', async () => {
    const acme = await tenant()
    await serveUnder(acme.ctx, acme.id, 'found.acme.example')
    const canonical = async (path: string, host?: string) =>
      /<link rel="canonical" href="([^"]*)"/.exec(await read(path, host ? { host } : {}))?.[1]
    await expect.poll(() => canonical(pathOf(acme))).toBe('https://found.acme.example/')
    expect(await canonical(`${pathOf(acme)}/history`)).toBe('https://found.acme.example/history')
    expect(await canonical('/history', 'found.acme.example')).toBe('https://found.acme.example/history')
  })
})

describe('the history', () => {
  const back = (days: number) => new Date(noon.getTime() - days * DAY)

  test('links to the neighbouring months with items', async () => {
    const acme = await tenant()
    await createIncident(acme.ctx, { ...incident, title: 'Now' })
    await createIncident(acme.ctx, { ...incident, title: 'Long ago', startedAt: back(100) })
    const path = `${pathOf(acme)}/history`
    await expect.poll(() => read(path)).toContain('‹ August 2026')
    const present = await read(path)
    expect(present).toContain('<h1>November 2026</h1>')
    expect(present).toContain('Now')
    expect(present).not.toContain('Long ago')
    const past = await read(`${path}?month=2026-08`)
    expect(past).toContain('Long ago')
    expect(past).toContain('November 2026 ›')
    expect(past).not.toContain('←')
    expect(await read(`${path}?month=2026-09`)).toContain('No incidents and no maintenance in September 2026.')
    expect(nestingFaults(past)).toEqual([])
  })

  const titlesIn = async (path: string) =>
    [...(await read(path)).matchAll(/<h4[^>]*>(?:<a [^>]*>)?(.*?)</g)].map(([, title]) => title)

  /** Schedules a maintenance of two hours that begins `hours` after noon. */
  const plan = (acme: Tenant, title: string, hours: number, more: object = {}) =>
    scheduleMaintenance(acme.ctx, {
      title,
      message: `We **change** the ${title}.`,
      startsAt: new Date(noon.getTime() + hours * HOUR),
      endsAt: new Date(noon.getTime() + (hours + 2) * HOUR),
      ...more,
    })

  test('each maintenance has a page, whatever its status, in each language, and only on its own page', async () => {
    const acme = await tenant()
    const other = await tenant()
    const [api = ''] = await acme.services('API')
    const { id } = await plan(acme, 'disks', 1, { serviceIds: [api] })
    const path = `${pathOf(acme)}/maintenance/${id}`
    await expect.poll(() => read(pathOf(acme))).toContain(`<a href="${path}">disks</a>`)
    const scheduled = await read(path)
    const parts = [
      '<h1 dir="auto">disks</h1>',
      'Scheduled',
      'Affected: API',
      '<p>We <strong>change</strong> the disks.</p>',
    ]
    for (const part of parts) expect(scheduled).toContain(part)
    expect(scheduled).toContain('<title>Maintenance: disks')
    expect(scheduled).toContain('content="Scheduled: disks, maintenance at ')
    expect(nestingFaults(scheduled)).toEqual([])
    expect(repeatedIds(scheduled)).toEqual([])
    const german = await read(`${pathOf(acme)}/de/maintenance/${id}`)
    expect(german).toContain('<p class="eyebrow">Wartung</p>')
    expect(german).toContain(`href="${pathOf(acme)}/en/maintenance/${id}"`)
    await updateMaintenance(acme.later(MINUTE), { id, message: 'Half of them are new.' })
    await expect.poll(() => read(path)).toContain('Half of them are new.')
    await cancelMaintenance(acme.later(2 * MINUTE), { id, message: 'Not today.' })
    await expect.poll(() => read(path)).toContain('Not today.')
    expect(await read(path)).toContain('Cancelled')
    const nones = ['none', `mnt_${'0'.repeat(24)}`, '%00', 'x'.repeat(2000), `${id}?before=x`]
    for (const none of nones)
      expect([none, (await get(`${pathOf(acme)}/maintenance/${none}`)).status]).toEqual([none, 404])
    expect((await get(`${pathOf(other)}/maintenance/${id}`)).status).toBe(404)
  })

  test('shows maintenance among incidents, with its period, services and updates', async () => {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    await createIncident(acme.ctx, { ...incident, title: 'Before it', startedAt: new Date(noon.getTime() - 2 * HOUR) })
    const { id } = await plan(acme, 'disks', -1, { serviceIds: [api] })
    await updateMaintenance(acme.later(MINUTE), { id, message: 'Half of them are new.' })
    await updateMaintenance(acme.later(5 * MINUTE), { id, status: 'COMPLETED' })
    await createIncident(acme.ctx, { ...incident, title: 'After it' })
    await expect.poll(() => read(`${pathOf(acme)}/history`)).toContain('After it')
    const html = await read(`${pathOf(acme)}/history`)
    const parts = [
      'After it',
      `<article id="${id}" class="incident past" data-impact="MAINTENANCE" data-part><h4 dir="auto"><a href="${pathOf(acme)}/maintenance/${id}">disks</a></h4>`,
      'Completed</span><span>Maintenance</span>',
      '20 Nov 2026, 11:00 UTC</time> to <time datetime="2026-11-20T12:05:00.000Z">12:05 UTC',
      '1 h 5 min',
      'Affected: API',
      '<p>Half of them are new.</p>',
      '<summary>All 3 updates</summary>',
      'Half of them are new.',
      '<p>We <strong>change</strong> the disks.</p>',
      'Before it',
    ]
    let place = 0
    for (const part of parts) {
      expect([part, html.indexOf(part, place)]).not.toContain(-1)
      place = html.indexOf(part, place) + part.length
    }
    expect(nestingFaults(html)).toEqual([])
    expect(repeatedIds(html)).toEqual([])
  })

  test('shows running and cancelled maintenance, but no scheduled maintenance', async () => {
    const acme = await tenant()
    await plan(acme, 'running', -1)
    await plan(acme, 'to come', 1)
    const late = await plan(acme, 'called off', 2)
    const early = await plan(acme, 'called off already', 200)
    for (const { id } of [late, early]) await cancelMaintenance(acme.ctx, { id })
    const shown = () => titlesIn(`${pathOf(acme)}/history`)
    await expect.poll(shown).toEqual(['running'])
    time = new Date(noon.getTime() + 3 * HOUR)
    try {
      expect(await shown()).toEqual(['called off', 'running'])
    } finally {
      time = noon
    }
    expect((await get(`${pathOf(acme)}/history?month=2026-12`)).status).toBe(404)
  })

  test('links to months that have only maintenance', async () => {
    const acme = await tenant()
    const past = { ...acme, ctx: acme.later(-40 * DAY) }
    const { id } = await plan(past, 'long over', -40 * 24)
    await advanceMaintenance(acme.ctx, id)
    const path = `${pathOf(acme)}/history`
    await expect.poll(() => read(path)).toContain('‹ October 2026')
    expect(await read(`${path}?month=2026-10`)).toContain('long over')
    expect(await read(`${path}?month=2026-10`)).not.toContain('←')
    expect(await read(`${path}?month=2026-09`)).toContain('October 2026 ›')
  })

  test('starts months in its owner’s time zone', async () => {
    const acme = await tenant()
    await updateOrganization(acme.ctx, { timeZone: 'Asia/Tokyo' })
    await createIncident(acme.ctx, { ...incident, startedAt: new Date('2026-10-31T16:00:00Z') })
    await expect.poll(() => read(`${pathOf(acme)}/history`)).toContain('Payments fail')
    expect(await read(`${pathOf(acme)}/history?month=2026-10`)).not.toContain('Payments fail')
  })

  test('splits a busy month into pages', async () => {
    const acme = await tenant()
    await database.prisma.incident.createMany({
      data: Array.from({ length: 51 }, (_, index) => ({
        id: `inc_${String(index).padStart(24, '0')}`,
        organizationId: acme.id,
        title: `Incident ${index}.`,
        status: 'RESOLVED' as const,
        impact: 'NONE' as const,
        startedAt: new Date(noon.getTime() - index * MINUTE),
        resolvedAt: noon,
        createdAt: noon,
      })),
    })
    await plan(acme, 'disks', -0.24)
    const path = `${pathOf(acme)}/history?month=2026-11`
    await expect.poll(() => read(path)).toContain('Page 1 of 2')
    const first = Array.from({ length: 49 }, (_, index) => `Incident ${index}.`)
    expect(await titlesIn(path)).toEqual([...first.slice(0, 15), 'disks', ...first.slice(15)])
    expect(await titlesIn(`${path}&page=2`)).toEqual(['Incident 49.', 'Incident 50.'])
    expect((await get(`${path}&page=3`)).status).toBe(404)
  })

  test.each(['month=2026-12', 'month=2026-13', 'month=', 'month=x', 'page=0', 'page=-1', 'page=x', 'page=99999'])(
    'has nothing at %s',
    async (query) => {
      const acme = await tenant()
      expect((await get(`${pathOf(acme)}/history?${query}`)).status).toBe(404)
    },
  )
})

/** Expects that requests run no query, once the notifications of earlier changes have arrived. */
const expectNoQueries = (send: () => Promise<unknown>) =>
  expect
    .poll(async () => {
      const before = queries
      await send()
      return queries - before
    })
    .toBe(0)

describe('an unchanged page', () => {
  test('costs no query', async () => {
    const acme = await tenant()
    await expectNoQueries(async () => {
      for (let time = 0; time < 20; time++) expect((await get(pathOf(acme))).status).toBe(200)
    })
  })

  test('is read once for concurrent requests', async () => {
    const acme = await tenant()
    const before = statements
    await Promise.all(Array.from({ length: 20 }, () => read(pathOf(acme))))
    expect(statements).toBe(before + 1)
  })

  test('answers 304 until the log moves', async () => {
    const acme = await tenant()
    const etag = (await get(pathOf(acme))).headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]{22}"$/)
    for (const tags of [etag, `"other", ${etag}`]) {
      const response = await get(pathOf(acme), { 'if-none-match': tags })
      expect(response.status).toBe(304)
      expect(await response.text()).toBe('')
      expect(response.headers.get('etag')).toBe(etag)
    }
    await createService(acme.ctx, { name: 'API', status: 'OPERATIONAL' })
    await expect.poll(async () => (await get(pathOf(acme), { 'if-none-match': etag })).status).toBe(200)
  })

  test('is rendered again after a minute with the same ETag', async () => {
    const acme = await tenant()
    const etag = (await get(pathOf(acme))).headers.get('etag') ?? ''
    const before = statements
    time = new Date(noon.getTime() + MINUTE)
    expect((await get(pathOf(acme), { 'if-none-match': etag })).status).toBe(304)
    expect(statements).toBe(before + 1)
    time = noon
  })

  test('stays cached when other organizations change', async () => {
    const [acme, other] = [await tenant(), await tenant()]
    await read(pathOf(acme))
    await read(pathOf(other))
    await createService(other.ctx, { name: 'API', status: 'OPERATIONAL' })
    await expect.poll(() => read(pathOf(other))).toContain('API')
    const before = queries
    await read(pathOf(acme))
    expect(queries).toBe(before)
  })

  test('may be kept by a shared cache for four seconds, and for a day while the service fails', async () => {
    const { headers } = await get(pathOf(await tenant()))
    expect(headers.get('cache-control')).toBe(
      'public, max-age=0, s-maxage=4, stale-while-revalidate=1, stale-if-error=86400',
    )
    expect(headers.get('last-modified')).toBe(noon.toUTCString())
    expect(headers.get('vary')).toBe('accept-encoding, accept-language')
    expect(headers.has('set-cookie')).toBe(false)
  })

  test('has a strong ETag for each encoding', async () => {
    const path = pathOf(await tenant())
    const etagOf = async (encoding: string, known = '') => {
      const response = await get(path, { 'accept-encoding': encoding, 'if-none-match': known })
      return [response.status, response.headers.get('etag') ?? '']
    }
    const [, plain = ''] = await etagOf('identity')
    const [, zipped = ''] = await etagOf('gzip')
    expect([plain, zipped]).toEqual([
      expect.stringMatching(/^"[\w-]{22}"$/),
      expect.stringMatching(/^"[\w-]{22}-gzip"$/),
    ])
    expect(await etagOf('gzip', String(zipped))).toEqual([304, zipped])
    expect(await etagOf('gzip', String(plain))).toEqual([200, zipped])
  })

  test('is sent in gzip to clients that accept it', async () => {
    const acme = await tenant()
    const plain = await read(pathOf(acme))
    const zipped = await get(pathOf(acme), { 'accept-encoding': 'br, gzip' })
    expect(zipped.headers.get('content-encoding')).toBe('gzip')
    expect(zipped.headers.get('vary')).toBe('accept-encoding, accept-language')
    expect(gunzipSync(await zipped.arrayBuffer()).toString()).toBe(plain)
    for (const encoding of ['identity', 'gzip;q=0', 'gzip; q=0.0, br', 'xgzip']) {
      expect((await get(pathOf(acme), { 'accept-encoding': encoding })).headers.get('content-encoding')).toBeNull()
    }
  })

  test('is smaller than 60 kB uncompressed, with style sheets and script', async () => {
    const acme = await tenant()
    let weight = (await read(pathOf(acme))).length
    const files = new Hono().route('/', assets.routes)
    for (const name of ['style.css', 'status.css', 'live.js', 'favicon.svg']) {
      weight += (await (await files.request(assets.url(name))).text()).length
    }
    expect(weight).toBeLessThan(60_000)
  })
})

describe('a change of a page', () => {
  const versionOf = (html: string) => /data-version="([^"]+)"/.exec(html)?.[1] ?? ''
  const cursorOf = (html: string) => /data-cursor="([^"]+)"/.exec(html)?.[1] ?? ''

  /** A page with 100 services, its version, and one of its services. */
  async function openPage() {
    const acme = await tenant('TEAM')
    const { id } = await createService(acme.ctx, { name: 'The one that fails', status: 'OPERATIONAL' })
    for (let count = 1; count < 100; count++)
      await createService(acme.ctx, { name: `Service ${count}`, status: 'OPERATIONAL' })
    await expect.poll(() => read(pathOf(acme))).toContain('Service 99')
    const html = await read(pathOf(acme))
    return { acme, service: id, html, version: versionOf(html), cursor: cursorOf(html) }
  }

  test('is one of a hundred parts, and less than 1.5 kB', async () => {
    const { acme, service, version, cursor } = await openPage()
    await updateService(acme.ctx, { id: service, statusOverride: 'MAJOR_OUTAGE' })
    await expect.poll(async () => cursorOf(await read(pathOf(acme)))).not.toBe(cursor)
    const page = await read(pathOf(acme))
    const changes = await get(`${pathOf(acme)}?since=${version}&at=${cursorOf(page)}`, { 'accept-encoding': 'gzip' })
    expect(changes.headers.get('cache-control')).toContain('s-maxage=4')
    const zipped = Buffer.from(await changes.arrayBuffer())
    const html = gunzipSync(zipped).toString()
    expect(zipped.length).toBeLessThan(1500)
    expect(html.match(/ data-part>/g)).toHaveLength(1)
    expect(html).toContain('The one that fails')
    expect(html).not.toContain('Service 1')
    expect([versionOf(html), cursorOf(html)]).toEqual([versionOf(page), cursorOf(page)])
    const again = await get(`${pathOf(acme)}?since=${version}&at=${cursorOf(page)}`, {
      'accept-encoding': 'gzip',
      'if-none-match': changes.headers.get('etag') ?? '',
    })
    expect(again.status).toBe(304)
  })

  test('is empty for the current version', async () => {
    const { acme, version, cursor } = await openPage()
    const response = await get(`${pathOf(acme)}?since=${version}&at=${cursor}`)
    expect([response.status, await response.text()]).toEqual([204, ''])
    expect(response.headers.get('cache-control')).toContain('s-maxage=4')
    expect(response.headers.get('page-position')).toBe(cursor)
  })

  test('reports the position of an event that changes nothing on the page', async () => {
    const acme = await tenant()
    const page = await read(pathOf(acme))
    await createApiKey(acme.ctx, { name: 'Another', scope: 'READ' })
    const later = (Number.parseInt(cursorOf(page), 36) + 1).toString(36)
    const ask = () => get(`${pathOf(acme)}?since=${versionOf(page)}&at=${later}`)
    await expect.poll(async () => (await ask()).headers.get('page-position')).toBe(later)
    const response = await ask()
    expect([response.status, response.headers.get('cache-control')]).toEqual([
      204,
      expect.stringContaining('s-maxage=4'),
    ])
  })

  test('is the whole page for an unknown version', async () => {
    const acme = await tenant()
    const page = await read(pathOf(acme))
    for (const version of ['', 'abcdefghijkl', '__proto__', hostile, 'x'.repeat(5000)]) {
      expect(await read(`${pathOf(acme)}?since=${encodeURIComponent(version)}`)).toBe(page)
    }
  })

  test('may not be cached before the client’s position is reached', async () => {
    const acme = await tenant()
    const page = await read(pathOf(acme))
    const later = (Number.parseInt(cursorOf(page), 36) + 1).toString(36)
    for (const [at, mayCache] of [
      [cursorOf(page), true],
      ['0', true],
      [later, false],
      ['zzzzzzz', false],
      ['-', false],
    ] as const) {
      for (const version of [versionOf(page), 'unknown']) {
        const { headers } = await get(`${pathOf(acme)}?since=${version}&at=${at}`)
        expect(headers.get('cache-control')).toEqual(mayCache ? expect.stringContaining('s-maxage=4') : 'no-store')
      }
    }
  })

  test('costs no query', async () => {
    const acme = await tenant()
    await expectNoQueries(async () => {
      const page = await read(pathOf(acme))
      for (const version of [versionOf(page), 'unknown']) await read(`${pathOf(acme)}?since=${version}`)
    })
  })
})

describe('an owner’s colour', () => {
  test('is in a style sheet whose name contains it', async () => {
    const acme = await tenant()
    await updateOrganization(acme.ctx, { accentColor: '#7C3AED' })
    await expect.poll(() => read(pathOf(acme))).toContain('href="/assets/theme.7c3aed.css"')
    const sheet = await get('/assets/theme.7c3aed.css')
    expect(sheet.headers.get('content-type')).toBe('text/css; charset=utf-8')
    expect(sheet.headers.get('cache-control')).toContain('immutable')
    expect(await sheet.text()).toContain('--brand:#7c3aed')
  })

  test.each(['red', '7c3aed0', '7c3ae', '7C3AED', '}*{x:y', '%7D%7D%7D%7D%7D%7D'])('cannot be %s', async (colour) => {
    expect((await get(`/assets/theme.${colour}.css`)).status).toBe(404)
  })
})

describe('a custom domain', () => {
  const domain = 'status.acme-shop.example'

  test('shows the same pages at its root, with links on that domain', async () => {
    const acme = await tenant()
    await serveUnder(acme.ctx, acme.id, domain)
    const { id } = await createIncident(acme.ctx, incident)
    const host = { host: domain }
    await expect.poll(() => read('/', host)).toContain('Payments fail')
    const html = await read('/', host)
    expect(html).toContain(`href="/incidents/${id}"`)
    expect(html).toContain('href="/history"')
    expect(html).toContain(`<link rel="canonical" href="https://${domain}/"/>`)
    expect(html).not.toContain(`/status/${acme.slug}`)
    expect(await read(`/incidents/${id}`, host)).toContain('<h1 dir="auto">Payments fail</h1>')
    expect(await read('/history', host)).toContain('<h1>November 2026</h1>')
    for (const spelling of [`${domain}:8080`, domain.toUpperCase(), `${domain}.`]) {
      expect(await read('/', { host: spelling })).toContain('Payments fail')
    }
    const before = queries
    await read('/', host)
    expect(queries).toBe(before)
    await removeDomain(acme.ctx, { pageId: acme.id })
    await expect.poll(() => read('/', host)).toBe('The landing page.')
  })

  test('must match exactly, and an unknown host never appears in a page', async () => {
    const acme = await tenant()
    await serveUnder(acme.ctx, acme.id, 'www.acme.example')
    for (const host of [
      'acme.example',
      'x.www.acme.example',
      'evil.example',
      '203.0.113.7',
      '[::1]:80',
      'localhost',
      '',
    ]) {
      expect(await read('/', { host })).toBe('The landing page.')
      expect((await get('/history', { host })).status).toBe(404)
      expect(await read(pathOf(acme), { host })).not.toContain('evil')
    }
  })

  test('has its own 404 page, in the language of the address', async () => {
    const acme = await tenant()
    await updateOrganization(acme.ctx, { name: 'Acme Shop' })
    await serveUnder(acme.ctx, acme.id, 'two.acme.example')
    const host = { host: 'two.acme.example' }
    await expect.poll(() => read('/', host)).toContain('Acme Shop')
    const missing = await get('/de/nothing/here', host)
    const html = await missing.text()
    expect(missing.status).toBe(404)
    expect(html).toContain('<html lang="de"')
    expect(html).toContain('<a href="/de/history">')
    expect(await read('/nothing', host)).toContain('Acme Shop')
    expect(await read('/access/nothing', host)).toBe('Nothing.')
    expect(await read('/nothing', { host: 'three.acme.example' })).toBe('Nothing.')
  })

  test('does not show other organizations’ incidents', async () => {
    const [acme, other] = [await tenant(), await tenant()]
    await serveUnder(acme.ctx, acme.id, 'one.acme.example')
    const { id } = await createIncident(other.ctx, incident)
    expect((await get(`/incidents/${id}`, { host: 'one.acme.example' })).status).toBe(404)
  })

  test('works as soon as it is verified, even if it was requested before', async () => {
    const acme = await tenant()
    const host = { host: 'new.acme.example' }
    expect(await read('/', host)).toBe('The landing page.')
    await serveUnder(acme.ctx, acme.id, host.host)
    await expect.poll(() => read('/', host)).toContain('Acme')
  })
})
