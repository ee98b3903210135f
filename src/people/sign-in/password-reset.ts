import { z } from 'zod'
import { requireConfirmation, requireOperator } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { transaction } from '../../core/context.ts'
import { NotFound } from '../../core/errors.ts'
import { isIdOf } from '../../core/id.ts'
import { DAY, MINUTE } from '../../core/time.ts'
import { validate } from '../../core/validation.ts'
import { enterAccount, stateOf } from '../account-access.ts'
import { dropsEverything } from '../account-entry.ts'
import { limitLinks } from '../attempt-limit.ts'
import type { PeopleContext } from '../context.ts'
import { knownDevice } from '../known-device.ts'
import { afterAnswer, requireMail } from '../mail.ts'
import { createToken, readToken, takeToken } from '../one-time-token.ts'
import { hashPassword, newPassword } from '../password.ts'
import { emailInput, userByEmail } from '../user.ts'
import type { SignIn } from './sign-in.ts'
import { completeSignIn } from './sign-in.ts'
import { linkGone } from './sign-in-link.ts'

/** The path of links that set a new password; the token follows. */
export const RESET_PATH = '/sign-in/reset'

const LIFETIME = 15 * MINUTE
/** The content of the token of a link that only an email has. The operator’s links have none. */
const mailed = { entry: 'MAILED_PASSWORD_LINK' } as const
/** The lifetime of a link that the operator hands to the person. */
const OPERATORS_LIFETIME = 1 * DAY

/**
 * Sends an email with a link that sets a new password, if an account has this address. The answer does not reveal whether one has.
 * @throws Invalid for an invalid address. @throws RateLimited after too many links. @throws NotFound when email is not set up.
 */
export async function requestPasswordReset(ctx: PeopleContext, input: unknown): Promise<void> {
  const sendMail = requireMail(ctx)
  const { email } = validate(emailInput, input)
  const user = await userByEmail(ctx, email)
  await limitLinks(ctx, { email, purpose: 'account', browser: knownDevice(ctx, user) })
  afterAnswer(ctx, async () => {
    if (user === null) return
    const token = await createToken(ctx, 'PASSWORD_RESET', { userId: user.id, data: mailed, lifetimeMs: LIFETIME })
    await sendMail({
      to: email,
      subject: 'Set a new password for Allclear',
      message: 'The link works once, within 15 minutes.',
      action: { label: 'Set a new password', url: `${ctx.site.baseUrl}${RESET_PATH}/${token}` },
      reason: `Someone asked for this link at ${ctx.site.baseUrl}. If it was not you, ignore this email: your password stays.`,
    })
  })
}

/**
 * Creates a link, valid for a day, with which a person sets a new password without email. Operator only. Returns its path.
 * @throws NotFound for an unknown person.
 */
export async function createResetLink(ctx: Context, userId: string): Promise<string> {
  requireOperator(ctx)
  requireConfirmation(ctx)
  const user = isIdOf('User', userId) ? await ctx.db.user.findUnique({ where: { id: userId } }) : null
  if (user === null) throw new NotFound('Person not found.')
  return `${RESET_PATH}/${await createToken(ctx, 'PASSWORD_RESET', { userId, lifetimeMs: OPERATORS_LIFETIME })}`
}

/**
 * Returns the address of the person whose password a link sets, and what loses access then; null: the link was used or has expired.
 * Following it changes nothing.
 */
export async function userOfReset(
  ctx: Context,
  token: string,
): Promise<{ readonly email: string; readonly dropsEverything: boolean } | null> {
  const { userId = null, data } = (await readToken(ctx, 'PASSWORD_RESET', token)) ?? {}
  const user = userId === null ? null : await ctx.db.user.findUnique({ where: { id: userId } })
  return user && { email: user.email, dropsEverything: dropsEverything(entryIn(data), stateOf(user)) }
}

/** Returns how the link of a token came to its holder. */
function entryIn(data: unknown): 'MAILED_PASSWORD_LINK' | 'SHOWN_PASSWORD_LINK' {
  const isMailed = z.object({ entry: z.literal(mailed.entry) }).safeParse(data).success
  return isMailed ? 'MAILED_PASSWORD_LINK' : 'SHOWN_PASSWORD_LINK'
}

const resetInput = z.object({ password: newPassword })

/**
 * Sets a new password with a link, and signs the person in. What loses access is as `outcomeOf` says: at least all sessions and
 * links. The second factor is still required, unless it was dropped.
 * @throws Invalid for an invalid password. @throws Unauthenticated `INVALID_TOKEN` when the link was used or has expired.
 */
export async function resetPassword(
  ctx: PeopleContext,
  token: string,
  input: unknown,
  userAgent: string,
): Promise<SignIn> {
  const { password } = validate(resetInput, input)
  if ((await readToken(ctx, 'PASSWORD_RESET', token)) === null) throw linkGone()
  const passwordHash = await hashPassword(password, ctx.clientAddress)
  const user = await transaction(ctx, async (tx) => {
    const { userId: id = null, data } = (await takeToken(tx, 'PASSWORD_RESET', token)) ?? {}
    if (id === null) throw linkGone()
    return enterAccount(tx, { id }, entryIn(data), { passwordHash })
  })
  return completeSignIn(ctx, user, userAgent)
}
