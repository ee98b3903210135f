import { expect, test } from 'vitest'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import { readSizes } from '../../../src/status/page/sizes.ts'
import { updateService } from '../../../src/status/service/service.ts'
import { createServiceGroup } from '../../../src/status/service/service-group.ts'
import { testDatabase } from '../../support/database.ts'
import { tenantsOf } from '../setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const nothing = {
  ...{ pages: 0, services: 0, serviceGroups: 0, servicesOfGroup: 0, openIncidents: 0, plannedMaintenances: 0 },
  ...{ servicesOfIncident: 0, servicesOfUpdate: 0, servicesOfMaintenance: 0, filesOfIncident: 0, filesOfItem: 0 },
}

test('reads the sizes of an organization by id or slug', async () => {
  const acme = await tenant()
  const [one = '', two = ''] = await acme.services('API', 'Web', 'Mail')
  const { id: groupId } = await createServiceGroup(acme.ctx, { name: 'All' })
  await updateService(acme.ctx, { id: one, groupId })
  const incident = { title: 'Slow', impact: 'MINOR', message: 'We look.' }
  const services = [one, two].map((serviceId) => ({ serviceId, status: 'DEGRADED_PERFORMANCE' }))
  const { id } = await createIncident(acme.ctx, { ...incident, status: 'INVESTIGATING', services })
  await postIncidentUpdate(acme.later(1), { incidentId: id, status: 'IDENTIFIED', message: 'Found.' })
  await createIncident(acme.ctx, { ...incident, status: 'RESOLVED' })
  const expected = {
    ...{ ...nothing, pages: 1, services: 3, serviceGroups: 1, servicesOfGroup: 1, openIncidents: 1 },
    ...{ servicesOfIncident: 2, servicesOfUpdate: 2 },
  }
  expect(await readSizes(prisma, { ids: [acme.id], slugs: [], objects: [] })).toEqual(expected)
  expect(await readSizes(prisma, { ids: [], slugs: [acme.slug], objects: [] })).toEqual(expected)
  for (const object of [id, one, groupId])
    expect(await readSizes(prisma, { ids: [], slugs: [], objects: [object, 'inc_0'] })).toEqual(expected)
})

test('reads the largest sizes of several organizations, and 0 for none', async () => {
  const [one, other] = [await tenant(), await tenant()]
  await one.services('A', 'B')
  await other.services('C')
  await createServiceGroup(other.ctx, { name: 'All' })
  expect(await readSizes(prisma, { ids: [one.id], slugs: [other.slug], objects: [] })).toEqual({
    ...nothing,
    ...{ pages: 1, services: 2, serviceGroups: 1 },
  })
  expect(await readSizes(prisma, { ids: [], slugs: ['nobody', '\0'], objects: [] })).toEqual(nothing)
})
