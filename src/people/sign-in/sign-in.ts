import { transaction } from '../../core/context.ts'
import { MINUTE } from '../../core/time.ts'
import type { ReadAccount } from '../account-access.ts'
import { lockUnchanged } from '../account-access.ts'
import { limitAttempts } from '../attempt-limit.ts'
import type { PeopleContext } from '../context.ts'
import { knownDevice, ownSession } from '../known-device.ts'
import { createToken } from '../one-time-token.ts'
import { verifyPassword } from '../password.ts'
import { confirmSession, requireUser, startSession } from '../session.ts'
import { personEmail, userByEmail } from '../user.ts'

/** The progress of a sign-in. */
export type SignIn =
  | { readonly kind: 'signedIn'; readonly sessionToken: string }
  /** The password was correct. The token proves this until the second factor is given. */
  | { readonly kind: 'secondFactor'; readonly token: string }

const SECOND_FACTOR_LIFETIME = 10 * MINUTE

/**
 * Signs a person in with an email address and a password. Returns null when they do not match, without revealing whether the
 * account exists.
 * @throws RateLimited after too many wrong answers. @throws Unavailable when too many people sign in at once.
 */
export async function signInByPassword(
  ctx: PeopleContext,
  { email: given, password }: { readonly email: string; readonly password: string },
  userAgent: string,
): Promise<SignIn | null> {
  const email = personEmail.safeParse(given).data ?? ''
  const known = await userByEmail(ctx, email)
  const browser = knownDevice(ctx, known)
  const user = await limitAttempts(ctx, { account: email, browser }, async () =>
    (await verifyPassword(password, known?.passwordHash ?? null, ctx.clientAddress)) ? known : null,
  )
  return user && completeSignIn(ctx, user, userAgent)
}

/**
 * Signs in a person who has proven the first factor, or asks for the second.
 * @param account as it was when the first factor was checked. @throws Unauthenticated when it has changed since.
 */
export function completeSignIn(ctx: PeopleContext, account: ReadAccount, userAgent: string): Promise<SignIn> {
  return transaction<PeopleContext, SignIn>(ctx, async (tx) => {
    const { id: userId, totpEnabled } = await lockUnchanged(tx, account)
    if (!totpEnabled) return { kind: 'signedIn', sessionToken: await startSession(tx, userId, userAgent) }
    const token = await createToken(tx, 'SECOND_FACTOR', { userId, lifetimeMs: SECOND_FACTOR_LIFETIME })
    return { kind: 'secondFactor', token }
  })
}

/**
 * Confirms the signed-in person's identity with the password. Returns whether the password was correct.
 * @throws RateLimited after too many wrong answers.
 */
export async function confirmByPassword(ctx: PeopleContext, password: string): Promise<boolean> {
  const { userId } = requireUser(ctx)
  const { email, passwordHash } = await ctx.db.user.findUniqueOrThrow({ where: { id: userId } })
  const confirmed = await limitAttempts(ctx, { account: email, browser: ownSession(ctx) }, async () =>
    (await verifyPassword(password, passwordHash, ctx.clientAddress)) ? true : null,
  )
  if (confirmed) await confirmSession(ctx)
  return confirmed === true
}
