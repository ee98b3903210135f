import { z } from 'zod'
import { readOrganization } from '../account/organization/organization-queries.ts'
import { ofLiveOrganization, withOrganizationName } from '../account/views.ts'
import { requireConfirmation, requireOwner } from '../core/access.ts'
import type { Context } from '../core/context.ts'
import { transaction } from '../core/context.ts'
import { Conflict, Forbidden, NotFound } from '../core/errors.ts'
import { hashSecret } from '../core/hash-secret.ts'
import { isIdOf, newId } from '../core/id.ts'
import { DAY } from '../core/time.ts'
import { nameText, validate } from '../core/validation.ts'
import type { ChangeContext, ChangeResult } from '../event-log/change.ts'
import { change } from '../event-log/change.ts'
import type { Invitation, Organization } from '../generated/prisma/client.ts'
import { enterAccount, lockOwnAccount, stateOf } from './account-access.ts'
import { dropsEverything, type Entry, outcomeOf } from './account-entry.ts'
import { mayMailInvitation } from './attempt-limit.ts'
import type { AccountMailer, PeopleContext, SessionCache } from './context.ts'
import { afterAnswer, requireMail } from './mail.ts'
import { insertMembership, MAX_PEOPLE, roleInput } from './membership.ts'
import { newSecret } from './one-time-token.ts'
import { hashPassword, newPassword } from './password.ts'
import { requireUser, startSession } from './session.ts'
import { insertUser, personEmail, userByEmail } from './user.ts'

/** The path of invitation links; the token follows. */
export const INVITATION_PATH = '/invitations'

/** How long the link of an invitation works. */
const LIFETIME = 7 * DAY
const invitationInput = z.object({ email: personEmail, role: roleInput })

/** A new invitation. */
export interface NewInvitation {
  readonly invitation: Invitation
  /** Of the link that the inviter sees. It does not prove the address. */
  readonly token: string
  /** Whether another link, which proves the address, is on its way to it. */
  readonly isMailed: boolean
}

/** The context of a caller who invites. */
type InviterContext = ChangeContext & AccountMailer & Pick<PeopleContext, 'site'>

/**
 * Invites an email address to the caller's organization, by email too if it is set up. Owners only. A new invitation for the same
 * address replaces the previous one.
 * @throws Invalid for an invalid field. @throws Conflict when the person is already a member, or for too many invitations.
 */
export async function invite(ctx: InviterContext, input: unknown): Promise<NewInvitation> {
  const organizationId = requireOwner(ctx)
  requireConfirmation(ctx)
  const { email, role } = validate(invitationInput, input)
  const isMailed = ctx.sendMail !== undefined && (await mayMailInvitation(ctx, organizationId, email))
  const token = newSecret()
  const mailedToken = isMailed ? newSecret() : null
  const invitedById = 'userId' in ctx.actor ? (ctx.actor.userId ?? null) : null
  const invitation = await change(ctx, organizationId, async ({ db, now }): Promise<ChangeResult<Invitation>> => {
    const member = await db.membership.findFirst({ where: { organizationId, user: { email } } })
    if (member) throw new Conflict('This person is already a member.')
    await db.invitation.deleteMany({ where: { organizationId, email } })
    const people =
      (await db.membership.count({ where: { organizationId } })) +
      (await db.invitation.count({ where: { organizationId } }))
    if (people >= MAX_PEOPLE)
      throw new Conflict(`An organization can have at most ${MAX_PEOPLE} members and invitations.`)
    const createdAt = now()
    const expiresAt = new Date(createdAt.getTime() + LIFETIME)
    const created = await db.invitation.create({
      data: {
        id: newId('Invitation'),
        organizationId,
        email,
        role,
        hash: hashSecret(token),
        mailedHash: mailedToken === null ? null : hashSecret(mailedToken),
        invitedById,
        createdAt,
        expiresAt,
      },
    })
    return [created, { kind: 'MEMBER_INVITED', subjectId: created.id, subjectName: email }]
  })
  if (mailedToken !== null) await mailInvitation(ctx, invitation, mailedToken)
  return { invitation, token, isMailed }
}

/** Starts sending the link that proves the address. */
async function mailInvitation(
  ctx: InviterContext,
  { email, organizationId }: Invitation,
  token: string,
): Promise<void> {
  const sendMail = requireMail(ctx)
  const { name } = await readOrganization(ctx, organizationId)
  afterAnswer(ctx, async () => {
    await sendMail({
      to: email,
      subject: 'You are invited to Allclear',
      message: `${name} invites you to its status pages and monitors. The link works once, within seven days.`,
      action: { label: 'Open the invitation', url: `${ctx.site.baseUrl}${INVITATION_PATH}/${token}` },
      reason: `Someone entered your address at ${ctx.site.baseUrl}. If you do not know them, ignore this email.`,
    })
  })
}

/** Returns the pending invitations of the caller's organization, newest first. Owners only. */
export function invitationsOf(ctx: Context): Promise<Invitation[]> {
  const organizationId = requireOwner(ctx)
  const where = { organizationId, expiresAt: { gt: ctx.now() } }
  return ctx.db.invitation.findMany({ where, orderBy: [{ createdAt: 'desc' }, { id: 'asc' }] })
}

/** Revokes an invitation of the caller's organization. Owners only. @throws NotFound when it is not pending. */
export async function revokeInvitation(ctx: ChangeContext, id: string): Promise<Invitation> {
  const organizationId = requireOwner(ctx)
  requireConfirmation(ctx)
  return change(ctx, organizationId, async ({ db }): Promise<ChangeResult<Invitation>> => {
    const found = isIdOf('Invitation', id) ? await db.invitation.findUnique({ where: { id, organizationId } }) : null
    if (found === null) throw new NotFound('Invitation not found.')
    await db.invitation.delete({ where: { id } })
    return [found, { kind: 'INVITATION_REVOKED', subjectId: id, subjectName: found.email }]
  })
}

/** A pending invitation with its organization, found by one of its links. */
export type OpenInvitation = Invitation & {
  readonly organization: Pick<Organization, 'id' | 'name' | 'slug'>
  /** Whether it is the link that only the email has. */
  readonly isMailed: boolean
}

/** Returns the invitation of a link. @throws NotFound when it was used or revoked, or has expired. */
export async function findInvitation({ db, now }: Pick<Context, 'db' | 'now'>, token: string): Promise<OpenInvitation> {
  const hash = hashSecret(token)
  const found = await db.invitation.findFirst({
    where: { OR: [{ hash }, { mailedHash: hash }], expiresAt: { gt: now() }, ...ofLiveOrganization },
    include: { ...withOrganizationName },
  })
  if (found === null) throw new NotFound('This invitation was used or revoked, or has expired.')
  return { ...found, isMailed: found.mailedHash === hash }
}

/** What a person must do to accept an invitation. */
export type InvitationStep =
  /** Sign in to the account of the address first. */
  | 'SIGN_IN'
  /** Choose a name and a password. */
  | 'NEW_ACCOUNT'
  /** Choose a new password: everything else that gave access to the account is dropped. */
  | 'NEW_PASSWORD'
  /** Only agree. */
  | 'ACCEPT'

/** Returns the next step of the caller, who has opened an invitation. */
export async function stepOf(ctx: Context, invitation: OpenInvitation): Promise<InvitationStep> {
  const account = await userByEmail(ctx, invitation.email)
  const isOwn = account !== null && ctx.actor.kind === 'user' && ctx.actor.userId === account.id
  // Another signed-in person is refused when they agree.
  if (ctx.actor.kind === 'user' && !isOwn) return 'ACCEPT'
  const entry = entryOf(invitation, isOwn)
  const outcome = outcomeOf(entry, stateOf(account))
  if (outcome.kind !== 'enters') return 'SIGN_IN'
  if (outcome.drops === 'NOTHING') return account === null ? 'NEW_ACCOUNT' : 'ACCEPT'
  return isOwn ? 'NEW_PASSWORD' : 'NEW_ACCOUNT'
}

function entryOf({ isMailed }: OpenInvitation, isSignedIn: boolean): Entry {
  const entry = isMailed ? 'MAILED_INVITATION' : 'SHOWN_INVITATION'
  return isSignedIn ? `CREDENTIAL_AND_${entry}` : entry
}

/** The result of an accepted invitation. */
export interface Joined {
  readonly invitation: OpenInvitation
  /** The token of a new session; null: the caller’s goes on. */
  readonly sessionToken: string | null
}

const newPasswordOf = z.object({ password: newPassword })

/**
 * Makes the signed-in person a member by an invitation for their address. If their address was not proven, `input` has a new
 * password, and everything else that gave access to the account is dropped: whoever added it may not be the invited person.
 * @throws Forbidden when the invitation is for another address. @throws NotFound like `findInvitation`.
 * @throws Invalid for an invalid password.
 */
export async function acceptInvitation(
  ctx: Context & SessionCache,
  token: string,
  input: unknown = {},
  userAgent = '',
): Promise<Joined> {
  const { userId } = requireUser(ctx)
  const found = await findInvitation(ctx, token)
  const account = await ctx.db.user.findUniqueOrThrow({ where: { id: userId } })
  const drops = dropsEverything(entryOf(found, true), stateOf(account))
  const passwordHash = drops
    ? await hashPassword(validate(newPasswordOf, input).password, ctx.clientAddress)
    : undefined
  return transaction(ctx, async (tx) => {
    const { email, generation } = await lockOwnAccount(tx)
    const invitation = await takeInvitation(tx, token)
    if (invitation.email !== email) {
      throw new Forbidden('FORBIDDEN', `This invitation is for ${invitation.email}. Sign in with that address.`)
    }
    const user = await enterAccount(tx, { id: userId }, entryOf(invitation, true), passwordHash ? { passwordHash } : {})
    await join(tx, invitation, user)
    const sessionToken = user.generation === generation ? null : await startSession(tx, userId, userAgent)
    return { invitation, sessionToken }
  })
}

const invitedPerson = z.object({ name: nameText, password: newPassword })

/**
 * Creates an account for the invited person, makes them a member and signs them in. The mailed link proves the address, so that an
 * unproven account of it becomes theirs.
 * @throws Invalid for an invalid field. @throws Conflict when the person must sign in to the account of the address instead.
 * @throws NotFound like `findInvitation`.
 */
export async function joinByInvitation(
  ctx: Context & SessionCache,
  token: string,
  input: unknown,
  userAgent: string,
): Promise<Joined> {
  const { name, password } = validate(invitedPerson, input)
  await findInvitation(ctx, token)
  const passwordHash = await hashPassword(password, ctx.clientAddress)
  return transaction(ctx, async (tx) => {
    const invitation = await takeInvitation(tx, token)
    const { email } = invitation
    const entry = entryOf(invitation, false)
    const known = await userByEmail(tx, email)
    const user =
      known === null
        ? await insertUser(tx, entry, { email, name, passwordHash })
        : await enterAccount(tx, known, entry, { name, passwordHash })
    await join(tx, invitation, user)
    return { invitation, sessionToken: await startSession(tx, user.id, userAgent) }
  })
}

async function takeInvitation(tx: Context, token: string): Promise<OpenInvitation> {
  const invitation = await findInvitation(tx, token)
  // If the link is used twice at the same time, one of the requests finds the invitation gone.
  const { count } = await tx.db.invitation.deleteMany({ where: { id: invitation.id } })
  if (count === 0) throw new NotFound('This invitation was used or revoked, or has expired.')
  return invitation
}

async function join(
  tx: Context & SessionCache,
  { organizationId, role }: Invitation,
  { id: userId, name }: { readonly id: string; readonly name: string },
): Promise<void> {
  const member = await tx.db.membership.findUnique({ where: { organizationId_userId: { organizationId, userId } } })
  if (member === null) await insertMembership(tx, { organizationId, userId, role }, name)
}
