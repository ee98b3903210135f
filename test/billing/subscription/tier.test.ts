import { describe, expect, test } from 'vitest'
import { changeTier, setTier } from '../../../src/billing/subscription/tier.ts'
import { Forbidden, Invalid, NotFound, Unauthenticated } from '../../../src/core/errors.ts'
import { MINUTE } from '../../../src/core/time.ts'
import { createMonitor } from '../../../src/monitoring/monitor/monitor.ts'
import { pauseMonitor } from '../../../src/monitoring/monitor/pause.ts'
import { samples, seal } from '../../monitoring/setup.ts'
import type { Tenant } from '../../status/setup.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const operator = testContext(prisma, { actor: { kind: 'operator' } })
const setTo = ({ id }: Tenant, tier: string) => setTier(operator, { organizationId: id, tier })

/** Creates monitors with numbers as names, one a minute; returns their ids. */
async function monitors(acme: Tenant, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index += 1) {
    const ctx = { ...acme.later(index * MINUTE), seal }
    ids.push((await createMonitor(ctx, { name: `${index}`, http: samples.http })).id)
  }
  return ids
}

/** Returns what paused each of an organization's monitors, oldest first. */
const pausedBy = async ({ id }: Tenant) =>
  (await prisma.monitor.findMany({ where: { organizationId: id }, orderBy: { createdAt: 'asc' } })).map(
    (monitor) => monitor.pausedBy,
  )

describe('a tier', () => {
  test('can only be set by the operator, for existing organizations', async () => {
    const acme = await tenant()
    const change = { organizationId: acme.id, tier: 'PRO' }
    await expect(setTier(testContext(prisma, { actor: { kind: 'visitor' } }), change)).rejects.toThrow(Unauthenticated)
    await expect(setTier(acme.ctx, change)).rejects.toThrow(Forbidden)
    for (const organizationId of ['org_nobody', '\u0000', `org_${'0'.repeat(24)}`]) {
      await expect(setTier(operator, { ...change, organizationId })).rejects.toThrow(NotFound)
    }
    await expect(setTier(operator, { ...change, tier: 'GOLD' })).rejects.toThrow(Invalid)
    expect((await setTier(operator, change)).tier).toBe('PRO')
    expect((await acme.events()).map(({ kind, actorKind }) => [kind, actorKind])).toEqual([
      ['TIER_CHANGED', 'OPERATOR'],
    ])
  })

  test('pauses the newest monitors over its limit when it falls, and resumes them when it rises', async () => {
    const acme = await tenant('PRO')
    const [first = '', , , , , , , eighth = ''] = await monitors(acme, 8)
    await pauseMonitor(acme.ctx, first)
    await setTo(acme, 'FREE')
    expect(await pausedBy(acme)).toEqual(['OWNER', null, null, null, null, null, 'TIER', 'TIER'])
    expect((await acme.news()).slice(9)).toEqual(['TIER_CHANGED Acme', 'MONITOR_PAUSED 6', 'MONITOR_PAUSED 7'])
    const interval = await prisma.monitorInterval.findFirst({ where: { monitorId: eighth, state: 'PAUSED' } })
    expect(interval).toMatchObject({ startedAt: noon, endedAt: null, cause: 'The FREE tier allows 5 monitors.' })
    expect(await prisma.watch.count({ where: { monitorId: eighth } })).toBe(0)
    await setTo(acme, 'TEAM')
    expect(await pausedBy(acme)).toEqual(['OWNER', null, null, null, null, null, null, null])
    expect((await acme.news()).slice(12)).toEqual(['TIER_CHANGED Acme', 'MONITOR_RESUMED 6', 'MONITOR_RESUMED 7'])
    expect(await prisma.monitor.findUnique({ where: { id: eighth } })).toMatchObject({ state: 'PENDING' })
  })

  test('resumes the oldest monitors first, up to the limit', async () => {
    const acme = await tenant('PRO')
    await monitors(acme, 7)
    await setTo(acme, 'FREE')
    await prisma.monitor.deleteMany({ where: { organizationId: acme.id, name: '2' } })
    await setTo(acme, 'FREE')
    expect(await pausedBy(acme)).toEqual([null, null, null, null, null, 'TIER'])
  })

  test('is computed with the organization locked, and can stay the same', async () => {
    const { id, events } = await tenant('TEAM')
    const count = async () => (await events()).filter(({ kind }) => kind === 'TIER_CHANGED').length
    expect((await changeTier(operator, id, async () => null)).tier).toBe('TEAM')
    expect(await count()).toBe(0)
    const tiers = await Promise.all(
      [1, 2, 3, 4].map(() => changeTier(operator, id, async (_, { tier }) => (tier === 'TEAM' ? 'PRO' : 'TEAM'))),
    )
    expect(tiers.map(({ tier }) => tier).sort()).toEqual(['PRO', 'PRO', 'TEAM', 'TEAM'])
    expect((await prisma.organization.findUniqueOrThrow({ where: { id } })).tier).toBe('TEAM')
    expect(await count()).toBe(4)
  })
})
