import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, expect, test } from 'vitest'
import { finishOpenId, startOpenId } from '../../../src/people/sign-in/openid.ts'
import { atTheEnd } from '../../support/at-the-end.ts'
import { testDatabase } from '../../support/database.ts'
import { newUser, peopleContext } from '../setup.ts'

const { prisma } = await testDatabase()
await newUser(peopleContext(prisma))

const client = { id: 'allclear', secret: 'a client secret of the tests' }
const redirectUri = 'https://status.example/sign-in/openid/callback'
const own = generateKeyPairSync('rsa', { modulusLength: 2048 })
const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const rs256 = (key: KeyObject) => (text: string) => createSign('sha256').update(text).sign(key).toString('base64url')
const hs256 = (secret: string) => (text: string) => createHmac('sha256', secret).update(text).digest('base64url')

/** How a provider differs from an honest one. */
interface Lies {
  readonly header?: object
  /** Replace claims of the ID token; undefined removes one. */
  readonly claims?: object
  readonly sign?: (text: string) => string
  readonly metadata?: object
  readonly userinfo?: object
  /** Replace parameters of the answer that the browser brings; undefined removes one. */
  readonly callback?: Readonly<Record<string, string | undefined>>
  /** Answers a path in the provider's place. */
  readonly answers?: Readonly<Record<string, (response: ServerResponse) => void>>
}

let lies: Lies = {}
let nonce = ''
let people = 0
let asked: string[] = []
beforeEach(() => {
  asked = []
})

const server = createServer((request, response) => {
  const path = new URL(request.url ?? '', issuer).pathname
  asked.push(path)
  const answer = lies.answers?.[path]
  if (answer) return answer(response)
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(honest(path)))
})
await once(server.listen(0, '127.0.0.1'), 'listening')
atTheEnd(() => {
  server.closeAllConnections()
  server.close()
})
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

function honest(path: string): object {
  if (path === '/jwks') return { keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'own', use: 'sig' }] }
  if (path === '/token') return { access_token: 'a', token_type: 'Bearer', expires_in: 60, id_token: idToken() }
  if (path === '/userinfo') return lies.userinfo ?? {}
  return {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
    ...lies.metadata,
  }
}

function idToken(): string {
  const now = Math.floor(Date.now() / 1000)
  const claims = {
    iss: issuer,
    sub: `subject-${people}`,
    aud: client.id,
    iat: now,
    exp: now + 60,
    nonce,
    email: `person-${people}@company.example`,
    email_verified: true,
    ...lies.claims,
  }
  const text = `${encoded({ alg: 'RS256', kid: 'own', ...lies.header })}.${encoded(claims)}`
  return `${text}.${(lies.sign ?? rs256(own.privateKey))(text)}`
}

/** A visitor to an instance that has not asked the provider yet. */
function visitor() {
  people += 1
  const settings = {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: client.id,
    OIDC_CLIENT_SECRET: client.secret,
    OIDC_MAIL_DOMAINS: 'company.example',
  }
  return peopleContext(prisma, { clientAddress: `198.51.${people}.1`, settings })
}

/** Signs in a new person at a lying provider. */
async function signIn(lying: Lies) {
  lies = lying
  const ctx = visitor()
  const { url, token } = await startOpenId(ctx, { redirectUri, to: '/console', connect: false })
  const { searchParams } = new URL(url)
  nonce = searchParams.get('nonce') ?? ''
  const callback = new URL(redirectUri)
  const brought = { code: 'a code', state: searchParams.get('state') ?? '', ...lying.callback }
  for (const [name, value] of Object.entries(brought))
    if (value !== undefined) callback.searchParams.append(name, value)
  return finishOpenId(ctx, { callback, token }, '')
}

async function expectRefused(lying: Lies, code = 'WRONG_CREDENTIALS'): Promise<void> {
  await expect(signIn(lying)).rejects.toMatchObject({ code })
  expect(await prisma.identity.count({ where: { subject: { startsWith: `subject-${people}` } } })).toBe(0)
  expect(await prisma.user.count({ where: { email: `person-${people}@company.example` } })).toBe(0)
}

test('an honest answer signs in', async () => {
  expect(await signIn({})).toMatchObject({ kind: 'signIn', signIn: { kind: 'signedIn' } })
  expect(asked).toContain('/jwks')
  const person = await prisma.user.findUniqueOrThrow({ where: { email: `person-${people}@company.example` } })
  expect(person.emailProvenAt).not.toBeNull()
})

const past = Math.floor(Date.now() / 1000) - 3600

describe('an ID token is refused', () => {
  test.each<readonly [string, Lies]>([
    ['with another nonce', { claims: { nonce: 'A'.repeat(43) } }],
    ['without a nonce', { claims: { nonce: undefined } }],
    ['of another issuer', { claims: { iss: 'https://evil.example' } }],
    ['for another client', { claims: { aud: 'another-client' } }],
    ['for two clients, authorized for the other one', { claims: { aud: [client.id, 'x'], azp: 'x' } }],
    ['that has expired', { claims: { iat: past, exp: past + 60 } }],
    ['without an expiry', { claims: { exp: undefined } }],
    ['without a signature (alg none)', { header: { alg: 'none' }, sign: () => '' }],
    [
      'signed with the public key as a shared secret (HS256)',
      { header: { alg: 'HS256' }, sign: hs256(own.publicKey.export({ format: 'pem', type: 'spki' }).toString()) },
    ],
    ['signed with the client’s secret (HS256)', { header: { alg: 'HS256' }, sign: hs256(client.secret) }],
    ['signed with another key', { sign: rs256(other.privateKey) }],
    ['signed with an unknown key', { header: { kid: 'other' }, sign: rs256(other.privateKey) }],
    [
      'that brings its own key',
      { header: { jwk: other.publicKey.export({ format: 'jwk' }) }, sign: rs256(other.privateKey) },
    ],
    ['without a subject', { claims: { sub: undefined } }],
    ['with an empty subject', { claims: { sub: '' } }],
    ['with a subject that is no text', { claims: { sub: ['subject-1'] } }],
    ['with a subject of 3,000 characters', { claims: { sub: 's'.repeat(3000) } }],
    ['with a NUL in the subject', { claims: { sub: 'a\0b' } }],
    ['with half a character in the subject', { claims: { sub: '\ud800' } }],
  ])('%s', async (_what, lying) => {
    await expectRefused(lying)
  })
})

describe('the browser’s answer is refused', () => {
  test.each<readonly [string, Lies]>([
    ['with another state', { callback: { state: 'A'.repeat(43) } }],
    ['without a state', { callback: { state: undefined } }],
    ['without a code', { callback: { code: undefined } }],
    ['of another issuer (mix-up, RFC 9207)', { callback: { iss: 'https://evil.example' } }],
    [
      'without an issuer if the provider names itself (RFC 9207)',
      { metadata: { authorization_response_iss_parameter_supported: true } },
    ],
    ['with an error', { callback: { error: 'access_denied', code: undefined } }],
    ['with a token instead of a code', { callback: { code: undefined, id_token: 'x' } }],
  ])('%s', async (_what, lying) => {
    await expectRefused(lying)
    expect(asked).not.toContain('/token')
  })
})

describe('an address is not taken over', () => {
  test.each<readonly [string, object]>([
    ['that is not verified', { email_verified: false }],
    ['that is verified as text', { email_verified: 'true' }],
    ['about which nothing is said', { email_verified: undefined }],
    ['that is none', { email: `person@@company.example` }],
    ['that is a list', { email: ['a@company.example'] }],
    ['with 50,000 combining marks', { email: `a${'\u0301'.repeat(50_000)}@company.example` }],
  ])('%s', async (_what, claims) => {
    await expectRefused({ claims }, 'FORBIDDEN')
  })

  test('from the information about another person', async () => {
    const email = 'ceo@company.example'
    await expectRefused({ claims: { email: undefined }, userinfo: { sub: 'subject-0', email, email_verified: true } })
  })
})

describe('an answer of the provider is refused', () => {
  const flood = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const more = () => {
      while (!response.destroyed && response.write(' '.repeat(60_000)));
    }
    response.on('drain', more)
    more()
  }
  const redirect = (response: ServerResponse) => void response.writeHead(307, { location: `${issuer}/elsewhere` }).end()
  const nothing = (response: ServerResponse) => void response.destroy()
  const brackets = (response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('['.repeat(200_000))

  test.each([
    ['without end', flood],
    ['that redirects', redirect],
    ['that breaks off', nothing],
    ['of brackets', brackets],
  ])('%s', async (_what, answer) => {
    for (const path of ['/token', '/jwks']) await expectRefused({ answers: { [path]: answer } })
    const configuration = '/.well-known/openid-configuration'
    await expectRefused({ answers: { [configuration]: answer } }, 'UNAVAILABLE')
    const userinfo = { claims: { email: undefined }, answers: { '/userinfo': answer } }
    await expectRefused(userinfo)
    expect(asked).not.toContain('/elsewhere')
  })

  test('with the configuration of another issuer (mix-up)', async () => {
    await expectRefused({ metadata: { issuer: 'https://evil.example' } }, 'UNAVAILABLE')
  })
})
