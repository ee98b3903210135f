import aero from '@aero/statuspage'
import statuspageJs from 'statuspage.js'
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { DAY, HOUR } from '../../../../src/core/time.ts'
import { createIncident } from '../../../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../../../src/status/incident/incident-updates.ts'
import { scheduleMaintenance } from '../../../../src/status/maintenance/maintenance.ts'
import { createService } from '../../../../src/status/service/service.ts'
import { createServiceGroup } from '../../../../src/status/service/service-group.ts'
import { tenantsOf } from '../../../status/setup.ts'
import { noon } from '../../../support/context.ts'
import { testDatabase } from '../../../support/database.ts'
import { startPageServer } from '../../../support/page-server.ts'

/** Client libraries of Atlassian Statuspage that read our pages over HTTP. */

const database = await testDatabase()
const { url } = await startPageServer(database, () => noon)
const acme = await tenantsOf(database.prisma)()
const page = `${url}/status/${acme.slug}`
const group = await createServiceGroup(acme.ctx, { name: 'Europe' })
const api = await createService(acme.ctx, {
  name: 'API',
  description: 'REST',
  groupId: group.id,
  status: 'OPERATIONAL',
})
const shop = await createService(acme.ctx, { name: 'Shop', status: 'OPERATIONAL' })
const incident = await createIncident(acme.ctx, {
  title: 'Payments fail',
  status: 'INVESTIGATING',
  impact: 'CRITICAL',
  message: 'We are looking.',
  services: [{ serviceId: api.id, status: 'MAJOR_OUTAGE' }],
})
await postIncidentUpdate(acme.later(HOUR), { incidentId: incident.id, status: 'IDENTIFIED', message: 'A disk.' })
const over = { title: 'It is over', status: 'RESOLVED', impact: 'MINOR', message: 'Well again.' }
const resolved = await createIncident(acme.ctx, { ...over, startedAt: new Date(noon.getTime() - DAY) })
const maintenance = await scheduleMaintenance(acme.ctx, {
  title: 'New disks',
  message: 'Reads go on.',
  serviceIds: [shop.id],
  startsAt: new Date(noon.getTime() + DAY),
  endsAt: new Date(noon.getTime() + DAY + HOUR),
})

test('@aero/statuspage', async () => {
  // The library uses the global dispatcher of Node's fetch, which may be of another version.
  const left = getGlobalDispatcher()
  onTestFinished(() => setGlobalDispatcher(left))
  setGlobalDispatcher(new Agent())
  // The library keeps the path of its last call, so each call needs a new client.
  const client = () => new aero.StatusPageClient(page)
  const summary = await client().summary()
  expect(summary.status).toEqual({ indicator: 'critical', description: 'Major Service Outage' })
  expect(summary.page).toMatchObject({ id: acme.id, name: 'Acme', url: page, updated: expect.any(Date) })
  expect(summary.components).toMatchObject([
    { id: shop.id, name: 'Shop', status: 'operational', children: [] },
    { id: group.id, name: 'Europe', status: 'major_outage', children: [{ id: api.id, name: 'API' }] },
  ])
  expect(summary.incidents).toMatchObject([
    {
      id: incident.id,
      name: 'Payments fail',
      impact: 'critical',
      status: 'identified',
      updated: new Date(noon.getTime() + HOUR),
      url: `${page}/incidents/${incident.id}`,
      updates: [{ description: 'A disk.', status: 'identified' }, { description: 'We are looking.' }],
    },
  ])
  expect(summary.maintenances).toMatchObject([{ id: maintenance.id, impact: 'maintenance', status: 'scheduled' }])
  expect((await client().status()).status.indicator).toBe('critical')
  expect(await client().components()).toHaveLength(2)
  expect(await client().incidents()).toMatchObject([{ id: incident.id }, { id: resolved.id }])
  expect(await client().incidents(true)).toMatchObject([{ id: incident.id }])
  expect(await client().maintenances(aero.maintenances.ALL)).toMatchObject([{ id: maintenance.id }])
  expect(await client().maintenances(aero.maintenances.UPCOMING)).toMatchObject([{ name: 'New disks' }])
  expect(await client().maintenances(aero.maintenances.ACTIVE)).toEqual([])
})

test('statuspage.js, at every path', async () => {
  const client = pointed(new statuspageJs.Statuspage('acme'))
  const summary = await client.summary()
  expect(summary.page).toMatchObject({ id: acme.id, name: 'Acme', url: page, updated_at: expect.any(Date) })
  expect(summary.components?.map(({ name }) => name)).toEqual(['Shop', 'Europe', 'API'])
  expect(summary.components?.[1]?.components).toEqual([api.id])
  expect(summary.incidents).toMatchObject([{ id: incident.id, started_at: noon, resolved_at: null }])
  expect(summary.scheduled_maintenances?.[0]?.scheduled_for).toEqual(maintenance.startsAt)
  expect((await client.status()).status).toEqual({ indicator: 'critical', description: 'Major Service Outage' })
  expect((await client.components()).components).toHaveLength(3)
  expect((await client.allIncidents()).incidents.map(({ id }) => id)).toEqual([incident.id, resolved.id])
  expect((await client.unresolvedIncidents()).incidents.map(({ id }) => id)).toEqual([incident.id])
  const ids = ({ scheduled_maintenances }: { scheduled_maintenances: { id: string }[] }) =>
    scheduled_maintenances.map(({ id }) => id)
  expect(ids(await client.allScheduledMaintenances())).toEqual([maintenance.id])
  expect(ids(await client.upcomingScheduledMaintenances())).toEqual([maintenance.id])
  expect(ids(await client.activeScheduledMaintenances())).toEqual([])
})

test('statuspage.js receives an update with its next poll', async () => {
  const updates = new Updates('acme')
  await updates.fetch()
  const heard: unknown[] = []
  updates.on('incident_update', (reported) => heard.push(reported.incident_updates[0]?.body))
  const update = { incidentId: incident.id, status: 'MONITORING', message: 'The disk is replaced.' }
  await postIncidentUpdate(acme.later(2 * HOUR), update)
  await expect
    .poll(async () => {
      await updates.fetch()
      return updates.checkUpdate()
    })
    .toBe(true)
  expect(heard).toEqual(['The disk is replaced.'])
})

class Updates extends statuspageJs.StatuspageUpdates {
  /** The client polls as soon as it is created. */
  override fetch() {
    pointed(this.statuspage)
    return super.fetch()
  }
}

/** The library only takes the id of a page at statuspage.io; its HTTP client decides on the host. */
function pointed(client: statuspageJs.Statuspage): statuspageJs.Statuspage {
  const { axios } = client as unknown as { axios: { defaults: { baseURL: string } } }
  axios.defaults.baseURL = `${page}/api/v2`
  return client
}
