// @slow
import { describe, expect, test } from 'vitest'
import { createOrganization } from '../../src/account/organization/organization.ts'
import type { Context } from '../../src/core/context.ts'
import type { User } from '../../src/generated/prisma/client.ts'
import { changePassword } from '../../src/people/account.ts'
import type { PeopleContext } from '../../src/people/context.ts'
import { confirmAuthenticator, startAuthenticator } from '../../src/people/credential/second-factor.ts'
import { totpCode } from '../../src/people/credential/totp.ts'
import type { NewInvitation } from '../../src/people/invitation.ts'
import { acceptInvitation, findInvitation, invite, joinByInvitation, stepOf } from '../../src/people/invitation.ts'
import { knownDevice, newDevice } from '../../src/people/known-device.ts'
import { addOwner } from '../../src/people/membership.ts'
import { createToken, readToken } from '../../src/people/one-time-token.ts'
import { startSession, userOfSession } from '../../src/people/session.ts'
import { createResetLink, requestPasswordReset, resetPassword } from '../../src/people/sign-in/password-reset.ts'
import { completeSignIn, signInByPassword } from '../../src/people/sign-in/sign-in.ts'
import { requestSignInLink, signInByLink } from '../../src/people/sign-in/sign-in-link.ts'
import { requestSignUp, signUp } from '../../src/people/sign-in/sign-up.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { newUser, password, peopleContext } from './setup.ts'

const { prisma } = await testDatabase()
// No one can sign up before there is a first person.
await newUser(peopleContext(prisma))

let made = 0
/** A visitor from a network of their own. */
const visitor = () => peopleContext(prisma, { clientAddress: `198.51.${++made}.1`, settings: { SIGNUP: 'open' } })
type Visitor = ReturnType<typeof visitor>

async function inSession<C extends PeopleContext>(ctx: C, token: string, organizationId?: string): Promise<C> {
  const actor = await userOfSession(ctx, token)
  if (actor === null) throw new Error('No one is signed in.')
  return { ...ctx, actor: { ...actor, ...(organizationId !== undefined && { organizationId }) } }
}

/** An owner of a new organization. @param mail whether email is set up. */
async function newOwner({ mail = true } = {}) {
  const ctx = mail ? visitor() : { ...visitor(), sendMail: undefined }
  const operator = { ...ctx, actor: { kind: 'operator' } } as const
  const slug = `access-${++made}`
  const { organization } = await createOrganization(operator, { name: slug, slug, contactEmail: 'a@b.example' })
  const user = await newUser(ctx)
  const forOrganization: Context = { ...operator, actor: { kind: 'operator', organizationId: organization.id } }
  await addOwner(forOrganization, user.email)
  const own = await inSession(ctx, await startSession(ctx, user.id, 'x'), organization.id)
  return { own, organization, forOrganization }
}

/** Waits for the next email and returns the token of its link. */
async function mailed({ mails }: Visitor, count = 1): Promise<string> {
  await expect.poll(() => mails).toHaveLength(count)
  const url = mails.at(-1)?.action.url ?? ''
  return url.slice(url.lastIndexOf('/') + 1)
}

const address = () => `ceo-${++made}@other.example`

/**
 * An attacker invites an address, opens the link, and adds everything that can give access to the account.
 */
async function takenAccount(email: string) {
  const attacker = await newOwner({ mail: false })
  const { token } = await invite(attacker.own, { email, role: 'OWNER' })
  const attackersBrowser = { ...visitor() }
  const joined = await joinByInvitation(attackersBrowser, token, { name: 'CEO', password }, 'attacker')
  const own = await inSession(attackersBrowser, joined.sessionToken ?? '')
  const { id } = await prisma.user.findUniqueOrThrow({ where: { email } })
  await prisma.passkey.create({
    data: { id: `pk-${id}`, userId: id, name: 'P', publicKey: new Uint8Array(1), counter: 0, createdAt: noon },
  })
  await prisma.identity.create({ data: { issuer: 'https://evil.example', subject: id, userId: id, createdAt: noon } })
  const { secret } = await startAuthenticator(own)
  await confirmAuthenticator(own, totpCode(secret, Math.floor(noon.getTime() / 30_000)))
  const held = await createToken(own, 'SECOND_FACTOR', { userId: id, lifetimeMs: 600_000 })
  const link = await createResetLink({ ...own, actor: { kind: 'operator' } }, id)
  const user = await prisma.user.findUniqueOrThrow({ where: { email } })
  return { attacker, own, user, session: joined.sessionToken ?? '', held, link, device: newDevice(own, user) }
}

/** Expects that the attacker has no way left into an account. */
async function expectLockedOut({ own, user, session, held, link, device }: Awaited<ReturnType<typeof takenAccount>>) {
  const where = { userId: user.id }
  expect(await userOfSession(own, session)).toBeNull()
  expect(await prisma.passkey.count({ where })).toBe(0)
  expect(await prisma.identity.count({ where })).toBe(0)
  expect(await prisma.recoveryCode.count({ where })).toBe(0)
  expect(await readToken(own, 'SECOND_FACTOR', held)).toBeNull()
  expect(await readToken(own, 'PASSWORD_RESET', link.slice(link.lastIndexOf('/') + 1))).toBeNull()
  const now = await prisma.user.findUniqueOrThrow({ where: { id: user.id } })
  expect(now).toMatchObject({ totpEnabled: false, totpSecret: null })
  expect(knownDevice({ ...own, device }, now)).toBeNull()
  expect(await signInByPassword(visitor(), { email: user.email, password }, '')).toBeNull()
  // Requests that began before must not add anything now.
  await expect(startAuthenticator(own)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  await expect(completeSignIn(own, user, '')).rejects.toMatchObject({ code: 'WRONG_CREDENTIALS' })
  return now
}

const renewed = 'a new long password'

describe('an account that someone else has taken before its owner', () => {
  test('is its owner’s after a reset by email, and only then can it join another organization', async () => {
    const taken = await takenAccount(address())
    const { email } = taken.user
    expect(taken.user.emailProvenAt).toBeNull()
    const owner = visitor()
    await requestPasswordReset(owner, { email })
    const { kind } = await resetPassword(owner, await mailed(owner), { password: renewed }, '')
    expect(kind).toBe('signedIn')
    expect((await expectLockedOut(taken)).emailProvenAt).toEqual(noon)
    expect(await signInByPassword(visitor(), { email, password: renewed }, '')).toMatchObject({ kind: 'signedIn' })
  })

  test('is its owner’s after a sign-in by email, which asks for no code of the attacker’s app', async () => {
    const taken = await takenAccount(address())
    const owner = visitor()
    await requestSignInLink(owner, { email: taken.user.email }, '/console')
    const { signIn } = await signInByLink(owner, await mailed(owner), '')
    expect(signIn.kind).toBe('signedIn')
    const { emailProvenAt, passwordHash } = await expectLockedOut(taken)
    expect([emailProvenAt, passwordHash]).toEqual([noon, null])
    await changePassword(await inSession(owner, signIn.kind === 'signedIn' ? signIn.sessionToken : ''), {
      password: renewed,
    })
  })

  test('is its owner’s after a sign-up by email, with another organization', async () => {
    const taken = await takenAccount(address())
    const { email } = taken.user
    const owner = visitor()
    await requestSignUp(owner, { email })
    const slug = `owner-${++made}`
    const input = { name: 'The owner', password: renewed, organizationName: 'Own', slug }
    const { organization, sessionToken } = await signUp(owner, await mailed(owner), input, '')
    expect(await expectLockedOut(taken)).toMatchObject({ name: 'The owner', emailProvenAt: noon })
    const { memberships } = (await userOfSession(owner, sessionToken)) ?? {}
    expect([...(memberships?.keys() ?? [])].sort()).toEqual([organization.id, taken.attacker.organization.id].sort())
  })

  test('is its owner’s after an emailed invitation of another organization', async () => {
    const taken = await takenAccount(address())
    const inviter = await newOwner()
    const { isMailed } = await invite(inviter.own, { email: taken.user.email, role: 'OWNER' })
    expect(isMailed).toBe(true)
    const token = await mailed(inviter.own)
    const invitation = await findInvitation(inviter.own, token)
    expect(await stepOf(visitor(), invitation)).toBe('NEW_ACCOUNT')
    await joinByInvitation(visitor(), token, { name: 'The owner', password: renewed }, '')
    expect(await expectLockedOut(taken)).toMatchObject({ name: 'The owner', emailProvenAt: noon })
  })

  test('joins another organization by the inviter’s link only with a new password, and stays unproven', async () => {
    const taken = await takenAccount(address())
    const inviter = await newOwner({ mail: false })
    const { token, isMailed } = await invite(inviter.own, { email: taken.user.email, role: 'OWNER' })
    expect(isMailed).toBe(false)
    expect(await stepOf(visitor(), await findInvitation(inviter.own, token))).toBe('SIGN_IN')
    const stranger = joinByInvitation(visitor(), token, { name: 'Stranger', password: renewed }, '')
    await expect(stranger).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await stepOf(taken.own, await findInvitation(inviter.own, token))).toBe('NEW_PASSWORD')
    await expect(acceptInvitation(taken.own, token)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    const { sessionToken } = await acceptInvitation(taken.own, token, { password: renewed }, '')
    expect(await userOfSession(taken.own, sessionToken ?? '')).not.toBeNull()
    expect((await expectLockedOut(taken)).emailProvenAt).toBeNull()
  })

  test('passes to whoever gets the operator’s link, and stays unproven', async () => {
    const taken = await takenAccount(address())
    const token = taken.link.slice(taken.link.lastIndexOf('/') + 1)
    expect((await resetPassword(visitor(), token, { password: renewed }, '')).kind).toBe('signedIn')
    expect((await expectLockedOut(taken)).emailProvenAt).toBeNull()
  })

  test('is made an owner by the operator only if the operator says so', async () => {
    const { user } = await takenAccount(address())
    const { forOrganization } = await newOwner()
    await expect(addOwner(forOrganization, user.email)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await addOwner(forOrganization, user.email, { allowUnproven: true })).toMatchObject({ role: 'OWNER' })
  })
})

describe('an invitation', () => {
  async function invited(role = 'VIEWER'): Promise<NewInvitation & { inviter: Awaited<ReturnType<typeof newOwner>> }> {
    const inviter = await newOwner()
    return { ...(await invite(inviter.own, { email: address(), role })), inviter }
  }
  const provenAtOf = async (email: string) => (await prisma.user.findUniqueOrThrow({ where: { email } })).emailProvenAt

  test('proves the address by the link in the email, not by the link that the inviter sees', async () => {
    const { inviter, token, invitation } = await invited()
    const other = await mailed(inviter.own)
    expect(other).not.toBe(token)
    expect(inviter.own.mails).toMatchObject([{ to: invitation.email }])
    await joinByInvitation(visitor(), other, { name: 'A', password }, '')
    expect(await provenAtOf(invitation.email)).toEqual(noon)
    await expect(findInvitation(visitor(), token)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const shown = await invited()
    await joinByInvitation(visitor(), shown.token, { name: 'B', password }, '')
    expect(await provenAtOf(shown.invitation.email)).toBeNull()
  })

  test('is joined by a proven account with its own password and passkeys', async () => {
    const { own } = await newOwner()
    const ctx = visitor()
    const user = await newUser(ctx, true)
    const { token } = await invite(own, { email: user.email, role: 'EDITOR' })
    const signedIn = await inSession(ctx, await startSession(ctx, user.id, 'x'))
    for (const link of [token, await mailed(own)]) {
      expect(await stepOf(signedIn, await findInvitation(ctx, link))).toBe('ACCEPT')
      expect(await stepOf(ctx, await findInvitation(ctx, link))).toBe('SIGN_IN')
    }
    expect(await acceptInvitation(signedIn, token)).toMatchObject({ sessionToken: null })
    expect(await prisma.user.findUniqueOrThrow({ where: { id: user.id } })).toEqual(user)
  })

  test('is not mailed again and again to the same address, and never in the way of its own links', async () => {
    const email = address()
    const inviters = await Promise.all([newOwner(), newOwner(), newOwner(), newOwner()])
    const sent: boolean[] = []
    for (const { own } of inviters) {
      for (let times = 0; times < 3; times++) sent.push((await invite(own, { email, role: 'VIEWER' })).isMailed)
    }
    expect(sent.filter(Boolean)).toHaveLength(5)
    expect(sent.slice(0, 3)).toEqual([true, true, false])
    expect(await requestPasswordReset(visitor(), { email })).toBeUndefined()
  })
})

describe('a proven account', () => {
  test('keeps its second factor when the operator hands over a link, but is proven no more', async () => {
    const ctx = visitor()
    const user = await newUser(ctx, true)
    const own = await inSession(ctx, await startSession(ctx, user.id, 'x'))
    const { secret } = await startAuthenticator(own)
    await confirmAuthenticator(own, totpCode(secret, Math.floor(noon.getTime() / 30_000)))
    const link = await createResetLink({ ...ctx, actor: { kind: 'operator' } }, user.id)
    const { kind } = await resetPassword(visitor(), link.slice(link.lastIndexOf('/') + 1), { password: renewed }, '')
    expect(kind).toBe('secondFactor')
    const now = await prisma.user.findUniqueOrThrow({ where: { id: user.id } })
    expect(now).toMatchObject({ emailProvenAt: null, totpEnabled: true })
  })

  test('starts no session for a password that was checked before a reset', async () => {
    const ctx = visitor()
    const before: User = await newUser(ctx, true)
    await requestPasswordReset(ctx, { email: before.email })
    await resetPassword(ctx, await mailed(ctx), { password: renewed }, '')
    await expect(completeSignIn(ctx, before, '')).rejects.toMatchObject({ code: 'WRONG_CREDENTIALS' })
  })
})
