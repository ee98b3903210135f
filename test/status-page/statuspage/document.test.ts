// @slow
import { describe, expect, test } from 'vitest'
import { updateOrganization } from '../../../src/account/organization/organization.ts'
import { newId } from '../../../src/core/id.ts'
import { DAY, HOUR, MINUTE } from '../../../src/core/time.ts'
import { updateIncident } from '../../../src/status/incident/incident-edits.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { editIncidentUpdate, postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import { publishPostmortem, savePostmortem, unpublishPostmortem } from '../../../src/status/incident/postmortem.ts'
import {
  cancelMaintenance,
  scheduleMaintenance,
  updateMaintenance,
} from '../../../src/status/maintenance/maintenance.ts'
import { createService, updateService } from '../../../src/status/service/service.ts'
import { createServiceGroup } from '../../../src/status/service/service-group.ts'
import { type Tenant, tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { serveUnder } from '../../support/own-domain.ts'
import { startPageServer } from '../../support/page-server.ts'
import type { StatuspagePath } from './schema.ts'
import { statuspageSchemas } from './schema.ts'

const database = await testDatabase()
const tenant = tenantsOf(database.prisma)
const { url, app } = await startPageServer(database, () => noon)
const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const iso = (milliseconds: number) => at(milliseconds).toISOString()
const paths = Object.keys(statuspageSchemas) as StatuspagePath[]

const addressOf = ({ slug }: Tenant, path: StatuspagePath) => `/status/${slug}/api/v2/${path}`
async function read<P extends StatuspagePath>(of: Tenant, path: P) {
  const response = await app.request(addressOf(of, path))
  expect(response.status).toBe(200)
  // biome-ignore lint/suspicious/noExplicitAny: each path has its own type, which the schema has checked.
  return statuspageSchemas[path].parse(await response.json()) as any
}

/** Creates a page with services, groups, incidents and maintenances. */
async function busyPage() {
  const acme = await tenant()
  const group = await createServiceGroup(acme.ctx, { name: 'Europe', description: 'All of it.' })
  await createServiceGroup(acme.ctx, { name: 'Empty' })
  const frankfurt = await createService(acme.ctx, { name: 'Frankfurt', groupId: group.id, status: 'OPERATIONAL' })
  const api = await createService(acme.ctx, { name: 'API', description: 'REST', status: 'OPERATIONAL' })
  const paris = await createService(acme.ctx, { name: 'Paris', groupId: group.id, status: 'OPERATIONAL' })
  const incident = await createIncident(acme.later(MINUTE), {
    title: 'Payments fail',
    status: 'INVESTIGATING',
    impact: 'MAJOR',
    message: 'We are **looking**.',
    services: [
      { serviceId: frankfurt.id, status: 'MAJOR_OUTAGE' },
      { serviceId: api.id, status: 'DEGRADED_PERFORMANCE' },
    ],
  })
  const windowOf = (start: number) => ({ startsAt: at(start), endsAt: at(start + HOUR) })
  const plan = (title: string, start: number) =>
    scheduleMaintenance(acme.ctx, { title, message: 'Reads go on.', serviceIds: [paris.id], ...windowOf(start) })
  const planned = await plan('New disks', DAY)
  const running = await plan('New cables', 0)
  return { acme, group, frankfurt, api, paris, incident, planned, running, plan }
}

describe('each path', async () => {
  const { acme: busy } = await busyPage()
  const fresh = await tenant()

  test.each(paths)('%s has the structure of a Statuspage document, on a busy and on a new page', async (path) => {
    await read(busy, path)
    await read(fresh, path)
  })

  test.each(paths)('%s allows cross-origin reads and conditional requests', async (path) => {
    const response = await fetch(url + addressOf(fresh, path))
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('cache-control')).toContain('s-maxage=4')
    const etag = response.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]{22}-gzip"$/)
    const again = await fetch(url + addressOf(fresh, path), { headers: { 'if-none-match': etag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect(again.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('has a new ETag after a change', async () => {
    const acme = await tenant()
    const ask = (etag: string) =>
      fetch(url + addressOf(acme, 'components.json'), { headers: { 'if-none-match': etag } })
    const etag = (await ask('')).headers.get('etag') ?? ''
    expect((await ask(etag)).status).toBe(304)
    await createService(acme.ctx, { name: 'API', status: 'OPERATIONAL' })
    await expect.poll(async () => (await ask(etag)).status).toBe(200)
  })

  test('allows scripts to send custom headers', async () => {
    const response = await fetch(`${url}/status/acme/api/v2/summary.json`, { method: 'OPTIONS' })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-headers')).toBe('*')
  })

  test('answers 404 with CORS headers for an unknown slug and for an id', async () => {
    const acme = await tenant()
    for (const owner of ['nobody', acme.id, '%00', 'a'.repeat(500)]) {
      const response = await app.request(`/status/${owner}/api/v2/summary.json`)
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ error: { code: 'NOT_FOUND' } })
    }
    expect((await app.request('/status/nobody/api/v2/summary.json')).headers.get('access-control-allow-origin')).toBe(
      '*',
    )
    expect((await app.request(`/status/${acme.slug}/api/v2/current.json`)).status).toBe(404)
  })

  test('is also served on the custom domain', async () => {
    const acme = await tenant()
    const { id } = await createIncident(acme.ctx, {
      title: 'Payments fail',
      status: 'IDENTIFIED',
      impact: 'MINOR',
      message: 'A disk.',
    })
    await serveUnder(acme.ctx, acme.id, 'status.acme.example')
    for (const path of paths) {
      const response = await app.request(`/api/v2/${path}`, { headers: { host: 'status.acme.example' } })
      const document = statuspageSchemas[path].parse(await response.json())
      expect(document.page.url).toBe('http://status.acme.example')
      if ('incidents' in document) {
        expect(document.incidents[0]?.shortlink).toBe(`http://status.acme.example/incidents/${id}`)
      }
    }
    expect((await app.request('/api/v2/summary.json', { headers: { host: 'other.example' } })).status).toBe(404)
  })
})

describe('the page', () => {
  test('has its name and the time of its last public change', async () => {
    const acme = await tenant()
    expect((await read(acme, 'status.json')).page).toEqual({
      id: acme.id,
      name: 'Acme',
      url: `${url}/status/${acme.slug}`,
      time_zone: 'UTC',
      updated_at: iso(0),
    })
    await createService(acme.later(HOUR), { name: 'API', status: 'OPERATIONAL' })
    await expect.poll(async () => (await read(acme, 'status.json')).page.updated_at).toBe(iso(HOUR))
  })

  test.each([
    ['OPERATIONAL', 'none', 'All Systems Operational'],
    ['DEGRADED_PERFORMANCE', 'minor', 'Partially Degraded Service'],
    ['PARTIAL_OUTAGE', 'major', 'Partial System Outage'],
    ['MAJOR_OUTAGE', 'critical', 'Major Service Outage'],
    ['UNDER_MAINTENANCE', 'maintenance', 'Service Under Maintenance'],
  ])('with a service that is %s is %s in Statuspage’s words', async (statusOverride, indicator, description) => {
    const acme = await tenant()
    const { id } = await createService(acme.ctx, { name: 'API', status: 'OPERATIONAL' })
    await updateService(acme.ctx, { id, statusOverride })
    const { status, components } = await read(acme, 'summary.json')
    expect(status).toEqual({ indicator, description })
    expect(components[0].status).toBe(statusOverride.toLowerCase())
  })
})

describe('components', () => {
  test('are the services and groups, each group before its services, with positions', async () => {
    const { acme, group, frankfurt, api, paris } = await busyPage()
    const { components } = await read(acme, 'components.json')
    expect(components.map(({ id, position, group_id }: never) => [id, position, group_id])).toEqual([
      [api.id, 1, null],
      [group.id, 2, null],
      [frankfurt.id, 1, group.id],
      [paris.id, 2, group.id],
    ])
    expect(components[1]).toMatchObject({
      name: 'Europe',
      group: true,
      status: 'major_outage',
      description: 'All of it.',
      components: [frankfurt.id, paris.id],
    })
    expect(components[0]).toEqual({
      id: api.id,
      name: 'API',
      status: 'degraded_performance',
      created_at: iso(0),
      updated_at: iso(MINUTE),
      position: 1,
      description: 'REST',
      showcase: false,
      start_date: null,
      group_id: null,
      page_id: acme.id,
      group: false,
      only_show_if_degraded: false,
    })
  })

  test('with monitors show their uptime from the day of their creation in the owner’s time zone', async () => {
    const acme = await tenant()
    await updateOrganization(acme.ctx, { timeZone: 'Pacific/Kiritimati' })
    const { id: serviceId } = await createService(acme.ctx, { name: 'API', status: 'OPERATIONAL' })
    const monitor = { intervalSeconds: 60, timeoutMs: 1000, failureThreshold: 2, recoveryThreshold: 1 }
    await database.prisma.monitor.create({
      data: {
        id: newId('Monitor'),
        organizationId: acme.id,
        serviceId,
        name: 'API',
        kind: 'TCP',
        options: {},
        ...monitor,
        stateSince: noon,
        createdAt: noon,
      },
    })
    const { components } = await read(acme, 'components.json')
    expect(components[0]).toMatchObject({ showcase: true, start_date: '2026-11-21' })
  })
})

describe('incidents', () => {
  test('have all their updates, newest first, with the components that each update affected', async () => {
    const { acme, incident, frankfurt, api } = await busyPage()
    const { id: first } = await database.prisma.incidentUpdate.findFirstOrThrow({ where: { incidentId: incident.id } })
    const say = (minutes: number, status: string, message: string, services: object[] = []) =>
      postIncidentUpdate(acme.later(minutes * MINUTE), { incidentId: incident.id, status, message, services })
    const second = await say(10, 'IDENTIFIED', 'A disk.', [{ serviceId: frankfurt.id, status: 'PARTIAL_OUTAGE' }])
    const third = await say(20, 'MONITORING', 'Replaced.', [{ serviceId: frankfurt.id, status: 'OPERATIONAL' }])
    const fourth = await say(30, 'MONITORING', 'Still fine.')
    const fifth = await say(40, 'RESOLVED', 'All is well.')
    await editIncidentUpdate(acme.later(50 * MINUTE), { id: second.id, message: 'It was a disk.' })
    const { incidents } = await read(acme, 'incidents.json')
    const { incident_updates: updates, components, ...completed } = incidents[0]
    expect(completed).toEqual({
      id: incident.id,
      name: 'Payments fail',
      status: 'resolved',
      created_at: iso(MINUTE),
      updated_at: iso(50 * MINUTE),
      monitoring_at: iso(20 * MINUTE),
      resolved_at: iso(40 * MINUTE),
      impact: 'major',
      shortlink: `${url}/status/${acme.slug}/incidents/${incident.id}`,
      started_at: iso(MINUTE),
      page_id: acme.id,
    })
    expect(components.map(({ id }: never) => id)).toEqual([api.id, frankfurt.id])
    expect(updates.map(({ id }: never) => id)).toEqual([fifth.id, fourth.id, third.id, second.id, first])
    const did = updates.map(({ affected_components }: { affected_components: Record<string, string>[] }) =>
      Object.fromEntries(
        affected_components.map((each) => [each['name'], `${each['old_status']} ${each['new_status']}`]),
      ),
    )
    expect(did).toEqual([
      { 'Europe - Frankfurt': 'operational operational', API: 'degraded_performance operational' },
      { 'Europe - Frankfurt': 'operational operational', API: 'degraded_performance degraded_performance' },
      { 'Europe - Frankfurt': 'partial_outage operational', API: 'degraded_performance degraded_performance' },
      { 'Europe - Frankfurt': 'major_outage partial_outage', API: 'degraded_performance degraded_performance' },
      { 'Europe - Frankfurt': 'operational major_outage', API: 'operational degraded_performance' },
    ])
    expect(updates[3]).toMatchObject({
      status: 'identified',
      body: 'It was a disk.',
      incident_id: incident.id,
      created_at: iso(10 * MINUTE),
      display_at: iso(10 * MINUTE),
      updated_at: iso(50 * MINUTE),
    })
    expect((await read(acme, 'incidents/unresolved.json')).incidents).toEqual([])
    expect((await read(acme, 'summary.json')).incidents).toEqual([])
  })

  test('without services have no affected components; a new title counts as a change', async () => {
    const acme = await tenant()
    const story = { title: 'Odd', status: 'INVESTIGATING', impact: 'NONE', message: 'We look.' }
    const { id } = await createIncident(acme.ctx, story)
    await updateIncident(acme.later(HOUR), { id, title: 'Very odd' })
    const { incidents } = await read(acme, 'incidents/unresolved.json')
    expect(incidents[0]).toMatchObject({ name: 'Very odd', updated_at: iso(HOUR), components: [], impact: 'none' })
    expect(incidents[0].incident_updates[0].affected_components).toBeNull()
  })

  test('are the fifty newest with any status', async () => {
    const acme = await tenant()
    await database.prisma.incident.createMany({
      data: Array.from({ length: 51 }, (_, index) => ({
        id: `inc_${String(index).padStart(24, '0')}`,
        organizationId: acme.id,
        title: `Incident ${index}`,
        status: index % 2 === 0 ? ('RESOLVED' as const) : ('MONITORING' as const),
        impact: 'NONE' as const,
        startedAt: at(-index * MINUTE),
        createdAt: noon,
      })),
    })
    const response = await app.request(addressOf(acme, 'incidents.json'))
    const { incidents } = (await response.json()) as { incidents: { name: string }[] }
    expect(incidents.map(({ name }) => name)).toEqual(Array.from({ length: 50 }, (_, index) => `Incident ${index}`))
  })
})

describe('scheduled maintenances', () => {
  test('are listed as active, upcoming or past', async () => {
    const { acme, planned, running, plan } = await busyPage()
    const over = await plan('Old cables', -HOUR / 2)
    await updateMaintenance(acme.later(MINUTE), { id: over.id, status: 'COMPLETED' })
    const ids = async (path: StatuspagePath) =>
      (await read(acme, path)).scheduled_maintenances.map(({ id }: never) => id)
    await expect.poll(() => ids('scheduled-maintenances.json')).toEqual([planned.id, running.id, over.id])
    expect(await ids('scheduled-maintenances/upcoming.json')).toEqual([planned.id])
    expect(await ids('scheduled-maintenances/active.json')).toEqual([running.id])
    expect(await ids('summary.json')).toEqual([running.id, planned.id])
  })

  test('have their window and their affected components', async () => {
    const { acme, running, paris } = await busyPage()
    await updateMaintenance(acme.later(HOUR / 2), { id: running.id, status: 'VERIFYING' })
    await updateMaintenance(acme.later(HOUR - MINUTE), { id: running.id, status: 'COMPLETED', message: 'Done.' })
    const path = 'scheduled-maintenances.json'
    const completed = async () =>
      (await read(acme, path)).scheduled_maintenances.find(({ id }: { id: string }) => id === running.id)
    await expect.poll(async () => (await completed()).status).toBe('completed')
    const maintenance = await completed()
    expect(maintenance).toMatchObject({
      name: 'New cables',
      impact: 'maintenance',
      scheduled_for: iso(0),
      scheduled_until: iso(HOUR - MINUTE),
      resolved_at: iso(HOUR - MINUTE),
      started_at: iso(0),
      shortlink: `${url}/status/${acme.slug}/maintenance/${running.id}`,
    })
    expect(maintenance.components.map(({ id }: never) => id)).toEqual([paris.id])
    const did = maintenance.incident_updates.map((update: Record<string, unknown>) => {
      const [service] = update['affected_components'] as Record<string, string>[]
      return `${update['status']}: ${update['body']} ${service?.['old_status']} ${service?.['new_status']}`
    })
    expect(did).toEqual([
      'completed: Done. under_maintenance operational',
      'verifying: Maintenance is done and is being verified. under_maintenance under_maintenance',
      'in_progress: Reads go on. operational under_maintenance',
    ])
  })

  test('are completed when cancelled, because Statuspage has no cancelled status', async () => {
    const { acme, planned } = await busyPage()
    await cancelMaintenance(acme.later(HOUR), { id: planned.id })
    await expect
      .poll(async () => (await read(acme, 'scheduled-maintenances.json')).scheduled_maintenances[0])
      .toMatchObject({ id: planned.id, status: 'completed', resolved_at: iso(HOUR) })
    const [{ incident_updates: updates }] = (await read(acme, 'scheduled-maintenances.json')).scheduled_maintenances
    expect(updates[0]).toMatchObject({ status: 'completed', body: 'Maintenance was cancelled.' })
  })
})

describe('post-mortems', () => {
  const resolved = async (acme: Tenant, title: string) => {
    const story = { status: 'INVESTIGATING', impact: 'MINOR', message: 'We look.' }
    const { id } = await createIncident(acme.ctx, { title, ...story })
    await postIncidentUpdate(acme.later(MINUTE), { incidentId: id, status: 'RESOLVED', message: 'All is well.' })
    return id
  }
  const incidentsOf = async (acme: Tenant) => (await read(acme, 'incidents.json')).incidents

  test('are announced once they are published, until they are withdrawn', async () => {
    const acme = await tenant()
    const incidentId = await resolved(acme, 'The disk was full')
    await savePostmortem(acme.later(2 * MINUTE), { incidentId, message: 'A **log** had filled it.' })
    const [before] = await incidentsOf(acme)
    expect(before).toMatchObject({ status: 'resolved', updated_at: iso(MINUTE) })
    expect(Object.keys(before).filter((key) => key.startsWith('postmortem'))).toEqual([])
    await publishPostmortem(acme.later(3 * MINUTE), { incidentId, notifySubscribers: true })
    await expect
      .poll(() => incidentsOf(acme))
      .toMatchObject([
        {
          status: 'postmortem',
          updated_at: iso(3 * MINUTE),
          resolved_at: iso(MINUTE),
          incident_updates: [{ status: 'resolved' }, { status: 'investigating' }],
          postmortem_body: 'A **log** had filled it.',
          postmortem_body_last_updated_at: iso(2 * MINUTE),
          postmortem_ignored: false,
          postmortem_notified_subscribers: true,
          postmortem_published_at: iso(3 * MINUTE),
        },
      ])
    await unpublishPostmortem(acme.later(4 * MINUTE), incidentId)
    await expect.poll(async () => (await incidentsOf(acme))[0].status).toBe('resolved')
    expect(JSON.stringify(await incidentsOf(acme))).not.toContain('had filled')
  })

  test('have up to 200 kB in a document; older ones are announced without their text', async () => {
    const acme = await tenant()
    for (let count = 1; count <= 21; count++) {
      const incidentId = await resolved(acme, `Incident ${count}`)
      await savePostmortem(acme.ctx, { incidentId, message: 'x'.repeat(10_000) })
      await publishPostmortem(acme.later((1 + count) * MINUTE), { incidentId, notifySubscribers: false })
    }
    const isWhole = ({ postmortem_body: body }: { postmortem_body: string | null }) => body !== null
    await expect.poll(async () => (await incidentsOf(acme)).filter(isWhole).length).toBe(20)
    const cut = (await incidentsOf(acme)).filter((incident: { postmortem_body: string | null }) => !isWhole(incident))
    expect(cut).toMatchObject([{ name: 'Incident 1', status: 'postmortem', postmortem_notified_subscribers: false }])
  })
})
