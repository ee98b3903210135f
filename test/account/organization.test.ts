import { describe, expect, test } from 'vitest'
import { authenticate } from '../../src/account/authenticate.ts'
import { createOrganization, setCheckPlan, setTier } from '../../src/account/organization.ts'
import { planAt } from '../../src/account/plan.ts'
import { Conflict, Forbidden, Invalid, NotFound, Unauthenticated } from '../../src/errors.ts'
import { DAY } from '../../src/time.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const { prisma } = await testDatabase()
const operator = testContext(prisma, { actor: { kind: 'operator' } })
const visitor = testContext(prisma, { actor: { kind: 'visitor' } })
const fields = { name: 'Acme', slug: 'acme', contactEmail: 'ops@acme.example' }

describe('making an organization', () => {
  test('gives it the default tier, the free check plan, and a first key that may do everything', async () => {
    const { organization, apiKey } = await createOrganization(operator, fields)
    expect(organization).toMatchObject({
      ...fields,
      tier: 'FREE',
      checkPlan: 'FREE',
      checkPlanUntil: null,
      timeZone: 'UTC',
    })
    expect(organization.id).toMatch(/^org_[0-9a-v]{24}$/)
    expect(await authenticate(operator, apiKey.secret)).toMatchObject({
      organizationId: organization.id,
      scope: 'ADMIN',
    })
  })

  test('with DEFAULT_TIER starts it on that tier', async () => {
    const ctx = testContext(prisma, { actor: { kind: 'operator' }, settings: { DEFAULT_TIER: 'team' } })
    const { organization } = await createOrganization(ctx, { ...fields, slug: 'team' })
    expect(organization.tier).toBe('TEAM')
  })

  test('names the path of everything that is wrong', async () => {
    const attempt = createOrganization(operator, { name: ' ', slug: 'Not A Slug', contactEmail: 'nobody' })
    await expect(attempt).rejects.toThrow(Invalid)
    await expect(attempt).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      issues: [
        { path: ['name'], message: 'must not be blank' },
        { path: ['slug'], message: 'must be small letters and digits, in parts joined by single hyphens' },
        { path: ['contactEmail'], message: 'must be an e-mail address' },
      ],
    })
  })

  test.each([
    ['name', 'x'.repeat(101)],
    ['name', 'line\nbreak'],
    ['name', 'a\u0000b'],
    ['slug', 'a'],
    ['slug', 'a'.repeat(64)],
    ['slug', '-a'],
    ['slug', 'a--b'],
    ['slug', 'a-'],
    ['slug', 'ä-b'],
    ['slug', 'a\nb'],
    ['contactEmail', `${'x'.repeat(250)}@b.example`],
    ['contactEmail', 'a@b.example\r\nBcc: everybody@example.com'],
  ])('refuses the %s %j', async (field, value) => {
    await expect(createOrganization(operator, { ...fields, slug: 'fresh', [field]: value })).rejects.toMatchObject({
      constructor: Invalid,
      issues: [{ path: [field] }],
    })
  })

  test('refuses a slug that is taken, also of those who ask at the same time', async () => {
    const attempts = await Promise.allSettled(
      Array.from({ length: 5 }, () => createOrganization(operator, { ...fields, slug: 'race' })),
    )
    const refused = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []))
    expect(refused).toHaveLength(4)
    for (const reason of refused) expect(reason).toBeInstanceOf(Conflict)
    expect(await prisma.organization.count({ where: { slug: 'race' } })).toBe(1)
    expect(await prisma.apiKey.count({ where: { organization: { slug: 'race' } } })).toBe(1)
  })

  test('is for the operator, and for anyone once SIGNUP is open', async () => {
    const input = { ...fields, slug: 'signup' }
    const keyHolder = testContext(prisma, {
      actor: { kind: 'apiKey', keyId: 'key_1', organizationId: 'org_1', scope: 'ADMIN', checkPlan: 'PRO' },
    })
    await expect(createOrganization(visitor, input)).rejects.toThrow(Unauthenticated)
    await expect(createOrganization(keyHolder, input)).rejects.toThrow(Forbidden)
    const open = testContext(prisma, { actor: { kind: 'visitor' }, settings: { SIGNUP: 'open' } })
    expect((await createOrganization(open, input)).organization.slug).toBe('signup')
  })
})

describe('the check plan', () => {
  test('holds until its end and not a moment longer', async () => {
    const { organization, apiKey } = await createOrganization(operator, { ...fields, slug: 'plan' })
    const until = new Date(noon.getTime() + 30 * DAY)
    await setCheckPlan(operator, { organizationId: organization.id, plan: 'PRO', until })
    const planOn = async (now: Date) => authenticate({ ...operator, now: () => now }, apiKey.secret)
    expect(await planOn(new Date(until.getTime() - 1))).toMatchObject({ checkPlan: 'PRO' })
    expect(await planOn(until)).toMatchObject({ checkPlan: 'FREE' })
  })

  test('without an end holds for good, and the free plan has no end', async () => {
    const { organization } = await createOrganization(operator, { ...fields, slug: 'for-good' })
    const change = (plan: string, until?: Date) =>
      setCheckPlan(operator, { organizationId: organization.id, plan, until })
    expect(planAt(await change('PRO'), new Date('9999-12-31'))).toBe('PRO')
    expect(await change('FREE', noon)).toMatchObject({ checkPlan: 'FREE', checkPlanUntil: null })
  })

  test('and the tier are set by the operator only, for organizations that exist', async () => {
    const change = { organizationId: 'org_nobody', plan: 'PRO', tier: 'PRO' }
    for (const set of [setCheckPlan, setTier]) {
      await expect(set(visitor, change)).rejects.toThrow(Unauthenticated)
      await expect(set(operator, change)).rejects.toThrow(NotFound)
      await expect(set(operator, { ...change, organizationId: '\u0000' })).rejects.toThrow(NotFound)
      await expect(set(operator, { organizationId: 'org_nobody' })).rejects.toThrow(Invalid)
    }
  })

  test('a tier is set', async () => {
    const { organization } = await createOrganization(operator, { ...fields, slug: 'tier' })
    expect((await setTier(operator, { organizationId: organization.id, tier: 'TEAM' })).tier).toBe('TEAM')
  })
})
