// @slow
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import type { App } from '../../../src/app/start.ts'
import { openSecretBox } from '../../../src/core/secret-box.ts'
import { newTotpSecret, totpCode } from '../../../src/people/credential/totp.ts'
import { hashPassword } from '../../../src/people/password.ts'
import { insertUser } from '../../../src/people/user.ts'
import { testApp } from '../../support/app.ts'
import { atTheEnd } from '../../support/at-the-end.ts'
import { testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { hidden, newVisitor, pathIn } from './visitor.ts'

const database = await testDatabase()
const dns = await startDnsServer()
const mail = await startMailServer()
atTheEnd(() => mail.close())
const logged: string[] = []
const sink = new Writable({
  write(chunk, _encoding, done) {
    logged.push(String(chunk))
    done()
  },
})
const log = pino({ level: 'trace' }, sink)
const settings = {
  SMTP_URL: mail.url,
  MAIL_FROM: 'status@example.com',
  SIGNUP: 'open',
  TRUST_PROXY: '127.0.0.1',
  SECRET_KEY: 'a secret key of the tests, long enough',
}
const start = (): Promise<App> => testApp({ dns, database, settings, log })
/** Two instances on one database. */
const [app, other] = [await start(), await start()]

const password = 'correct horse battery'
const passwordHash = await hashPassword(password)
const context = testContext(database.prisma, { now: () => new Date() })
let people = 0

async function newPerson() {
  const email = `sign-in-${++people}@example.com`
  const user = await insertUser(context, 'MAILED_SIGN_UP_LINK', { email, name: `Person ${people}`, passwordHash })
  const visitor = newVisitor(app.baseUrl, `203.0.113.${people}`)
  const signIn = (fields: Record<string, string> = {}) => visitor.post('/sign-in', { email, password, ...fields })
  return { ...user, visitor, signIn }
}

const isSignedIn = async (visitor: ReturnType<typeof newVisitor>) => (await visitor.get('/console')).status !== 303

describe('a sign-in with a password', () => {
  test('sets a cookie that scripts and other sites cannot use, and redirects', async () => {
    const { signIn, visitor } = await newPerson()
    const { status, location, headers } = await signIn({ to: '/console/x/now?state=DOWN' })
    expect([status, location]).toEqual([303, '/console/x/now?state=DOWN'])
    expect(headers.getSetCookie()[0]).toMatch(
      /^allclear_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    expect(await isSignedIn(visitor)).toBe(true)
  })

  test.each([
    ['//evil.example/x'],
    ['https://evil.example'],
    ['/\\evil.example'],
    ['javascript:alert(1)'],
    ['/\t/evil.example'],
  ])('does not redirect to %j', async (to) => {
    const { signIn } = await newPerson()
    expect((await signIn({ to })).location).toBe('/console')
  })

  test('gives the same answer for a wrong password and for an unknown address', async () => {
    const { signIn, email, visitor } = await newPerson()
    const wrong = await signIn({ password: 'wrong' })
    const nobody = await visitor.post('/sign-in', { email: `x${email}`, password: 'wrong' })
    expect([wrong.status, nobody.status]).toEqual([422, 422])
    expect(nobody.html.replace(`x${email}`, email)).toBe(wrong.html)
  })

  test('never continues the browser’s previous session (fixation)', async () => {
    const { signIn, visitor } = await newPerson()
    visitor.cookies.set('allclear_session', 'A'.repeat(43))
    await signIn()
    const first = visitor.cookies.get('allclear_session')
    expect(first).not.toBe('A'.repeat(43))
    await signIn()
    expect(visitor.cookies.get('allclear_session')).not.toBe(first)
    const old = newVisitor(app.baseUrl)
    old.cookies.set('allclear_session', first ?? '')
    expect(await isSignedIn(old)).toBe(false)
  })

  test('is refused after a hundred wrong answers for the account, from two instances and any number of networks', async () => {
    const { email, visitor, signIn } = await newPerson()
    await signIn()
    const attempt = (instance: App, network: number, given: string) =>
      newVisitor(instance.baseUrl, `198.51.${network}.7`).post('/sign-in', { email, password: given })
    for (let wrong = 0; wrong < 100; wrong++) {
      expect((await attempt(wrong % 2 === 0 ? app : other, wrong, 'wrong')).status).toBe(422)
    }
    expect((await attempt(app, 100, password)).status).toBe(429)
    expect((await attempt(other, 101, password)).status).toBe(429)
    // A known browser is not refused, whether signed out or not. Another person's cookie does not help.
    expect((await visitor.post('/sign-out', {})).status).toBe(303)
    const stranger = await newPerson()
    await stranger.signIn()
    expect((await stranger.visitor.post('/sign-in', { email, password })).status).toBe(429)
    expect((await signIn()).status).toBe(303)
  })

  test('is refused when it comes from another site', async () => {
    const { email, visitor } = await newPerson()
    const { status } = await visitor.post('/sign-in', { email, password }, { 'sec-fetch-site': 'cross-site' })
    expect([status, visitor.cookies.size]).toEqual([403, 0])
  })
})

describe('the second factor', () => {
  async function withApp() {
    const person = await newPerson()
    const secret = newTotpSecret()
    const box = await openSecretBox({ config: { ...context.config, SECRET_KEY: settings.SECRET_KEY }, db: context.db })
    const totpSecret = box.seal(secret, `${person.id} totpSecret`)
    await database.prisma.user.update({ where: { id: person.id }, data: { totpSecret, totpEnabled: true } })
    return { ...person, code: () => totpCode(secret, Math.floor(Date.now() / 30_000)) }
  }

  test('is requested after the password, and keeps the destination and the submitted form', async () => {
    const { signIn, visitor, code } = await withApp()
    const held = JSON.stringify({ path: '/console/x/start', fields: [['target', 'https://kept.example']] })
    const page = await signIn({ to: '/console/x/start', held })
    expect([page.status, visitor.cookies.size]).toEqual([200, 0])
    const token = hidden(page, 'token')
    const fields = { token, to: hidden(page, 'to'), held: hidden(page, 'held').replaceAll('&quot;', '"') }
    const wrong = await visitor.post('/sign-in/code', { ...fields, code: '000000' })
    expect(wrong.status).toBe(422)
    expect(wrong.html).toContain('This code is wrong or was already used.')
    const { status, html } = await visitor.post('/sign-in/code', { ...fields, code: code() })
    expect(status).toBe(200)
    expect(html).toContain('https://kept.example')
    expect(await isSignedIn(visitor)).toBe(true)
  })

  test('cannot be skipped, and its page requires the password first', async () => {
    const { signIn, visitor, code } = await withApp()
    await signIn()
    expect(await isSignedIn(visitor)).toBe(false)
    expect(await visitor.get('/sign-in/code')).toMatchObject({ status: 303, location: '/sign-in' })
    const forged = await visitor.post('/sign-in/code', { token: 'A'.repeat(43), code: code() })
    expect(forged).toMatchObject({ status: 303, location: '/sign-in' })
  })
})

describe('mailed links', () => {
  const mailTo = async (email: string) => {
    const [received] = await mail.arrived(1, ({ envelopeTo }) => envelopeTo === email)
    if (received === undefined) throw new Error('No mail arrived.')
    return received
  }

  test('sign in only after a click, so a program that follows the link changes nothing', async () => {
    const { email, visitor } = await newPerson()
    const sent = await visitor.post('/sign-in/link', { email, to: '/console/x/now' })
    const stranger = await visitor.post('/sign-in/link', { email: 'stranger@example.com', to: '/console/x/now' })
    expect(stranger.html).toBe(sent.html)
    const path = pathIn(await mailTo(email), '/sign-in/link')
    for (let scan = 0; scan < 2; scan++) {
      const page = await newVisitor(app.baseUrl).get(path)
      expect([page.status, page.headers.get('referrer-policy'), page.headers.get('cache-control')]).toEqual([
        200,
        'same-origin',
        'private, no-store',
      ])
    }
    expect(await visitor.post(path, {})).toMatchObject({ status: 303, location: '/console/x/now' })
    expect(await isSignedIn(visitor)).toBe(true)
    expect((await newVisitor(app.baseUrl).get(path)).status).toBe(410)
    expect(await isSignedIn(visitor)).toBe(true)
  })

  test('lead back to the form that was submitted after the session ended, in the same browser', async () => {
    const { email, visitor } = await newPerson()
    const refused = await visitor.post('/console/x/incidents/new', { title: 'Typed before' })
    expect(refused.status).toBe(401)
    await visitor.post('/sign-in/link', { email, to: '/console/x/incidents/new' })
    const { status, html } = await visitor.post(pathIn(await mailTo(email), '/sign-in/link'), {})
    expect([status, html]).toEqual([200, expect.stringContaining('name="title" value="Typed before"')])
    expect(visitor.cookies.has('allclear_held')).toBe(false)
  })

  test('set a new password and end sessions on every instance', async () => {
    const { email, visitor, signIn } = await newPerson()
    await signIn()
    const elsewhere = newVisitor(other.baseUrl)
    for (const [name, value] of visitor.cookies) elsewhere.cookies.set(name, value)
    expect(await isSignedIn(elsewhere)).toBe(true)
    const forgetful = newVisitor(app.baseUrl, '198.51.100.200')
    const sent = await forgetful.post('/sign-in/reset', { email })
    const stranger = newVisitor(app.baseUrl, '198.51.100.201')
    expect((await stranger.post('/sign-in/reset', { email: 'nobody@example.com' })).html).toBe(sent.html)
    const path = pathIn(await mailTo(email), '/sign-in/reset')
    expect((await forgetful.post(path, { password: 'short' })).html).toContain('Must have at least 10 characters.')
    expect((await forgetful.post(path, { password: 'another long password' })).status).toBe(303)
    expect(await isSignedIn(forgetful)).toBe(true)
    await expect.poll(async () => [await isSignedIn(visitor), await isSignedIn(elsewhere)]).toEqual([false, false])
  })

  test('prove the address of a person who signs up', async () => {
    const visitor = newVisitor(app.baseUrl, '198.51.100.201')
    expect((await visitor.get('/sign-in')).html).toContain('href="/sign-up"')
    await visitor.post('/sign-up', { email: 'new@example.com' })
    const path = pathIn(await mailTo('new@example.com'), '/sign-up')
    expect((await visitor.get(path)).html).toContain('new@example.com')
    const fields = { name: 'New', password, organizationName: 'New', slug: 'No slug' }
    const refused = await visitor.post(path, fields)
    expect(refused.status).toBe(422)
    expect(refused.html).toContain('value="No slug"')
    const { status, location } = await visitor.post(path, { ...fields, slug: 'new-one' })
    expect([status, location]).toEqual([303, '/console/new-one/start'])
    expect((await visitor.get('/console/new-one/now')).status).toBe(200)
  })
})

test('logs contain no session, password or token', async () => {
  const sent = JSON.stringify(mail.mails.map(({ text }) => text))
  const tokens = sent.match(/[\w-]{43}/g) ?? []
  expect(tokens.length).toBeGreaterThan(2)
  const all = logged.join('')
  for (const secret of [...tokens, password, 'another long password']) expect(all).not.toContain(secret)
  const sessions = await database.prisma.session.findMany()
  for (const { hash } of sessions) expect(all).not.toContain(hash)
})

describe('without email, sign-up and a provider', () => {
  test('these ways to sign in are neither offered nor available', async () => {
    const bare = await testApp({ dns, database, settings: { SECRET_KEY: settings.SECRET_KEY } })
    const visitor = newVisitor(bare.baseUrl)
    const { html } = await visitor.get('/sign-in')
    for (const path of ['/sign-in/link', '/sign-in/reset', '/sign-up', '/sign-in/openid']) {
      expect(html).not.toContain(path)
      expect([path, (await visitor.get(path)).status]).toEqual([path, 404])
    }
  })

  test('an open sign-up without email says so', async () => {
    const bare = await testApp({ dns, database, settings: { SECRET_KEY: settings.SECRET_KEY, SIGNUP: 'open' } })
    const { html } = await newVisitor(bare.baseUrl).get('/sign-up')
    expect(html).toContain('Sign-up requires email, which is not set up here.')
  })
})
