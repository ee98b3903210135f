import { beforeAll, describe, expect, test, vi } from 'vitest'
import { testConsole } from '../../support/console.ts'

const { app, database, organization } = await testConsole()
const { prisma } = database
const acme = await organization('acme')
const owner = await acme.signIn('OWNER')
const admin = await acme.signIn('ADMIN')

/** Makes the last confirmation of a person older than ten minutes, and waits until every cache has that. */
async function forgetPresence(userId: string) {
  await prisma.session.updateMany({ where: { userId }, data: { confirmedAt: new Date(Date.now() - 11 * 60_000) } })
  await prisma.$executeRaw`SELECT pg_notify('revoked_api_key', ${userId})`
}

describe('sensitive actions', async () => {
  const stale = await acme.signIn('OWNER')
  const member = await acme.signIn('VIEWER')
  const key = await prisma.apiKey.findFirstOrThrow({ where: { organizationId: acme.organization.id } })
  const first = await prisma.page.findFirstOrThrow({ where: { organizationId: acme.organization.id } })
  beforeAll(async () => {
    await forgetPresence(stale.userId)
    await vi.waitUntil(async () => (await stale.post('keys', { name: 'Later', scope: 'READ' })).status === 401)
  })

  test.each([
    [`keys/${key.id}/revoke`, {}],
    ['people', { email: 'new@example.com', role: 'OWNER' }],
    [`people/${member.userId}/role`, { role: 'OWNER' }],
    [`people/${member.userId}/remove`, {}],
    ['page/domain', { domain: 'status.acme.example' }],
    ['page/domain/remove', {}],
    [`pages/${first.id}/access`, { 'access.kind': 'MEMBERS' }],
    [`pages/${first.id}/delete`, {}],
    ['page/delete', { slug: 'acme' }],
  ])('%s requires a password entered in the last ten minutes', async (path, fields) => {
    const { status, html } = await stale.post(path, fields)
    expect(status).toBe(401)
    expect(html).toContain('needs your password again')
  })
})

describe('API keys', () => {
  test('are created, shown once, and work', async () => {
    const { status, html } = await admin.post('keys', { name: 'Deployments', scope: 'WRITE', expiresAt: '30' })
    expect(status).toBe(200)
    const secret = /ac_\w{40}/.exec(html)?.[0] ?? ''
    const response = await fetch(`${app.baseUrl}/graphql`, {
      method: 'POST',
      body: JSON.stringify({ query: '{ organization { slug } }' }),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    })
    expect(await response.json()).toEqual({ data: { organization: { slug: 'acme' } } })
    expect((await admin.get('keys')).html).not.toContain(secret)
  })

  test('require a recent confirmation of identity; the input is kept', async () => {
    const person = await acme.signIn('ADMIN')
    await forgetPresence(person.userId)
    await expect
      .poll(async () => (await person.post('keys', { name: 'Later', scope: 'READ', expiresAt: '' })).status)
      .toBe(401)
    const { html } = await person.post('keys', { name: 'Kept name', scope: 'READ', expiresAt: '' })
    expect(html).toContain('This needs your password again.')
    expect(html).toContain('Kept name')
    expect(await prisma.apiKey.count({ where: { name: 'Kept name' } })).toBe(0)
  })

  test('of another organization do not exist', async () => {
    const other = await organization('other')
    const { id } = await prisma.apiKey.findFirstOrThrow({ where: { organizationId: other.organization.id } })
    expect((await admin.get(`keys/${id}/revoke`)).status).toBe(404)
    expect((await admin.post(`keys/${id}/revoke`, {})).status).toBe(404)
  })

  test('revoking the last admin key requires a confirmation', async () => {
    const { id } = await prisma.apiKey.findFirstOrThrow({
      where: { organizationId: acme.organization.id, scope: 'ADMIN' },
    })
    expect((await admin.post(`keys/${id}/revoke`, {})).location).toBe('/console/acme/keys')
    expect(await prisma.apiKey.findUnique({ where: { id } })).toMatchObject({ revokedAt: expect.any(Date) })
  })
})

describe('the page', () => {
  const settings = {
    name: 'Acme',
    slug: 'acme',
    description: 'What we do.',
    accentColor: '#123456',
    logoUrl: '',
    timeZone: 'Europe/Berlin',
    contactEmail: 'ops@acme.example',
    'links.label': ['Home', ''],
    'links.url': ['https://acme.example', ''],
  }
  const version = async () =>
    String((await prisma.organization.findUniqueOrThrow({ where: { id: acme.organization.id } })).version)

  test('is updated, and its author sees it at once', async () => {
    const { status, location } = await admin.post('page', { ...settings, version: await version() })
    expect([status, location]).toEqual([303, '/console/acme/page'])
    const page = await (await fetch(`${app.baseUrl}/status/acme`)).text()
    expect(page).toContain('What we do.')
    expect(page).toContain('https://acme.example')
  })

  test('shows both versions when another person has saved in between', async () => {
    const before = await version()
    await admin.post('page', { ...settings, description: 'Theirs.', version: before })
    const { status, html } = await owner.post('page', { ...settings, description: 'Mine.', version: before })
    expect(status).toBe(422)
    expect(html).toContain('Now: Theirs.</span>')
    expect(html.match(/Now: /g)).toHaveLength(1)
    expect(html).toContain('>Mine.</textarea>')
    const again = await owner.post('page', { ...settings, description: 'Mine.', version: await version() })
    expect(again.status).toBe(303)
    const late = { ...settings, description: 'Mine.', 'links.label': ['About', ''], version: before }
    expect((await admin.post('page', late)).html).toContain('Now: Home https://acme.example</span>')
  })

  test('shows errors beside the fields', async () => {
    const { status, html } = await admin.post('page', { ...settings, timeZone: 'Mars/Base', version: await version() })
    expect(status).toBe(422)
    expect(html).toContain('id="timeZone-problem"')
    expect(html).toContain('value="Mars/Base"')
  })

  test('accepts no domain while the service has no public address, and reports that beside the field', async () => {
    const { status, html } = await admin.post('page/domain', { domain: 'status.acme.example' })
    expect(status).toBe(422)
    expect(html).toMatch(/id="domain-problem">[^<]*BASE_URL/)
  })

  test('shows the verification of its domain, and removes it', async () => {
    const { id: organizationId, pageId } = acme.organization
    const data = {
      id: 'dom_tests',
      organizationId,
      pageId,
      name: 'status.acme.example',
      token: 'the-token',
      state: 'PENDING',
    } as const
    await prisma.customDomain.create({ data: { ...data, requestedAt: new Date() } })
    expect((await admin.get('page')).html).toContain('_allclear-challenge.status.acme.example TXT the-token')
    expect((await admin.post('page/domain/remove', {})).location).toBe('/console/acme/page')
    expect(await prisma.customDomain.count({ where: { organizationId } })).toBe(0)
  })

  test('is not available to an editor', async () => {
    const editor = await acme.signIn('EDITOR')
    expect((await editor.get('page')).status).toBe(403)
    expect((await editor.post('page', { ...settings, name: 'Taken', version: await version() })).status).toBe(403)
    expect(await prisma.organization.count({ where: { name: 'Taken' } })).toBe(0)
  })
})

describe('other screens', () => {
  test('the log shows who did what', async () => {
    const { html } = await owner.get('log?kind=API_KEY_CREATED')
    const { name } = await prisma.user.findUniqueOrThrow({ where: { id: admin.userId } })
    expect(html).toContain('<td>API key created</td><td>Deployments</td>')
    expect(html).toContain(`<td>${name}</td>`)
  })

  test('the plan shows limits and usage', async () => {
    expect((await owner.get('plan')).html).toMatch(/<th scope="row">Monitors<\/th><td>0<\/td><td>[\d,]+<\/td>/)
  })

  test('an owner can pay, an admin cannot', async () => {
    const { status, html } = await admin.post('plan/upgrade', { tier: 'pro' })
    expect(status).toBe(422)
    expect(html).toContain('Only an owner may do this; your role is ADMIN.')
  })

  test('an organization is deleted by its owner, who types its name', async () => {
    const gone = await organization('gone')
    const [last, other] = [await gone.signIn('OWNER'), await gone.signIn('ADMIN')]
    expect((await other.post('page/delete', { slug: 'gone' })).status).toBe(422)
    expect((await last.post('page/delete', { slug: 'wrong' })).status).toBe(422)
    expect((await last.post('page/delete', { slug: 'gone' })).location).toBe('/console')
    expect((await last.get('now')).status).toBe(404)
    expect((await fetch(`${app.baseUrl}/status/gone`)).status).toBe(404)
  })
})
