import { describe, expect, test } from 'vitest'
import { createOrganization } from '../../../src/account/organization/organization.ts'
import { readPrivateTargets, setPrivateTargets } from '../../../src/account/private-targets/permission.ts'
import { OPERATORS_HINT, privateTargetRule, requireReachableUrl } from '../../../src/account/private-targets/rule.ts'
import type { Actor } from '../../../src/core/context.ts'
import { HOUR } from '../../../src/core/time.ts'
import { PRIVATE_NETWORKS_HINT } from '../../../src/network/outbound/destination-policy.ts'
import { testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'

const { prisma } = await testDatabase()
const ctx = testContext(prisma)
const as = (actor: Actor) => testContext(prisma, { actor })
const operator = as({ kind: 'operator' })

let made = 0

async function tenant(): Promise<string> {
  const slug = `tenant-${++made}`
  const given = { name: `Tenant ${made}`, slug, contactEmail: 'a@b.example' }
  return (await createOrganization(operator, given)).organization.id
}

const owner = (organizationId: string, more: { isOperator?: boolean; confirmedAt?: Date } = {}): Actor => ({
  kind: 'user',
  userId: 'usr_1',
  sessionId: 'ses_1',
  isOperator: false,
  confirmedAt: ctx.now(),
  memberships: new Map([[organizationId, { role: 'OWNER', checkPlan: 'FREE' }]]),
  organizationId,
  ...more,
})

const eventsOf = async (organizationId: string) =>
  (await prisma.event.findMany({ where: { organizationId }, orderBy: { seq: 'asc' } }))
    .filter(({ kind }) => kind.startsWith('PRIVATE_TARGETS'))
    .map(({ kind, actorKind, subjectName }) => ({ kind, actorKind, subjectName }))

const allowedFor = async (id: string | null) => (await privateTargetRule(ctx, id)).isAllowed

describe('a permission for one organization', () => {
  test('is that organization’s alone, is in its log with the actor, and can be withdrawn', async () => {
    const [acme, other] = [await tenant(), await tenant()]
    const given = { organizationId: acme, allowed: true }
    expect(await setPrivateTargets(operator, given)).toEqual({
      forOrganization: true,
      forAll: false,
      byEnvironment: false,
    })
    await setPrivateTargets(operator, given)
    expect(await Promise.all([acme, other, null].map(allowedFor))).toEqual([true, false, false])
    await setPrivateTargets(operator, { organizationId: acme, allowed: false })
    expect(await Promise.all([acme, other, null].map(allowedFor))).toEqual([false, false, false])
    const about = { actorKind: 'OPERATOR', subjectName: expect.stringMatching(/^Tenant/) }
    expect(await eventsOf(acme)).toEqual([
      { kind: 'PRIVATE_TARGETS_ALLOWED', ...about },
      { kind: 'PRIVATE_TARGETS_WITHDRAWN', ...about },
    ])
    expect(await eventsOf(other)).toEqual([])
  })

  test('ends with the organization', async () => {
    const id = await tenant()
    await setPrivateTargets(operator, { organizationId: id, allowed: true })
    await prisma.event.deleteMany({ where: { organizationId: id } })
    await prisma.organization.delete({ where: { id } })
    expect(await prisma.privateTargetPermission.findMany({ where: { id } })).toEqual([])
  })

  test.each(['org_000000000000000000000000', 'all', '', 'mon_000000000000000000000000'])(
    'cannot be given to %j, which is none',
    async (organizationId) => {
      await expect(setPrivateTargets(operator, { organizationId, allowed: true })).rejects.toThrow('not found')
      expect(await allowedFor(null)).toBe(false)
    },
  )
})

test('a permission for all is every organization’s, and leaves their own when it is withdrawn', async () => {
  const [acme, other] = [await tenant(), await tenant()]
  await setPrivateTargets(operator, { organizationId: acme, allowed: true })
  await setPrivateTargets(operator, { allowed: true })
  expect(await Promise.all([acme, other, null].map(allowedFor))).toEqual([true, true, true])
  await setPrivateTargets(operator, { organizationId: null, allowed: false })
  expect(await Promise.all([acme, other, null].map(allowedFor))).toEqual([true, false, false])
})

test('ALLOW_PRIVATE_NETWORKS allows them for all, and cannot be withdrawn', async () => {
  const id = await tenant()
  const open = testContext(prisma, { actor: { kind: 'operator' }, settings: { ALLOW_PRIVATE_NETWORKS: 'true' } })
  expect(await setPrivateTargets(open, { allowed: false })).toMatchObject({ forAll: false, byEnvironment: true })
  expect(await readPrivateTargets(open, id)).toEqual({ forOrganization: false, forAll: false, byEnvironment: true })
  expect((await privateTargetRule(open, id)).isAllowed).toBe(true)
})

describe('only the operator', () => {
  test('can change a permission: not an owner, not a key, not a visitor, not our own jobs', async () => {
    const organizationId = await tenant()
    const key = { kind: 'apiKey', keyId: 'key_1', organizationId, scope: 'ADMIN', checkPlan: 'PRO' } as const
    const actors: readonly Actor[] = [owner(organizationId), key, { kind: 'visitor' }, { kind: 'system' }]
    for (const actor of actors) {
      for (const given of [{ organizationId, allowed: true }, { allowed: true }, { organizationId, allowed: false }]) {
        await expect(setPrivateTargets(as(actor), given)).rejects.toThrow(/operator/)
      }
    }
    expect(await prisma.privateTargetPermission.count({ where: { id: organizationId } })).toBe(0)
  })

  test('who is a person must have confirmed who they are to allow, but not to withdraw', async () => {
    const organizationId = await tenant()
    const confirmedAt = new Date(ctx.now().getTime() - HOUR)
    const late = as(owner(organizationId, { isOperator: true, confirmedAt }))
    await expect(setPrivateTargets(late, { organizationId: null, allowed: true })).rejects.toMatchObject({
      code: 'CONFIRMATION_REQUIRED',
    })
    expect(await setPrivateTargets(late, { organizationId: null, allowed: false })).toMatchObject({ forAll: false })
  })
})

describe('a refusal', () => {
  const messageFor = async (actor: Actor, id: string) => (await privateTargetRule(as(actor), id)).hint

  test('tells the operator how to allow the target, and others who decides', async () => {
    const id = await tenant()
    expect(await messageFor({ kind: 'operator' }, id)).toBe(OPERATORS_HINT)
    expect(await messageFor(owner(id, { isOperator: true }), id)).toBe(OPERATORS_HINT)
    expect(await messageFor(owner(id), id)).toBe(PRIVATE_NETWORKS_HINT)
    expect(await messageFor({ kind: 'visitor' }, id)).toBe(PRIVATE_NETWORKS_HINT)
  })

  test.each([
    ['http://10.0.0.1/', 'private'],
    ['http://localhost:8080/', 'private'],
    ['http://169.254.169.254/', 'never'],
    ['https://example.com/', 'public'],
  ])('of the URL %s depends on the permission: it is %s', async (url, reach) => {
    const id = await tenant()
    const outcome = () =>
      requireReachableUrl(ctx, url, ['webhook'], id).then(
        () => null,
        ({ issues: [issue] }) => issue.kind ?? 'never',
      )
    expect(await outcome()).toBe({ private: 'PRIVATE_TARGET', never: 'never', public: null }[reach])
    await setPrivateTargets(operator, { organizationId: id, allowed: true })
    expect(await outcome()).toBe(reach === 'never' ? 'never' : null)
  })
})
