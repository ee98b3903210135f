import { describe, expect, test } from 'vitest'
import { testConsole } from '../../../support/console.ts'

const { app, database, organization } = await testConsole({ SMTP_URL: 'smtp://user:hidden-password@127.0.0.1:1' })
const { prisma } = database
const acme = await organization('acme')
const { id } = acme.organization
const operator = await acme.signIn(null, { isOperator: true })
const owner = await acme.signIn('OWNER')

const screens = ['organizations', `organizations/${id}`, 'payments', 'health', 'workers', 'lists', 'settings']

test.each(screens)('%s is for the operator only', async (path) => {
  expect((await operator.get(`/console/operator/${path}`)).status).toBe(200)
  expect((await owner.get(`/console/operator/${path}`)).status).toBe(404)
})

test.each([
  ['tier', { tier: 'TEAM' }],
  ['plan', { plan: 'PRO' }],
  ['key', {}],
  ['owner', { email: 'x@example.com' }],
  ['delete', { slug: 'acme' }],
  ['restore', {}],
])('the form %s does not exist for an owner', async (form, fields) => {
  const before = await prisma.organization.findUniqueOrThrow({ where: { id } })
  expect((await owner.post(`/console/operator/organizations/${id}/${form}`, fields)).status).toBe(404)
  expect(await prisma.organization.findUniqueOrThrow({ where: { id } })).toEqual(before)
})

describe('the operator', () => {
  const at = (form: string) => `/console/operator/organizations/${id}/${form}`

  test('finds organizations by any part of their name, including wildcard characters', async () => {
    expect((await operator.get('/console/operator/organizations?text=ACM')).html).toContain(id)
    expect((await operator.get('/console/operator/organizations?text=%25')).html).not.toContain(id)
  })

  test('sets tier and plan', async () => {
    await operator.post(at('tier'), { tier: 'TEAM' })
    await operator.post(at('plan'), { plan: 'PRO', until: '2031-01-01' })
    expect(await prisma.organization.findUnique({ where: { id } })).toMatchObject({
      tierFloor: 'TEAM',
      checkPlan: 'PRO',
      checkPlanUntil: new Date('2031-01-01'),
    })
    const event = await prisma.event.findFirst({ where: { organizationId: id, kind: 'CHECK_PLAN_CHANGED' } })
    expect(event).toMatchObject({ actorKind: 'OPERATOR', actorUserId: operator.userId })
  })

  test('creates a key and an owner for an organization without any', async () => {
    expect((await operator.post(at('key'), {})).html).toMatch(/ac_\w{40}/)
    const person = await acme.signIn(null)
    const { email } = await prisma.user.findUniqueOrThrow({ where: { id: person.userId } })
    expect((await operator.post(at('owner'), { email })).status).toBe(303)
    expect((await person.get('people')).html).toContain('Invite a person')
    expect((await operator.post(at('owner'), { email: 'nobody@example.com' })).status).toBe(422)
  })

  test('can do the same over GraphQL, and no one else can', async () => {
    const person = await acme.signIn(null)
    const { email } = await prisma.user.findUniqueOrThrow({ where: { id: person.userId } })
    const adds = `mutation ($id: ID!, $email: String!) { addOwner(input: { organizationId: $id, email: $email }) {
      ... on Member { role user { email } } ... on Error { code } } }`
    const links = `mutation ($userId: ID!) { createPasswordResetLink(input: { userId: $userId }) {
      ... on CreatePasswordResetLinkPayload { url } ... on Error { code } } }`
    const variables = { id, email, userId: person.userId }
    for (const query of [adds, links]) {
      const { data, errors } = await owner.graphql(query, variables)
      expect([data ?? null, errors?.[0]?.extensions.code]).toEqual([null, 'FORBIDDEN'])
    }
    expect((await person.get('people')).status).toBe(404)
    const made = await operator.graphql(adds, variables)
    expect(made.data).toEqual({ addOwner: { role: 'OWNER', user: { email } } })
    expect((await person.get('people')).status).toBe(200)
    const { data } = await operator.graphql(links, variables)
    const link = data?.['createPasswordResetLink'] as { url: string } | undefined
    expect((await fetch(link?.url ?? '')).status).toBe(200)
    const unknown = await operator.graphql(adds, { ...variables, email: 'nobody@example.com' })
    expect(unknown.data).toEqual({ addOwner: { code: 'CONFLICT' } })
  })

  test('deletes an organization and restores it', async () => {
    await operator.post(at('delete'), { slug: 'acme' })
    expect((await fetch(`${app.baseUrl}/status/acme`)).status).toBe(404)
    expect((await operator.get(`/console/operator/organizations/${id}`)).html).toContain('Restore')
    await operator.post(at('restore'), {})
    expect((await fetch(`${app.baseUrl}/status/acme`)).status).toBe(200)
  })

  test('sees the outcomes of emails, and sends a test, including its failure', async () => {
    const at = (seconds: number) => new Date(Date.now() - seconds * 1000)
    const subscriber = {
      ...{
        id: 'sub_operators',
        organizationId: id,
        channel: 'EMAIL' as const,
        address: '',
        addressHash: 'x',
        label: 'x',
      },
      ...{
        destination: 'mail',
        tokenHash: 'x',
        token: '',
        topics: ['INCIDENTS'],
        allServices: true,
        createdAt: at(60),
      },
      confirmableUntil: at(0),
    } as const
    await prisma.subscriber.create({ data: { ...subscriber, topics: ['INCIDENTS'] } })
    const mail = {
      ...{
        organizationId: id,
        subscriberId: 'sub_operators',
        channel: 'EMAIL' as const,
        subjectId: '',
        destination: 'mail',
      },
      createdAt: at(30),
    } as const
    const refusal = { at: at(20), delivered: false, status: 550, message: '550 No such mailbox', durationMs: 3 }
    await prisma.delivery.createMany({
      data: [
        { ...mail, id: 'dlv_delivered', seq: 1, status: 'DELIVERED', endedAt: at(25) },
        {
          ...mail,
          id: 'dlv_failed',
          seq: 2,
          status: 'FAILED',
          endedAt: at(20),
          attempts: [{ ...refusal, at: at(20).toISOString() }],
        },
      ],
    })
    const { html } = await operator.get('/console/operator/settings')
    expect(html).toContain('Within a day 1 delivered')
    expect(html).toContain('; 1 failed')
    expect(html).toContain('550 No such mailbox')
    expect(html).not.toContain('id="mail-test"')
    const tested = await operator.post('/console/operator/settings/mail', {})
    expect(tested.html).toMatch(/class="problem" id="mail-test">[^<]+</)
  })

  test('sees workers by region, and which are silent', async () => {
    await prisma.region.create({ data: { name: 'far', lastSeenAt: new Date(Date.now() - 3_600_000) } })
    const { html } = await operator.get('/console/operator/workers')
    expect(html).toMatch(/far<\/th><td><span class="problem">Silent since/)
    expect(html).toMatch(/local<\/th><td>Running/)
  })

  test('sees diagnostic findings, with their fixes, without secrets', async () => {
    const { html } = await operator.get('/console/operator/health')
    expect(html).toMatch(
      /id="MAIL_UNREACHABLE">.*127\.0\.0\.1:1 does not answer.*<code>Check the host and port in SMTP_URL/,
    )
    expect(html).toMatch(/<th scope="row">database<\/th><td>PostgreSQL [\d.]+ answers/)
    expect(html).not.toContain('hidden-password')
    const { data } = await operator.graphql('{ diagnosis { code severity fix } }')
    expect(data?.['diagnosis']).toContainEqual(expect.objectContaining({ code: 'MAIL_UNREACHABLE', severity: 'ERROR' }))
    expect((await owner.graphql('{ diagnosis { code } }')).errors?.[0]?.extensions.code).toBe('FORBIDDEN')
  })

  test('sees effective settings, without secrets', async () => {
    const { html } = await operator.get('/console/operator/settings')
    expect(html).toContain('Set BACKUP_DIR for regular backups.')
    expect(html).toMatch(/PostgreSQL [\d.]+, \d+ MB/)
    expect(html).toContain('<code>SMTP_URL</code></th><td>Set (hidden)</td>')
    expect(html).toMatch(/<code>DNS_SERVERS<\/code><\/th><td>127\.0\.0\.1 port \d+<\/td>/)
    expect(html).not.toMatch(/hidden-password|op_token-of-the-tests/)
  })
})
