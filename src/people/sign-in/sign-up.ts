import { z } from 'zod'
import { insertOrganization, refuseTaken } from '../../account/organization/organization.ts'
import { consumeSignUpQuota } from '../../account/organization/sign-up.ts'
import { slugText } from '../../account/page/page-settings.ts'
import type { Context } from '../../core/context.ts'
import { transaction } from '../../core/context.ts'
import { NotFound } from '../../core/errors.ts'
import { HOUR } from '../../core/time.ts'
import { nameText, validate } from '../../core/validation.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import { enterAccount, stateOf } from '../account-access.ts'
import { outcomeOf } from '../account-entry.ts'
import { limitLinks } from '../attempt-limit.ts'
import type { PeopleContext } from '../context.ts'
import { knownDevice } from '../known-device.ts'
import type { AccountMail } from '../mail.ts'
import { afterAnswer, requireMail } from '../mail.ts'
import { insertMembership } from '../membership.ts'
import { createToken, readToken, takeToken } from '../one-time-token.ts'
import { hashPassword, newPassword } from '../password.ts'
import { startSession } from '../session.ts'
import { requireSetUp } from '../setup.ts'
import { emailInput, insertUser, userByEmail } from '../user.ts'
import { linkGone } from './sign-in-link.ts'

/** The path of the sign-up page and of its links; the token follows. */
export const SIGN_UP_PATH = '/sign-up'

const LIFETIME = 1 * HOUR

/** @throws NotFound unless sign-up is open. */
export function requireOpenSignUp({ config }: Pick<Context, 'config'>): void {
  if (config.SIGNUP !== 'open') throw new NotFound('Sign-up is closed.')
}

/**
 * Sends an email with a link that proves the address of a person who signs up. If a proven account has the address, the
 * email says so; the answer does not reveal it.
 * @throws Invalid for an invalid address. @throws RateLimited after too many links. @throws NotFound when sign-up is closed, or
 * when email is not set up.
 */
export async function requestSignUp(ctx: PeopleContext, input: unknown): Promise<void> {
  requireOpenSignUp(ctx)
  await requireSetUp(ctx)
  const sendMail = requireMail(ctx)
  const { email } = validate(emailInput, input)
  const user = await userByEmail(ctx, email)
  await limitLinks(ctx, { email, purpose: 'sign-up', browser: knownDevice(ctx, user) })
  afterAnswer(ctx, async () => {
    const outcome = outcomeOf('MAILED_SIGN_UP_LINK', stateOf(user))
    await sendMail(outcome.kind === 'enters' ? await signUpMail(ctx, email) : knownMail(ctx, email))
  })
}

async function signUpMail(ctx: PeopleContext, email: string): Promise<AccountMail> {
  const token = await createToken(ctx, 'SIGN_UP', { data: { email }, lifetimeMs: LIFETIME })
  return {
    to: email,
    subject: 'Create your Allclear account',
    message: 'The link works once, within an hour.',
    action: { label: 'Create account', url: `${ctx.site.baseUrl}${SIGN_UP_PATH}/${token}` },
    reason: reasonAt(ctx),
  }
}

function knownMail(ctx: PeopleContext, email: string): AccountMail {
  return {
    to: email,
    subject: 'You already have an Allclear account',
    message: 'Someone tried to sign up with your address. You can sign in, or set a new password.',
    action: { label: 'Sign in', url: `${ctx.site.baseUrl}/sign-in` },
    reason: reasonAt(ctx),
  }
}

const reasonAt = ({ site }: PeopleContext) =>
  `Someone entered your address at ${site.baseUrl}. If it was not you, ignore this email.`

/** Returns the address that a link proves; null: the link was used or has expired. Following it changes nothing. */
export async function emailOfSignUp(ctx: Context, token: string): Promise<string | null> {
  return emailIn(await readToken(ctx, 'SIGN_UP', token))
}

const signUpInput = z.object({ name: nameText, password: newPassword, organizationName: nameText, slug: slugText })

/**
 * Creates a person, whose address a link proves, with a new organization, and signs them in. An unproven account of the address
 * becomes theirs.
 * @throws Invalid for an invalid field. @throws Conflict when the slug is taken, or a proven account has the address.
 * @throws RateLimited after too many sign-ups. @throws NotFound when sign-up is closed.
 * @throws Unauthenticated `INVALID_TOKEN` when the link was used or has expired.
 */
export async function signUp(
  ctx: PeopleContext,
  token: string,
  input: unknown,
  userAgent: string,
): Promise<{ organization: Organization; sessionToken: string }> {
  requireOpenSignUp(ctx)
  const { name, password, organizationName, slug } = validate(signUpInput, input)
  if ((await emailOfSignUp(ctx, token)) === null) throw linkGone()
  const passwordHash = await hashPassword(password, ctx.clientAddress)
  const creation = transaction(ctx, async (tx) => {
    const email = emailIn(await takeToken(tx, 'SIGN_UP', token))
    if (email === null) throw linkGone()
    await requireSetUp(tx)
    const known = await userByEmail(tx, email)
    const user =
      known === null
        ? await insertUser(tx, 'MAILED_SIGN_UP_LINK', { email, name, passwordHash })
        : await enterAccount(tx, known, 'MAILED_SIGN_UP_LINK', { name, passwordHash })
    await consumeSignUpQuota(tx)
    const organization = await insertOrganization(tx, { name: organizationName, slug, contactEmail: email })
    await insertMembership(tx, { organizationId: organization.id, userId: user.id, role: 'OWNER' }, name)
    return { organization, sessionToken: await startSession(tx, user.id, userAgent) }
  })
  return creation.catch(refuseTaken)
}

const proven = z.object({ data: z.object({ email: z.string() }) })

function emailIn(content: unknown): string | null {
  return proven.safeParse(content).data?.data.email ?? null
}
