// @slow
import { parseFeed } from '@rowanmanning/feed-parser'
import { describe, expect, test } from 'vitest'
import { updateOrganization } from '../../../src/account/organization/organization.ts'
import { DAY, HOUR, MINUTE } from '../../../src/core/time.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { editIncidentUpdate, postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import { publishPostmortem, savePostmortem, unpublishPostmortem } from '../../../src/status/incident/postmortem.ts'
import { scheduleMaintenance } from '../../../src/status/maintenance/maintenance.ts'
import { createService } from '../../../src/status/service/service.ts'
import { type Tenant, tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { nestingFaults } from '../../support/markup.ts'
import { serveUnder } from '../../support/own-domain.ts'
import { startPageServer } from '../../support/page-server.ts'

const database = await testDatabase()
const tenant = tenantsOf(database.prisma)
const { url } = await startPageServer(database, () => noon)
const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const story = { title: 'Payments fail', status: 'INVESTIGATING', impact: 'MAJOR', message: 'We are **looking**.' }
const window = { startsAt: at(DAY), endsAt: at(DAY + HOUR) }

const pageOf = ({ slug }: Tenant) => `${url}/status/${slug}`
const get = (of: Tenant, format: string, headers: Record<string, string> = {}) =>
  fetch(`${pageOf(of)}/history.${format}`, { headers })
const text = async (of: Tenant, format: string) => (await get(of, format)).text()
const read = async (of: Tenant, format: string) => parseFeed(await text(of, format))

/** The HTML of each entry as encoded in the XML: the feed reader under test decodes it twice. */
function contentsIn(xml: string): string[] {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
  return [...xml.matchAll(/<(?:content type="html"|description)>([^<]*)</g)].map(([, escaped = '']) =>
    escaped.replace(/&(\w+);/g, (_, name: string) => entities[name] ?? '?'),
  )
}

/** When each entry was last changed. */
function updatesIn(xml: string): Date[] {
  const entries = xml.slice(xml.search(/<(entry|item)>/))
  return [...entries.matchAll(/<(?:atom:)?updated>([^<]*)</g)].map(([, at = '']) => new Date(at))
}

/** Creates a page with an incident that has updates, and a maintenance. */
async function pageWithUpdates() {
  const acme = await tenant()
  const { id: serviceId } = await createService(acme.ctx, { name: 'R&D <API>' })
  const services = [{ serviceId, status: 'PARTIAL_OUTAGE' }]
  const incident = await createIncident(acme.ctx, { ...story, services })
  const over = { incidentId: incident.id, status: 'RESOLVED', message: 'A disk:\n\n- replaced' }
  const update = await postIncidentUpdate(acme.later(HOUR), over)
  const plan = { title: 'New disks', message: 'Reads go on.', serviceIds: [serviceId], ...window }
  const maintenance = await scheduleMaintenance(acme.later(MINUTE), plan)
  return { acme, incident, update, maintenance }
}

describe.each([
  ['atom', 'atom', 'application/atom+xml; charset=utf-8'],
  ['rss', 'rss', 'application/rss+xml; charset=utf-8'],
])('the feed in %s', (format, type, contentType) => {
  test('has an entry for each incident and maintenance that a feed reader can parse', async () => {
    const { acme, incident, maintenance } = await pageWithUpdates()
    const feed = await read(acme, format)
    expect(feed.meta.type).toBe(type)
    expect(feed.title).toBe('Acme status')
    expect(feed.url).toBe(pageOf(acme))
    expect(feed.self).toBe(`${pageOf(acme)}/history.${format}`)
    expect(feed.updated).toEqual(at(HOUR))
    expect(feed.items.map(({ title, url, published }) => [title, url, published])).toEqual([
      ['Payments fail', `${pageOf(acme)}/incidents/${incident.id}`, noon],
      ['Maintenance: New disks', `${pageOf(acme)}/maintenance/${maintenance.id}`, at(MINUTE)],
    ])
    const xml = await text(acme, format)
    expect(updatesIn(xml)).toEqual([at(HOUR), at(MINUTE)])
    const [incidentHtml = '', maintenanceHtml = ''] = contentsIn(xml.slice(xml.indexOf('Payments fail')))
    expect(incidentHtml).toContain('<p>Major impact</p>\n<p>Affected: <bdi>R&amp;D &lt;API&gt;</bdi></p>')
    expect(incidentHtml).toContain(
      '<p><strong>Resolved</strong>, <time datetime="2026-11-20T13:00:00.000Z">20 Nov 2026, 13:00 UTC',
    )
    expect(incidentHtml).toContain('<li>replaced</li>')
    expect(incidentHtml.indexOf('replaced')).toBeLessThan(
      incidentHtml.indexOf('<p>We are <strong>looking</strong>.</p>'),
    )
    expect(maintenanceHtml).toContain(
      '<p>21 Nov 2026, 12:00 UTC to 21 Nov 2026, 13:00 UTC</p>\n<p>Affected: <bdi>R&amp;D &lt;API&gt;</bdi></p>',
    )
  })

  test('keeps the id of each entry across edits and addresses', async () => {
    const { acme, update } = await pageWithUpdates()
    const before = await read(acme, format)
    await editIncidentUpdate(acme.later(2 * HOUR), { id: update.id, message: 'Two disks.' })
    await serveUnder(acme.ctx, acme.id, `${format}.acme.example`)
    await updateOrganization(acme.ctx, { name: 'Acme Inc.' })
    await expect.poll(async () => (await read(acme, format)).title).toBe('Acme Inc. status')
    const after = await read(acme, format)
    expect(after.items.map(({ id }) => id)).toEqual(before.items.map(({ id }) => id))
    for (const { id } of after.items)
      expect(id).toMatch(/^urn:uuid:[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    expect(new Set(after.items.map(({ id }) => id)).size).toBe(2)
    expect(updatesIn(await text(acme, format))[0]).toEqual(at(2 * HOUR))
  })

  test('escapes all user text', async () => {
    const acme = await tenant()
    const hostile = `]]></title><script>alert(1)</script>&"'\u{1f600}\uFFFE`
    await updateOrganization(acme.ctx, { name: hostile })
    const message = `${hostile}\n\n<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1))`
    await createIncident(acme.ctx, { ...story, title: hostile, message })
    const xml = await text(acme, format)
    expect(nestingFaults(xml.replace(/^<\?xml.*\?>/, ''))).toEqual([])
    expect(xml).not.toMatch(/<script|<img|javascript:|\uFFFE/)
    const feed = parseFeed(xml)
    expect(feed.items[0]?.title).toContain('<script>alert(1)</script>')
    // What readers take for HTML, also about the feed itself.
    for (const html of contentsIn(xml)) expect(html).not.toMatch(/<script|<img|<\/title|javascript:/)
    if (format === 'rss') expect(contentsIn(xml)).toHaveLength(2)
    const content = contentsIn(xml).at(-1)
    expect(content).toContain('&lt;img src=x onerror=alert(1)&gt;')
  })

  test('is empty and valid for a new page', async () => {
    const acme = await tenant()
    const feed = await read(acme, format)
    expect(feed.items).toEqual([])
    expect(feed.updated).toEqual(noon)
  })

  test('contains the fifty most recently changed entries', async () => {
    const acme = await tenant()
    await database.prisma.incident.createMany({
      data: Array.from({ length: 60 }, (_, index) => ({
        id: `inc_${format === 'rss' ? 'r' : 'a'}${String(index).padStart(23, '0')}`,
        organizationId: acme.id,
        title: `Incident ${index}.`,
        status: 'RESOLVED' as const,
        impact: 'NONE' as const,
        startedAt: at(-index * MINUTE),
        resolvedAt: noon,
        createdAt: at(-index * MINUTE),
      })),
    })
    const { items } = await read(acme, format)
    expect(items.map(({ title }) => title)).toEqual(Array.from({ length: 50 }, (_, index) => `Incident ${index}.`))
  })

  test('answers 304 until something changes', async () => {
    const acme = await tenant()
    const first = await get(acme, format)
    expect(first.headers.get('content-type')).toBe(contentType)
    expect(first.headers.get('cache-control')).toContain('s-maxage=4')
    const etag = first.headers.get('etag') ?? ''
    expect((await get(acme, format, { 'if-none-match': etag })).status).toBe(304)
    await createIncident(acme.ctx, story)
    await expect.poll(async () => (await get(acme, format, { 'if-none-match': etag })).status).toBe(200)
  })
})

test('an incident’s entry contains its post-mortem once it is published, and counts as changed then', async () => {
  const { acme, incident } = await pageWithUpdates()
  const incidentId = incident.id
  await savePostmortem(acme.later(2 * HOUR), {
    ...{ incidentId, message: 'A **disk** & a fan.' },
    translations: [{ language: 'DE', message: 'Eine Platte.' }],
  })
  const before = await text(acme, 'atom')
  expect(before).not.toContain('disk&lt;')
  await publishPostmortem(acme.later(3 * HOUR), { incidentId, notifySubscribers: false })
  await expect.poll(() => text(acme, 'atom')).toContain('Post-mortem')
  for (const format of ['atom', 'rss']) {
    const xml = await text(acme, format)
    const [content = ''] = contentsIn(xml).filter((each) => each.includes('Post-mortem'))
    expect(content).toMatch(/<p><strong>Post-mortem<\/strong>, <time [\s\S]*<strong>disk<\/strong> &amp; a fan/)
    expect(nestingFaults(content)).toEqual([])
    expect(updatesIn(xml)[0]).toEqual(at(3 * HOUR))
    expect(await text(acme, `${format}?language=de`)).toContain('Eine Platte.')
  }
  await unpublishPostmortem(acme.later(4 * HOUR), incidentId)
  await expect.poll(() => text(acme, 'atom')).not.toContain('Post-mortem')
})

test('a feed contains a limited amount of post-mortems, and links to the others', async () => {
  const acme = await tenant('TEAM')
  for (let nth = 0; nth < 24; nth++) {
    const { id: incidentId } = await createIncident(acme.ctx, { ...story, title: `No. ${nth}`, status: 'RESOLVED' })
    await savePostmortem(acme.ctx, { incidentId, message: `${nth} `.padEnd(9_900, 'word ') })
    await publishPostmortem(acme.later(nth), { incidentId })
  }
  const contents = contentsIn(await text(acme, 'atom')).filter((each) => each.includes('Post-mortem'))
  const whole = contents.filter((each) => each.length > 9_000)
  expect(contents).toHaveLength(24)
  expect([whole.length, whole[0]?.includes('<p>23 word')]).toEqual([20, true])
  expect(contents.at(-1)).toMatch(/<a href="[^"]+#postmortem">Post-mortem<\/a>/)
})
