import { describe, expect, test } from 'vitest'
import { testConsole } from '../../support/console.ts'

const { app, database, organization } = await testConsole({ SMTP_URL: 'smtp://user:hidden-password@127.0.0.1:1' })
const { prisma } = database
const acme = await organization('acme')
const { id } = acme.organization
const operator = await acme.signIn(null, { isOperator: true })
const owner = await acme.signIn('OWNER')

const screens = ['organizations', `organizations/${id}`, 'payments', 'workers', 'lists', 'settings']

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

  test('finds organizations by any part of their name, also one with a wildcard', async () => {
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

  test('makes a key and an owner for an organization that lost its own', async () => {
    expect((await operator.post(at('key'), {})).html).toMatch(/ac_\w{40}/)
    const person = await acme.signIn(null)
    const { email } = await prisma.user.findUniqueOrThrow({ where: { id: person.userId } })
    expect((await operator.post(at('owner'), { email })).status).toBe(303)
    expect((await person.get('people')).html).toContain('Invite somebody')
    expect((await operator.post(at('owner'), { email: 'nobody@example.com' })).status).toBe(422)
  })

  test('deletes an organization and restores it', async () => {
    await operator.post(at('delete'), { slug: 'acme' })
    expect((await fetch(`${app.baseUrl}/status/acme`)).status).toBe(404)
    expect((await operator.get(`/console/operator/organizations/${id}`)).html).toContain('Restore')
    await operator.post(at('restore'), {})
    expect((await fetch(`${app.baseUrl}/status/acme`)).status).toBe(200)
  })

  test('sees settings in effect, without secrets', async () => {
    const { html } = await operator.get('/console/operator/settings')
    expect(html).toMatch(/, \d+ MB ·/)
    expect(html).toContain('<code>SMTP_URL</code></th><td>Set (hidden)</td>')
    expect(html).toMatch(/<code>DNS_SERVERS<\/code><\/th><td>127\.0\.0\.1 port \d+<\/td>/)
    expect(html).not.toMatch(/hidden-password|op_token-of-the-tests/)
  })
})
