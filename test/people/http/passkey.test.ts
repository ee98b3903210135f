import { describe, expect, test } from 'vitest'
import { createAuthenticator } from '../../support/authenticator.ts'
import { testConsole } from '../../support/console.ts'

const { app, database, organization } = await testConsole()
const { signIn } = await organization('passkeys')
const own = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
const origin = app.baseUrl
const authenticator = createAuthenticator({ origin, rpId: 'localhost' })

async function send(path: string, body: unknown, headers: Record<string, string> = own) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(`${origin}/sign-in/passkey${path}`, { method: 'POST', body: text, headers })
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, body: isJson ? await response.json() : null }
}

describe('the passkey endpoints', () => {
  test('register a passkey and sign in with it, in a new session', async () => {
    const { token, userId } = await signIn('OWNER')
    const asOwner = { ...own, cookie: `allclear_session=${token}` }
    const { body: options } = await send('/register/options', {}, asOwner)
    expect(options.rp).toEqual({ id: 'localhost', name: 'Allclear' })
    const response = authenticator.register(options.challenge)
    expect(await send('/register', { name: 'Laptop', response }, asOwner)).toMatchObject({ status: 200 })
    const { body, headers } = await send('/options', {})
    expect(headers.get('cache-control')).toBe('no-store')
    const signedIn = await send('', authenticator.authenticate(body.challenge))
    expect(signedIn.status).toBe(200)
    const cookie = signedIn.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^allclear_session=[\w-]{43}; .*HttpOnly; SameSite=Lax$/)
    expect(cookie).not.toContain(token)
    expect(await database.prisma.session.count({ where: { userId } })).toBe(2)
    const replayed = await send('', authenticator.authenticate(body.challenge))
    expect(replayed).toMatchObject({ status: 401, body: { code: 'WRONG_CREDENTIALS' } })
    expect(replayed.headers.get('set-cookie')).toBeNull()
  })

  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another subdomain', { 'sec-fetch-site': 'same-site' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['nowhere', {}],
  ])('are closed to %s', async (_from, headers) => {
    for (const path of ['/options', '', '/confirm/options', '/confirm', '/register/options', '/register']) {
      expect((await send(path, {}, { 'content-type': 'application/json', ...headers })).status).toBe(403)
    }
  })

  test('require a session to register and confirm', async () => {
    for (const path of ['/confirm/options', '/confirm', '/register/options', '/register']) {
      expect(await send(path, {})).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } })
    }
  })

  test('refuse bodies that are not JSON, malformed or too large', async () => {
    expect((await send('', '{')).status).toBe(422)
    expect((await send('', {}, { ...own, 'content-type': 'text/plain' })).status).toBe(415)
    expect((await send('', [])).status).toBe(422)
    expect((await send('', `"${'x'.repeat(200_000)}"`)).status).toBe(413)
  })

  test('are limited per network', async () => {
    const statuses: number[] = []
    for (let request = 0; request < 70; request++) statuses.push((await send('/options', {})).status)
    expect(statuses.at(-1)).toBe(429)
  })
})
