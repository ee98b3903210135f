// @slow
import { expect, test } from 'vitest'
import { HTML_VERSION } from '../../src/core/markdown/markdown-rendering.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { loadAssets } from '../../src/http/assets/assets.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { scheduleMaintenance } from '../../src/status/maintenance/maintenance.ts'
import { liveScript, statusPages, statusStylesheet } from '../../src/status-page/html/routes.tsx'
import { tenantsOf } from '../status/setup.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { nestingFaults } from '../support/markup.ts'
import { pageSourceOf } from '../support/page-guard.ts'
import { startPageServer } from '../support/page-server.ts'

const database = await testDatabase()
const { prisma } = database
const tenant = tenantsOf(prisma)
const { url, app } = await startPageServer(database, () => noon)
const site = { assets: await loadAssets([liveScript, statusStylesheet]), baseUrl: url }
app.route('/', statusPages(pageSourceOf(site, prisma, () => noon)))

const minutes = (count: number) => new Date(noon.getTime() + count * MINUTE)

/** Creates a page with as much text as the limits allow, in three open incidents and a maintenance. */
async function fullPage() {
  const acme = await tenant()
  const [api = '', web = ''] = await acme.services('API', 'Web')
  const services = [{ serviceId: api, status: 'MAJOR_OUTAGE' }]
  const story = { status: 'INVESTIGATING', impact: 'MAJOR', message: 'First.', services }
  const ids: string[] = []
  for (const title of ['One', 'Two', 'Three']) ids.push((await createIncident(acme.ctx, { title, ...story })).id)
  // The first incident has shorter updates; the others have the maximum length.
  await prisma.$executeRaw`
    INSERT INTO "IncidentUpdate" (id, "organizationId", "incidentId", status, message, html, "htmlVersion", "createdAt")
    SELECT 'upd_' || substr(md5(incident || n), 1, 24), ${acme.id}, incident,
      CASE n WHEN 11 THEN 'MONITORING' WHEN 21 THEN 'RESOLVED' ELSE 'IDENTIFIED' END::"IncidentStatus",
      repeat('&', size), '<p>' || repeat('&amp;', size) || '</p>', ${HTML_VERSION}, ${noon}::timestamptz + n * interval '1 minute'
    FROM unnest(${ids}::text[], ${[1000, 10_000, 10_000]}::int[]) AS made(incident, size), generate_series(1, 499) AS n`
  // Of the updates before those in the document, the last one about one service follows its resolution; another service
  // was resolved.
  const written = await prisma.incidentUpdate.findMany({
    where: { incidentId: ids[0] ?? '' },
    orderBy: { createdAt: 'asc' },
    select: { id: true },
  })
  const update = (n: number) => written[n]?.id ?? ''
  await prisma.incidentUpdateService.createMany({
    data: [
      { updateId: update(16), serviceId: web, status: 'MAJOR_OUTAGE' },
      { updateId: update(31), serviceId: api, status: 'PARTIAL_OUTAGE' },
      { updateId: update(499), serviceId: api, status: 'OPERATIONAL' },
    ],
  })
  await prisma.incidentService.create({ data: { incidentId: ids[0] ?? '', serviceId: web, status: 'OPERATIONAL' } })
  const window = { startsAt: minutes(60), endsAt: new Date(noon.getTime() + DAY) }
  const { id: maintenanceId } = await scheduleMaintenance(acme.later(-HOUR), {
    title: 'Disks',
    message: 'x',
    ...window,
  })
  await prisma.$executeRaw`
    INSERT INTO "MaintenanceUpdate" (id, "organizationId", "maintenanceId", status, message, html, "htmlVersion", "createdAt")
    SELECT 'mup_' || substr(md5(n::text), 1, 24), ${acme.id}, ${maintenanceId}, 'SCHEDULED', repeat('&', 10000),
      '<p>' || repeat('&amp;', 10000) || '</p>', ${HTML_VERSION}, ${noon}::timestamptz + n * interval '1 minute'
    FROM generate_series(1, 499) AS n`
  return { acme, incidentId: ids[0] ?? '', api, web }
}

const documents = [
  ['', 1_400_000],
  ['/history', 800_000],
  ['/history.atom', 1_200_000],
  ['/history.rss', 1_200_000],
  ['/maintenance.ics', 150_000],
  ['/api/v2/summary.json', 2_200_000],
  ['/api/v2/incidents.json', 2_200_000],
  ['/api/v2/incidents/unresolved.json', 2_200_000],
  ['/api/v2/scheduled-maintenances.json', 2_200_000],
  ['/api/v2/status.json', 1000],
  ['/badge.svg', 5000],
] as const

interface Told {
  readonly monitoring_at: string | null
  readonly incident_updates: readonly {
    readonly created_at: string
    readonly body: string
    readonly affected_components: readonly Record<string, string>[] | null
  }[]
}

test('the documents of the largest possible page have a bounded size and link to the rest', async () => {
  const { acme, incidentId, api, web } = await fullPage()
  const page = `${url}/status/${acme.slug}`
  const text = async (path: string) => (await fetch(page + path)).text()
  for (const [path, most] of documents) {
    const body = await text(path)
    expect([path, body.length < most]).toEqual([path, true])
  }

  expect(await text('')).toContain('All 500 updates')
  const feed = await text('/history.atom')
  expect(feed).toContain('All 500 updates')
  expect(feed.match(/<entry>/g)).toHaveLength(4)
  expect(nestingFaults(feed)).toEqual([])

  const { incidents } = JSON.parse(await text('/api/v2/incidents.json')) as { incidents: Told[] }
  const affected = incidents.find(({ incident_updates }) => incident_updates[0]?.affected_components?.length === 2)
  expect(affected?.monitoring_at).toBe(minutes(11).toISOString())
  const updates = affected?.incident_updates ?? []
  expect(updates).toHaveLength(25)
  expect(updates[0]).toMatchObject({ created_at: minutes(499).toISOString(), body: '&'.repeat(1000) })
  const impacts = (of: (typeof updates)[number] | undefined) =>
    (of?.affected_components ?? []).map(({ code, old_status, new_status }) => [code, old_status, new_status]).toSorted()
  const webStays = [web, 'operational', 'operational']
  expect(impacts(updates[0])).toEqual([[api, 'partial_outage', 'operational'], webStays].toSorted())
  expect(impacts(updates.at(-1))).toEqual([[api, 'partial_outage', 'partial_outage'], webStays].toSorted())

  const seen: string[] = []
  let path = `/incidents/${incidentId}`
  for (;;) {
    const body = await text(path)
    expect(body.length).toBeLessThan(1_000_000)
    seen.push(...[...body.matchAll(/<li id="(upd_\w+)"/g)].map(([, id = '']) => id))
    const older = /href="[^"]*(\/incidents\/[^"]*)">Older updates/.exec(body)?.[1]
    if (older === undefined) break
    path = older
  }
  const all = await prisma.incidentUpdate.findMany({ where: { incidentId }, orderBy: { createdAt: 'desc' } })
  expect(seen).toEqual(all.map(({ id }) => id))
  expect((await fetch(`${page}/incidents/${incidentId}?before=upd_${'0'.repeat(24)}`)).status).toBe(404)
  expect((await fetch(`${page}/incidents/${incidentId}?before=x`)).status).toBe(404)
})
