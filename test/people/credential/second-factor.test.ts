import { describe, expect, test } from 'vitest'
import { MINUTE, SECOND } from '../../../src/core/time.ts'
import type { PeopleContext } from '../../../src/people/context.ts'
import {
  confirmAuthenticator,
  pendingAuthenticator,
  removeAuthenticator,
  replaceRecoveryCodes,
  secondFactorOf,
  signInBySecondFactor,
  startAuthenticator,
} from '../../../src/people/credential/second-factor.ts'
import { totpCode } from '../../../src/people/credential/totp.ts'
import { completeSignIn } from '../../../src/people/sign-in/sign-in.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { newUser, peopleContext, signedIn } from '../setup.ts'

const { prisma } = await testDatabase()
const later = (milliseconds: number) => () => new Date(noon.getTime() + milliseconds)
const codeAt = (secret: string, at: Date) => totpCode(secret, Math.floor(at.getTime() / (30 * SECOND)))

/** A person with an authenticator app, half a minute after its setup with a code. */
async function withApp(clientAddress = '203.0.113.9') {
  const visitor = peopleContext(prisma, { clientAddress })
  const user = await newUser(visitor)
  const ctx = await signedIn(visitor, user)
  const { secret } = await startAuthenticator(ctx)
  const codes = await confirmAuthenticator(ctx, codeAt(secret, noon))
  const now = later(30 * SECOND)
  const signIn = async () => {
    const signIn = await completeSignIn({ ...visitor, now }, user, '')
    if (signIn.kind !== 'secondFactor') throw new Error('The second factor is not asked for.')
    return signIn.token
  }
  return {
    user,
    ctx: { ...ctx, now },
    visitor: { ...visitor, now },
    secret,
    codes,
    signIn,
    code: codeAt(secret, now()),
  }
}

const signInWith = (ctx: PeopleContext, token: string, code: string) =>
  signInBySecondFactor(ctx, token, code, 'a browser')

describe('an authenticator app', () => {
  test('is required only after its first code', async () => {
    const visitor = peopleContext(prisma)
    const user = await newUser(visitor)
    const ctx = await signedIn(visitor, user)
    const { secret, url } = await startAuthenticator(ctx)
    expect(await pendingAuthenticator(ctx)).toEqual({ secret, url })
    await expect(confirmAuthenticator(ctx, '000000')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect(await secondFactorOf(ctx)).toEqual({ isEnabled: false, recoveryCodes: 0 })
    const codes = await confirmAuthenticator(ctx, codeAt(secret, noon))
    expect(new Set(codes).size).toBe(10)
    expect(await secondFactorOf(ctx)).toEqual({ isEnabled: true, recoveryCodes: 10 })
    expect(await pendingAuthenticator(ctx)).toBeNull()
  })

  test('is sealed in the database for its owner, and recovery codes are hashed', async () => {
    const { user, ctx, secret, codes } = await withApp()
    const { totpSecret } = await prisma.user.findUniqueOrThrow({ where: { id: user.id } })
    expect(totpSecret).not.toContain(secret)
    expect(() => ctx.seal.open(totpSecret ?? '', 'usr_other totpSecret')).toThrow()
    const kept = JSON.stringify(await prisma.recoveryCode.findMany({ where: { userId: user.id } }))
    for (const code of codes) expect(kept).not.toContain(code.replaceAll('-', ''))
  })

  test('can be changed only by a person who has confirmed their identity', async () => {
    const { ctx } = await withApp()
    const stale = { ...ctx, now: later(11 * MINUTE) }
    const refusal = { code: 'CONFIRMATION_REQUIRED' }
    await expect(startAuthenticator(stale)).rejects.toMatchObject(refusal)
    await expect(removeAuthenticator(stale)).rejects.toMatchObject(refusal)
    await expect(replaceRecoveryCodes(stale)).rejects.toMatchObject(refusal)
    await expect(startAuthenticator(ctx)).rejects.toMatchObject({ code: 'CONFLICT' })
    await removeAuthenticator(ctx)
    expect(await secondFactorOf(ctx)).toEqual({ isEnabled: false, recoveryCodes: 0 })
  })
})

describe('a sign-in with a second factor', () => {
  test('is completed with a code from the app, which works once', async () => {
    const { visitor, signIn, code } = await withApp()
    const [first, second] = [await signIn(), await signIn()]
    expect(await signInWith(visitor, first, code)).toMatch(/^[\w-]{43}$/)
    expect(await signInWith(visitor, second, code)).toBeNull()
    await expect(signInWith(visitor, first, code)).rejects.toMatchObject({ code: 'INVALID_TOKEN' })
  })

  test('is not completed with the code that set up the app', async () => {
    const { visitor, secret, signIn } = await withApp()
    expect(await signInWith(visitor, await signIn(), codeAt(secret, noon))).toBeNull()
  })

  test('accepts a code once if it is sent twice at the same time', async () => {
    const { visitor, signIn, code } = await withApp()
    const tokens = [await signIn(), await signIn()]
    const sessions = await Promise.all(tokens.map((token) => signInWith(visitor, token, code)))
    expect(sessions.filter((session) => session !== null)).toHaveLength(1)
  })

  test('is completed with a recovery code in any spelling, which works once', async () => {
    const { ctx, visitor, codes, signIn } = await withApp()
    const typed = ` ${codes[3]?.toUpperCase().replaceAll('-', ' ')} `
    expect(await signInWith(visitor, await signIn(), typed)).not.toBeNull()
    expect(await signInWith(visitor, await signIn(), typed)).toBeNull()
    expect(await secondFactorOf(ctx)).toEqual({ isEnabled: true, recoveryCodes: 9 })
    const [replaced] = await replaceRecoveryCodes(ctx)
    expect(await signInWith(visitor, await signIn(), codes[0] ?? '')).toBeNull()
    expect(await signInWith(visitor, await signIn(), replaced ?? '')).not.toBeNull()
  })

  test('survives nine wrong codes, but not ten', async () => {
    const { visitor, signIn, code } = await withApp('203.0.113.77')
    const token = await signIn()
    for (let wrong = 0; wrong < 9; wrong++) expect(await signInWith(visitor, token, 'wrong')).toBeNull()
    const other = await withApp('203.0.113.78')
    const doomed = await other.signIn()
    for (let wrong = 0; wrong < 10; wrong++) expect(await signInWith(other.visitor, doomed, 'wrong')).toBeNull()
    expect(await signInWith(visitor, token, code)).not.toBeNull()
    await expect(signInWith(other.visitor, doomed, other.code)).rejects.toMatchObject({ code: 'INVALID_TOKEN' })
    // A new token does not help either, from any address.
    const elsewhere = { ...other.visitor, clientAddress: '198.51.100.1' }
    await expect(signInWith(elsewhere, await other.signIn(), other.code)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
    })
  })

  test('must be completed within ten minutes', async () => {
    const { visitor, secret, signIn } = await withApp()
    const token = await signIn()
    const late = { ...visitor, now: later(11 * MINUTE) }
    const code = codeAt(secret, late.now())
    await expect(signInWith(late, token, code)).rejects.toMatchObject({ code: 'INVALID_TOKEN' })
  })
})
