import { beforeEach, describe, expect, test } from 'vitest'
import { createOrganization } from '../../../src/account/organization/organization.ts'
import { transaction } from '../../../src/core/context.ts'
import type { Entry } from '../../../src/people/account-entry.ts'
import { insertMembership } from '../../../src/people/membership.ts'
import { hashPassword } from '../../../src/people/password.ts'
import { announceUser } from '../../../src/people/session.ts'
import { insertUser } from '../../../src/people/user.ts'
import { testApp } from '../../support/app.ts'
import { testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { openIdClient, startOpenIdProvider } from '../../support/openid-provider.ts'
import type { VisitedPage, Visitor } from './visitor.ts'
import { hidden, newVisitor } from './visitor.ts'

const provider = await startOpenIdProvider()
const database = await testDatabase()
const { prisma } = database
const settings = {
  TRUST_PROXY: '127.0.0.1',
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: openIdClient.id,
  OIDC_CLIENT_SECRET: openIdClient.secret,
  OIDC_NAME: 'Our directory',
  OIDC_MAIL_DOMAINS: 'company.example, other.example',
}
const app = await testApp({ dns: await startDnsServer(), database, settings })
const context = testContext(prisma, { now: () => new Date() })
const password = 'correct horse battery'
const passwordHash = await hashPassword(password)

let people = 0
beforeEach(() => {
  provider.person = null
})

/** A person at the provider, in two browser profiles: our cookies and the provider's. */
function newPerson(about: object = {}) {
  const sub = `subject-${++people}`
  const email = `Person-${people}@Company.example`
  return { sub, email, email_verified: true, name: `Person ${people}`, ...about }
}

const visit = () => newVisitor(app.baseUrl, `203.0.113.${++people}`)

/** Goes to the provider and back, up to the address to which it redirects the browser. */
async function callbackFor(visitor: Visitor, query = '?to=/console/x/now'): Promise<string> {
  const started = await visitor.get(`/sign-in/openid${query}`)
  return followProvider(started.location ?? '')
}

/** Signs in at the provider. Returns the address to which it redirects the browser. */
async function followProvider(url: string): Promise<string> {
  const there = newVisitor(provider.issuer)
  let location = url
  while (location.startsWith(provider.issuer) || location.startsWith('/'))
    location = (await there.get(location)).location ?? ''
  return location
}

const signIn = async (visitor: Visitor, query?: string): Promise<VisitedPage> =>
  visitor.get(await callbackFor(visitor, query))
const isSignedIn = async (visitor: Visitor) => (await visitor.get('/console')).status !== 303

test('reports that the provider does not answer, and asks it again on the next attempt', async () => {
  const { status, html } = await visit().get('/sign-in/openid')
  expect(status).toBe(503)
  expect(html).toContain('The OpenID provider does not answer.')
  provider.serve(`${app.baseUrl}/sign-in/openid/callback`)
  const { location } = await visit().get('/sign-in/openid')
  const { searchParams } = new URL(location ?? '')
  expect(searchParams.get('code_challenge_method')).toBe('S256')
  for (const name of ['state', 'nonce', 'code_challenge']) expect(searchParams.get(name)).toMatch(/^[\w-]{43}$/)
})

test('no one gets an account before the service is set up', async () => {
  provider.person = newPerson()
  const { status, html } = await signIn(visit())
  expect(status).toBe(403)
  expect(html).toContain('This service is not set up yet.')
  await insertUser(context, 'MAILED_SIGN_UP_LINK', {
    email: 'operator@example.com',
    name: 'Operator',
    passwordHash,
    isOperator: true,
  })
})

describe('a new person', () => {
  test('gets an account with a verified address of an allowed domain, and is recognized by the subject from then on', async () => {
    const visitor = visit()
    expect((await visitor.get('/sign-in?to=/console/x')).html).toContain('Sign in with Our directory')
    provider.person = newPerson()
    const first = await signIn(visitor)
    expect([first.status, first.location]).toEqual([303, '/console/x/now'])
    expect(await isSignedIn(visitor)).toBe(true)
    const email = provider.person['email']
    const user = await prisma.user.findUniqueOrThrow({ where: { email: String(email).toLowerCase() } })
    provider.person = { ...provider.person, email: 'renamed@company.example' }
    await signIn(visit())
    expect(await prisma.session.count({ where: { userId: user.id } })).toBe(2)
  })

  test.each([
    ['an address of another domain', { email: 'x@elsewhere.example' }],
    ['a subdomain of an allowed one', { email: 'x@evil.company.example' }],
    ['an address that is not verified', { email_verified: false }],
    ['no address', { email: undefined }],
  ])('gets no account with %s', async (_what, about) => {
    const visitor = visit()
    provider.person = newPerson(about)
    const { status, html } = await signIn(visitor)
    expect(status).toBe(403)
    expect(html).toContain('You have no account here.')
    expect(await isSignedIn(visitor)).toBe(false)
    expect(await prisma.identity.count({ where: { subject: provider.person.sub } })).toBe(0)
  })
})

test('a form submitted after its session ended is kept, once, until the sign-in in the same browser', async () => {
  provider.person = newPerson()
  const [visitor, other] = [visit(), visit()]
  await signIn(visit())
  const refused = await visitor.post('/console/x/incidents/new', { title: 'Typed before' })
  expect([refused.status, visitor.cookies.has('allclear_held')]).toEqual([401, true])
  const resumed = await signIn(visitor)
  expect(resumed.status).toBe(200)
  expect(resumed.html).toContain('We kept what you typed. Send it now.')
  expect([hidden(resumed, 'title'), resumed.html.includes('action="/console/x/incidents/new"')]).toEqual([
    'Typed before',
    true,
  ])
  // A script resends without a click only a form that was held in the page itself.
  expect(resumed.html).not.toContain('data-resend')
  expect([visitor.cookies.has('allclear_held'), (await signIn(visitor)).status]).toEqual([false, 303])
  expect((await signIn(other)).status).toBe(303)
})

describe('an address that has an account', () => {
  async function withAccount(
    about: { passwordHash: string | null } = { passwordHash },
    entry: Entry = 'MAILED_SIGN_UP_LINK',
  ) {
    const person = newPerson(entry === 'SHOWN_INVITATION' ? { email: `unproven-${++people}@company.example` } : {})
    const user = await insertUser(context, entry, {
      email: person.email.toLowerCase(),
      name: 'Known',
      ...about,
    })
    provider.person = person
    return user
  }

  test('is linked after its password is entered', async () => {
    const user = await withAccount()
    const visitor = visit()
    const asked = await signIn(visitor)
    expect([asked.status, await isSignedIn(visitor)]).toEqual([200, false])
    const token = hidden(asked, 'token')
    const wrong = await visitor.post('/sign-in/openid/link', { token, password: 'wrong' })
    expect([wrong.status, await isSignedIn(visitor)]).toEqual([422, false])
    const right = await visitor.post('/sign-in/openid/link', { token, password })
    expect([right.status, right.location]).toEqual([303, '/console/x/now'])
    expect(await prisma.identity.findMany({ where: { userId: user.id } })).toMatchObject([{ issuer: provider.issuer }])
    expect((await visitor.post('/sign-in/openid/link', { token, password })).location).toBe('/sign-in')
    expect((await signIn(visit())).status).toBe(303)
  })

  test('is the person’s at once if it is unproven and the domain is trusted, without the password that someone set', async () => {
    const user = await withAccount({ passwordHash }, 'SHOWN_INVITATION')
    const attacker = visit()
    await attacker.post('/sign-in', { email: user.email, password })
    expect(await isSignedIn(attacker)).toBe(true)
    const visitor = visit()
    expect((await signIn(visitor)).location).toBe('/console/x/now')
    expect([await isSignedIn(visitor), await isSignedIn(attacker)]).toEqual([true, false])
    expect(await prisma.user.findUniqueOrThrow({ where: { id: user.id } })).toMatchObject({
      passwordHash: null,
      emailProvenAt: expect.any(Date),
    })
    expect(await prisma.identity.count({ where: { userId: user.id } })).toBe(1)
  })

  test('asks for the password if it is unproven and the domain is not trusted', async () => {
    const person = newPerson({ email: `person-${++people}@elsewhere.example` })
    await insertUser(context, 'SHOWN_INVITATION', { email: person.email, name: 'Known', passwordHash })
    provider.person = person
    const visitor = visit()
    expect(hidden(await signIn(visitor), 'token')).not.toBe('')
    expect(await isSignedIn(visitor)).toBe(false)
  })

  test('is not linked without a password', async () => {
    await withAccount({ passwordHash: null })
    const { status, html } = await signIn(visit())
    expect(status).toBe(403)
    expect(html).toContain('then connect Our directory on your account page')
  })

  test('still asks for the second factor', async () => {
    const user = await withAccount()
    await prisma.identity.create({
      data: { issuer: provider.issuer, subject: provider.person?.sub ?? '', userId: user.id, createdAt: new Date() },
    })
    await prisma.user.update({ where: { id: user.id }, data: { totpEnabled: true } })
    const visitor = visit()
    const { status, html } = await signIn(visitor)
    expect([status, await isSignedIn(visitor)]).toEqual([200, false])
    expect(html).toContain('action="/sign-in/code"')
  })
})

describe('the answer of the provider', () => {
  test('works once', async () => {
    const visitor = visit()
    provider.person = newPerson()
    const callback = await callbackFor(visitor)
    const cookies = new Map(visitor.cookies)
    expect((await visitor.get(callback)).status).toBe(303)
    const thief = visit()
    for (const [name, value] of cookies) thief.cookies.set(name, value)
    const { status, html } = await thief.get(callback)
    expect(status).toBe(403)
    expect(html).toContain('This took too long, or is already finished.')
  })

  test('works only in the browser that asked', async () => {
    const attacker = visit()
    provider.person = newPerson()
    const callback = await callbackFor(attacker)
    const victim = visit()
    expect((await victim.get(callback)).status).toBe(403)
    await callbackFor(victim)
    expect((await victim.get(callback)).status).toBe(403)
    expect(await isSignedIn(victim)).toBe(false)
  })

  test('works only with the code of its own sign-in (code injection)', async () => {
    const [attacker, victim] = [visit(), visit()]
    provider.person = newPerson()
    const injected = new URL(await callbackFor(attacker)).searchParams.get('code') ?? ''
    const callback = new URL(await callbackFor(victim))
    callback.searchParams.set('code', injected)
    expect((await victim.get(callback.href)).status).toBe(403)
    expect(await isSignedIn(victim)).toBe(false)
  })

  test('can refuse the sign-in', async () => {
    const visitor = visit()
    const { status, html } = await signIn(visitor)
    expect(status).toBe(403)
    expect(html).toContain('The sign-in was cancelled or failed.')
  })

  test('redirects to no other site', async () => {
    provider.person = newPerson()
    expect((await signIn(visit(), '?to=//evil.example')).location).toBe('/console')
  })
})

describe('a signed-in person', () => {
  /** An owner of an organization, signed in with a password. */
  async function signedIn(slug: string) {
    const operator = { ...context, actor: { kind: 'operator' } } as const
    const { organization } = await createOrganization(operator, { name: slug, slug, contactEmail: 'a@example.com' })
    const user = await transaction(operator, async (tx) => {
      const created = await insertUser(tx, 'MAILED_SIGN_UP_LINK', {
        email: `${slug}@example.com`,
        name: 'Connected',
        passwordHash,
      })
      await insertMembership(tx, { organizationId: organization.id, userId: created.id, role: 'OWNER' }, 'Connected')
      return created
    })
    const visitor = visit()
    await visitor.post('/sign-in', { email: user.email, password })
    return { user, visitor, account: `/console/${slug}/account` }
  }

  test('connects an account at the provider, and disconnects it', async () => {
    const { user, visitor, account } = await signedIn('connected')
    expect((await visitor.get(account)).html).toContain('Connect Our directory')
    provider.person = newPerson()
    const { html } = await visitor.post(`${account}/identities/connect`, {})
    const url = new RegExp(`href="(${provider.issuer}/auth[^"]*)"`).exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const { status, location } = await visitor.get(await followProvider(url))
    expect([status, location]).toEqual([303, account])
    expect(await prisma.identity.count({ where: { userId: user.id } })).toBe(1)
    await signIn(visit())
    expect(await prisma.session.count({ where: { userId: user.id } })).toBe(2)
    const { issuer, subject } = await prisma.identity.findFirstOrThrow({ where: { userId: user.id } })
    await visitor.post(`${account}/identities/remove`, { issuer, subject })
    expect(await prisma.identity.count({ where: { userId: user.id } })).toBe(0)
  })

  test('does not connect an account with the answer to a sign-in, or in another session', async () => {
    const { user, visitor } = await signedIn('careful')
    provider.person = newPerson()
    await signIn(visitor)
    expect(await prisma.identity.count({ where: { userId: user.id } })).toBe(0)
    const other = await signedIn('careless')
    const { html } = await other.visitor.post(`${other.account}/identities/connect`, {})
    const url = new RegExp(`href="(${provider.issuer}/auth[^"]*)"`).exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const callback = await followProvider(url)
    const stranger = visit()
    stranger.cookies.set('allclear_openid', other.visitor.cookies.get('allclear_openid') ?? '')
    expect((await stranger.get(callback)).status).toBe(403)
    expect(await prisma.identity.count({ where: { userId: other.user.id } })).toBe(0)
  })

  test('must confirm their identity first, in a form on our own page', async () => {
    const { user, visitor, account } = await signedIn('stale')
    const foreign = await visitor.post(`${account}/identities/connect`, {}, { 'sec-fetch-site': 'cross-site' })
    expect(foreign.status).toBe(403)
    await prisma.session.updateMany({ where: { userId: user.id }, data: { confirmedAt: new Date(0) } })
    await announceUser({ db: prisma }, user.id)
    await expect.poll(async () => (await visitor.post(`${account}/identities/connect`, {})).status).toBe(401)
  })
})
