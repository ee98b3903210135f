import { expect, test } from 'vitest'
import { setCheckPlan, updateOrganization } from '../../src/account/organization/organization.ts'
import type { Context } from '../../src/core/context.ts'
import { HOUR } from '../../src/core/time.ts'
import { createMonitor, updateMonitor } from '../../src/monitoring/monitor/monitor.ts'
import { updateIncident } from '../../src/status/incident/incident-edits.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { updateIncidentServices } from '../../src/status/incident/incident-services.ts'
import { editIncidentUpdate } from '../../src/status/incident/incident-updates.ts'
import {
  editMaintenanceUpdate,
  scheduleMaintenance,
  updateMaintenance,
} from '../../src/status/maintenance/maintenance.ts'
import { createService, reorderServices, updateService } from '../../src/status/service/service.ts'
import { createServiceGroup, reorderServiceGroups, updateServiceGroup } from '../../src/status/service/service-group.ts'
import { seal } from '../monitoring/setup.ts'
import { tenantsOf } from '../status/setup.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const { id: organizationId, ctx, news } = await tenant('TEAM')
const sealing = { ...ctx, seal }
const operator = testContext(prisma, { actor: { kind: 'operator' } })
const at = (hours: number) => new Date(noon.getTime() + hours * HOUR)

const group = await createServiceGroup(ctx, { name: 'Web', description: 'What browsers see.' })
const other = await createServiceGroup(ctx, { name: 'Mail' })
const service = await createService(ctx, { name: 'API', groupId: group.id, description: 'For programs.' })
const site = await createService(ctx, { name: 'Site' })
const impacts = [service, site].map(({ id }) => ({ serviceId: id, status: 'PARTIAL_OUTAGE' }))
const incident = await createIncident(ctx, {
  ...{ title: 'Down', status: 'INVESTIGATING', impact: 'MINOR', message: 'We look.' },
  services: impacts,
})
const [update] = await prisma.incidentUpdate.findMany({ where: { incidentId: incident.id } })
const planned = {
  title: 'Work',
  message: 'We work.',
  startsAt: at(1),
  endsAt: at(2),
  serviceIds: [service.id, site.id],
}
const maintenance = await scheduleMaintenance(ctx, planned)
const [maintenanceUpdate] = await prisma.maintenanceUpdate.findMany({ where: { maintenanceId: maintenance.id } })
const http = { url: 'https://a.example/', headers: [{ name: 'Authorization', value: 'secret' }] }
const monitor = await createMonitor(sealing, { name: 'API', serviceId: service.id, http })
const settings = {
  name: 'Acme',
  description: 'Hello.',
  accentColor: '#123456',
  links: [{ label: 'Us', url: 'https://a.example/' }],
}
await updateOrganization(ctx, settings)
await setCheckPlan(operator, { organizationId, plan: 'PRO', until: at(5) })

type Row = { readonly version: number }

test.each<[string, Record<string, unknown>, (ctx: Context, input: unknown) => Promise<unknown>]>([
  ['settings of the page', settings, updateOrganization],
  ['a check plan', { organizationId, plan: 'PRO', until: at(5) }, (_ctx, input) => setCheckPlan(operator, input)],
  ['a group', { id: group.id, name: ' Web ', description: group.description }, updateServiceGroup],
  ['the order of groups', { ids: [group.id, other.id] }, reorderServiceGroups],
  ['a service', { id: service.id, name: 'API', groupId: group.id, statusOverride: null }, updateService],
  ['the order of services', { ids: [service.id, site.id] }, reorderServices],
  [
    'an incident',
    { id: incident.id, title: 'Down', impact: 'MINOR', startedAt: noon, services: impacts.toReversed() },
    updateIncident,
  ],
  [
    'the services of an incident',
    { incidentId: incident.id, services: impacts.slice(1), removedServiceIds: [] },
    updateIncidentServices,
  ],
  ['an incident’s update', { id: update?.id, message: 'We look.', createdAt: noon }, editIncidentUpdate],
  ['a maintenance', { id: maintenance.id, ...planned, message: null }, updateMaintenance],
  ['a maintenance’s update', { id: maintenanceUpdate?.id, message: 'We work.' }, editMaintenanceUpdate],
  [
    'a monitor',
    {
      id: monitor.id,
      name: 'API',
      serviceId: service.id,
      http: { ...http, headers: [{ name: 'Authorization', value: null }] },
    },
    (_ctx, input) => updateMonitor(sealing, input),
  ],
  ['no field', { id: service.id }, updateService],
])('an edit of %s without a change leaves the version and appends no event', async (_what, input, edit) => {
  const [before, dump] = [await news(), await versions()]
  await edit(ctx, input)
  expect(await news()).toEqual(before)
  expect(await versions()).toEqual(dump)
})

test('an edit of an outdated version is a conflict, even without changes', async () => {
  await expect(updateService(ctx, { id: service.id, name: 'API', version: 7 })).rejects.toThrow(
    'changed in the meantime',
  )
})

async function versions(): Promise<number[]> {
  const where = { organizationId }
  const rows: Row[][] = [
    await prisma.organization.findMany({ where: { id: organizationId } }),
    await prisma.serviceGroup.findMany({ where, orderBy: { id: 'asc' } }),
    await prisma.service.findMany({ where, orderBy: { id: 'asc' } }),
    await prisma.incident.findMany({ where }),
    await prisma.incidentUpdate.findMany({ where }),
    await prisma.maintenance.findMany({ where }),
    await prisma.maintenanceUpdate.findMany({ where }),
    await prisma.monitor.findMany({ where }),
  ]
  return rows.flat().map(({ version }) => version)
}
