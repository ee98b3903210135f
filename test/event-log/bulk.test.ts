import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DomainError } from '../../src/core/errors.ts'
import { Conflict, Invalid, NotFound, TierLimitReached } from '../../src/core/errors.ts'
import type { Outcome } from '../../src/core/outcome.ts'
import { awaitOutcome, isRefused } from '../../src/core/outcome.ts'
import type { BulkMode } from '../../src/event-log/bulk.ts'
import { bulk } from '../../src/event-log/bulk.ts'
import type { Service } from '../../src/generated/prisma/client.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { updateIncidentServices } from '../../src/status/incident/incident-services.ts'
import { postIncidentUpdate } from '../../src/status/incident/incident-updates.ts'
import { createService, deleteService, updateService } from '../../src/status/service/service.ts'
import type { Tenant } from '../status/setup.ts'
import { tenantsOf } from '../status/setup.ts'
import { testDatabase } from '../support/database.ts'
import { runs } from '../support/runs.ts'
import { statementsOf } from '../support/statements.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

const create = ({ ctx, id }: Tenant, items: readonly unknown[], mode: BulkMode) =>
  bulk(ctx, id, { items, mode }, createService)
const namesOf = async ({ id }: Tenant) =>
  (await prisma.service.findMany({ where: { organizationId: id }, orderBy: { position: 'asc' } })).map(
    ({ name, position }) => `${position} ${name}`,
  )
const said = (outcomes: readonly Outcome<Service>[]) =>
  outcomes.map((each) => (isRefused(each) ? each.code : each.name))
const errorsOf = (outcomes: readonly Outcome<unknown>[]): (DomainError | null)[] =>
  outcomes.map((each) => (isRefused(each) ? each : null))

const ok = (name: string) => ({ name })
const blank = { name: ' ' }

describe('a bulk call', () => {
  test('applies items in order, with consecutive events', async () => {
    const own = await tenant()
    expect(said(await create(own, ['a', 'b', 'c'].map(ok), 'ATOMIC'))).toEqual(['a', 'b', 'c'])
    expect(await namesOf(own)).toEqual(['0 a', '1 b', '2 c'])
    expect(await own.news()).toEqual(['SERVICE_CREATED a', 'SERVICE_CREATED b', 'SERVICE_CREATED c'])
  })

  test('ATOMIC: rolls back when an item is rejected, and returns all errors', async () => {
    const own = await tenant()
    const outcomes = await create(
      own,
      [ok('a'), blank, ok('c'), { name: 'd', groupId: `grp_${'0'.repeat(24)}` }],
      'ATOMIC',
    )
    expect(said(outcomes)).toEqual(['NOT_APPLIED', 'INVALID_INPUT', 'NOT_APPLIED', 'NOT_FOUND'])
    expect([await namesOf(own), await own.news()]).toEqual([[], []])
  })

  test('EACH: applies all items except rejected ones', async () => {
    const own = await tenant()
    const outcomes = await create(own, [ok('a'), blank, ok('c')], 'EACH')
    expect(said(outcomes)).toEqual(['a', 'INVALID_INPUT', 'c'])
    expect(await namesOf(own)).toEqual(['0 a', '1 c'])
    expect(await own.news()).toEqual(['SERVICE_CREATED a', 'SERVICE_CREATED c'])
  })

  test('enforces the limit of the tier', async () => {
    const [each, atomic] = [await tenant(), await tenant()]
    const eleven = Array.from({ length: 11 }, (_, index) => ok(`${index}`))
    expect(errorsOf(await create(each, eleven, 'EACH')).at(-1)).toBeInstanceOf(TierLimitReached)
    expect(await namesOf(each)).toHaveLength(10)
    const refused = errorsOf(await create(atomic, eleven, 'ATOMIC'))
    expect(refused.at(-1)).toBeInstanceOf(TierLimitReached)
    expect(refused.at(0)).toBeInstanceOf(Conflict)
    expect(await namesOf(atomic)).toHaveLength(0)
  })

  test('rolls back an item that fails halfway', async () => {
    const own = await tenant()
    const halfDone = async (ctx: typeof own.ctx, item: string) => {
      const service = await createService(ctx, ok(item))
      if (item === 'b') throw new NotFound('Not found.')
      return service
    }
    const outcomes = await bulk(own.ctx, own.id, { items: ['a', 'b', 'c'], mode: 'EACH' }, halfDone)
    expect(said(outcomes)).toEqual(['a', 'NOT_FOUND', 'c'])
    expect(await namesOf(own)).toEqual(['0 a', '1 c'])
    expect(await own.news()).toEqual(['SERVICE_CREATED a', 'SERVICE_CREATED c'])
  })

  test('rolls back and rejects on an unexpected error', async () => {
    const own = await tenant()
    const failing = bulk(own.ctx, own.id, { items: ['a', 'b'], mode: 'ATOMIC' }, async (ctx, item) => {
      await createService(ctx, ok(item))
      if (item === 'b') throw new Error('enough')
    })
    await expect(failing).rejects.toThrow('enough')
    expect([await namesOf(own), await own.news()]).toEqual([[], []])
  })

  test('takes at most a hundred items', async () => {
    const own = await tenant('TEAM')
    const all = Array.from({ length: 101 }, (_, index) => ok(`${index}`))
    await expect(create(own, all, 'EACH')).rejects.toThrow('must have at most 100 items, has 101')
    await expect(create(own, all, 'EACH')).rejects.toThrow(Invalid)
    expect(await namesOf(own)).toEqual([])
  })

  test('returns no outcomes for no items', async () => {
    const own = await tenant()
    expect(await create(own, [], 'ATOMIC')).toEqual([])
    expect(await own.news()).toEqual([])
  })

  test('locks the organization once and reads its tier once', async () => {
    const own = await tenant('TEAM')
    const statements = await statementsOf(() => create(own, ['a', 'b', 'c', 'd'].map(ok), 'ATOMIC'))
    expect(statements.filter((text) => text.includes('FOR NO KEY UPDATE'))).toHaveLength(1)
    expect(statements.filter((text) => /SELECT.*"tier"/.test(text))).toHaveLength(1)
    expect(statements.filter((text) => text.includes('INSERT INTO "Event"'))).toHaveLength(1)
  })

  test('has the same result as single calls, for any items', async () => {
    const step = fc.record({
      create: fc.boolean(),
      name: fc.constantFrom('a', 'b', ' '),
      place: fc.nat(4),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        const [single, many] = [await tenant(), await tenant()]
        const ids = { [single.id]: await single.services('x', 'y', 'z'), [many.id]: await many.services('x', 'y', 'z') }
        const doOne =
          (organizationId: string) =>
          (ctx: Tenant['ctx'], { create, name, place }: (typeof steps)[number]) => {
            const id = ids[organizationId]?.[place] ?? 'none'
            if (create) return createService(ctx, { name })
            return name === 'b' ? deleteService(ctx, id) : updateService(ctx, { id, name })
          }
        const one: Outcome<Service>[] = []
        for (const each of steps) one.push(await awaitOutcome(doOne(single.id)(single.ctx, each)))
        const outcomes = await bulk(many.ctx, many.id, { items: steps, mode: 'EACH' }, doOne(many.id))
        expect(said(outcomes)).toEqual(said(one))
        expect(await namesOf(many)).toEqual(await namesOf(single))
        expect(await many.news()).toEqual(await single.news())
      }),
      runs(4, 8),
    )
  })
})

describe('the services of an incident', () => {
  const incident = { title: 'Down', status: 'INVESTIGATING', impact: 'MINOR', message: 'We look.' }
  const touched = async (incidentId: string) =>
    (await prisma.incidentService.findMany({ where: { incidentId } }))
      .map(({ serviceId, status }) => `${serviceId} ${status}`)
      .sort()

  test('change only if they are given', async () => {
    const { ctx, services, news } = await tenant()
    const [a = '', b = '', c = ''] = await services('a', 'b', 'c')
    const { id } = await createIncident(ctx, {
      ...incident,
      services: [a, b].map((serviceId) => ({ serviceId, status: 'PARTIAL_OUTAGE' })),
    })
    const after = await updateIncidentServices(ctx, {
      incidentId: id,
      services: [{ serviceId: c, status: 'MAJOR_OUTAGE' }],
      removedServiceIds: [a],
      version: 1,
    })
    expect(after.version).toBe(2)
    expect(await touched(id)).toEqual([`${b} PARTIAL_OUTAGE`, `${c} MAJOR_OUTAGE`].sort())
    expect((await news()).at(-1)).toBe('INCIDENT_UPDATED Down')
  })

  test('belong to the organization, appear once, and recover when the incident is resolved', async () => {
    const { ctx, services } = await tenant()
    const [a = ''] = await services('a')
    const { id: incidentId } = await createIncident(ctx, incident)
    const [foreign = ''] = await (await tenant()).services('x')
    const set = (serviceId: string) => ({ incidentId, services: [{ serviceId, status: 'MAJOR_OUTAGE' }] })
    await expect(updateIncidentServices(ctx, set(foreign))).rejects.toThrow(NotFound)
    await expect(updateIncidentServices(ctx, { incidentId, removedServiceIds: [foreign] })).rejects.toThrow(NotFound)
    await expect(updateIncidentServices(ctx, { ...set(a), removedServiceIds: [a] })).rejects.toThrow(Invalid)
    await expect(updateIncidentServices(ctx, { ...set(a), version: 7 })).rejects.toThrow(Conflict)
    await postIncidentUpdate(ctx, { incidentId, status: 'RESOLVED', message: 'Over.' })
    await expect(updateIncidentServices(ctx, set(a))).rejects.toThrow(Invalid)
    expect(await touched(incidentId)).toEqual([])
  })
})
