// @slow
import { describe, expect, test } from 'vitest'
import { Conflict, Invalid, NotFound } from '../../../src/core/errors.ts'
import { HOUR } from '../../../src/core/time.ts'
import type { IncidentStatus, ServiceStatus } from '../../../src/generated/prisma/enums.ts'
import { deleteIncident, updateIncident } from '../../../src/status/incident/incident-edits.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { dismissIncident, publishIncident } from '../../../src/status/incident/incident-publication.ts'
import { editIncidentUpdate, postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import { MAX_UPDATES } from '../../../src/status/timeline/timeline-limits.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { tenantsOf, together } from '../setup.ts'
import { incidentTimelineInclude } from '../timelines.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

const given = { title: 'API is down', status: 'INVESTIGATING', impact: 'MAJOR', message: 'We look.' }
const says = (serviceId: string, status: ServiceStatus) => ({ serviceId, status })
const deriveState = (id: string) =>
  prisma.incident.findUniqueOrThrow({ where: { id }, include: incidentTimelineInclude })

/** A tenant with two services and an incident in which the first is down. */
async function withIncident() {
  const acme = await tenant()
  const [api = '', site = ''] = await acme.services('API', 'Site')
  const { id } = await createIncident(acme.ctx, { ...given, services: [says(api, 'MAJOR_OUTAGE')] })
  const post = (status: IncidentStatus, more: object = {}) =>
    postIncidentUpdate(acme.ctx, { incidentId: id, status, message: 'News.', ...more })
  return { ...acme, api, site, id, post }
}

describe('a draft', () => {
  const kindsSince = async (events: () => Promise<{ kind: string; notifySubscribers: boolean }[]>) =>
    (await events()).slice(-3).map(({ kind, notifySubscribers }) => [kind, notifySubscribers])

  test('is announced only to its organization until it is published, once', async () => {
    const { ctx, events, services } = await tenant()
    const [api = ''] = await services('API')
    const { id } = await createIncident(ctx, { ...given, visibility: 'DRAFT', services: [says(api, 'MAJOR_OUTAGE')] })
    await postIncidentUpdate(ctx, { incidentId: id, status: 'IDENTIFIED', message: 'News.' })
    expect(await publishIncident(ctx, { id })).toMatchObject({ visibility: 'PUBLIC', version: 3 })
    expect(await kindsSince(events)).toEqual([
      ['INCIDENT_DRAFTED', false],
      ['INCIDENT_DRAFT_UPDATED', false],
      ['INCIDENT_CREATED', true],
    ])
    const newest = await prisma.incidentUpdate.findFirstOrThrow({ where: { incidentId: id, message: 'News.' } })
    expect((await events()).at(-1)).toMatchObject({ updateId: newest.id, serviceIds: [api] })
    expect(await publishIncident(ctx, { id })).toMatchObject({ version: 3 })
    await expect(dismissIncident(ctx, id)).rejects.toThrow(Conflict)
  })

  test('that is resolved is published as a past incident', async () => {
    const { ctx, events } = await tenant()
    const { id } = await createIncident(ctx, { ...given, visibility: 'DRAFT' })
    await postIncidentUpdate(ctx, { incidentId: id, status: 'RESOLVED', message: 'Over.' })
    await publishIncident(ctx, { id, notifySubscribers: true })
    expect((await events()).at(-1)?.kind).toBe('INCIDENT_BACKFILLED')
  })

  test('is dismissed or deleted without a trace on pages, and only by its organization', async () => {
    const { ctx, events } = await tenant()
    const stranger = await tenant()
    for (const remove of [dismissIncident, deleteIncident]) {
      const { id } = await createIncident(ctx, { ...given, visibility: 'DRAFT' })
      await expect(publishIncident(stranger.ctx, { id })).rejects.toThrow(NotFound)
      await expect(dismissIncident(stranger.ctx, id)).rejects.toThrow(NotFound)
      await expect(
        publishIncident({ ...ctx, actor: { ...ctx.actor, scope: 'READ' } as never }, { id }),
      ).rejects.toThrow()
      await remove(ctx, id)
      expect((await events()).at(-1)?.kind).toBe('INCIDENT_DISMISSED')
    }
    await expect(createIncident(ctx, { ...given, visibility: 'SUGGESTED' })).rejects.toThrow(Invalid)
  })
})

describe('an incident', () => {
  test('starts with its message as first update and its affected services', async () => {
    const { id, api, events } = await withIncident()
    expect(await deriveState(id)).toMatchObject({
      title: 'API is down',
      status: 'INVESTIGATING',
      impact: 'MAJOR',
      startedAt: noon,
      resolvedAt: null,
      version: 1,
      services: [says(api, 'MAJOR_OUTAGE')],
      updates: [
        { status: 'INVESTIGATING', message: 'We look.', editedAt: null, services: [says(api, 'MAJOR_OUTAGE')] },
      ],
    })
    expect((await events()).at(-1)).toMatchObject({
      kind: 'INCIDENT_CREATED',
      actorKind: 'API_KEY',
      subjectId: id,
      subjectName: 'API is down',
    })
  })

  test('can have started before it is created, but not later', async () => {
    const { ctx, news } = await tenant()
    const startedAt = new Date(noon.getTime() - HOUR)
    expect(await createIncident(ctx, { ...given, startedAt })).toMatchObject({ startedAt, createdAt: noon })
    expect(await createIncident(ctx, { ...given, startedAt: noon })).toMatchObject({ startedAt: noon })
    const future = createIncident(ctx, { ...given, startedAt: new Date(noon.getTime() + 1) })
    await expect(future).rejects.toMatchObject({
      constructor: Invalid,
      issues: [{ path: ['startedAt'], message: 'must not be in the future' }],
    })
    expect(await news()).toHaveLength(2)
  })

  test('created as resolved affects no service, but its update keeps the statuses', async () => {
    const { ctx, services } = await tenant()
    const [api = ''] = await services('API')
    const { id } = await createIncident(ctx, { ...given, status: 'RESOLVED', services: [says(api, 'MAJOR_OUTAGE')] })
    expect(await deriveState(id)).toMatchObject({
      resolvedAt: noon,
      services: [says(api, 'OPERATIONAL')],
      updates: [{ services: [says(api, 'MAJOR_OUTAGE')] }],
    })
  })

  test('is rejected with the path of each problem', async () => {
    const { ctx, services, news } = await tenant()
    const [api = ''] = await services('API')
    const wrong = createIncident(ctx, {
      title: 'x'.repeat(201),
      status: 'BAD',
      impact: 'BAD',
      message: ' ',
      services: [says(api, 'UNDER_MAINTENANCE')],
    })
    await expect(wrong).rejects.toMatchObject({
      constructor: Invalid,
      issues: [['title'], ['status'], ['impact'], ['message'], ['services', '0', 'status']].map((path) => ({ path })),
    })
    for (const [more, path] of [
      [{ message: 'x'.repeat(10_001) }, ['message']],
      [{ message: 'a\u0000b' }, ['message']],
      [{ title: 'two\nlines' }, ['title']],
      [{ services: [says(api, 'OPERATIONAL'), says(api, 'MAJOR_OUTAGE')] }, ['services', '1', 'serviceId']],
    ] as const) {
      await expect(createIncident(ctx, { ...given, ...more })).rejects.toMatchObject({ issues: [{ path }] })
    }
    await createIncident(ctx, { ...given, title: 'x'.repeat(200), message: 'äöü\t€\r\n'.repeat(1000) })
    expect(await news()).toHaveLength(2)
  })

  test('is not created if one service is unknown', async () => {
    const [mine, theirs] = [await tenant(), await tenant()]
    const [own = ''] = await mine.services('API')
    const [foreign = ''] = await theirs.services('API')
    const services = [says(own, 'MAJOR_OUTAGE'), says(foreign, 'MAJOR_OUTAGE')]
    await expect(createIncident(mine.ctx, { ...given, services })).rejects.toThrow(NotFound)
    expect(await prisma.incident.count({ where: { organizationId: mine.id } })).toBe(0)
    expect(await mine.news()).toHaveLength(1)
  })
})

describe('its timeline', () => {
  test('accepts any status after any other and appends an event for each', async () => {
    const { id, post, news } = await withIncident()
    const statuses = ['MONITORING', 'INVESTIGATING', 'IDENTIFIED', 'IDENTIFIED', 'RESOLVED', 'MONITORING'] as const
    for (const status of statuses) expect(await post(status)).toMatchObject({ status, incidentId: id })
    const { updates, version } = await deriveState(id)
    expect(updates.map(({ status }) => status).reverse()).toEqual(['INVESTIGATING', ...statuses])
    expect(version).toBe(7)
    expect((await news()).slice(3)).toEqual(Array(6).fill('INCIDENT_UPDATE_POSTED API is down'))
  })

  test('keeps the order of updates when the clock stands still or goes back', async () => {
    const { id, ctx, post, later } = await withIncident()
    await post('IDENTIFIED')
    await postIncidentUpdate(later(-HOUR), { incidentId: id, status: 'MONITORING', message: 'Before?' })
    await postIncidentUpdate(ctx, { incidentId: id, status: 'RESOLVED', message: 'Done.' })
    const { updates } = await deriveState(id)
    expect(updates.map(({ status }) => status)).toEqual(['RESOLVED', 'MONITORING', 'IDENTIFIED', 'INVESTIGATING'])
    expect(new Set(updates.map(({ createdAt }) => createdAt.getTime())).size).toBe(4)
  })

  test('changes only the services that an update names', async () => {
    const { id, api, site, post } = await withIncident()
    const { id: updateId } = await post('IDENTIFIED', { services: [says(site, 'DEGRADED_PERFORMANCE')] })
    expect((await deriveState(id)).services).toEqual([says(api, 'MAJOR_OUTAGE'), says(site, 'DEGRADED_PERFORMANCE')])
    expect(await prisma.incidentUpdateService.findMany({ where: { updateId } })).toEqual([
      { updateId, ...says(site, 'DEGRADED_PERFORMANCE') },
    ])
    await post('MONITORING', { services: [says(api, 'OPERATIONAL')] })
    expect((await deriveState(id)).services).toEqual([says(api, 'OPERATIONAL'), says(site, 'DEGRADED_PERFORMANCE')])
  })

  test('closes with RESOLVED and recovers all services; another status reopens it', async () => {
    const { id, api, ctx, later } = await withIncident()
    const post = (minutes: number, status: IncidentStatus) =>
      postIncidentUpdate(later(minutes * 60_000), { incidentId: id, status, message: 'News.' })
    await post(5, 'RESOLVED')
    const closed = await deriveState(id)
    expect(closed).toMatchObject({ status: 'RESOLVED', services: [says(api, 'OPERATIONAL')] })
    expect(closed.resolvedAt).toEqual(new Date(noon.getTime() + 5 * 60_000))
    await post(6, 'RESOLVED')
    expect((await deriveState(id)).resolvedAt).toEqual(closed.resolvedAt)
    await post(7, 'INVESTIGATING')
    expect(await deriveState(id)).toMatchObject({ resolvedAt: null, services: [says(api, 'OPERATIONAL')] })
    await updateIncident(ctx, { id, services: [says(api, 'PARTIAL_OUTAGE')] })
    expect((await deriveState(id)).services).toEqual([says(api, 'PARTIAL_OUTAGE')])
  })

  test('does not close with an impaired service', async () => {
    const { id, ctx, api, site, post, news } = await withIncident()
    const services = [says(site, 'OPERATIONAL'), says(api, 'MAJOR_OUTAGE')]
    await expect(post('RESOLVED', { services })).rejects.toMatchObject({
      constructor: Invalid,
      issues: [{ path: ['services', '1', 'status'] }],
    })
    await post('RESOLVED', { services: [says(site, 'OPERATIONAL')] })
    await expect(updateIncident(ctx, { id, services })).rejects.toThrow(Invalid)
    expect(await news()).toHaveLength(4)
  })

  test('has a maximum number of updates, plus one that closes it', async () => {
    const { id: organizationId, ...acme } = await tenant()
    const { id } = await createIncident(acme.ctx, given)
    await prisma.incidentUpdate.createMany({
      data: Array.from({ length: MAX_UPDATES - 2 }, (_, index) => ({
        id: `inu_${id.slice(-20)}${String(index).padStart(4, '0')}`,
        organizationId,
        incidentId: id,
        status: 'IDENTIFIED' as const,
        message: 'News.',
        createdAt: noon,
      })),
    })
    const post = (status: IncidentStatus) => postIncidentUpdate(acme.ctx, { incidentId: id, status, message: 'News.' })
    await post('MONITORING')
    const before = await acme.news()
    await expect(post('MONITORING')).rejects.toMatchObject({ constructor: Conflict, code: 'TIMELINE_FULL' })
    expect(await acme.news()).toEqual(before)
    await post('RESOLVED')
    for (const status of ['RESOLVED', 'INVESTIGATING'] as const) {
      await expect(post(status)).rejects.toMatchObject({ code: 'TIMELINE_FULL' })
    }
    const { status, updates } = await deriveState(id)
    expect([status, updates.length]).toEqual(['RESOLVED', MAX_UPDATES + 1])
  })

  test('is unchanged by a refused update, which is sent before the refusal is known', async () => {
    const { id, ctx, news, api, post } = await withIncident()
    const other = await tenant()
    const before = [await deriveState(id), await news()]
    const input = { incidentId: id, status: 'RESOLVED', message: 'News.' }
    await expect(post('RESOLVED', { version: 7 })).rejects.toThrow(Conflict)
    await expect(post('IDENTIFIED', { services: [says(`${api.slice(0, -1)}_`, 'OPERATIONAL')] })).rejects.toThrow(
      NotFound,
    )
    await expect(postIncidentUpdate(other.ctx, input)).rejects.toThrow(NotFound)
    await expect(postIncidentUpdate(ctx, { ...input, incidentId: 'inc_\u0000' })).rejects.toThrow(NotFound)
    await prisma.incident.update({ where: { id }, data: { visibility: 'MERGED' } })
    await expect(post('RESOLVED')).rejects.toThrow(Conflict)
    await prisma.incident.update({ where: { id }, data: { visibility: 'PUBLIC' } })
    expect([await deriveState(id), await news()]).toEqual(before)
  })

  test('can be edited update by update', async () => {
    const { id, ctx, later, news } = await withIncident()
    const [first] = (await deriveState(id)).updates
    const edit = { id: first?.id, message: 'We look into it.', version: 1 }
    const edited = await editIncidentUpdate(later(HOUR), edit)
    expect(edited).toMatchObject({ message: edit.message, version: 2, createdAt: noon })
    expect(edited.editedAt).toEqual(new Date(noon.getTime() + HOUR))
    await expect(editIncidentUpdate(ctx, edit)).rejects.toThrow(Conflict)
    await expect(editIncidentUpdate(ctx, { ...edit, version: 2, message: '' })).rejects.toMatchObject({
      issues: [{ path: ['message'] }],
    })
    expect((await news()).slice(3)).toEqual(['INCIDENT_UPDATE_EDITED API is down'])
  })
})

describe('an edit', () => {
  test('changes the given fields and replaces the services', async () => {
    const { id, api, site, ctx, news } = await withIncident()
    expect(await updateIncident(ctx, { id, title: 'Site is slow', impact: 'MINOR', version: 1 })).toMatchObject({
      title: 'Site is slow',
      impact: 'MINOR',
      status: 'INVESTIGATING',
      version: 2,
    })
    expect((await deriveState(id)).services).toEqual([says(api, 'MAJOR_OUTAGE')])
    await updateIncident(ctx, { id, services: [says(site, 'DEGRADED_PERFORMANCE')] })
    expect((await deriveState(id)).services).toEqual([says(site, 'DEGRADED_PERFORMANCE')])
    expect((await news()).slice(3)).toEqual(Array(2).fill('INCIDENT_UPDATED Site is slow'))
  })

  test('that fails half way changes nothing', async () => {
    const { id, api, ctx, news } = await withIncident()
    const [before, log] = [await deriveState(id), await news()]
    const services = [says(api, 'OPERATIONAL'), says(`svc_${'0'.repeat(24)}`, 'OPERATIONAL')]
    await expect(updateIncident(ctx, { id, title: 'New', services })).rejects.toThrow(NotFound)
    expect([await deriveState(id), await news()]).toEqual([before, log])
  })
})

describe('two writers at the same time', () => {
  test('with the same version: one succeeds, the other gets a conflict', async () => {
    const { id, post, ctx } = await withIncident()
    for (let version = 1; version <= 15; version++) {
      const { refused } = await together<unknown>([
        post('IDENTIFIED', { version }),
        version % 2 ? post('RESOLVED', { version }) : updateIncident(ctx, { id, title: `New ${version}`, version }),
      ])
      expect(refused).toMatchObject([{ constructor: Conflict }])
    }
    expect((await deriveState(id)).version).toBe(16)
  })

  test('without a version both succeed, and the log agrees with the timeline', async () => {
    const { id, post, events } = await withIncident()
    await together(Array.from({ length: 20 }, (_, index) => post('IDENTIFIED', { message: `News ${index}.` })))
    const { updates, version } = await deriveState(id)
    expect([updates.length, version]).toEqual([21, 21])
    expect((await events()).map(({ seq }) => seq)).toEqual(Array.from({ length: 23 }, (_, index) => index + 3))
  })

  test('of which one deletes: the other gets an error or was first', async () => {
    const { id, ctx, post } = await withIncident()
    const { refused } = await together<unknown>([deleteIncident(ctx, id), deleteIncident(ctx, id), post('RESOLVED')])
    expect(refused.every((reason) => reason instanceof NotFound)).toBe(true)
    expect(await prisma.incident.count({ where: { id } })).toBe(0)
  })
})

test('a deletion removes the timeline and records the last title', async () => {
  const { id, ctx, events } = await withIncident()
  await updateIncident(ctx, { id, title: 'False alarm' })
  expect(await deleteIncident(ctx, id)).toMatchObject({ id, title: 'False alarm' })
  expect(await prisma.incidentUpdate.count({ where: { incidentId: id } })).toBe(0)
  expect((await events()).at(-1)).toMatchObject({
    kind: 'INCIDENT_DELETED',
    subjectId: id,
    subjectName: 'False alarm',
  })
})
