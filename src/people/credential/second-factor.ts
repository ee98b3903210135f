import { requireConfirmation } from '../../core/access.ts'
import { transaction } from '../../core/context.ts'
import { Conflict, Unauthenticated } from '../../core/errors.ts'
import { hashSecret } from '../../core/hash-secret.ts'
import { randomText } from '../../core/id.ts'
import { signInLimits } from '../../core/input-limits.ts'
import { invalid } from '../../core/validation.ts'
import type { User } from '../../generated/prisma/client.ts'
import { lockOwnAccount, lockUnchanged } from '../account-access.ts'
import { limitAttempts } from '../attempt-limit.ts'
import type { PeopleContext } from '../context.ts'
import { knownDevice, ownSession } from '../known-device.ts'
import { readToken, takeToken } from '../one-time-token.ts'
import { requireUser, startSession } from '../session.ts'
import { newTotpSecret, stepOfCode, totpUrl } from './totp.ts'

/** The number of recovery codes per person. */
const RECOVERY_CODES = 10
/** The length of a recovery code, in characters: 80 random bits. */
const RECOVERY_CODE_LENGTH = 16
/** The number of wrong codes that ends a sign-in. It may lock the account, because only a person with the password gets here. */
const MAX_WRONG_CODES = 10

const ISSUER = 'Allclear'

/** An authenticator app that is being set up. */
export interface PendingAuthenticator {
  /** The secret in base32, for typing. */
  readonly secret: string
  /** The secret as an `otpauth:` URL, for scanning. */
  readonly url: string
}

/** The second factor of a person. */
export interface SecondFactor {
  readonly isEnabled: boolean
  /** The number of unused recovery codes. */
  readonly recoveryCodes: number
}

/** Returns the state of the caller's second factor. */
export async function secondFactorOf(ctx: PeopleContext): Promise<SecondFactor> {
  const { userId } = requireUser(ctx)
  const [{ totpEnabled }, recoveryCodes] = await Promise.all([
    ctx.db.user.findUniqueOrThrow({ where: { id: userId } }),
    ctx.db.recoveryCode.count({ where: { userId } }),
  ])
  return { isEnabled: totpEnabled, recoveryCodes }
}

/**
 * Starts the setup of an authenticator app with a new secret. Sign-in requires the app only after `confirmAuthenticator`.
 * @throws Conflict when an app is already set up.
 */
export async function startAuthenticator(ctx: PeopleContext): Promise<PendingAuthenticator> {
  const { userId: id } = requireUser(ctx)
  requireConfirmation(ctx)
  const secret = newTotpSecret()
  const data = { totpSecret: ctx.seal.seal(secret, about(id)), totpStep: null }
  const email = await transaction(ctx, async (tx) => {
    const user = await lockOwnAccount(tx)
    if (user.totpEnabled) throw new Conflict('An authenticator app is already set up. Remove it first.')
    await tx.db.user.update({ where: { id }, data })
    return user.email
  })
  return { secret, url: totpUrl(secret, email, ISSUER) }
}

/** Returns the app that the caller is setting up; null: none. @throws Unauthenticated when the caller must confirm first. */
export async function pendingAuthenticator(ctx: PeopleContext): Promise<PendingAuthenticator | null> {
  const { userId: id } = requireUser(ctx)
  requireConfirmation(ctx)
  const { totpEnabled, totpSecret, email } = await ctx.db.user.findUniqueOrThrow({ where: { id } })
  if (totpEnabled || totpSecret === null) return null
  const secret = ctx.seal.open(totpSecret, about(id))
  return { secret, url: totpUrl(secret, email, ISSUER) }
}

/**
 * Turns on the second factor, given a first code from the app. Returns the recovery codes, which cannot be read again.
 * @throws Invalid for a wrong code. @throws RateLimited after too many. @throws Conflict when no app is being set up.
 */
export async function confirmAuthenticator(ctx: PeopleContext, code: string): Promise<readonly string[]> {
  const { userId: id } = requireUser(ctx)
  requireConfirmation(ctx)
  const user = await ctx.db.user.findUniqueOrThrow({ where: { id } })
  const { totpSecret } = user
  if (user.totpEnabled || totpSecret === null) throw new Conflict('No authenticator app is being set up.')
  const isRight = await limitAttempts(
    ctx,
    { account: `code ${id}`, browser: ownSession(ctx), max: MAX_WRONG_CODES },
    async () => ((await acceptTotp(ctx, user, code)) ? true : null),
  )
  if (!isRight) throw invalid([{ path: ['code'], message: 'is not the code that the app shows now' }])
  return transaction(ctx, async (tx) => {
    await lockOwnAccount(tx)
    // Compares the secret, because another browser may have restarted the setup in the meantime.
    const where = { id, totpEnabled: false, totpSecret }
    const { count } = await tx.db.user.updateMany({ where, data: { totpEnabled: true } })
    if (count === 0) throw new Conflict('No authenticator app is being set up.')
    return insertRecoveryCodes(tx, id)
  })
}

/** Replaces the caller's recovery codes and returns the new ones. @throws Conflict when there is no second factor. */
export async function replaceRecoveryCodes(ctx: PeopleContext): Promise<readonly string[]> {
  const { userId: id } = requireUser(ctx)
  requireConfirmation(ctx)
  return transaction(ctx, async (tx) => {
    const { totpEnabled } = await lockOwnAccount(tx)
    if (!totpEnabled) throw new Conflict('Set up an authenticator app first.')
    return insertRecoveryCodes(tx, id)
  })
}

/** Turns off the caller's second factor and deletes their recovery codes. */
export async function removeAuthenticator(ctx: PeopleContext): Promise<void> {
  const { userId: id } = requireUser(ctx)
  requireConfirmation(ctx)
  await transaction(ctx, async (tx) => {
    await lockOwnAccount(tx)
    const { db } = tx
    await db.user.update({ where: { id }, data: { totpSecret: null, totpEnabled: false, totpStep: null } })
    await db.recoveryCode.deleteMany({ where: { userId: id } })
  })
}

/**
 * Completes a sign-in with a code from the app, or with a recovery code, which works once. Returns the session's token; null: the
 * code was wrong. The token of the sign-in survives wrong codes; the tenth uses it up.
 * @throws Unauthenticated `INVALID_TOKEN` when the sign-in took too long or is already completed.
 * @throws RateLimited after too many wrong codes for the account.
 */
export async function signInBySecondFactor(
  ctx: PeopleContext,
  token: string,
  code: string,
  userAgent: string,
): Promise<string | null> {
  const userId = (await readToken(ctx, 'SECOND_FACTOR', token))?.userId ?? null
  if (userId === null) throw tokenGone()
  const user = await ctx.db.user.findUniqueOrThrow({ where: { id: userId } })
  const isRight = await limitAttempts(
    ctx,
    { account: `code ${userId}`, browser: knownDevice(ctx, user), max: MAX_WRONG_CODES },
    async () => ((await acceptCode(ctx, userId, code)) ? true : null),
  )
  if (!isRight) {
    await countWrongCode(ctx, token)
    return null
  }
  return transaction(ctx, async (tx) => {
    await lockUnchanged(tx, user)
    if ((await takeToken(tx, 'SECOND_FACTOR', token)) === null) throw tokenGone()
    return startSession(tx, userId, userAgent)
  })
}

const tokenGone = () => new Unauthenticated('INVALID_TOKEN', 'This took too long. Sign in again.')

async function countWrongCode({ db }: PeopleContext, token: string): Promise<void> {
  const [counted] = await db.$queryRaw<{ wrong: number }[]>`
    UPDATE "OneTimeToken" SET data = jsonb_build_object('wrong', coalesce((data->>'wrong')::int, 0) + 1)
    WHERE hash = ${hashSecret(token)} RETURNING (data->>'wrong')::int AS wrong`
  if (counted && counted.wrong >= MAX_WRONG_CODES) {
    await db.oneTimeToken.deleteMany({ where: { hash: hashSecret(token) } })
  }
}

async function acceptCode(ctx: PeopleContext, id: string, given: string): Promise<boolean> {
  if (given.length > signInLimits.code.most) return false
  const user = await ctx.db.user.findUniqueOrThrow({ where: { id } })
  const code = given.replace(/[\s-]/g, '').toLowerCase()
  if (/^\d{6}$/.test(code)) return acceptTotp(ctx, user, code)
  const { count } = await ctx.db.recoveryCode.deleteMany({ where: { userId: id, hash: hashSecret(code) } })
  return count > 0
}

/** Accepts a code from the app once. If it is submitted twice at the same time, one of the two is refused. */
async function acceptTotp(ctx: PeopleContext, user: User, given: string): Promise<boolean> {
  if (user.totpSecret === null || given.length > signInLimits.code.most) return false
  const secret = ctx.seal.open(user.totpSecret, about(user.id))
  const step = stepOfCode(secret, given.replace(/\s/g, ''), ctx.now(), user.totpStep)
  if (step === null) return false
  const isNewer = { OR: [{ totpStep: null }, { totpStep: { lt: step } }] }
  const { count } = await ctx.db.user.updateMany({ where: { id: user.id, ...isNewer }, data: { totpStep: step } })
  return count > 0
}

async function insertRecoveryCodes({ db }: PeopleContext, userId: string): Promise<readonly string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => randomText(RECOVERY_CODE_LENGTH))
  await db.recoveryCode.deleteMany({ where: { userId } })
  await db.recoveryCode.createMany({ data: codes.map((code) => ({ userId, hash: hashSecret(code) })) })
  return codes.map((code) => code.replace(/.{4}(?=.)/g, '$&-'))
}

const about = (userId: string) => `${userId} totpSecret`
