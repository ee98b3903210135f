import { describe, expect, test } from 'vitest'
import { authenticate } from '../../../src/account/api-key/authenticate.ts'
import { planAt } from '../../../src/account/limits.ts'
import { createOrganization, setCheckPlan, updateOrganization } from '../../../src/account/organization/organization.ts'
import { linksOf } from '../../../src/account/page/page-settings.ts'
import { Conflict, Forbidden, Invalid, NotFound, Unauthenticated } from '../../../src/core/errors.ts'
import { DAY } from '../../../src/core/time.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'

const { prisma } = await testDatabase()
const operator = testContext(prisma, { actor: { kind: 'operator' } })
const visitor = testContext(prisma, { actor: { kind: 'visitor' } })
const fields = { name: 'Acme', slug: 'acme', contactEmail: 'ops@acme.example' }

let made = 0

/** A separate organization, with the context of its first key. */
async function tenant(settings: NodeJS.ProcessEnv = {}) {
  const { organization, apiKey } = await createOrganization(operator, { ...fields, slug: `tenant-${++made}` })
  const actor = await authenticate(operator, apiKey.secret)
  return { organization, apiKey, ctx: testContext(prisma, { actor, settings }) }
}

/** Returns an organization's log: kind, actor, and the subject's id and name. */
async function logOf(organizationId: string) {
  const events = await prisma.event.findMany({ where: { organizationId }, orderBy: { seq: 'asc' } })
  return events.map(({ kind, actorKind, subjectId, subjectName }) => [kind, actorKind, subjectId, subjectName])
}

describe('creating an organization', () => {
  test('gives it the default tier, the free check plan and a first ADMIN key', async () => {
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

  test('gives it the tier of DEFAULT_TIER', async () => {
    const ctx = testContext(prisma, { actor: { kind: 'operator' }, settings: { DEFAULT_TIER: 'team' } })
    const { organization } = await createOrganization(ctx, { ...fields, slug: 'team' })
    expect(organization.tier).toBe('TEAM')
  })

  test('reports the path of each problem', async () => {
    const attempt = createOrganization(operator, { name: ' ', slug: 'Not A Slug', contactEmail: 'nobody' })
    await expect(attempt).rejects.toThrow(Invalid)
    await expect(attempt).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      issues: [
        { path: ['name'], message: 'must not be blank' },
        { path: ['slug'], message: 'must be lowercase letters and digits, separated by single hyphens' },
        { path: ['contactEmail'], message: 'must be an email address' },
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

  test('rejects a slug in use, even concurrently', async () => {
    const attempts = await Promise.allSettled(
      Array.from({ length: 5 }, () => createOrganization(operator, { ...fields, slug: 'race' })),
    )
    const refused = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []))
    expect(refused).toHaveLength(4)
    for (const reason of refused) expect(reason).toBeInstanceOf(Conflict)
    expect(await prisma.organization.count({ where: { slug: 'race' } })).toBe(1)
    expect(await prisma.apiKey.count({ where: { organization: { slug: 'race' } } })).toBe(1)
  })

  test('requires the operator unless SIGNUP is open', async () => {
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
  test('applies exactly until its end', async () => {
    const { organization, apiKey } = await createOrganization(operator, { ...fields, slug: 'plan' })
    const until = new Date(noon.getTime() + 30 * DAY)
    await setCheckPlan(operator, { organizationId: organization.id, plan: 'PRO', until })
    const planOn = async (now: Date) => authenticate({ ...operator, now: () => now }, apiKey.secret)
    expect(await planOn(new Date(until.getTime() - 1))).toMatchObject({ checkPlan: 'PRO' })
    expect(await planOn(until)).toMatchObject({ checkPlan: 'FREE' })
  })

  test('without an end never ends, and the free plan has no end', async () => {
    const { organization } = await createOrganization(operator, { ...fields, slug: 'for-good' })
    const change = (plan: string, until?: Date) =>
      setCheckPlan(operator, { organizationId: organization.id, plan, until })
    expect(planAt(await change('PRO'), new Date('9999-12-31'))).toBe('PRO')
    expect(await change('FREE', noon)).toMatchObject({ checkPlan: 'FREE', checkPlanUntil: null })
  })

  test('can only be set by the operator, for existing organizations', async () => {
    const change = { organizationId: 'org_nobody', plan: 'PRO' }
    await expect(setCheckPlan(visitor, change)).rejects.toThrow(Unauthenticated)
    await expect(setCheckPlan(operator, change)).rejects.toThrow(NotFound)
    await expect(setCheckPlan(operator, { ...change, organizationId: '\u0000' })).rejects.toThrow(NotFound)
    await expect(setCheckPlan(operator, { organizationId: 'org_nobody' })).rejects.toThrow(Invalid)
  })
})

test('an organization’s event log starts with its creation and contains every change of its plan', async () => {
  const { organization, apiKey } = await tenant()
  const { id, name } = organization
  await setCheckPlan(operator, { organizationId: id, plan: 'PRO' })
  expect(await logOf(id)).toEqual([
    ['ORGANIZATION_CREATED', 'OPERATOR', id, name],
    ['API_KEY_CREATED', 'OPERATOR', apiKey.apiKey.id, 'First key'],
    ['CHECK_PLAN_CHANGED', 'OPERATOR', id, name],
  ])
})

describe('the settings of an organization', () => {
  const settings = {
    name: 'Acme Corp',
    contactEmail: 'status@acme.example',
    timeZone: 'Europe/Berlin',
    description: 'Everything\nthat we run.',
    accentColor: '#AABBCC',
    logoUrl: 'https://acme.example/logo.svg',
    links: [{ label: 'Support', url: 'http://support.acme.example/?a=b#c' }],
  }

  test('are updated and announced to the page’s subscriptions', async () => {
    const { organization, ctx } = await tenant({ BASE_URL: 'https://allclear.example' })
    const changed = await updateOrganization(ctx, { ...settings, slug: 'acme-corp', version: 1 })
    expect(changed).toMatchObject({ ...settings, slug: 'acme-corp', accentColor: '#aabbcc', version: 2 })
    const page = await prisma.page.findUniqueOrThrow({ where: { id: organization.pageId } })
    expect(page).toMatchObject({ slug: 'acme-corp', customDomain: null })
    expect(linksOf(changed)).toEqual(settings.links)
    expect((await logOf(organization.id)).at(-1)).toEqual(['PAGE_UPDATED', 'API_KEY', organization.id, 'Acme Corp'])
    expect(await updateOrganization(ctx, { logoUrl: null, links: [] })).toMatchObject({
      name: 'Acme Corp',
      timeZone: 'Europe/Berlin',
      logoUrl: null,
      links: [],
      version: 3,
    })
  })

  test.each<[field: string, value: unknown]>([
    ['name', ''],
    ['name', null],
    ['slug', 'Not A Slug'],
    ['contactEmail', 'nobody'],
    ['timeZone', 'Mars/Olympus'],
    ['timeZone', ''],
    ['timeZone', '+01:00'],
    ['timeZone', 'Europe/Berlin; DROP'],
    ['description', 'x'.repeat(2001)],
    ['description', 'a\u0000b'],
    ['accentColor', 'red'],
    ['accentColor', '#abc'],
    ['accentColor', '#0b6e5a;}body{display:none'],
    ['logoUrl', 'http://acme.example/logo.svg'],
    ['logoUrl', 'https://*/logo.svg'],
    ['logoUrl', 'https://acme.example;script-src/logo.svg'],
    ['logoUrl', "https://a.example,'unsafe-inline'/logo.svg"],
    ['logoUrl', 'https://user:secret@acme.example/logo.svg'],
    ['logoUrl', 'https://192.0.2.1/logo.svg'],
    ['logoUrl', 'https://localhost/logo.svg'],
    ['logoUrl', 'logo.svg'],
    ['logoUrl', '//acme.example/logo.svg'],
    ['logoUrl', 'javascript:alert(1)'],
    ['logoUrl', 'data:image/svg+xml,<svg/>'],
    ['logoUrl', 'https://acme.example/\u0000'],
    ['logoUrl', 'https://acme.example/a b'],
    ['logoUrl', `https://acme.example/${'x'.repeat(2000)}`],
    ['links', 7],
    ['version', 'one'],
  ])('refuse the %s %j', async (field, value) => {
    const { organization, ctx } = await tenant()
    await expect(updateOrganization(ctx, { [field]: value })).rejects.toMatchObject({
      constructor: Invalid,
      issues: [{ path: [field] }],
    })
    expect(await prisma.organization.findUnique({ where: { id: organization.id } })).toEqual({
      ...organization,
      lastSeq: 2,
    })
  })

  test('have at most ten links, each with a label and a web URL', async () => {
    const { ctx } = await tenant()
    const link = { label: 'Site', url: 'https://acme.example/' }
    await updateOrganization(ctx, { links: Array(10).fill(link) })
    for (const [links, path] of [
      [Array(11).fill(link), ['links']],
      [
        [link, { ...link, url: 'javascript:alert(1)' }],
        ['links', '1', 'url'],
      ],
      [[{ ...link, label: ' ' }], ['links', '0', 'label']],
    ] as const) {
      await expect(updateOrganization(ctx, { links })).rejects.toMatchObject({ issues: [{ path }] })
    }
  })

  test('reject another organization’s slug', async () => {
    const [mine, theirs] = [await tenant(), await tenant()]
    const edit = updateOrganization(mine.ctx, { slug: theirs.organization.slug })
    await expect(edit).rejects.toMatchObject({ constructor: Conflict, message: 'The slug is taken.' })
    expect(await logOf(mine.organization.id)).toHaveLength(2)
  })

  test('accept one of two concurrent edits of one version', async () => {
    const { ctx } = await tenant()
    for (let version = 1; version <= 10; version++) {
      const edit = (name: string) => updateOrganization(ctx, { name: `${name} ${version}`, version })
      const attempts = await Promise.allSettled([edit('One'), edit('Other')])
      const refused = attempts.filter((attempt) => attempt.status === 'rejected')
      expect(refused).toMatchObject([{ reason: { code: 'CONFLICT' } }])
    }
  })

  test('give a slug to only one of several concurrent requests', async () => {
    const tenants = await Promise.all(Array.from({ length: 5 }, () => tenant()))
    const attempts = await Promise.allSettled(
      tenants.map(({ ctx }) => updateOrganization(ctx, { slug: 'race-for-it' })),
    )
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const attempt of attempts) {
      if (attempt.status === 'rejected') expect(attempt.reason).toBeInstanceOf(Conflict)
    }
  })
})
