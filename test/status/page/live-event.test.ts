import { expect, test } from 'vitest'
import { readPages } from '../../../src/account/page/page.ts'
import { deleteIncident } from '../../../src/status/incident/incident-edits.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import { readIncidentRow, readLiveRows } from '../../../src/status/page/live-event.ts'
import { readPageStatuses } from '../../../src/status/page/page-status.ts'
import { createService } from '../../../src/status/service/service.ts'
import { testDatabase } from '../../support/database.ts'
import { tenantsOf } from '../setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

test('rows equal those that Prisma reads, and the status equals that of the page', async () => {
  const { ctx, id: organizationId } = await tenant()
  const { id: api } = await createService(ctx, { name: 'API', status: 'OPERATIONAL' })
  const text = { title: 'Payments fail', impact: 'MAJOR', message: 'We look.' }
  const { id } = await createIncident(ctx, {
    ...text,
    status: 'INVESTIGATING',
    services: [{ serviceId: api, status: 'MAJOR_OUTAGE' }],
  })
  const page = async () => (await readPages(prisma, 'organizationId', [organizationId]))[0]
  const incident = () => prisma.incident.findUniqueOrThrow({ where: { id } })
  const asked = { organizationId, page: null, incidentId: id, withStatus: true }
  const read = () => readLiveRows(prisma, asked)
  const [status] = await readPageStatuses(prisma, [{ organizationId, serviceIds: null }])
  expect(status?.indicator).toBe('CRITICAL')
  expect(await read()).toEqual({ page: await page(), incident: await incident(), status })
  expect(await readIncidentRow(prisma, id)).toEqual(await incident())
  await postIncidentUpdate(ctx, { incidentId: id, status: 'RESOLVED', message: 'Well again.' })
  expect((await read())?.incident).toEqual(await incident())
  expect((await read())?.incident?.resolvedAt).toBeInstanceOf(Date)
  await deleteIncident(ctx, id)
  expect(await readIncidentRow(prisma, id)).toBeNull()
  expect(await read()).toEqual({ page: await page(), incident: null, status: expect.anything() })
  expect(await readLiveRows(prisma, { ...asked, incidentId: null, withStatus: false })).toEqual({
    page: await page(),
    incident: null,
    status: null,
  })
  expect(await readLiveRows(prisma, { ...asked, organizationId: 'org_nobody' })).toBeNull()
})
