import { expect, test } from 'vitest'
import { loadAssets } from '../../src/http/assets.ts'
import { newId } from '../../src/id.ts'
import { liveScript, statusPages, statusSheet } from '../../src/page/html.tsx'
import { createPageCache } from '../../src/page/page-cache.ts'
import { HTML_VERSION } from '../../src/rendering.ts'
import { createIncident } from '../../src/status/incident.ts'
import { scheduleMaintenance } from '../../src/status/maintenance.ts'
import { DAY, HOUR, MINUTE } from '../../src/time.ts'
import { tenantsOf } from '../status/setup.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { nestingFaults } from '../support/markup.ts'
import { startPageServer } from '../support/page-server.ts'

const database = await testDatabase()
const { prisma } = database
const tenant = tenantsOf(prisma)
const { url, app } = await startPageServer(database, () => noon)
const site = { assets: await loadAssets([liveScript, statusSheet]), baseUrl: url }
app.route('/', statusPages({ site, db: prisma, cache: createPageCache(() => noon), now: () => noon }))

/** As long as a message may be, and five times as long in HTML. */
const message = '&'.repeat(10_000)
const html = `<p>${message.replaceAll('&', '&amp;')}</p>`
const words = { html, htmlVersion: HTML_VERSION }
const minutes = (count: number) => new Date(noon.getTime() + count * MINUTE)

/** A page on which as much was said as there is room for: of three open incidents, and of a maintenance. */
async function fullPage() {
  const acme = await tenant()
  const [api = '', web = ''] = await acme.services('API', 'Web')
  const services = [{ serviceId: api, status: 'MAJOR_OUTAGE' }]
  const story = { status: 'INVESTIGATING', impact: 'MAJOR', message: 'First.', services }
  const ids: string[] = []
  for (const title of ['One', 'Two', 'Three']) ids.push((await createIncident(acme.ctx, { title, ...story })).id)
  const statuses = [...Array(499).keys()].map((n) => (n === 10 ? 'MONITORING' : n === 20 ? 'RESOLVED' : 'IDENTIFIED'))
  const said = ids.flatMap((incidentId) =>
    statuses.map((status, n) => ({
      id: newId('IncidentUpdate'),
      organizationId: acme.id,
      incidentId,
      status: status as 'IDENTIFIED',
      message,
      createdAt: minutes(n + 1),
      ...words,
    })),
  )
  await prisma.incidentUpdate.createMany({ data: said })
  // The last word on one service comes before what is told, and after what had resolved it; that on another was resolved.
  const update = (n: number) => said[n]?.id ?? ''
  await prisma.incidentUpdateService.createMany({
    data: [
      { updateId: update(15), serviceId: web, status: 'MAJOR_OUTAGE' },
      { updateId: update(30), serviceId: api, status: 'PARTIAL_OUTAGE' },
      { updateId: update(498), serviceId: api, status: 'OPERATIONAL' },
    ],
  })
  await prisma.incidentService.create({ data: { incidentId: ids[0] ?? '', serviceId: web, status: 'OPERATIONAL' } })
  const window = { startsAt: minutes(60), endsAt: new Date(noon.getTime() + DAY) }
  const { id: maintenanceId } = await scheduleMaintenance(acme.later(-HOUR), {
    title: 'Disks',
    message: 'x',
    ...window,
  })
  const entry = { organizationId: acme.id, maintenanceId, status: 'SCHEDULED' as const, message, ...words }
  await prisma.maintenanceUpdate.createMany({
    data: statuses.map((_, n) => ({ ...entry, id: newId('MaintenanceUpdate'), createdAt: minutes(n) })),
  })
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

test('a page on which as much is said as there is room for has documents of a bounded size, which say where the rest is', async () => {
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
  expect(await text('/history')).toContain('Read this update')

  const { incidents } = JSON.parse(await text('/api/v2/incidents.json')) as { incidents: Told[] }
  const told = incidents.find(({ incident_updates }) => incident_updates[0]?.affected_components?.length === 2)
  expect(told?.monitoring_at).toBe(minutes(11).toISOString())
  const updates = told?.incident_updates ?? []
  expect(updates).toHaveLength(25)
  expect(updates[0]).toMatchObject({ created_at: minutes(499).toISOString(), body: message })
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
