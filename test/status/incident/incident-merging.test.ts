import { expect, test } from 'vitest'
import { Conflict, Invalid, NotFound } from '../../../src/core/errors.ts'
import { MINUTE } from '../../../src/core/time.ts'
import { deleteIncident, updateIncident } from '../../../src/status/incident/incident-edits.ts'
import { readIncidentHistory } from '../../../src/status/incident/incident-effect-reader.ts'
import { mergeIncidents } from '../../../src/status/incident/incident-merging.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { dismissIncident, publishIncident } from '../../../src/status/incident/incident-publication.ts'
import { postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import type { Tenant } from '../setup.ts'
import { tenantsOf } from '../setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const after = (minutes: number) => new Date(noon.getTime() + minutes * MINUTE)

function report(acme: Tenant, title: string, minutes: number, services: object) {
  const statuses = Object.entries(services).map(([serviceId, status]) => ({ serviceId, status }))
  const input = { title, status: 'INVESTIGATING', impact: 'MINOR', message: `${title}!`, services: statuses }
  return createIncident(acme.later(minutes * MINUTE), input)
}

const post = (acme: Tenant, incidentId: string, minutes: number, status: string) =>
  postIncidentUpdate(acme.later(minutes * MINUTE), { incidentId, status, message: `${status}.` })

/** The minutes in which each service was impaired, by incident. */
async function impaired(acme: Tenant, serviceIds: string[]) {
  const { incidents } = await readIncidentHistory(prisma, acme.id, serviceIds, after(-60), after(120))
  return serviceIds.map((id) =>
    (incidents.get(id) ?? [])
      .flatMap(({ effects }) => effects)
      .map(
        ({ from, to, status }) =>
          `${status} ${(from.getTime() - noon.getTime()) / MINUTE}-${(to.getTime() - noon.getTime()) / MINUTE}`,
      ),
  )
}

test('a merge moves updates, services and followers to the other incident once, and is logged', async () => {
  const acme = await tenant('TEAM')
  const [api = '', web = ''] = await acme.services('API', 'Web')
  const search = await report(acme, 'Search', 0, { [api]: 'MAJOR_OUTAGE' })
  const outage = await report(acme, 'Outage', 10, { [api]: 'PARTIAL_OUTAGE', [web]: 'PARTIAL_OUTAGE' })
  await post(acme, search.id, 20, 'RESOLVED')
  await post(acme, outage.id, 30, 'RESOLVED')
  const before = acme.later(40 * MINUTE)
  const impairedBefore = await impaired(acme, [api, web])
  expect(impairedBefore).toEqual([['PARTIAL_OUTAGE 10-30', 'MAJOR_OUTAGE 0-20'], ['PARTIAL_OUTAGE 10-30']])
  const joint = await mergeIncidents(before, { id: search.id, intoId: outage.id })
  expect(joint).toMatchObject({ id: outage.id, startedAt: noon, resolvedAt: after(30), status: 'RESOLVED' })
  // Each minute counts once, with the worse of both statuses.
  expect(await impaired(acme, [api, web])).toEqual([
    ['MAJOR_OUTAGE 0-20', 'PARTIAL_OUTAGE 20-30'],
    ['PARTIAL_OUTAGE 10-30'],
  ])
  const updates = await prisma.incidentUpdate.findMany({
    where: { incidentId: outage.id },
    orderBy: { createdAt: 'asc' },
  })
  expect(updates.map(({ message, status }) => [message, status])).toEqual([
    ['Search!', 'INVESTIGATING'],
    ['Outage!', 'INVESTIGATING'],
    ['RESOLVED.', 'INVESTIGATING'],
    ['RESOLVED.', 'RESOLVED'],
  ])
  const merged = await prisma.incident.findUniqueOrThrow({ where: { id: search.id }, include: { services: true } })
  expect(merged).toMatchObject({ visibility: 'MERGED', mergedIntoId: outage.id, services: [{ serviceId: api }] })
  const newEvents = (await acme.events()).slice(-2)
  expect(newEvents.map(({ kind, subjectId, notifySubscribers }) => [kind, subjectId, notifySubscribers])).toEqual([
    ['INCIDENT_MERGED', search.id, false],
    ['INCIDENT_UPDATED', outage.id, false],
  ])
})

test('a message becomes one update of the other incident, which notifies subscribers unless it must not', async () => {
  const acme = await tenant()
  const [api = ''] = await acme.services('API')
  const one = await report(acme, 'One', 0, { [api]: 'MAJOR_OUTAGE' })
  const two = await report(acme, 'Two', 5, {})
  const input = { id: two.id, intoId: one.id, message: 'Two is *one*.', notifySubscribers: false }
  const joint = await mergeIncidents(acme.later(6 * MINUTE), input)
  expect(joint.status).toBe('INVESTIGATING')
  const [newest] = await prisma.incidentUpdate.findMany({
    where: { incidentId: one.id },
    orderBy: { createdAt: 'desc' },
  })
  expect(newest).toMatchObject({ message: 'Two is *one*.', status: 'INVESTIGATING' })
  const newEvents = (await acme.events()).filter(({ kind }) => kind === 'INCIDENT_UPDATE_POSTED')
  expect(newEvents.map(({ subjectId, notifySubscribers }) => [subjectId, notifySubscribers])).toEqual([[one.id, false]])
})

test('a merged incident cannot change, follows further merges, and is deleted with the other incident', async () => {
  const acme = await tenant()
  const [one, two, three] = [
    await report(acme, 'One', 0, {}),
    await report(acme, 'Two', 1, {}),
    await report(acme, 'Three', 2, {}),
  ]
  await mergeIncidents(acme.ctx, { id: one.id, intoId: two.id })
  await expect(post(acme, one.id, 5, 'RESOLVED')).rejects.toThrow(Conflict)
  await expect(updateIncident(acme.ctx, { id: one.id, title: 'No' })).rejects.toThrow(Conflict)
  await expect(publishIncident(acme.ctx, { id: one.id })).rejects.toThrow(Conflict)
  await expect(dismissIncident(acme.ctx, one.id)).rejects.toThrow(Conflict)
  await expect(mergeIncidents(acme.ctx, { id: three.id, intoId: one.id })).rejects.toThrow(Conflict)
  await mergeIncidents(acme.ctx, { id: two.id, intoId: three.id })
  expect((await prisma.incident.findUniqueOrThrow({ where: { id: one.id } })).mergedIntoId).toBe(three.id)
  await deleteIncident(acme.ctx, three.id)
  expect(await prisma.incident.count({ where: { organizationId: acme.id } })).toBe(0)
})

test('drafts, the same incident, incidents of other organizations and too long timelines are refused', async () => {
  const acme = await tenant()
  const other = await tenant()
  const [mine, theirs] = [await report(acme, 'Mine', 0, {}), await report(other, 'Theirs', 0, {})]
  const draft = await createIncident(acme.ctx, {
    ...{ title: 'Draft', status: 'INVESTIGATING', impact: 'MINOR', message: 'Hm.', visibility: 'DRAFT' },
  })
  await expect(mergeIncidents(acme.ctx, { id: mine.id, intoId: mine.id })).rejects.toThrow(Invalid)
  await expect(mergeIncidents(acme.ctx, { id: mine.id, intoId: theirs.id })).rejects.toThrow(NotFound)
  await expect(mergeIncidents(other.ctx, { id: mine.id, intoId: theirs.id })).rejects.toThrow(NotFound)
  await expect(mergeIncidents(acme.ctx, { id: draft.id, intoId: mine.id })).rejects.toThrow('Publish the draft first')
  await expect(mergeIncidents(acme.ctx, { id: mine.id, intoId: draft.id })).rejects.toThrow(Conflict)
  const row = { organizationId: acme.id, incidentId: mine.id, status: 'IDENTIFIED', message: 'x' } as const
  await prisma.incidentUpdate.createMany({
    data: Array.from({ length: 498 }, (_, nth) => ({ ...row, id: `upd_${nth}`, createdAt: after(nth + 1) })),
  })
  const full = await report(acme, 'Full', 600, {})
  await expect(mergeIncidents(acme.ctx, { id: full.id, intoId: mine.id })).rejects.toMatchObject({
    code: 'TIMELINE_FULL',
  })
})
