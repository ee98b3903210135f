// @slow
import { Hono } from 'hono'
import { afterAll, describe, expect, test } from 'vitest'
import { updateOrganization } from '../../../src/account/organization/organization.ts'
import { listenToLogs } from '../../../src/event-log/event.ts'
import { loadAssets } from '../../../src/http/assets/assets.ts'
import { wordsOf } from '../../../src/language/catalogue.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { scheduleMaintenance } from '../../../src/status/maintenance/maintenance.ts'
import { createService } from '../../../src/status/service/service.ts'
import { liveScript, statusPages, statusStylesheet } from '../../../src/status-page/html/routes.tsx'
import { documentRoutes } from '../../../src/status-page/http/documents.ts'
import { createPageCache } from '../../../src/status-page/page-cache.ts'
import { createPngRenderer } from '../../../src/status-page/png-renderer.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { nestingFaults } from '../../support/markup.ts'
import { pageGuardOf } from '../../support/page-guard.ts'
import { pseudoLanguage, unwrapped } from '../../support/pseudo-language.ts'

const database = await testDatabase()
const tenant = tenantsOf(database.prisma)
const now = () => noon
const cache = createPageCache(now)
afterAll(await listenToLogs(database, cache.invalidate))
const site = { assets: await loadAssets([liveScript, statusStylesheet]), baseUrl: 'https://allclear.example' }
const options = {
  site,
  guard: pageGuardOf(database.prisma, now),
  db: database.prisma,
  cache,
  now,
  pngRenderer: createPngRenderer(),
}
const app = new Hono().route('/', documentRoutes(options)).route('/', statusPages(options))

const get = (path: string, language?: string) =>
  app.request(path, { headers: language === undefined ? {} : { 'accept-language': language } })

async function filledPage() {
  const acme = await tenant()
  await updateOrganization(acme.ctx, { name: 'Άκμη', description: 'Περιγραφή', timeZone: 'UTC' })
  const { id: serviceId } = await createService(acme.ctx, {
    name: 'Πληρωμές',
    description: 'Κάρτες',
    status: 'OPERATIONAL',
  })
  const { id } = await createIncident(acme.ctx, {
    ...{ title: 'Βλάβη', status: 'INVESTIGATING', impact: 'MAJOR', message: 'Ψάχνουμε.' },
    services: [{ serviceId, status: 'PARTIAL_OUTAGE' }],
  })
  const startsAt = new Date('2026-11-21T12:00:00Z')
  const endsAt = new Date('2026-11-21T13:00:00Z')
  await scheduleMaintenance(acme.ctx, { title: 'Δίσκοι', message: 'Νέοι.', startsAt, endsAt, serviceIds: [serviceId] })
  cache.invalidate(acme.id)
  return { acme, path: `/status/${acme.slug}`, incidentId: id, serviceId }
}

describe('the language of a page', () => {
  test('is in its address, and in links to other pages', async () => {
    const { path } = await filledPage()
    const html = await (await get(`${path}/de`, 'fr')).text()
    expect(html).toContain('<html lang="de" dir="ltr">')
    expect(html).toContain('<h1>Teilausfall: <bdi lang="">Πληρωμές</bdi></h1>')
    expect(html).toContain('<bdi lang="">Άκμη</bdi>')
    expect(html).toContain('<bdi lang="">Πληρωμές</bdi>: Teilausfall')
    expect(html).toContain('Betroffen: <bdi lang="">Πληρωμές</bdi>')
    // All texts of the owner have their own language, except where markup is not possible.
    const tags = html.replace(/<(title|script).*?<\/\1>|<[^>]*>/g, (tag) => (/ lang=""/.test(tag) ? '<own>' : '<>'))
    expect(tags.replace(/<own>(<>)*/g, '<own>')).not.toMatch(/<>[^<]*\p{Script=Greek}/u)
    expect(html).not.toMatch(/[\u2066-\u2069]/)
    expect(html).toContain(`href="${path}/de/history"`)
    expect(html).toContain(`href="${path}/history.atom?language=de"`)
    expect(html).toContain(`<link rel="canonical" href="https://allclear.example${path}/de"/>`)
    expect(html).toContain(`<link rel="alternate" hreflang="fr" href="https://allclear.example${path}/fr"/>`)
    expect(html).toContain(`<link rel="alternate" hreflang="x-default" href="https://allclear.example${path}"/>`)
    expect(html).toMatch(/<h3 dir="auto" lang=""><a [^>]*>Βλάβη/)
    expect(nestingFaults(html)).toEqual([])
  })

  test('applies to our text only: a right-to-left name keeps its direction, and others need no markup', async () => {
    const acme = await tenant()
    const services = await Promise.all(
      ['دفع (API)', 'Search'].map(async (name) => (await createService(acme.ctx, { name, status: 'OPERATIONAL' })).id),
    )
    await createIncident(acme.ctx, {
      ...{ title: 'Slow', status: 'INVESTIGATING', impact: 'MAJOR', message: 'We look.' },
      services: services.map((serviceId) => ({ serviceId, status: 'PARTIAL_OUTAGE' })),
    })
    cache.invalidate(acme.id)
    const html = await (await get(`/status/${acme.slug}`)).text()
    expect(html).toContain('<h1>Partial outage: <bdi>دفع (API)</bdi> and Search</h1>')
  })

  test('defaults to the page’s in an address without one, and redirects visitors with another', async () => {
    const { path, incidentId } = await filledPage()
    const plain = await get(path, 'en-US,en')
    expect([plain.status, plain.headers.get('vary')]).toEqual([200, 'accept-encoding, accept-language'])
    expect((await get(`${path}/de`)).headers.get('vary')).toBe('accept-encoding')
    for (const [from, to] of [
      [path, `${path}/de`],
      [`${path}/incidents/${incidentId}?before=x`, `${path}/de/incidents/${incidentId}?before=x`],
      [`${path}/history`, `${path}/de/history`],
    ] as const) {
      if (from.includes('before')) continue
      const sent = await get(from, 'de-CH')
      expect([sent.status, sent.headers.get('location'), sent.headers.get('vary')]).toEqual([
        302,
        to,
        'accept-language',
      ])
      expect(sent.headers.get('cache-control')).toContain('s-maxage=4')
    }
    const version = /data-version="([^"]+)"/.exec(await plain.text())?.[1]
    expect((await get(`${path}?since=${version}`, 'de')).status).toBe(204)
  })

  test('has one address, which its other tags redirect to', async () => {
    const { path } = await filledPage()
    const pages = [
      ['/zh-cn/history?month=2026-11', '/zh-hans/history?month=2026-11'],
      ['/pt', '/pt-br'],
    ] as const
    for (const [asked, canonical] of pages) {
      const sent = await get(path + asked)
      expect([sent.status, sent.headers.get('location')]).toEqual([302, path + canonical])
    }
    expect(await (await get(`${path}/zh-hans`)).text()).toContain('<html lang="zh-Hans" dir="ltr">')
  })

  test('is one that the page offers', async () => {
    const { acme, path } = await filledPage()
    await updateOrganization(acme.ctx, { languages: ['FR'], defaultLanguage: 'DE' })
    cache.invalidate(acme.id)
    expect(await (await get(path, 'de')).text()).toContain('<html lang="de"')
    expect((await get(path, 'en')).status).toBe(200)
    expect((await get(path, 'fr')).headers.get('location')).toBe(`${path}/fr`)
    const left = await get(`${path}/en/history?month=2026-11`)
    expect([left.status, left.headers.get('location')]).toEqual([302, `${path}/history?month=2026-11`])
    await updateOrganization(acme.ctx, { languages: ['DE'] })
    cache.invalidate(acme.id)
    const only = await get(path, 'fr')
    expect([only.status, only.headers.get('vary')]).toEqual([200, 'accept-encoding'])
    expect(await only.text()).not.toMatch(/hreflang|class="languages"/)
  })

  test.each(['/xx', '/DE', '/de/de', '/de/x', '/d', '/de%00', '/constructor', '/en-'])(
    '%s is not found',
    async (tail) => {
      const { path } = await filledPage()
      expect([302, 404]).toContain((await get(path + tail)).status)
      expect((await get(path + tail)).headers.get('location') ?? path).toMatch(/^\/status\//)
    },
  )

  test('of a document is in its query', async () => {
    const { path } = await filledPage()
    const feed = await (await get(`${path}/history.atom?language=de`)).text()
    expect(feed).toContain('<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"')
    expect(feed).toContain('Wird untersucht')
    expect(feed).toContain(`href="https://allclear.example${path}/history.atom?language=de"`)
    expect(feed).toContain(`${path}/de/incidents/`)
    expect(await (await get(`${path}/badge.svg?language=DE`)).text()).toContain('Teilausfall')
    expect(await (await get(`${path}/badge.svg?language=xx`, 'de')).text()).toContain('Partial outage')
  })
})

describe('texts of an owner in several languages', () => {
  const german = { language: 'DE', title: 'Zahlungen fallen aus', message: 'Wir *suchen*.' }
  const texts = [german, { language: 'FR', title: 'Panne des paiements' }]

  async function translatedPage() {
    const filled = await filledPage()
    const { acme, serviceId } = filled
    const incident = await createIncident(acme.ctx, {
      ...{ title: 'Payments fail', status: 'IDENTIFIED', impact: 'MAJOR', message: 'We *look*.', translations: texts },
      services: [{ serviceId, status: 'PARTIAL_OUTAGE' }],
      startedAt: new Date('2026-11-20T11:00:00Z'),
    })
    await scheduleMaintenance(acme.ctx, {
      ...{ title: 'New disks', message: 'Soon.', serviceIds: [serviceId] },
      ...{ startsAt: new Date('2026-11-22T12:00:00Z'), endsAt: new Date('2026-11-22T13:00:00Z') },
      translations: [{ language: 'DE', title: 'Neue Platten', message: 'Bald.' }],
    })
    cache.invalidate(acme.id)
    return { ...filled, incidentId: incident.id }
  }

  test('are on the page in the visitor’s language, and each is marked with its own', async () => {
    const { path, incidentId } = await translatedPage()
    const german = await (await get(`${path}/de`)).text()
    expect(german).toMatch(/<h3 dir="auto"><a [^>]*>Zahlungen fallen aus<\/a>/)
    expect(german).toContain('<div class="prose" dir="auto"><p>Wir <em>suchen</em>.</p></div>')
    expect(german).toContain('data-announce="Zahlungen fallen aus: Ursache gefunden. Wir suchen."')
    expect(german).toMatch(/<h3 dir="auto"><a [^>]*>Neue Platten<\/a>/)
    expect(german).not.toMatch(/Payments fail|We <em>look|New disks|Soon/)
    const french = await (await get(`${path}/fr`)).text()
    expect(french).toMatch(/<h3 dir="auto"><a [^>]*>Panne des paiements<\/a>/)
    expect(french).toContain('<div class="prose" dir="auto" lang=""><p>We <em>look</em>.</p></div>')
    expect(french).toMatch(/<h3 dir="auto" lang=""><a [^>]*>New disks<\/a>/)
    const english = await (await get(path)).text()
    expect(english).toMatch(/<h3 dir="auto"><a [^>]*>Payments fail<\/a>/)
    const whole = await (await get(`${path}/de/incidents/${incidentId}`)).text()
    expect(whole).toContain('<title>Zahlungen fallen aus')
    expect(whole).toContain('"headline":"Zahlungen fallen aus"')
    expect(nestingFaults(whole)).toEqual([])
    const polish = await (await get(`${path}/pl/incidents/${incidentId}`)).text()
    expect(polish).toContain('<h1 dir="auto" lang="">Payments fail</h1>')
  })

  test('are in the days of a service and in the history', async () => {
    const { path, serviceId } = await translatedPage()
    const day = await (await get(`${path}/de/services/${serviceId}?day=2026-11-20`)).text()
    expect(day.match(/<a [^>]* dir="auto">Zahlungen fallen aus/)).not.toBeNull()
    expect((await (await get(`${path}/fr/services/${serviceId}`)).text()).match(/Panne des paiements/)).not.toBeNull()
    expect(await (await get(`${path}/de/history`)).text()).toContain('Zahlungen fallen aus')
  })

  test('are marked with their own language in feeds of another one', async () => {
    const { path } = await translatedPage()
    const feedIn = async (tail: string) =>
      (await (await get(path + tail)).text()).replace(/&(lt|gt|quot);/g, (entity) => entities[entity] ?? entity)
    const polish = await feedIn('/history.atom?language=pl')
    expect(polish).toContain('<title xml:lang="en">Payments fail</title>')
    for (const feed of ['/history.atom', '/history.rss']) {
      expect(await feedIn(`${feed}?language=pl`)).toMatch(/<bdi lang="en">.*<div lang="en" dir="auto"><p>We /s)
      expect(await feedIn(`${feed}?language=fr`)).toMatch(
        /<title>Panne des paiements<.*<div lang="en" dir="auto"><p>We /s,
      )
      expect(await feedIn(`${feed}?language=de`)).toMatch(/<title>Zahlungen fallen aus<.*<div dir="auto"><p>Wir /s)
      expect(await feedIn(feed)).not.toContain('lang="en" dir')
    }
  })

  test('are in feeds, the calendar and Statuspage’s documents, in the page’s default language by default', async () => {
    const { acme, path } = await translatedPage()
    const textOf = async (tail: string) => (await get(path + tail)).text()
    for (const feed of ['/history.atom', '/history.rss']) {
      expect(await textOf(`${feed}?language=de`)).toMatch(/Zahlungen fallen aus.*&lt;em&gt;suchen/s)
      expect(await textOf(feed)).toMatch(/Payments fail.*&lt;em&gt;look/s)
      expect(await textOf(`${feed}?language=fr`)).toMatch(/Panne des paiements.*&lt;em&gt;look/s)
    }
    expect(await textOf('/maintenance.ics?language=de')).toMatch(/SUMMARY:Neue Platten.*Bald\./s)
    expect(await textOf('/maintenance.ics')).toMatch(/SUMMARY:New disks.*Soon\./s)
    const summary = async (query = '') => JSON.parse(await textOf(`/api/v2/incidents.json${query}`)).incidents[1]
    expect(await summary()).toMatchObject({ name: 'Payments fail', incident_updates: [{ body: 'We *look*.' }] })
    expect(await summary('?language=de')).toMatchObject({ name: 'Zahlungen fallen aus' })
    await updateOrganization(acme.ctx, { defaultLanguage: 'DE' })
    cache.invalidate(acme.id)
    expect(await summary()).toMatchObject({
      name: 'Zahlungen fallen aus',
      incident_updates: [{ body: 'Wir *suchen*.' }],
    })
    expect(await textOf('/maintenance.ics')).toContain('SUMMARY:Neue Platten')
  })
})

test('pages and documents contain no English outside the catalogue', async () => {
  const before = { ...wordsOf('FR') }
  Object.assign(wordsOf('FR'), pseudoLanguage(wordsOf('EN'), 'fr'))
  try {
    const { path, incidentId, serviceId } = await filledPage()
    for (const [tail, kind] of [
      ['/fr', 'html'],
      [`/fr/services/${serviceId}`, 'html'],
      [`/fr/services/${serviceId}?range=7d`, 'html'],
      [`/fr/services/${serviceId}?day=2026-11-20`, 'html'],
      [`/fr/incidents/${incidentId}`, 'html'],
      ['/fr/history', 'html'],
      ['/history.atom?language=fr', 'xml'],
      ['/history.rss?language=fr', 'xml'],
      ['/badge.svg?language=fr', 'xml'],
    ] as const) {
      const text = await (await get(path + tail)).text()
      if (kind === 'html') expect(text).toContain('dir="rtl"')
      expect(text).toContain('⟦')
      expect([tail, ...unwrapped(kind === 'html' ? pageText(text) : documentText(text))]).toEqual([tail])
    }
  } finally {
    Object.assign(wordsOf('FR'), before)
  }
})

const entities: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"' }
const pageText = (html: string) => html.replace(/<head>.*?<\/head>/s, '')
/** Identifiers, addresses and times have no language; contents of feeds are escaped HTML. */
const documentText = (xml: string) =>
  xml
    .replace(
      /<(id|guid|link|generator|updated|published|pubDate|lastBuildDate|language|atom:updated)\b[^>]*>[^<]*<\/\1>/g,
      '',
    )
    .replace(/&lt;.*?&gt;/g, '')
