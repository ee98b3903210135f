import { describe, expect, test } from 'vitest'
import { DAY, MINUTE } from '../../src/core/time.ts'
import { confirmAuthenticator, startAuthenticator } from '../../src/people/credential/second-factor.ts'
import { totpCode } from '../../src/people/credential/totp.ts'
import { userOfSession } from '../../src/people/session.ts'
import {
  createResetLink,
  requestPasswordReset,
  resetPassword,
  userOfReset,
} from '../../src/people/sign-in/password-reset.ts'
import { signInByPassword } from '../../src/people/sign-in/sign-in.ts'
import { requestSignInLink, signInByLink, userOfSignInLink } from '../../src/people/sign-in/sign-in-link.ts'
import { emailOfSignUp, requestSignUp, signUp } from '../../src/people/sign-in/sign-up.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { newUser, password, peopleContext, signedIn } from './setup.ts'

const { prisma } = await testDatabase()
let networks = 0
/** A visitor from a separate network. */
const visitor = (settings: NodeJS.ProcessEnv = {}) =>
  peopleContext(prisma, { clientAddress: `198.51.100.${++networks}`, settings })
const late = (milliseconds: number) => () => new Date(noon.getTime() + milliseconds)

/** Waits for the only email and returns the token in it. */
async function mailedToken({ mails }: ReturnType<typeof visitor>, path: string): Promise<string> {
  await expect.poll(() => mails).toHaveLength(1)
  const url = mails[0]?.action.url ?? ''
  expect(url.startsWith(`https://status.example${path}/`)).toBe(true)
  return url.slice(url.lastIndexOf('/') + 1)
}

test('no one can sign up before the service is set up', async () => {
  const request = requestSignUp(visitor({ SIGNUP: 'open' }), { email: 'early@example.com' })
  await expect(request).rejects.toMatchObject({ code: 'CONFLICT' })
  await newUser(visitor())
})

describe('a sign-in link', () => {
  test('signs in once, within 15 minutes, and leads to the page where it was requested', async () => {
    const ctx = visitor()
    const user = await newUser(ctx)
    await requestSignInLink(ctx, { email: ` ${user.email.toUpperCase()}` }, '/console/x/now')
    const token = await mailedToken(ctx, '/sign-in/link')
    expect(await userOfSignInLink(ctx, token)).toEqual({ email: user.email, dropsEverything: false })
    expect(await userOfSignInLink({ ...ctx, now: late(16 * MINUTE) }, token)).toBeNull()
    const { signIn, to } = await signInByLink(ctx, token, '')
    expect(to).toBe('/console/x/now')
    const session = signIn.kind === 'signedIn' ? signIn.sessionToken : ''
    expect(await userOfSession(ctx, session)).toMatchObject({ userId: user.id })
    await expect(signInByLink(ctx, token, '')).rejects.toMatchObject({ code: 'INVALID_TOKEN' })
  })

  test('is not mailed to strangers, who get the same answer and the same limit', async () => {
    const ctx = visitor()
    const request = () => requestSignInLink(ctx, { email: 'nobody@example.com' }, '/console')
    for (let link = 0; link < 3; link++) expect(await request()).toBeUndefined()
    await expect(request()).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    expect(await prisma.oneTimeToken.count({ where: { purpose: 'SIGN_IN' } })).toBe(0)
    expect(ctx.mails).toEqual([])
  })

  test('still requires the second factor', async () => {
    const ctx = visitor()
    const user = await newUser(ctx)
    const own = await signedIn(ctx, user)
    const { secret } = await startAuthenticator(own)
    await confirmAuthenticator(own, totpCode(secret, Math.floor(noon.getTime() / 30_000)))
    await requestSignInLink(ctx, { email: user.email }, '/console')
    const { signIn } = await signInByLink(ctx, await mailedToken(ctx, '/sign-in/link'), '')
    expect(signIn.kind).toBe('secondFactor')
  })

  test('does not exist when email is not set up', async () => {
    const ctx = { ...visitor(), sendMail: undefined }
    await expect(requestSignInLink(ctx, { email: 'a@example.com' }, '/')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('setting a new password with a link', () => {
  const input = { password: 'a new long password' }

  test('ends all sessions and other links', async () => {
    const ctx = visitor()
    const user = await newUser(ctx, true)
    await signedIn(ctx, user)
    await requestPasswordReset(ctx, { email: user.email })
    const token = await mailedToken(ctx, '/sign-in/reset')
    const other = await createResetLink({ ...ctx, actor: { kind: 'operator' } }, user.id)
    expect(await userOfReset(ctx, token)).toEqual({ email: user.email, dropsEverything: false })
    await expect(resetPassword(ctx, token, { password: 'short' }, '')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect((await resetPassword(ctx, token, input, '')).kind).toBe('signedIn')
    // The session that the reset started.
    expect(await prisma.session.count({ where: { userId: user.id } })).toBe(1)
    expect(await userOfReset(ctx, other.slice(other.lastIndexOf('/') + 1))).toBeNull()
    await expect(resetPassword(ctx, token, input, '')).rejects.toMatchObject({ code: 'INVALID_TOKEN' })
    expect(await signInByPassword(ctx, { email: user.email, password }, '')).toBeNull()
  })

  test('keeps the second factor', async () => {
    const ctx = visitor()
    const user = await newUser(ctx)
    const own = await signedIn(ctx, user)
    const { secret } = await startAuthenticator(own)
    await confirmAuthenticator(own, totpCode(secret, Math.floor(noon.getTime() / 30_000)))
    await requestPasswordReset(ctx, { email: user.email })
    expect((await resetPassword(ctx, await mailedToken(ctx, '/sign-in/reset'), input, '')).kind).toBe('secondFactor')
    expect(await prisma.session.count({ where: { userId: user.id } })).toBe(0)
  })

  test('can be started without email only by the operator, within a day', async () => {
    const ctx = visitor()
    const user = await newUser(ctx)
    await expect(createResetLink(ctx, user.id)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
    await expect(createResetLink(await signedIn(ctx, user), user.id)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const operator = { ...ctx, actor: { kind: 'operator' } } as const
    await expect(createResetLink(operator, 'usr_nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const token = (await createResetLink(operator, user.id)).slice('/sign-in/reset/'.length)
    expect(await userOfReset({ ...ctx, now: late(DAY - 1) }, token)).not.toBeNull()
    expect(await userOfReset({ ...ctx, now: late(DAY + 1) }, token)).toBeNull()
  })
})

describe('sign-up', () => {
  const open = { SIGNUP: 'open' }
  const input = (slug: string) => ({ name: 'Ada', password, organizationName: 'Ada’s', slug })

  test('creates a person with a proven address, an organization and a session', async () => {
    const ctx = visitor(open)
    await requestSignUp(ctx, { email: 'Ada@new.example' })
    const token = await mailedToken(ctx, '/sign-up')
    expect(await emailOfSignUp(ctx, token)).toBe('ada@new.example')
    const invalid = signUp(ctx, token, { ...input('ada'), slug: 'No slug' }, '')
    await expect(invalid).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    const { organization, sessionToken } = await signUp(ctx, token, input('ada'), '')
    const user = await userOfSession(ctx, sessionToken)
    expect(user?.memberships.get(organization.id)).toMatchObject({ role: 'OWNER' })
    expect(organization).toMatchObject({ slug: 'ada', contactEmail: 'ada@new.example' })
    await expect(signUp(ctx, token, input('ada-2'), '')).rejects.toMatchObject({ code: 'INVALID_TOKEN' })
  })

  test('keeps the link when the slug is taken', async () => {
    const ctx = visitor(open)
    await requestSignUp(ctx, { email: 'bob@new.example' })
    const token = await mailedToken(ctx, '/sign-up')
    await signUp(ctx, token, input('taken'), '')
    const again = visitor(open)
    await requestSignUp(again, { email: 'carl@new.example' })
    const other = await mailedToken(again, '/sign-up')
    await expect(signUp(again, other, input('taken'), '')).rejects.toMatchObject({ message: 'The slug is taken.' })
    expect((await signUp(again, other, input('free'), '')).organization.slug).toBe('free')
  })

  test('reveals only by email whether an address has an account', async () => {
    const ctx = visitor(open)
    const { email } = await newUser(ctx)
    await requestSignUp(ctx, { email })
    await expect.poll(() => ctx.mails).toMatchObject([{ to: email, action: { url: 'https://status.example/sign-in' } }])
  })

  test('does not exist when it is closed', async () => {
    await expect(requestSignUp(visitor(), { email: 'a@example.com' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(signUp(visitor(), 'x', input('x'), '')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
