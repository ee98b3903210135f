import { expect, test } from 'vitest'
import { Conflict, Forbidden, Invalid, NotFound } from '../../src/core/errors.ts'
import { MINUTE } from '../../src/core/time.ts'
import { readIncidentPast } from '../../src/status/incident-effect-reader.ts'
import { createIncident } from '../../src/status/incident-opening.ts'
import { moveIncidentService } from '../../src/status/incident-service-move.ts'
import { updateIncidentServices } from '../../src/status/incident-services.ts'
import { postIncidentUpdate } from '../../src/status/incident-updates.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import type { Tenant } from './setup.ts'
import { noIds, tenantsOf, together } from './setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const after = (minutes: number) => new Date(noon.getTime() + minutes * MINUTE)

function report(acme: Tenant, title: string, minutes: number, services: object, visibility = 'PUBLIC') {
  const statuses = Object.entries(services).map(([serviceId, status]) => ({ serviceId, status }))
  const input = { title, status: 'INVESTIGATING', impact: 'MINOR', message: `${title}!`, services: statuses }
  return createIncident(acme.later(minutes * MINUTE), { ...input, visibility })
}

/** The time for which each service was impaired, by incidents, in minutes. */
async function impaired(acme: Tenant, serviceIds: string[]) {
  const { incidents } = await readIncidentPast(prisma, acme.id, serviceIds, after(-60), after(60))
  const minute = (time: Date) => (time.getTime() - noon.getTime()) / MINUTE
  return serviceIds.map((id) =>
    (incidents.get(id) ?? []).flatMap(({ title, effects }) =>
      effects.map(({ from, to, status }) => `${title}: ${status} ${minute(from)}-${minute(to)}`),
    ),
  )
}

test('a service moves with its status, as of when it is said, and both timelines and the log tell it', async () => {
  const acme = await tenant()
  const [api = '', web = ''] = await acme.services('API', 'Web')
  const one = await report(acme, 'One', 0, { [api]: 'MAJOR_OUTAGE', [web]: 'PARTIAL_OUTAGE' })
  const two = await report(acme, 'Two', 5, { [api]: 'DEGRADED_PERFORMANCE' })
  // Set by hand, without words: it must go on to count since the last update.
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
  const told = (await acme.events()).slice(-2)
  expect(told.map((each) => [each.kind, each.subjectId, each.tellSubscribers])).toEqual([
    ['INCIDENT_UPDATE_POSTED', one.id, false],
    ['INCIDENT_UPDATE_POSTED', two.id, true],
  ])
  // Nothing else has changed, and it cannot move again.
  expect((await impaired(acme, [web]))[0]?.at(-1)).toBe('One: MAJOR_OUTAGE 0.000016666666666666667-60')
  await expect(moveIncidentService(acme.later(40 * MINUTE), { ...given, at: null })).rejects.toThrow(Conflict)
})

test('monitors that are down go with their service', async () => {
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

test('what is not open, not public, not theirs, not impaired or too early does not move, and it moves once', async () => {
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
  for (const intoId of [draft.id, closed.id]) await expect(move({ intoId })).rejects.toThrow(Conflict)
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
