import { describe, expect, test } from 'vitest'
import { Conflict, Invalid, TierLimitReached } from '../../../src/core/errors.ts'
import { createService } from '../../../src/status/service/service.ts'
import {
  createServiceGroup,
  deleteServiceGroup,
  reorderServiceGroups,
  updateServiceGroup,
} from '../../../src/status/service/service-group.ts'
import { testDatabase } from '../../support/database.ts'
import { type Tenant, tenantsOf, together } from '../setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

/** The names of a tenant's groups by position; no two positions are equal. */
async function namesOf({ id }: Tenant): Promise<string[]> {
  const groups = await prisma.serviceGroup.findMany({ where: { organizationId: id }, orderBy: { position: 'asc' } })
  expect(new Set(groups.map(({ position }) => position)).size).toBe(groups.length)
  return groups.map(({ name }) => name)
}

async function groupsOf({ ctx }: Tenant, ...names: string[]): Promise<string[]> {
  const ids: string[] = []
  for (const name of names) ids.push((await createServiceGroup(ctx, { name })).id)
  return ids
}

describe('a group', () => {
  test('is rejected at the tier’s limit of services, also concurrently', async () => {
    const acme = await tenant()
    const attempts = Array.from({ length: 12 }, (_, index) => createServiceGroup(acme.ctx, { name: `Group ${index}` }))
    const { done, refused } = await together(attempts)
    expect(done).toHaveLength(10)
    for (const reason of refused) expect(reason).toMatchObject({ constructor: TierLimitReached, limit: 10 })
  })

  test('is created, updated, reordered and deleted, each with an event', async () => {
    const acme = await tenant()
    const [a = '', b = '', c = ''] = await groupsOf(acme, 'a', 'b', 'c')
    expect(await updateServiceGroup(acme.ctx, { id: b, description: 'Both', version: 1 })).toMatchObject({
      name: 'b',
      description: 'Both',
      position: 1,
      version: 2,
    })
    const ordered = await reorderServiceGroups(acme.ctx, { ids: [c, b, a] })
    expect(ordered.map(({ name }) => name)).toEqual(['c', 'b', 'a'])
    expect((await deleteServiceGroup(acme.ctx, b)).name).toBe('b')
    expect(await namesOf(acme)).toEqual(['c', 'a'])
    expect((await acme.news()).slice(3)).toEqual([
      'SERVICE_GROUP_UPDATED b',
      'SERVICE_GROUPS_REORDERED Acme',
      'SERVICE_GROUP_DELETED b',
    ])
  })

  test('that is deleted leaves its services on the page without a group', async () => {
    const acme = await tenant()
    const [groupId = ''] = await groupsOf(acme, 'Platform')
    const service = await createService(acme.ctx, { name: 'API', groupId })
    await deleteServiceGroup(acme.ctx, groupId)
    expect(await prisma.service.findUnique({ where: { id: service.id } })).toMatchObject({ groupId: null, position: 0 })
  })

  test('is rejected with the path of each problem', async () => {
    const acme = await tenant()
    const [id = ''] = await groupsOf(acme, 'Platform')
    await expect(createServiceGroup(acme.ctx, { name: 'x'.repeat(101) })).rejects.toMatchObject({
      constructor: Invalid,
      issues: [{ path: ['name'] }],
    })
    await expect(updateServiceGroup(acme.ctx, { id, description: 7 })).rejects.toMatchObject({
      issues: [{ path: ['description'] }],
    })
    await expect(reorderServiceGroups(acme.ctx, { ids: [id, id] })).rejects.toMatchObject({
      issues: [{ path: ['ids', '1'] }],
    })
    expect(await acme.news()).toHaveLength(1)
  })

  test('accepts one of two concurrent edits of one version', async () => {
    const acme = await tenant()
    const [id = ''] = await groupsOf(acme, 'Platform')
    for (let version = 1; version <= 10; version++) {
      const edit = (name: string) => updateServiceGroup(acme.ctx, { id, name, version })
      const { refused } = await together([edit(`One ${version}`), edit(`Other ${version}`)])
      expect(refused).toMatchObject([{ constructor: Conflict }])
    }
  })
})
