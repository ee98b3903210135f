import { transaction } from '../../core/context.ts'
import { Unauthenticated } from '../../core/errors.ts'
import { MINUTE } from '../../core/time.ts'
import { validate } from '../../core/validation.ts'
import { enterAccount, stateOf } from '../account-access.ts'
import { dropsEverything } from '../account-entry.ts'
import { limitLinks } from '../attempt-limit.ts'
import type { PeopleContext } from '../context.ts'
import { knownDevice } from '../known-device.ts'
import { afterAnswer, requireMail } from '../mail.ts'
import { createToken, readToken, takeToken } from '../one-time-token.ts'
import { emailInput, userByEmail } from '../user.ts'
import type { SignIn } from './sign-in.ts'
import { completeSignIn } from './sign-in.ts'

/** The path of sign-in links; the token follows. */
export const SIGN_IN_LINK_PATH = '/sign-in/link'

const LIFETIME = 15 * MINUTE

/**
 * Sends an email with a sign-in link, if an account has this address. The answer does not reveal whether one has.
 * @param to the path that the link leads to after the sign-in.
 * @throws Invalid for an invalid address. @throws RateLimited after too many links. @throws NotFound when email is not set up.
 */
export async function requestSignInLink(ctx: PeopleContext, input: unknown, to: string): Promise<void> {
  const sendMail = requireMail(ctx)
  const { email } = validate(emailInput, input)
  const user = await userByEmail(ctx, email)
  await limitLinks(ctx, { email, purpose: 'account', browser: knownDevice(ctx, user) })
  afterAnswer(ctx, async () => {
    if (user === null) return
    const token = await createToken(ctx, 'SIGN_IN', { userId: user.id, data: { to }, lifetimeMs: LIFETIME })
    await sendMail({
      to: email,
      subject: 'Sign in to Allclear',
      message: 'The link works once, within 15 minutes.',
      action: { label: 'Sign in', url: `${ctx.site.baseUrl}${SIGN_IN_LINK_PATH}/${token}` },
      reason: `Someone asked for this link at ${ctx.site.baseUrl}. If it was not you, ignore this email.`,
    })
  })
}

/**
 * Returns the address of the person whom a link signs in, and what loses access then; null: the link was used or has expired.
 * Following it changes nothing, because mail scanners follow links too.
 */
export async function userOfSignInLink(
  ctx: PeopleContext,
  token: string,
): Promise<{ readonly email: string; readonly dropsEverything: boolean } | null> {
  const { userId = null } = (await readToken(ctx, 'SIGN_IN', token)) ?? {}
  const user = userId === null ? null : await ctx.db.user.findUnique({ where: { id: userId } })
  return user && { email: user.email, dropsEverything: dropsEverything('MAILED_SIGN_IN_LINK', stateOf(user)) }
}

/**
 * Signs in with a link, which proves the address; the second factor is still required, unless it was added before the first proof.
 * Also returns the path that the link leads to.
 * @throws Unauthenticated `INVALID_TOKEN` when the link was used or has expired.
 */
export async function signInByLink(
  ctx: PeopleContext,
  token: string,
  userAgent: string,
): Promise<{ signIn: SignIn; to: string }> {
  return transaction(ctx, async (tx) => {
    const { userId: id = null, data } = (await takeToken(tx, 'SIGN_IN', token)) ?? {}
    if (id === null) throw linkGone()
    const user = await enterAccount(tx, { id }, 'MAILED_SIGN_IN_LINK')
    const to = data !== null && typeof data === 'object' && 'to' in data ? String(data['to']) : ''
    return { signIn: await completeSignIn(tx, user, userAgent), to }
  })
}

/** Creates the error for a link that no longer works. */
export function linkGone(): Unauthenticated {
  return new Unauthenticated('INVALID_TOKEN', 'This link was already used or has expired. Request a new one.')
}
