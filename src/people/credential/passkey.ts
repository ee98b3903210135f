import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { z } from 'zod'
import { requireConfirmation } from '../../core/access.ts'
import { transaction } from '../../core/context.ts'
import { Conflict, Invalid, NotFound, Unauthenticated } from '../../core/errors.ts'
import { clientSubject } from '../../core/ip-address.ts'
import { MINUTE } from '../../core/time.ts'
import { nameText, validate } from '../../core/validation.ts'
import type { Passkey, User } from '../../generated/prisma/client.ts'
import { lockOwnAccount, lockUnchanged } from '../account-access.ts'
import { limitAttempts, limitRequests } from '../attempt-limit.ts'
import type { PeopleContext } from '../context.ts'
import { knownDevice, ownSession } from '../known-device.ts'
import { createToken, takeToken } from '../one-time-token.ts'
import { confirmSession, requireUser, startSession } from '../session.ts'
import type { PasskeyAnswer, PasskeyTask } from './passkey-thread.ts'
import { verifyPasskey } from './passkey-thread.ts'

/** The site that passkeys are created for. WebAuthn binds them to it. */
export interface RelyingParty {
  /** The host name. */
  readonly id: string
  readonly origin: string
}

/** How long a browser has to answer a challenge. */
const CHALLENGE_LIFETIME = 5 * MINUTE
/** The maximum number of passkeys per person. */
const MAX_PASSKEYS = 20
/** EdDSA, ES256 and RS256, by their COSE numbers: the algorithms that the library verifies by default. */
const ALGORITHMS = [-8, -7, -257]

type Purpose = 'sign-in' | 'confirm' | 'register'

/** The challenge is a one-time token of 256 random bits. Only the browser that received it can answer it, once. */
async function createChallenge(ctx: PeopleContext, use: Purpose, userId: string | null): Promise<string> {
  await limitRequests(ctx)
  return createToken(ctx, 'PASSKEY', { userId, data: { use }, lifetimeMs: CHALLENGE_LIFETIME })
}

/** Returns the options for signing in with any passkey of this site. @throws RateLimited after too many requests. */
export async function signInOptions(
  ctx: PeopleContext,
  { id: rpId }: RelyingParty,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const challenge = await createChallenge(ctx, 'sign-in', null)
  return { challenge, rpId, timeout: CHALLENGE_LIFETIME, userVerification: 'required' }
}

/** Returns the options for confirming the caller's identity with a passkey. */
export async function confirmOptions(
  ctx: PeopleContext,
  { id: rpId }: RelyingParty,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { userId } = requireUser(ctx)
  const challenge = await createChallenge(ctx, 'confirm', userId)
  const allowCredentials = await descriptorsOf(ctx, userId)
  return { challenge, rpId, allowCredentials, timeout: CHALLENGE_LIFETIME, userVerification: 'required' }
}

/** Returns the options for creating a passkey for the caller. @throws Conflict when the caller has too many passkeys. */
export async function registrationOptions(
  ctx: PeopleContext,
  { id }: RelyingParty,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { userId } = requireUser(ctx)
  requireConfirmation(ctx)
  const { email, name } = await ctx.db.user.findUniqueOrThrow({ where: { id: userId } })
  await requireRoom(ctx, userId)
  const excludeCredentials = await descriptorsOf(ctx, userId)
  return {
    challenge: await createChallenge(ctx, 'register', userId),
    rp: { id, name: 'Allclear' },
    user: { id: Buffer.from(userId).toString('base64url'), name: email, displayName: name },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials,
    timeout: CHALLENGE_LIFETIME,
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
  }
}

async function requireRoom({ db }: PeopleContext, userId: string): Promise<void> {
  const count = await db.passkey.count({ where: { userId } })
  if (count >= MAX_PASSKEYS) throw new Conflict(`You can have at most ${MAX_PASSKEYS} passkeys.`)
}

async function descriptorsOf({ db }: PeopleContext, userId: string) {
  const passkeys = await db.passkey.findMany({ where: { userId }, select: { id: true } })
  return passkeys.map(({ id }) => ({ id, type: 'public-key' as const }))
}

/** A text in base64url from the browser. */
const base64url = z
  .string()
  .max(100_000)
  .regex(/^[\w-]+$/)
/** At most 1,023 bytes (WebAuthn level 3 §4). */
const credentialId = base64url.max(1364)
const answered = z.object({ id: credentialId, rawId: credentialId, type: z.literal('public-key') })
const authentication = z.looseObject({
  ...answered.shape,
  response: z.looseObject({ clientDataJSON: base64url, authenticatorData: base64url, signature: base64url }),
})
const registration = z.looseObject({
  ...answered.shape,
  response: z.looseObject({ clientDataJSON: base64url, attestationObject: base64url }),
})

/**
 * Signs in with a passkey. A passkey counts as two factors: the person has it, and unlocks it. Returns the session's token; null:
 * the passkey was refused.
 * @throws Invalid for a malformed response. @throws RateLimited after too many refusals. @throws Unavailable under load.
 */
export async function signInByPasskey(
  ctx: PeopleContext,
  site: RelyingParty,
  input: unknown,
  userAgent: string,
): Promise<string | null> {
  const passkey = await acceptPasskey(ctx, site, input, 'sign-in')
  if (passkey === null) return null
  return transaction(ctx, async (tx) => {
    await lockUnchanged(tx, passkey.user)
    return startSession(tx, passkey.userId, userAgent)
  })
}

/** Confirms the signed-in person's identity with a passkey. Returns whether it was accepted. @throws like `signInByPasskey`. */
export async function confirmByPasskey(ctx: PeopleContext, site: RelyingParty, input: unknown): Promise<boolean> {
  requireUser(ctx)
  const passkey = await acceptPasskey(ctx, site, input, 'confirm')
  if (passkey !== null) await confirmSession(ctx)
  return passkey !== null
}

async function acceptPasskey(
  ctx: PeopleContext,
  site: RelyingParty,
  input: unknown,
  use: 'sign-in' | 'confirm',
): Promise<(Passkey & { readonly user: User }) | null> {
  const response = validate(authentication, input)
  const passkey = await ctx.db.passkey.findUnique({ where: { id: response.id }, include: { user: true } })
  const browser = use === 'confirm' ? ownSession(ctx) : knownDevice(ctx, passkey?.user ?? null)
  return limitAttempts(ctx, { account: `passkey ${response.id}`, browser }, async () => {
    const challenge = await takeChallenge(ctx, response.response.clientDataJSON, use)
    if (passkey === null || challenge === null) return null
    // Only the person of a session can confirm it, not the owner of another account with a challenge of their own.
    if (use === 'confirm' && passkey.userId !== requireUser(ctx).userId) return null
    if (challenge.userId !== null && challenge.userId !== passkey.userId) return null
    const { id, publicKey, counter } = passkey
    const answer = await verify(ctx, {
      kind: 'authentication',
      // The schema has only the fields that we read; the library checks the others.
      response: response as unknown as AuthenticationResponseJSON,
      credential: { id, publicKey: new Uint8Array(publicKey), counter: Number(counter) },
      ...expectation(site, challenge.token),
    })
    return answer.kind === 'authenticated' && (await countUse(ctx, id, answer.counter)) ? passkey : null
  })
}

/** Records the use of a passkey. Returns false when the counter has not grown: the passkey was copied, or the response replayed. */
async function countUse({ db, now }: PeopleContext, id: string, counter: number): Promise<boolean> {
  const where = counter === 0 ? { id, counter: 0n } : { id, counter: { lt: counter } }
  const { count } = await db.passkey.updateMany({ where, data: { counter, lastUsedAt: now() } })
  return count > 0
}

const newPasskey = z.object({ name: nameText, response: registration })

/**
 * Adds a passkey to the caller's account.
 * @throws Invalid for a malformed or refused response. @throws Conflict when the passkey is already registered.
 */
export async function addPasskey(ctx: PeopleContext, site: RelyingParty, input: unknown): Promise<Passkey> {
  const { userId } = requireUser(ctx)
  requireConfirmation(ctx)
  const { name, response } = validate(newPasskey, input)
  const challenge = await takeChallenge(ctx, response.response.clientDataJSON, 'register')
  if (challenge?.userId !== userId) throw refused()
  const answer = await verify(ctx, {
    kind: 'registration',
    response: response as unknown as RegistrationResponseJSON,
    ...expectation(site, challenge.token),
  })
  if (answer.kind !== 'registered') throw refused()
  const { id, publicKey, counter, transports } = answer
  const data = { id, userId, name, counter, transports: [...transports], createdAt: ctx.now() }
  return transaction(ctx, async (tx) => {
    await lockOwnAccount(tx)
    await requireRoom(tx, userId)
    const { count } = await tx.db.passkey.createMany({
      data: { ...data, publicKey: new Uint8Array(publicKey) },
      skipDuplicates: true,
    })
    if (count === 0) throw new Conflict('This passkey is already registered.')
    return tx.db.passkey.findUniqueOrThrow({ where: { id } })
  })
}

/** Returns the caller's passkeys, oldest first. */
export function passkeysOf(ctx: PeopleContext): Promise<Passkey[]> {
  const { userId } = requireUser(ctx)
  return ctx.db.passkey.findMany({ where: { userId }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] })
}

/** Removes one of the caller's passkeys. @throws NotFound when the caller has no such passkey. */
export async function removePasskey(ctx: PeopleContext, id: string): Promise<void> {
  const { userId } = requireUser(ctx)
  requireConfirmation(ctx)
  const { count } = await ctx.db.passkey.deleteMany({ where: { id, userId } })
  if (count === 0) throw new NotFound('Passkey not found.')
}

/** Creates the error for a refused passkey. */
export function passkeyRefused(): Unauthenticated {
  return new Unauthenticated('WRONG_CREDENTIALS', 'This passkey was not accepted.')
}

const refused = () => new Invalid('INVALID_INPUT', 'This passkey was not accepted. Try again.')

/** No page of ours is shown in a frame of another site, where `crossOrigin` would be true (WebAuthn level 3 §5.8.1). */
const clientData = z.object({ challenge: z.string(), crossOrigin: z.literal(false).optional() })

/** Uses up the challenge in a response; null: it is unknown, expired, used or has another purpose. */
async function takeChallenge(ctx: PeopleContext, clientDataJson: string, use: Purpose) {
  const { challenge: token } = clientData.safeParse(jsonIn(clientDataJson)).data ?? {}
  const content = token === undefined ? null : await takeToken(ctx, 'PASSKEY', token)
  if (token === undefined || content === null) return null
  const isForThis = z.object({ use: z.literal(use) }).safeParse(content.data).success
  return isForThis ? { token, userId: content.userId } : null
}

function jsonIn(encoded: string): unknown {
  try {
    return JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'))
  } catch {
    return null
  }
}

function expectation({ id, origin }: RelyingParty, expectedChallenge: string) {
  return { expectedChallenge, expectedOrigin: origin, expectedRPID: id }
}

async function verify(ctx: PeopleContext, task: PasskeyTask): Promise<PasskeyAnswer> {
  const answer = await verifyPasskey(clientSubject(ctx.clientAddress), task)
  if (answer.kind === 'refused') ctx.log.info({ reason: answer.message }, 'people: refused a passkey')
  return answer
}
