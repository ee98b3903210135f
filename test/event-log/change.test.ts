import { expect, test } from 'vitest'
import { createApiKey, revokeApiKey } from '../../src/account/api-key/api-key.ts'
import { updateOrganization } from '../../src/account/organization/organization.ts'
import { setTier } from '../../src/billing/subscription/tier.ts'
import { NotFound } from '../../src/core/errors.ts'
import { HOUR } from '../../src/core/time.ts'
import { change } from '../../src/event-log/change.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { scheduleMaintenance } from '../../src/status/maintenance/maintenance.ts'
import { runDueMaintenance } from '../../src/status/maintenance/maintenance-job.ts'
import { createService, reorderServices, updateService } from '../../src/status/service/service.ts'
import { tenantsOf } from '../status/setup.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const event = { kind: 'PAGE_UPDATED', subjectId: 'org', subjectName: 'Acme' } as const

test('a failed change leaves no rows and no events', async () => {
  const { id, ctx, news } = await tenant()
  const failing = change(ctx, id, async (tx) => {
    await createService(tx, { name: 'API' })
    throw new Error('enough')
  })
  await expect(failing).rejects.toThrow('enough')
  expect([await prisma.service.count({ where: { organizationId: id } }), await news()]).toEqual([0, []])
})

test('a nested change joins the outer one', async () => {
  const { id, ctx, news } = await tenant()
  await change(ctx, id, async (tx) => [await createService(tx, { name: 'API' }), event])
  expect(await news()).toEqual(['SERVICE_CREATED API', 'PAGE_UPDATED Acme'])
})

test('a change to an unknown organization is rejected', async () => {
  const { ctx } = await tenant()
  await expect(change(ctx, `org_${'0'.repeat(24)}`, async () => [null, event])).rejects.toThrow(NotFound)
})

test('concurrent changes of every kind never deadlock, and their events are in order', async () => {
  const { id, ctx, services, events } = await tenant('TEAM')
  const [a = '', b = ''] = await services('a', 'b')
  const incident = { title: 'Down', status: 'INVESTIGATING', impact: 'MINOR', message: 'We look.' }
  const operator = testContext(prisma, { actor: { kind: 'operator' } })
  const due = { ...testContext(prisma), now: () => new Date(noon.getTime() + HOUR) }
  const endsAt = new Date(noon.getTime() + HOUR)
  const everything = Array.from({ length: 8 }, (_, round) => [
    updateOrganization(ctx, { slug: `${id.slice(4)}-${round}`, name: `Acme ${round}` }),
    createApiKey(ctx, { name: 'Key', scope: 'READ' }).then(({ apiKey }) => revokeApiKey(ctx, apiKey.id)),
    setTier(operator, { organizationId: id, tier: 'TEAM' }),
    reorderServices(ctx, { ids: round % 2 ? [a, b] : [b, a] }),
    updateService(ctx, { id: a, name: `a${round}` }),
    createIncident(ctx, { ...incident, services: [{ serviceId: b, status: 'PARTIAL_OUTAGE' }] }),
    scheduleMaintenance(ctx, { title: 'Work', message: 'We work.', startsAt: noon, endsAt, serviceIds: [a] }),
    runDueMaintenance(due),
  ]).flat()
  await Promise.all<unknown>(everything)
  await runDueMaintenance(due)
  const reported = await events()
  expect(reported.map(({ seq }) => seq)).toEqual(reported.map((_, index) => index + 3))
  // Two services and a group; then eight rounds of three mutations with one event each, an API key with two events, and
  // a maintenance with three.
  const always = reported.filter(({ kind }) => kind !== 'SERVICES_REORDERED')
  expect(always).toHaveLength(3 + 8 * 8)
  // A reordering to the existing order appends no event. The reorderings run in random order.
  expect(reported.length).toBeGreaterThan(always.length)
})

test('a change reports the events of all its parts after the commit; a failed one reports none', async () => {
  const { id, ctx, news } = await tenant()
  const reports: unknown[] = []
  const onChanged = async (organizationId: string, events: readonly { readonly kind: string }[]) =>
    reports.push([organizationId, events.map(({ kind }) => kind), (await news()).length])
  const watched = { ...ctx, onChanged }
  await change(watched, id, async (tx) => [await createService(tx, { name: 'API' }), event])
  await change(watched, id, async () => Promise.reject(new Error('enough'))).catch(() => {})
  await expect.poll(() => reports).toEqual([[id, ['SERVICE_CREATED', 'PAGE_UPDATED'], 2]])
})
