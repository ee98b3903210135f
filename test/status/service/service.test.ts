import { describe, expect, test } from 'vitest'
import { setTier } from '../../../src/billing/subscription/tier.ts'
import { Conflict, Invalid, NotFound, TierLimitReached } from '../../../src/core/errors.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { createService, deleteService, reorderServices, updateService } from '../../../src/status/service/service.ts'
import { createServiceGroup } from '../../../src/status/service/service-group.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { type Tenant, tenantsOf, together } from '../setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

/** The names of a tenant's services by position; no two positions are equal. */
async function namesOf({ id }: Tenant): Promise<string[]> {
  const services = await prisma.service.findMany({ where: { organizationId: id }, orderBy: { position: 'asc' } })
  expect(new Set(services.map(({ position }) => position)).size).toBe(services.length)
  return services.map(({ name }) => name)
}

describe('a new service', () => {
  test('is last on the page, and its event has its name and its creator', async () => {
    const { ctx, id, events } = await tenant()
    const group = await createServiceGroup(ctx, { name: 'Platform' })
    const input = { name: ' API ', groupId: group.id, description: 'What apps call.' }
    const service = await createService(ctx, input)
    expect(service).toMatchObject({ ...input, name: 'API', position: 0, statusOverride: null, version: 1 })
    expect(await createService(ctx, { name: 'Site', groupId: null, description: null })).toMatchObject({
      groupId: null,
      description: '',
      position: 1,
    })
    expect(ctx.actor).toMatchObject({ kind: 'apiKey' })
    expect((await events())[1]).toEqual({
      organizationId: id,
      seq: 4,
      updateId: null,
      since: null,
      reportMonth: null,
      kind: 'SERVICE_CREATED',
      at: noon,
      actorKind: 'API_KEY',
      actorKeyId: ctx.actor.kind === 'apiKey' && ctx.actor.keyId,
      actorUserId: null,
      subjectId: service.id,
      subjectName: 'API',
      serviceIds: [service.id],
      notifySubscribers: true,
    })
  })

  test('is rejected with the path of each problem', async () => {
    const { ctx, news } = await tenant()
    await expect(createService(ctx, { name: ' ', description: 'x'.repeat(2001) })).rejects.toMatchObject({
      constructor: Invalid,
      issues: [
        { path: ['name'], message: 'must not be blank' },
        { path: ['description'], message: 'must have at most 2000 characters' },
      ],
    })
    await expect(createService(ctx, { name: 'API', description: 'a\u0000b' })).rejects.toMatchObject({
      issues: [{ path: ['description'] }],
    })
    expect(await news()).toEqual([])
  })

  test('is rejected at the tier’s limit, also concurrently', async () => {
    const acme = await tenant()
    const attempts = Array.from({ length: 30 }, (_, index) => createService(acme.ctx, { name: `${index}` }))
    const { done, refused } = await together(attempts)
    expect(done).toHaveLength(10)
    for (const reason of refused) {
      expect(reason).toMatchObject({ constructor: TierLimitReached, code: 'TIER_LIMIT_REACHED', limit: 10 })
    }
    expect(await namesOf(acme)).toHaveLength(10)
    expect(await acme.news()).toHaveLength(10)
  })

  test('is possible again after an upgrade or a deletion', async () => {
    const acme = await tenant()
    const [first = ''] = await acme.services(...'abcdefghij')
    await expect(createService(acme.ctx, { name: 'k' })).rejects.toThrow(TierLimitReached)
    await deleteService(acme.ctx, first)
    await createService(acme.ctx, { name: 'k' })
    await setTier(testContext(prisma, { actor: { kind: 'operator' } }), { organizationId: acme.id, tier: 'PRO' })
    await createService(acme.ctx, { name: 'l' })
    expect((await namesOf(acme)).join('')).toBe('bcdefghijkl')
  })
})

describe('an edit', () => {
  test('changes only the given fields and increments the version', async () => {
    const { ctx, services, news } = await tenant()
    const [id = ''] = await services('API')
    const group = await createServiceGroup(ctx, { name: 'Platform' })
    const edited = await updateService(ctx, { id, statusOverride: 'PARTIAL_OUTAGE', groupId: group.id })
    expect(edited).toMatchObject({ name: 'API', statusOverride: 'PARTIAL_OUTAGE', groupId: group.id, version: 2 })
    expect(await updateService(ctx, { id, name: 'API 2', version: 2 })).toMatchObject({
      name: 'API 2',
      statusOverride: 'PARTIAL_OUTAGE',
      groupId: group.id,
    })
    expect(await updateService(ctx, { id, statusOverride: null, groupId: null })).toMatchObject({
      statusOverride: null,
      groupId: null,
      version: 4,
    })
    expect(await news()).toEqual([
      'SERVICE_CREATED API',
      'SERVICE_GROUP_CREATED Platform',
      'SERVICE_UPDATED API',
      'SERVICE_STATUS_CHANGED API',
      'SERVICE_UPDATED API 2',
      'SERVICE_UPDATED API 2',
      'SERVICE_STATUS_CHANGED API 2',
    ])
  })

  test('of the override announces a new status only where the shown status changes', async () => {
    const { ctx, services, news } = await tenant()
    const [id = ''] = await services('API')
    for (const statusOverride of ['OPERATIONAL', 'DEGRADED_PERFORMANCE', 'DEGRADED_PERFORMANCE', 'OPERATIONAL', null])
      await updateService(ctx, { id, statusOverride })
    expect((await news()).filter((each) => each === 'SERVICE_STATUS_CHANGED API')).toHaveLength(2)
  })

  test('is rejected with the path of an invalid field', async () => {
    const { ctx, services, news } = await tenant()
    const [id = ''] = await services('API')
    for (const [field, value] of [
      ['name', null],
      ['name', 'two\nlines'],
      ['statusOverride', 'FINE'],
      ['version', 1.5],
    ]) {
      await expect(updateService(ctx, { id, [String(field)]: value })).rejects.toMatchObject({
        issues: [{ path: [field] }],
      })
    }
    expect(await news()).toEqual(['SERVICE_CREATED API'])
  })

  test('cannot move it to another tenant’s group', async () => {
    const [mine, theirs] = [await tenant(), await tenant()]
    const [id = ''] = await mine.services('API')
    const group = await createServiceGroup(theirs.ctx, { name: 'Platform' })
    await expect(updateService(mine.ctx, { id, groupId: group.id })).rejects.toThrow(NotFound)
  })

  test('conflicts when based on an old version', async () => {
    const { ctx, services, news } = await tenant()
    const [id = ''] = await services('API')
    await updateService(ctx, { id, name: 'First', version: 1 })
    await expect(updateService(ctx, { id, name: 'Second', version: 1 })).rejects.toThrow(Conflict)
    expect(await news()).toEqual(['SERVICE_CREATED API', 'SERVICE_UPDATED First'])
  })

  test('succeeds once of two concurrent edits of one version', async () => {
    const { ctx, services, news } = await tenant()
    const [id = ''] = await services('API')
    for (let version = 1; version <= 15; version++) {
      const edit = (name: string) => updateService(ctx, { id, name: `${name} ${version}`, version })
      const { done, refused } = await together([edit('One'), edit('Other')])
      expect(refused).toMatchObject([{ constructor: Conflict, code: 'CONFLICT' }])
      expect(await prisma.service.findUnique({ where: { id } })).toEqual(done[0])
    }
    expect(await news()).toHaveLength(16)
  })
})

describe('a deletion', () => {
  test('removes the service from incidents and records its last name', async () => {
    const acme = await tenant()
    const { ctx } = acme
    const [, second = ''] = await acme.services('a', 'b', 'c')
    const incident = await createIncident(ctx, {
      title: 'Down',
      status: 'INVESTIGATING',
      impact: 'MINOR',
      message: 'We look.',
      services: [{ serviceId: second, status: 'MAJOR_OUTAGE' }],
    })
    await updateService(ctx, { id: second, name: 'B' })
    expect(await deleteService(ctx, second)).toMatchObject({ id: second, name: 'B' })
    expect(await namesOf(acme)).toEqual(['a', 'c'])
    expect(await prisma.incidentService.count({ where: { incidentId: incident.id } })).toBe(0)
    expect((await acme.events()).at(-1)).toMatchObject({ kind: 'SERVICE_DELETED', subjectId: second, subjectName: 'B' })
    await expect(deleteService(ctx, second)).rejects.toThrow(NotFound)
  })

  test('happens once, also concurrently', async () => {
    const acme = await tenant()
    const [first = ''] = await acme.services('a', 'b', 'c')
    const { done, refused } = await together(Array.from({ length: 5 }, () => deleteService(acme.ctx, first)))
    expect([done.length, refused.filter((reason) => reason instanceof NotFound).length]).toEqual([1, 4])
    expect(await namesOf(acme)).toEqual(['b', 'c'])
  })
})

describe('a reordering', () => {
  test('moves every service to its new position', async () => {
    const acme = await tenant()
    const [a = '', b = '', c = ''] = await acme.services('a', 'b', 'c')
    const ordered = await reorderServices(acme.ctx, { ids: [c, a, b] })
    expect(ordered.map(({ name }) => name)).toEqual(['c', 'a', 'b'])
    expect(await namesOf(acme)).toEqual(['c', 'a', 'b'])
    expect((await acme.events()).at(-1)).toMatchObject({
      kind: 'SERVICES_REORDERED',
      subjectId: acme.id,
      subjectName: 'Acme',
    })
  })

  test('must name each service once', async () => {
    const acme = await tenant()
    const [a = '', b = ''] = await acme.services('a', 'b')
    for (const [ids, path] of [
      [[a], ['ids']],
      [[], ['ids']],
      [
        [a, b, a],
        ['ids', '2'],
      ],
      ['a', ['ids']],
    ] as const) {
      await expect(reorderServices(acme.ctx, { ids })).rejects.toMatchObject({
        constructor: Invalid,
        issues: [{ path }],
      })
    }
    expect(await namesOf(acme)).toEqual(['a', 'b'])
    expect(await acme.news()).toHaveLength(2)
  })

  test('cannot move another tenant’s services', async () => {
    const [mine, theirs] = [await tenant(), await tenant()]
    const [a = ''] = await mine.services('a')
    const [b = '', c = ''] = await theirs.services('b', 'c')
    await expect(reorderServices(mine.ctx, { ids: [a, c, b] })).rejects.toThrow(NotFound)
    await expect(reorderServices(mine.ctx, { ids: [c] })).rejects.toThrow(NotFound)
    expect(await namesOf(theirs)).toEqual(['b', 'c'])
  })

  test('leaves no duplicate positions under concurrent changes', async () => {
    const acme = await tenant('PRO')
    const ids = await acme.services('a', 'b', 'c', 'd')
    await together<unknown>([
      ...ids.slice(1).map((id) => deleteService(acme.ctx, id)),
      ...ids.map((_, index) => reorderServices(acme.ctx, { ids: [...ids.slice(index), ...ids.slice(0, index)] })),
      ...Array.from({ length: 6 }, (_, index) => createService(acme.ctx, { name: `new ${index}` })),
    ])
    expect(await namesOf(acme)).toHaveLength(7)
    const seqs = (await acme.events()).map(({ seq }) => seq)
    expect(seqs).toEqual(seqs.map((_, index) => index + 3))
  })
})
