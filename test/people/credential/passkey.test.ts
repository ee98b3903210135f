// @slow
import { afterAll, describe, expect, test } from 'vitest'
import { MINUTE } from '../../../src/core/time.ts'
import {
  addPasskey,
  confirmByPasskey,
  confirmOptions,
  passkeysOf,
  registrationOptions,
  removePasskey,
  signInByPasskey,
  signInOptions,
} from '../../../src/people/credential/passkey.ts'
import { closePasskeyThread } from '../../../src/people/credential/passkey-thread.ts'
import { newDevice } from '../../../src/people/known-device.ts'
import { requireUser, userOfSession } from '../../../src/people/session.ts'
import { createAuthenticator } from '../../support/authenticator.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { newUser, peopleContext, signedIn } from '../setup.ts'

const { prisma } = await testDatabase()
afterAll(closePasskeyThread)
const site = { id: 'status.example', origin: 'https://status.example' }
const newAuthenticator = () => createAuthenticator({ origin: site.origin, rpId: site.id })
const later = (milliseconds: number) => () => new Date(noon.getTime() + milliseconds)
let networks = 0

/** A person with a passkey, and a visitor from a separate network. */
async function withPasskey(counter = 0) {
  const visitor = peopleContext(prisma, { clientAddress: `198.51.100.${++networks}` })
  const user = await newUser(visitor)
  const ctx = await signedIn(visitor, user)
  const authenticator = newAuthenticator()
  const { challenge } = await registrationOptions(ctx, site)
  await addPasskey(ctx, site, { name: 'Laptop', response: authenticator.register(challenge, { counter }) })
  return { visitor, user, ctx, authenticator }
}

describe('a registration', () => {
  test('requests a discoverable passkey with user verification', async () => {
    const { ctx, user, authenticator } = await withPasskey()
    expect(await registrationOptions(ctx, site)).toMatchObject({
      rp: { id: 'status.example' },
      user: { id: Buffer.from(user.id).toString('base64url'), name: user.email },
      excludeCredentials: [{ id: authenticator.id }],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    })
    expect(await passkeysOf(ctx)).toMatchObject([{ name: 'Laptop', lastUsedAt: null }])
  })

  test.each([
    ['another site', { origin: 'https://evil.example' }],
    ['another relying party', { rpId: 'evil.example' }],
    ['a subdomain', { origin: 'https://evil.status.example' }],
    ['another port', { origin: 'https://status.example:8443' }],
    ['plain http', { origin: 'http://status.example' }],
    ['a frame of another site', { crossOrigin: true }],
    ['an authenticator that was not unlocked', { isVerified: false }],
    ['a sign-in', { type: 'webauthn.get' }],
    // {fmt: 'packed', attStmt: {x5c: []}}
    [
      'an attestation with certificates',
      { attestation: Buffer.from('63666d74667061636b65646761747453746d74a16378356380', 'hex') },
    ],
  ])('is refused from %s', async (_what, lies) => {
    const { ctx } = await withPasskey()
    const { challenge } = await registrationOptions(ctx, site)
    const added = addPasskey(ctx, site, { name: 'Phone', response: newAuthenticator().register(challenge, lies) })
    await expect(added).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect(await passkeysOf(ctx)).toHaveLength(1)
  })

  test('is refused with a challenge of another person, a challenge for a sign-in, or a used challenge', async () => {
    const [own, other] = [await withPasskey(), await withPasskey()]
    const add = (challenge: string) =>
      addPasskey(own.ctx, site, { name: 'Phone', response: newAuthenticator().register(challenge) })
    const refusal = { code: 'INVALID_INPUT' }
    await expect(add((await registrationOptions(other.ctx, site)).challenge)).rejects.toMatchObject(refusal)
    await expect(add((await signInOptions(own.visitor, site)).challenge)).rejects.toMatchObject(refusal)
    const { challenge } = await registrationOptions(own.ctx, site)
    await add(challenge)
    await expect(add(challenge)).rejects.toMatchObject(refusal)
  })

  test('requires a confirmation', async () => {
    const { ctx } = await withPasskey()
    const stale = { ...ctx, now: later(11 * MINUTE) }
    await expect(registrationOptions(stale, site)).rejects.toMatchObject({ code: 'CONFIRMATION_REQUIRED' })
    await expect(removePasskey(stale, 'x')).rejects.toMatchObject({ code: 'CONFIRMATION_REQUIRED' })
  })
})

describe('a sign-in', () => {
  test('starts a session even if a second factor is set up', async () => {
    const { visitor, user, ctx, authenticator } = await withPasskey()
    await prisma.user.update({ where: { id: user.id }, data: { totpEnabled: true } })
    const { challenge } = await signInOptions(visitor, site)
    const token = await signInByPasskey(visitor, site, authenticator.authenticate(challenge), 'a browser')
    expect(await userOfSession(visitor, token ?? '')).toMatchObject({ userId: user.id })
    expect(await passkeysOf(ctx)).toMatchObject([{ lastUsedAt: noon }])
  })

  test('is refused when the same response is sent again', async () => {
    const { visitor, authenticator } = await withPasskey()
    const answer = authenticator.authenticate((await signInOptions(visitor, site)).challenge)
    const tokens = await Promise.all([1, 2].map(() => signInByPasskey(visitor, site, answer, '')))
    expect(tokens.filter((token) => token !== null)).toHaveLength(1)
  })

  test.each([
    ['another site', { origin: 'https://evil.example' }],
    ['another relying party', { rpId: 'evil.example' }],
    ['a subdomain', { origin: 'https://evil.status.example' }],
    ['another port', { origin: 'https://status.example:8443' }],
    ['plain http', { origin: 'http://status.example' }],
    ['a frame of another site', { crossOrigin: true }],
    ['an authenticator that was not unlocked', { isVerified: false }],
    ['a registration', { type: 'webauthn.create' }],
  ])('is refused from %s', async (_what, lies) => {
    const { visitor, authenticator } = await withPasskey()
    const { challenge } = await signInOptions(visitor, site)
    expect(await signInByPasskey(visitor, site, authenticator.authenticate(challenge, lies), '')).toBeNull()
  })

  test('is refused with an unknown, expired or foreign challenge', async () => {
    const { visitor, ctx, authenticator } = await withPasskey()
    const attempt = (challenge: string, as = visitor) =>
      signInByPasskey(as, site, authenticator.authenticate(challenge), '')
    expect(await attempt('A'.repeat(43))).toBeNull()
    const { challenge } = await signInOptions(visitor, site)
    expect(await attempt(challenge, { ...visitor, now: later(6 * MINUTE) })).toBeNull()
    expect(await attempt((await confirmOptions(ctx, site)).challenge)).toBeNull()
  })

  test('is refused with a copy of the passkey, whose counter has not grown', async () => {
    const { visitor, authenticator } = await withPasskey(5)
    const attempt = async (counter: number) => {
      const { challenge } = await signInOptions(visitor, site)
      return signInByPasskey(visitor, site, authenticator.authenticate(challenge, { counter }), '')
    }
    expect(await attempt(6)).not.toBeNull()
    for (const counter of [6, 5, 0]) expect(await attempt(counter)).toBeNull()
    expect(await attempt(7)).not.toBeNull()
  })

  test('is refused with the signature of another passkey, and after the passkey was removed', async () => {
    const { visitor, ctx, authenticator } = await withPasskey()
    const forged = newAuthenticator().authenticate((await signInOptions(visitor, site)).challenge)
    const { id, rawId } = authenticator.authenticate('x')
    expect(await signInByPasskey(visitor, site, { ...forged, id, rawId }, '')).toBeNull()
    await removePasskey(ctx, authenticator.id)
    const { challenge } = await signInOptions(visitor, site)
    expect(await signInByPasskey(visitor, site, authenticator.authenticate(challenge), '')).toBeNull()
  })

  test('must be well formed', async () => {
    const { visitor } = await withPasskey()
    const long = { id: 'x'.repeat(1365), rawId: 'x', type: 'public-key', response: {} }
    for (const input of [long, null, {}, { id: 'x' }, { id: '../', rawId: 'x', type: 'public-key', response: {} }]) {
      await expect(signInByPasskey(visitor, site, input, '')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    }
  })
})

describe('a confirmation', () => {
  test('counts only for the session of the passkey’s owner', async () => {
    const [own, other] = [await withPasskey(), await withPasskey()]
    const stale = { ...own.ctx, now: later(20 * MINUTE) }
    const { challenge, allowCredentials } = await confirmOptions(stale, site)
    expect(allowCredentials).toMatchObject([{ id: own.authenticator.id }])
    expect(await confirmByPasskey(stale, site, other.authenticator.authenticate(challenge))).toBe(false)
    const again = (await confirmOptions(stale, site)).challenge
    expect(await confirmByPasskey(stale, site, own.authenticator.authenticate(again))).toBe(true)
    const { confirmedAt } = await prisma.session.findUniqueOrThrow({ where: { id: requireUser(own.ctx).sessionId } })
    expect(confirmedAt).toEqual(stale.now())
  })
})

test('neighbours who guess do not keep a person from signing in in a known browser', async () => {
  const { visitor, user, authenticator } = await withPasskey()
  for (let guess = 0; guess < 30; guess++) {
    const answer = newAuthenticator().authenticate('A'.repeat(43))
    expect(await signInByPasskey(visitor, site, answer, '')).toBeNull()
  }
  const attempt = async (ctx: typeof visitor) =>
    signInByPasskey(ctx, site, authenticator.authenticate((await signInOptions(ctx, site)).challenge), '')
  await expect(attempt(visitor)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  expect(await attempt({ ...visitor, device: newDevice(visitor, user) })).not.toBeNull()
})

test('the options of one person are of no use in the session of another', async () => {
  const [own, other] = [await withPasskey(), await withPasskey()]
  const stale = { ...other.ctx, now: later(20 * MINUTE) }
  for (const authenticator of [own.authenticator, other.authenticator]) {
    const { challenge } = await confirmOptions({ ...own.ctx, now: stale.now }, site)
    expect(await confirmByPasskey(stale, site, authenticator.authenticate(challenge))).toBe(false)
  }
  const { confirmedAt } = await prisma.session.findUniqueOrThrow({ where: { id: requireUser(stale).sessionId } })
  expect(confirmedAt).toEqual(noon)
})

test('a passkey cannot be registered for a second person', async () => {
  const [own, other] = [await withPasskey(), await withPasskey()]
  const { challenge } = await registrationOptions(other.ctx, site)
  const added = addPasskey(other.ctx, site, { name: 'Laptop', response: own.authenticator.register(challenge) })
  await expect(added).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(await passkeysOf(own.ctx)).toHaveLength(1)
})

test('only its owner can remove a passkey', async () => {
  const [own, other] = [await withPasskey(), await withPasskey()]
  await expect(removePasskey(other.ctx, own.authenticator.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await passkeysOf(own.ctx)).toHaveLength(1)
})
