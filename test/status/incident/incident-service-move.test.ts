import { expect, test } from 'vitest'
import { Conflict, Forbidden, Invalid, NotFound } from '../../../src/core/errors.ts'
import { MINUTE } from '../../../src/core/time.ts'
import { readIncidentHistory } from '../../../src/status/incident/incident-effect-reader.ts'
import { mergeIncidents } from '../../../src/status/incident/incident-merging.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { publishIncident } from '../../../src/status/incident/incident-publication.ts'
import { moveIncidentService } from '../../../src/status/incident/incident-service-move.ts'
import { updateIncidentServices } from '../../../src/status/incident/incident-services.ts'
import { postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import type { Tenant } from '../setup.ts'
import { noIds, tenantsOf, together } from '../setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const after = (minutes: number) => new Date(noon.getTime() + minutes * MINUTE)

function report(acme: Tenant, title: string, minutes: number, services: object, visibility = 'PUBLIC') {
  const statuses = Object.entries(services).map(([serviceId, status]) => ({ serviceId, status }))
  const input = { title, status: 'INVESTIGATING', impact: 'MINOR', message: `${title}!`, services: statuses }
  return createIncident(acme.later(minutes * MINUTE), { ...input, visibility })
}

/** The minutes in which each service was impaired, by incident. */
async function impaired(acme: Tenant, serviceIds: string[]) {
  const { incidents } = await readIncidentHistory(prisma, acme.id, serviceIds, after(-60), after(60))
  const minute = (time: Date) => (time.getTime() - noon.getTime()) / MINUTE
  return serviceIds.map((id) =>
    (incidents.get(id) ?? []).flatMap(({ title, effects }) =>
      effects.map(({ from, to, status }) => `${title}: ${status} ${minute(from)}-${minute(to)}`),
    ),
  )
}

test('a service moves with its status at the given time, in both timelines and the log', async () => {
  const acme = await tenant()
  const [api = '', web = ''] = await acme.services('API', 'Web')
  const one = await report(acme, 'One', 0, { [api]: 'MAJOR_OUTAGE', [web]: 'PARTIAL_OUTAGE' })
  const two = await report(acme, 'Two', 5, { [api]: 'DEGRADED_PERFORMANCE' })
  // Set manually without an update: the status must still apply from the last update on.
  await updateIncidentServices(acme.later(8 * MINUTE), {
    ...{ incidentId: one.id, services: [{ serviceId: web, status: 'MAJOR_OUTAGE' }] },
  })
  const given = { serviceId: api, fromId: one.id, intoId: two.id, at: after(20), message: 'The *API* too.' }
  const joined = await moveIncidentService(acme.later(30 * MINUTE), given)
  expect(joined).toMatchObject({ id: two.id, version: two.version + 1, automatic: false })
  expect(await impaired(acme, [api])).toEqual([
    ['Two: DEGRADED_PERFORMANCE 5-20', 'Two: MAJOR_OUTAGE 20-60', 'One: MAJOR_OUTAGE 0-20'],
  ])
  const timelines = await prisma.incidentUpdate.findMany({
    where: { organizationId: acme.id, createdAt: after(20) },
    select: { incidentId: true, message: true, status: true, services: { select: { serviceId: true, status: true } } },
    orderBy: { message: 'asc' },
  })
  const status = 'INVESTIGATING'
  expect(timelines).toEqual([
    { incidentId: one.id, message: '', status, services: [{ serviceId: api, status: 'OPERATIONAL' }] },
    { incidentId: two.id, message: given.message, status, services: [{ serviceId: api, status: 'MAJOR_OUTAGE' }] },
  ])
  const newEvents = (await acme.events()).slice(-2)
  expect(newEvents.map((each) => [each.kind, each.subjectId, each.notifySubscribers])).toEqual([
    ['INCIDENT_UPDATE_POSTED', one.id, false],
    ['INCIDENT_UPDATE_POSTED', two.id, true],
  ])
  // Nothing else has changed, and the service cannot move again.
  expect((await impaired(acme, [web]))[0]?.at(-1)).toBe('One: MAJOR_OUTAGE 0.000016666666666666667-60')
  await expect(moveIncidentService(acme.later(40 * MINUTE), { ...given, at: null })).rejects.toMatchObject({
    code: 'SERVICE_NOT_IMPAIRED',
  })
})

test('monitors that are down move with their service', async () => {
  const acme = await tenant()
  const [api = '', web = ''] = await acme.services('API', 'Web')
  const one = await report(acme, 'One', 0, { [api]: 'MAJOR_OUTAGE', [web]: 'MAJOR_OUTAGE' })
  const two = await report(acme, 'Two', 0, {})
  const monitor = {
    organizationId: acme.id,
    kind: 'HEARTBEAT',
    options: {},
    createdAt: noon,
    stateSince: noon,
  } as const
  for (const [id, serviceId, leftAt] of [
    ['mon_a', api, null],
    ['mon_b', api, after(1)],
    ['mon_c', web, null],
  ] as const) {
    const rules = { intervalSeconds: 60, timeoutMs: 1000, failureThreshold: 1, recoveryThreshold: 1 }
    await prisma.monitor.create({ data: { ...monitor, ...rules, id, name: id, serviceId } })
    await prisma.incidentMonitor.create({ data: { incidentId: one.id, monitorId: id, joinedAt: noon, leftAt } })
  }
  await moveIncidentService(acme.later(9 * MINUTE), { serviceId: api, fromId: one.id, intoId: two.id })
  const links = await prisma.incidentMonitor.findMany({ orderBy: [{ monitorId: 'asc' }, { joinedAt: 'asc' }] })
  expect(links.map(({ monitorId, incidentId, leftAt }) => [monitorId, incidentId, leftAt])).toEqual([
    ['mon_a', one.id, after(9)],
    ['mon_a', two.id, null],
    ['mon_b', one.id, after(1)],
    ['mon_c', one.id, null],
  ])
})

test('refuses incidents that are not open, not public or of others, services that are not impaired and earlier times, and moves once', async () => {
  const [acme, other] = [await tenant(), await tenant()]
  const [api = '', web = ''] = await acme.services('API', 'Web')
  const [foreign = ''] = await other.services('Foreign')
  const one = await report(acme, 'One', 0, { [api]: 'MAJOR_OUTAGE' })
  const [two, draft] = [await report(acme, 'Two', 1, {}), await report(acme, 'Draft', 1, {}, 'DRAFT')]
  const closed = await report(acme, 'Closed', 1, {})
  await postIncidentUpdate(acme.later(2 * MINUTE), { incidentId: closed.id, status: 'RESOLVED', message: 'Done.' })
  const theirs = await report(other, 'Theirs', 0, {})
  const later = acme.later(9 * MINUTE)
  const move = (input: object, ctx = later) =>
    moveIncidentService(ctx, { serviceId: api, fromId: one.id, intoId: two.id, ...input })
  await expect(move({ intoId: draft.id })).rejects.toMatchObject({ code: 'INCIDENT_NOT_PUBLIC' })
  for (const input of [{ intoId: closed.id }, { fromId: closed.id }])
    await expect(move(input)).rejects.toMatchObject({ code: 'INCIDENT_RESOLVED' })
  for (const intoId of [theirs.id, ...noIds('inc')]) await expect(move({ intoId })).rejects.toThrow(NotFound)
  for (const serviceId of [web, foreign, ...noIds('svc')]) await expect(move({ serviceId })).rejects.toThrow(NotFound)
  await expect(move({ fromId: theirs.id })).rejects.toThrow(NotFound)
  await expect(move({}, other.later(9 * MINUTE))).rejects.toThrow(NotFound)
  await expect(move({}, acme.as('READ'))).rejects.toThrow(Forbidden)
  for (const input of [{ intoId: one.id }, { at: after(1) }, { at: after(10) }, { message: 'x'.repeat(10_001) }])
    await expect(move(input)).rejects.toThrow(Invalid)
  expect(await prisma.incidentUpdate.count({ where: { incidentId: { in: [one.id, two.id] } } })).toBe(2)
  const { done, refused } = await together([move({}), move({}), move({})])
  expect([done.length, refused.length]).toEqual([1, 2])
  expect(await impaired(acme, [api])).toEqual([['Two: MAJOR_OUTAGE 9-60', 'One: MAJOR_OUTAGE 0-9']])
})

/** The statuses that the updates of an incident give services, oldest first. */
async function statusesIn(incidentId: string) {
  const updates = await prisma.incidentUpdate.findMany({
    where: { incidentId },
    select: { message: true, services: { select: { serviceId: true, status: true } } },
    orderBy: { createdAt: 'asc' },
  })
  return updates.map(({ message, services }) => [message, services])
}

test.each(['DRAFT', 'SUGGESTED'] as const)(
  'a %s no longer mentions a service that moved to a public incident',
  async (hidden) => {
    const acme = await tenant()
    const [api = '', web = ''] = await acme.services('API', 'Web')
    const draft = await report(acme, 'Draft', 0, { [api]: 'MAJOR_OUTAGE', [web]: 'PARTIAL_OUTAGE' }, 'DRAFT')
    await prisma.incident.update({ where: { id: draft.id }, data: { visibility: hidden } })
    const more = { incidentId: draft.id, status: 'IDENTIFIED', message: 'More.' }
    const worse = [{ serviceId: api, status: 'PARTIAL_OUTAGE' }]
    await postIncidentUpdate(acme.later(20 * MINUTE), { ...more, services: worse })
    const two = await report(acme, 'Two', 5, {})
    const before = (await acme.events()).length
    const given = { serviceId: api, fromId: draft.id, intoId: two.id, at: after(10), message: 'The API too.' }
    // Only the incident that gets an update limits the time; the draft has a later update.
    await expect(moveIncidentService(acme.later(30 * MINUTE), { ...given, at: after(5) })).rejects.toThrow(Invalid)
    await moveIncidentService(acme.later(30 * MINUTE), given)
    const left = await prisma.incident.findUniqueOrThrow({ where: { id: draft.id }, include: { services: true } })
    expect(left).toMatchObject({
      visibility: hidden,
      status: 'IDENTIFIED',
      automatic: false,
      version: draft.version + 2,
    })
    expect(left.services).toMatchObject([{ serviceId: web, status: 'PARTIAL_OUTAGE' }])
    expect(await statusesIn(draft.id)).toEqual([
      ['Draft!', [{ serviceId: web, status: 'PARTIAL_OUTAGE' }]],
      ['More.', []],
    ])
    expect(await statusesIn(two.id)).toEqual([
      ['Two!', []],
      ['The API too.', [{ serviceId: api, status: 'PARTIAL_OUTAGE' }]],
    ])
    expect(await impaired(acme, [api])).toEqual([['Two: PARTIAL_OUTAGE 10-60']])
    expect(
      (await acme.events()).slice(before).map((each) => [each.kind, each.subjectId, each.notifySubscribers]),
    ).toEqual([
      ['INCIDENT_DRAFT_UPDATED', draft.id, false],
      ['INCIDENT_UPDATE_POSTED', two.id, true],
    ])
  },
)

test('a service moves between drafts and suggestions without notifying anyone', async () => {
  const acme = await tenant()
  const [api = ''] = await acme.services('API')
  const one = await report(acme, 'One', 0, { [api]: 'MAJOR_OUTAGE' }, 'DRAFT')
  const two = await report(acme, 'Two', 0, { [api]: 'DEGRADED_PERFORMANCE' }, 'DRAFT')
  await prisma.incident.update({ where: { id: two.id }, data: { visibility: 'SUGGESTED' } })
  const before = (await acme.events()).length
  const given = { serviceId: api, fromId: one.id, intoId: two.id, message: 'Here.', notifySubscribers: true }
  expect(await moveIncidentService(acme.later(9 * MINUTE), given)).toMatchObject({
    id: two.id,
    visibility: 'SUGGESTED',
  })
  expect(await statusesIn(one.id)).toEqual([['One!', []]])
  expect((await statusesIn(two.id)).at(-1)).toEqual(['Here.', [{ serviceId: api, status: 'MAJOR_OUTAGE' }]])
  const newEvents = (await acme.events()).slice(before)
  expect(newEvents.map(({ kind, notifySubscribers }) => [kind, notifySubscribers])).toEqual([
    ['INCIDENT_DRAFT_UPDATED', false],
    ['INCIDENT_DRAFT_UPDATED', false],
  ])
  expect(await impaired(acme, [api])).toEqual([[]])
  // The service has left, so it cannot move again.
  await expect(moveIncidentService(acme.later(10 * MINUTE), given)).rejects.toThrow(NotFound)
})

test('a merged incident is neither a source nor a target', async () => {
  const acme = await tenant()
  const [api = ''] = await acme.services('API')
  const [one, two, three] = [
    await report(acme, 'One', 0, { [api]: 'MAJOR_OUTAGE' }),
    await report(acme, 'Two', 0, { [api]: 'MAJOR_OUTAGE' }),
    await report(acme, 'Three', 0, {}),
  ]
  await mergeIncidents(acme.later(MINUTE), { id: one.id, intoId: two.id })
  const move = (fromId: string, intoId: string) =>
    moveIncidentService(acme.later(9 * MINUTE), { serviceId: api, fromId, intoId })
  await expect(move(one.id, three.id)).rejects.toThrow(Conflict)
  await expect(move(two.id, one.id)).rejects.toThrow(Conflict)
})

test('a draft that is published while its service moves shows the service until then, or never', async () => {
  const acme = await tenant()
  const [api = ''] = await acme.services('API')
  const draft = await report(acme, 'Draft', 0, { [api]: 'MAJOR_OUTAGE' }, 'DRAFT')
  const two = await report(acme, 'Two', 0, {})
  const later = acme.later(9 * MINUTE)
  const { refused } = await together<unknown>([
    publishIncident(later, { id: draft.id }),
    moveIncidentService(later, { serviceId: api, fromId: draft.id, intoId: two.id }),
    publishIncident(later, { id: draft.id }),
  ])
  expect(refused).toEqual([])
  const [effects = []] = await impaired(acme, [api])
  expect([['Two: MAJOR_OUTAGE 9-60'], ['Draft: MAJOR_OUTAGE 0-9', 'Two: MAJOR_OUTAGE 9-60']]).toContainEqual(
    effects.toSorted(),
  )
})
