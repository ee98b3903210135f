import { beforeAll, describe, expect, test } from 'vitest'
import { updateOrganization } from '../../src/account/organization/organization.ts'
import type { Context } from '../../src/core/context.ts'
import { Forbidden, Invalid, NotFound, Unauthenticated } from '../../src/core/errors.ts'
import { HOUR } from '../../src/core/time.ts'
import type { Scope } from '../../src/generated/prisma/enums.ts'
import { deleteIncident, updateIncident } from '../../src/status/incident/incident-edits.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { editIncidentUpdate, postIncidentUpdate } from '../../src/status/incident/incident-updates.ts'
import { cancelMaintenance, scheduleMaintenance, updateMaintenance } from '../../src/status/maintenance/maintenance.ts'
import { createService, deleteService, reorderServices, updateService } from '../../src/status/service/service.ts'
import {
  createServiceGroup,
  deleteServiceGroup,
  reorderServiceGroups,
  updateServiceGroup,
} from '../../src/status/service/service-group.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { noIds, type Tenant, tenantsOf } from './setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

const incident = { title: 'Down', status: 'INVESTIGATING', impact: 'MAJOR', message: 'We look.' }
const maintenance = { title: 'Work', message: 'We work.', startsAt: noon, endsAt: new Date(noon.getTime() + HOUR) }
const incidentOf = (id: string) => ({ ...incident, services: [{ serviceId: id, status: 'MAJOR_OUTAGE' }] })

/** Every operation that takes an id, with an input that is valid except for the id. */
const named: [verb: string, prefix: string, call: (ctx: Context, id: string) => Promise<unknown>][] = [
  ['updateServiceGroup', 'grp', (ctx, id) => updateServiceGroup(ctx, { id, name: 'New' })],
  ['deleteServiceGroup', 'grp', deleteServiceGroup],
  ['reorderServiceGroups', 'grp', (ctx, id) => reorderServiceGroups(ctx, { ids: [id] })],
  ['createService in a group', 'grp', (ctx, groupId) => createService(ctx, { name: 'New', groupId })],
  ['updateService', 'svc', (ctx, id) => updateService(ctx, { id, name: 'New' })],
  ['deleteService', 'svc', deleteService],
  ['reorderServices', 'svc', (ctx, id) => reorderServices(ctx, { ids: [id] })],
  ['createIncident of a service', 'svc', (ctx, id) => createIncident(ctx, incidentOf(id))],
  ['updateIncident', 'inc', (ctx, id) => updateIncident(ctx, { id, title: 'New' })],
  ['postIncidentUpdate', 'inc', (ctx, incidentId) => postIncidentUpdate(ctx, { ...incident, incidentId })],
  ['editIncidentUpdate', 'upd', (ctx, id) => editIncidentUpdate(ctx, { id, message: 'New' })],
  ['deleteIncident', 'inc', deleteIncident],
  [
    'scheduleMaintenance of a service',
    'svc',
    (ctx, id) => scheduleMaintenance(ctx, { ...maintenance, serviceIds: [id] }),
  ],
  ['updateMaintenance', 'mnt', (ctx, id) => updateMaintenance(ctx, { id, title: 'New' })],
  ['cancelMaintenance', 'mnt', (ctx, id) => cancelMaintenance(ctx, { id })],
]

/** Every other operation. */
const unnamed: [verb: string, prefix: '', call: (ctx: Context) => Promise<unknown>][] = [
  ['updateOrganization', '', (ctx) => updateOrganization(ctx, { name: 'New' })],
  ['createServiceGroup', '', (ctx) => createServiceGroup(ctx, { name: 'New' })],
  ['createService', '', (ctx) => createService(ctx, { name: 'New' })],
  ['createIncident', '', (ctx) => createIncident(ctx, incident)],
  ['scheduleMaintenance', '', (ctx) => scheduleMaintenance(ctx, maintenance)],
]

let mine: Tenant
let theirs: Tenant
/** The ids of another tenant's objects, by their prefix. */
const foreign: Record<string, string> = {}

beforeAll(async () => {
  mine = await tenant()
  theirs = await tenant()
  const things = [
    await createServiceGroup(theirs.ctx, { name: 'Group' }),
    await createService(theirs.ctx, { name: 'Service' }),
    await createIncident(theirs.ctx, incident),
    await scheduleMaintenance(theirs.ctx, maintenance),
    await prisma.incidentUpdate.findFirstOrThrow({ where: { organizationId: theirs.id } }),
  ]
  for (const { id } of things) foreign[id.slice(0, 3)] = id
})

describe.each([...named, ...unnamed])('%s', (verb, prefix, call) => {
  const id = () => foreign[prefix] ?? ''

  test('requires a key with scope WRITE', async () => {
    const scopes: Scope[] = verb === 'updateOrganization' ? ['READ', 'WRITE'] : ['READ']
    for (const scope of scopes) await expect(call(theirs.as(scope), id())).rejects.toThrow(Forbidden)
    for (const kind of ['visitor', 'operator', 'system'] as const) {
      await expect(call(testContext(prisma, { actor: { kind } }), id())).rejects.toThrow(Unauthenticated)
    }
  })

  test('finds nothing with a key of a deleted organization', async () => {
    const gone = await tenant()
    await prisma.organization.delete({ where: { id: gone.id } })
    await expect(call(gone.ctx, id())).rejects.toThrow(NotFound)
  })
})

describe.each(named)('%s', (_, prefix, call) => {
  test('treats another tenant’s id as unknown and changes nothing', async () => {
    const [before, log] = [await everythingOf(theirs.id), await theirs.news()]
    await expect(call(mine.ctx, foreign[prefix] ?? '')).rejects.toThrow(NotFound)
    expect(await everythingOf(theirs.id)).toEqual(before)
    expect([await theirs.news(), await mine.news()]).toEqual([log, []])
  })

  test('reports an unknown id as not found', async () => {
    for (const id of noIds(prefix)) await expect(call(mine.ctx, id)).rejects.toThrow(NotFound)
    expect(await mine.news()).toEqual([])
  })
})

test.each<[string, (ctx: Context, input: unknown) => Promise<unknown>]>([
  ['updateOrganization', updateOrganization],
  ['createServiceGroup', createServiceGroup],
  ['updateServiceGroup', updateServiceGroup],
  ['reorderServiceGroups', reorderServiceGroups],
  ['createService', createService],
  ['updateService', updateService],
  ['reorderServices', reorderServices],
  ['createIncident', createIncident],
  ['updateIncident', updateIncident],
  ['postIncidentUpdate', postIncidentUpdate],
  ['editIncidentUpdate', editIncidentUpdate],
  ['scheduleMaintenance', scheduleMaintenance],
  ['updateMaintenance', updateMaintenance],
  ['cancelMaintenance', cancelMaintenance],
])('%s refuses an input of another shape', async (_, verb) => {
  for (const input of [null, 'text', [], 7]) await expect(verb(mine.ctx, input)).rejects.toThrow(Invalid)
  expect(await mine.news()).toEqual([])
})

/** All rows of a tenant's page. */
async function everythingOf(organizationId: string): Promise<unknown[]> {
  const of = { where: { organizationId } }
  return [
    await prisma.serviceGroup.findMany(of),
    await prisma.service.findMany(of),
    await prisma.incident.findMany({ ...of, include: { services: true } }),
    await prisma.incidentUpdate.findMany({ ...of, include: { services: true } }),
    await prisma.maintenance.findMany({ ...of, include: { services: true } }),
    await prisma.maintenanceUpdate.findMany(of),
  ]
}
