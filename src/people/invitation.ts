import { z } from 'zod'
import { requireConfirmation, requireOwner } from '../core/access.ts'
import type { Context } from '../core/context.ts'
import { transaction } from '../core/context.ts'
import { Conflict, Forbidden, NotFound } from '../core/errors.ts'
import { hashSecret } from '../core/hash-secret.ts'
import { isIdOf, newId } from '../core/id.ts'
import { DAY } from '../core/time.ts'
import { nameText, validate } from '../core/validation.ts'
import { change } from '../event-log/change.ts'
import type { Invitation, Organization } from '../generated/prisma/client.ts'
import { insertMembership, MAX_PEOPLE, roleInput } from './membership.ts'
import { newSecret } from './one-time-token.ts'
import { hashPassword, newPassword } from './password.ts'
import { requireUser, startSession } from './session.ts'
import { insertUser, personEmail } from './user.ts'

/** How long the link of an invitation works. */
const LIFETIME = 7 * DAY
const invitationInput = z.object({ email: personEmail, role: roleInput })

/**
 * Invites an email address to the caller's organization. Owners only. A new invitation for the same address replaces the previous
 * one. Returns the invitation and the token of its link, which only the caller gets.
 * @throws Invalid for an invalid field. @throws Conflict when the person is already a member, or for too many invitations.
 */
export async function invite(ctx: Context, input: unknown): Promise<{ invitation: Invitation; token: string }> {
  const organizationId = requireOwner(ctx)
  requireConfirmation(ctx)
  const { email, role } = validate(invitationInput, input)
  const token = newSecret()
  const invitedById = 'userId' in ctx.actor ? (ctx.actor.userId ?? null) : null
  const invitation = await change<Invitation>(ctx, organizationId, async ({ db, now }) => {
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
        invitedById,
        createdAt,
        expiresAt,
      },
    })
    return [created, { kind: 'MEMBER_INVITED', subjectId: created.id, subjectName: email }]
  })
  return { invitation, token }
}

/** Returns the pending invitations of the caller's organization, newest first. Owners only. */
export function invitationsOf(ctx: Context): Promise<Invitation[]> {
  const organizationId = requireOwner(ctx)
  const where = { organizationId, expiresAt: { gt: ctx.now() } }
  return ctx.db.invitation.findMany({ where, orderBy: [{ createdAt: 'desc' }, { id: 'asc' }] })
}

/** Revokes an invitation of the caller's organization. Owners only. @throws NotFound when it is not pending. */
export async function revokeInvitation(ctx: Context, id: string): Promise<Invitation> {
  const organizationId = requireOwner(ctx)
  requireConfirmation(ctx)
  return change<Invitation>(ctx, organizationId, async ({ db }) => {
    const found = isIdOf('Invitation', id) ? await db.invitation.findUnique({ where: { id, organizationId } }) : null
    if (found === null) throw new NotFound('Invitation not found.')
    await db.invitation.delete({ where: { id } })
    return [found, { kind: 'INVITATION_REVOKED', subjectId: id, subjectName: found.email }]
  })
}

/** A pending invitation with its organization. */
export type OpenInvitation = Invitation & { readonly organization: Pick<Organization, 'id' | 'name' | 'slug'> }

/** Returns the invitation of a link. @throws NotFound when it was used or revoked, or has expired. */
export async function findInvitation({ db, now }: Pick<Context, 'db' | 'now'>, token: string): Promise<OpenInvitation> {
  const found = await db.invitation.findFirst({
    where: { hash: hashSecret(token), expiresAt: { gt: now() }, organization: { deletedAt: null } },
    include: { organization: { select: { id: true, name: true, slug: true } } },
  })
  if (found === null) throw new NotFound('This invitation was used or revoked, or has expired.')
  return found
}

/**
 * Makes the signed-in person a member by an invitation for their address.
 * @throws Forbidden when the invitation is for another address. @throws NotFound like `findInvitation`.
 */
export async function acceptInvitation(ctx: Context, token: string): Promise<OpenInvitation> {
  const { userId } = requireUser(ctx)
  return transaction(ctx, async (tx) => {
    const user = await tx.db.user.findUniqueOrThrow({ where: { id: userId } })
    const invitation = await takeInvitation(tx, token)
    if (invitation.email !== user.email) {
      throw new Forbidden('FORBIDDEN', `This invitation is for ${invitation.email}. Sign in with that address.`)
    }
    await join(tx, invitation, user)
    return invitation
  })
}

const invitedPerson = z.object({ name: nameText, password: newPassword })

/**
 * Creates an account for the invited person, whose address the link proves, makes them a member and signs them in.
 * @throws Invalid for an invalid field. @throws Conflict when the address has an account. @throws NotFound like `findInvitation`.
 */
export async function joinByInvitation(
  ctx: Context,
  token: string,
  input: unknown,
  userAgent: string,
): Promise<{ invitation: OpenInvitation; sessionToken: string }> {
  const { name, password } = validate(invitedPerson, input)
  await findInvitation(ctx, token)
  const passwordHash = await hashPassword(password, ctx.clientAddress)
  return transaction(ctx, async (tx) => {
    const invitation = await takeInvitation(tx, token)
    const user = await insertUser(tx, { email: invitation.email, name, passwordHash })
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
  tx: Context,
  { organizationId, role }: Invitation,
  { id: userId, name }: { readonly id: string; readonly name: string },
): Promise<void> {
  const member = await tx.db.membership.findUnique({ where: { organizationId_userId: { organizationId, userId } } })
  if (member === null) await insertMembership(tx, { organizationId, userId, role }, name)
}
