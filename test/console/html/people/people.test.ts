import { createClient } from 'graphql-ws'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { testConsole } from '../../../support/console.ts'

const { app, database, organization } = await testConsole()
const { prisma } = database
const acme = await organization('acme')
const owner = await acme.signIn('OWNER')

/** Returns the link shown on a page. */
const linkIn = (html: string) => /http:[^<]+\/invitations\/[\w-]+/.exec(html)?.[0] ?? ''

/** Opens a page without a session, or sends a form of it. */
async function visit(url: string, fields?: Record<string, string>) {
  const post = { method: 'POST', body: new URLSearchParams(fields), headers: { 'sec-fetch-site': 'same-origin' } }
  const response = await fetch(url, { redirect: 'manual', ...(fields && post) })
  return { status: response.status, html: await response.text(), headers: response.headers }
}

describe('an invitation', () => {
  test('is a link that works once, for its address', async () => {
    const { status, html } = await owner.post('people', { email: 'New@Example.com', role: 'EDITOR' })
    expect(status).toBe(200)
    const link = linkIn(html)
    expect((await visit(link)).html).toContain('new@example.com is invited as editor.')
    const joined = await visit(link, { name: 'Nora New', password: 'a long password' })
    expect([joined.status, joined.headers.get('location')]).toEqual([303, '/console/acme/now'])
    expect(joined.headers.getSetCookie()[0]).toMatch(
      /^allclear_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    const user = await prisma.user.findUniqueOrThrow({
      where: { email: 'new@example.com' },
      include: { memberships: true },
    })
    expect(user.memberships).toMatchObject([{ organizationId: acme.organization.id, role: 'EDITOR' }])
    expect((await visit(link)).status).toBe(410)
    expect((await visit(link, { name: 'Again', password: 'a long password' })).status).toBe(404)
  })

  test('does not work for someone with another address', async () => {
    const { html } = await owner.post('people', { email: 'meant@example.com', role: 'ADMIN' })
    const other = await acme.signIn(null)
    const path = new URL(linkIn(html)).pathname
    const { status } = await other.post(path, {})
    expect(status).toBe(422)
    expect(await prisma.membership.count({ where: { userId: other.userId } })).toBe(0)
  })

  test('can be revoked', async () => {
    const { html } = await owner.post('people', { email: 'revoked@example.com', role: 'VIEWER' })
    const { id } = await prisma.invitation.findFirstOrThrow({ where: { email: 'revoked@example.com' } })
    expect((await owner.post(`people/invitations/${id}/revoke`, {})).status).toBe(303)
    expect(await visit(linkIn(html))).toMatchObject({ status: 410 })
  })

  test('is stored as a hash only', async () => {
    const { html } = await owner.post('people', { email: 'hashed@example.com', role: 'VIEWER' })
    const token = linkIn(html).split('/').at(-1) ?? ''
    const rows = await prisma.$queryRaw<{ row: string }[]>`SELECT i::text AS row FROM "Invitation" i`
    expect(rows.map(({ row }) => row).join()).not.toContain(token)
  })
})

describe('members', () => {
  test('change roles by an owner, and their sessions follow at once', async () => {
    const member = await acme.signIn('VIEWER')
    expect((await member.get('keys')).status).toBe(403)
    await owner.post(`people/${member.userId}/role`, { role: 'ADMIN' })
    expect((await member.get('keys')).status).toBe(200)
    await owner.post(`people/${member.userId}/role`, { role: 'VIEWER' })
    expect((await member.get('keys')).status).toBe(403)
  })

  test('whose role another person has changed in between show both roles', async () => {
    const member = await acme.signIn('VIEWER')
    const change = (role: string, previousRole: string) =>
      owner.post(`people/${member.userId}/role`, { role, previousRole })
    expect((await change('ADMIN', 'VIEWER')).status).toBe(303)
    const { status, html } = await change('EDITOR', 'VIEWER')
    expect(status).toBe(422)
    expect(html).toContain(' Admin in the meantime.')
    expect(html).toContain('Now: Admin</span>')
    expect(html).toContain('<option value="EDITOR" selected="">Editor</option>')
    expect((await change('EDITOR', 'ADMIN')).status).toBe(303)
  })

  test('are removed at once', async () => {
    const member = await acme.signIn('EDITOR')
    expect((await member.get('now')).status).toBe(200)
    expect((await owner.get(`people/${member.userId}/remove`)).html).toContain('loses access')
    expect((await owner.post(`people/${member.userId}/remove`, {})).location).toBe('/console/acme/people')
    expect((await member.get('now')).status).toBe(404)
  })

  test('may leave', async () => {
    const member = await acme.signIn('VIEWER')
    expect((await member.post(`people/${member.userId}/remove`, {})).location).toBe('/console')
    expect((await member.get('now')).status).toBe(404)
  })

  test.each(['VIEWER', 'EDITOR', 'ADMIN'] as const)('cannot be managed by a %s', async (role) => {
    const member = await acme.signIn(role)
    const other = await acme.signIn('VIEWER')
    const answers = [
      await member.post('people', { email: 'x@example.com', role: 'OWNER' }),
      await member.post(`people/${other.userId}/role`, { role: 'OWNER' }),
      await member.post(`people/${other.userId}/remove`, {}),
    ]
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422])
    expect(answers[0]?.html).toContain(`yours is ${role}`.replace('yours is ADMIN', 'your role is ADMIN'))
    expect(await prisma.membership.findFirst({ where: { userId: other.userId } })).toMatchObject({ role: 'VIEWER' })
  })

  test('always have an owner', async () => {
    const alone = await organization('alone')
    const last = await alone.signIn('OWNER')
    for (const [path, fields] of [
      [`people/${last.userId}/role`, { role: 'ADMIN' }],
      [`people/${last.userId}/remove`, {}],
    ] as const) {
      const { status, html } = await last.post(path, fields)
      expect(status).toBe(422)
      expect(html).toContain('An organization must have an owner.')
    }
  })

  test('two owners who demote each other concurrently leave one', async () => {
    const pair = await organization('pair')
    const [one, two] = [await pair.signIn('OWNER'), await pair.signIn('OWNER')]
    await Promise.all([
      one.post(`people/${two.userId}/role`, { role: 'VIEWER' }),
      two.post(`people/${one.userId}/role`, { role: 'VIEWER' }),
    ])
    const where = { organizationId: pair.organization.id, role: 'OWNER' as const }
    expect(await prisma.membership.count({ where })).toBe(1)
  })
})

describe('the API', () => {
  test('returns the signed-in person', async () => {
    const { data } = await owner.graphql(`{
      viewer { user { id } memberships { role organization { slug } } sessions { isCurrent userAgent } }
      organization(slug: "acme") { slug members { role } }
    }`)
    expect(data).toMatchObject({
      viewer: {
        user: { id: owner.userId },
        memberships: [{ role: 'OWNER', organization: { slug: 'acme' } }],
        sessions: [{ isCurrent: true, userAgent: 'a browser of the tests' }],
      },
      organization: { slug: 'acme' },
    })
  })

  test('ignores a session from another site, and in a GET', async () => {
    const cookie = `allclear_session=${owner.token}`
    const query = '{ viewer { user { id } } }'
    const body = JSON.stringify({ query })
    const json = { 'content-type': 'application/json', cookie }
    const answers = await Promise.all([
      fetch(`${app.baseUrl}/graphql`, { method: 'POST', body, headers: { ...json, 'sec-fetch-site': 'cross-site' } }),
      fetch(`${app.baseUrl}/graphql`, { method: 'POST', body, headers: { ...json, origin: 'https://evil.example' } }),
      fetch(`${app.baseUrl}/graphql`, { method: 'POST', body, headers: json }),
      fetch(`${app.baseUrl}/graphql?query=${encodeURIComponent(query)}`, {
        headers: { cookie, 'sec-fetch-site': 'same-origin' },
      }),
    ])
    for (const answer of answers) expect(await answer.json()).toEqual({ data: { viewer: null } })
  })

  test.each([
    ['our own', () => app.baseUrl, { user: { id: owner.userId } }],
    ['another', () => 'https://evil.example', null],
    ['no', () => undefined, null],
  ])('gives a websocket of %s origin its session, or none', async (_name, originOf, viewer) => {
    const origin = originOf()
    const headers = { cookie: `allclear_session=${owner.token}`, ...(origin && { origin }) }
    class FromOrigin extends WebSocket {
      constructor(address: string, protocols: string) {
        super(address, protocols, { headers })
      }
    }
    const url = `${app.baseUrl.replace(/^http/, 'ws')}/graphql`
    const client = createClient({ url, webSocketImpl: FromOrigin, retryAttempts: 0 })
    const { value } = await client.iterate({ query: '{ viewer { user { id } } }' }).next()
    await client.dispose()
    expect(value).toEqual({ data: { viewer } })
  })

  test('does not let keys manage people', async () => {
    const invite = 'mutation { invite(input: { email: "k@example.com", role: OWNER }) { __typename } }'
    const response = await fetch(`${app.baseUrl}/graphql`, {
      method: 'POST',
      body: JSON.stringify({ query: invite }),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${acme.key}` },
    })
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] })
  })

  test('ends a session', async () => {
    const member = await acme.signIn('VIEWER')
    const { id } = await prisma.session.findFirstOrThrow({ where: { userId: member.userId } })
    const revoke = 'mutation ($id: ID!) { revokeSession(input: { id: $id }) { __typename } }'
    expect((await owner.graphql(revoke, { id })).data).toEqual({ revokeSession: { __typename: 'NotFoundError' } })
    expect((await member.graphql(revoke, { id })).data).toEqual({
      revokeSession: { __typename: 'RevokeSessionPayload' },
    })
    expect((await member.graphql('{ viewer { user { id } } }')).data).toEqual({ viewer: null })
  })
})
