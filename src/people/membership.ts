import { z } from 'zod'
import { usableKeys } from '../account/api-key/api-key.ts'
import { pageTokensOf } from '../account/page/access-rows.ts'
import { organizations } from '../account/views.ts'
import { requireConfirmation, requireOperator, requireOwner, requireScope, roleIncludes } from '../core/access.ts'
import type { Context } from '../core/context.ts'
import { Conflict, NotFound } from '../core/errors.ts'
import { isIdOf } from '../core/id.ts'
import { validate } from '../core/validation.ts'
import type { ChangeContext, ChangeResult } from '../event-log/change.ts'
import { change } from '../event-log/change.ts'
import type { NewEvent } from '../event-log/event.ts'
import { appendEvents } from '../event-log/event.ts'
import type { Membership, Organization, User } from '../generated/prisma/client.ts'
import { Role } from '../generated/prisma/enums.ts'
import type { SessionCache } from './context.ts'
import { roleNames } from './role.ts'
import { announceUser, requireUser } from './session.ts'
import { emailInput, userByEmail } from './user.ts'

/** A member of an organization. */
export interface Member extends Pick<Membership, 'organizationId' | 'role' | 'createdAt'> {
  readonly user: Pick<User, 'id' | 'name' | 'email' | 'emailProvenAt'>
}

const memberFields = {
  organizationId: true,
  role: true,
  createdAt: true,
  user: { select: { id: true, name: true, email: true, emailProvenAt: true } },
} as const

/** The maximum number of members and pending invitations of an organization, together. */
export const MAX_PEOPLE = 200

/** The number of keys that an event names. */
const NAMED_KEYS = 5

/** The input of a role. */
export const roleInput = z.enum(Role, { error: 'must be VIEWER, EDITOR, ADMIN or OWNER' })

const roleChange = z.object({ userId: z.string(), role: roleInput, previousRole: roleInput.nullish() })

/** Returns the members of the caller's organization, in the order in which they joined. */
export function membersOf(ctx: Context): Promise<Member[]> {
  const organizationId = requireScope(ctx, 'READ')
  return ctx.db.membership.findMany({
    where: { organizationId },
    select: memberFields,
    orderBy: [{ createdAt: 'asc' }, { userId: 'asc' }],
  })
}

/** Returns how many of these people are members of an organization. */
export function countMembers(
  { db }: Pick<Context, 'db'>,
  organizationId: string,
  userIds: readonly string[],
): Promise<number> {
  return db.membership.count({ where: { organizationId, userId: { in: [...userIds] } } })
}

/** Returns a person's organizations, sorted by name, except deleted ones. */
export function organizationsOf(
  { db }: Pick<Context, 'db'>,
  userId: string,
): Promise<Pick<Organization, 'name' | 'slug'>[]> {
  return db.$queryRaw`
    SELECT owner.name, owner.slug FROM "Membership" AS member JOIN ${organizations} AS owner ON owner.id = member."organizationId"
    WHERE member."userId" = ${userId} AND owner."deletedAt" IS NULL ORDER BY owner.name`
}

/** Makes a person a member, in the transaction of a change. The caller checks permissions. */
export async function insertMembership(
  tx: Context & SessionCache,
  member: { readonly organizationId: string; readonly userId: string; readonly role: Role },
  userName: string,
): Promise<void> {
  await tx.db.membership.create({ data: { ...member, createdAt: tx.now() } })
  const event = { kind: 'MEMBER_JOINED', subjectId: member.userId, subjectName: userName } as const
  await appendEvents(tx, member.organizationId, [event])
  await announceUser(tx, member.userId)
}

/**
 * Makes the person with this email address an owner of the organization that the operator acts for, in case it has no owner
 * left. Operator only.
 * @throws Invalid for an invalid address. @throws Conflict when no account has this address, or when it is unproven, unless the
 * operator allows that.
 */
export async function addOwner(
  ctx: ChangeContext & SessionCache,
  email: string,
  { allowUnproven = false }: { readonly allowUnproven?: boolean } = {},
): Promise<Member> {
  requireOperator(ctx)
  requireConfirmation(ctx)
  const organizationId = requireScope(ctx, 'ADMIN')
  const user = await userByEmail(ctx, validate(emailInput, { email }).email)
  if (user === null) throw new Conflict('There is no account with this email address.')
  if (user.emailProvenAt === null && !allowUnproven) {
    throw new Conflict(
      'The address is not proven, so someone else may have the account. Allow it if you know who has it.',
    )
  }
  return change(ctx, organizationId, async (tx): Promise<ChangeResult<Member>> => {
    const where = { organizationId_userId: { organizationId, userId: user.id } }
    const member = await tx.db.membership.findUnique({ where })
    if (member?.role === 'OWNER') return [await findMember(tx, organizationId, user.id)]
    const role = 'OWNER'
    await tx.db.membership.upsert({
      where,
      create: { organizationId, userId: user.id, role, createdAt: tx.now() },
      update: { role },
    })
    await announceUser(tx, user.id)
    const kind = member === null ? 'MEMBER_JOINED' : 'MEMBER_ROLE_CHANGED'
    const owner = await findMember(tx, organizationId, user.id)
    return [owner, { kind, subjectId: user.id, subjectName: user.name }]
  })
}

/**
 * Changes a member's role. Owners only. Revokes the invitations of a member who is no longer an owner, and keeps the keys. Closes the member's connections; clients reconnect with the new role.
 * @throws NotFound for a person who is not a member. @throws Conflict when no owner would be left, or when the role has changed
 * since the caller read it.
 */
export async function setRole(ctx: ChangeContext & SessionCache, input: unknown): Promise<Member> {
  const organizationId = requireOwner(ctx)
  requireConfirmation(ctx)
  const { userId, role, previousRole } = validate(roleChange, input)
  return change(ctx, organizationId, async (tx): Promise<ChangeResult<Member>> => {
    const member = await findMember(tx, organizationId, userId)
    if (member.role === role) return [member]
    if (previousRole && member.role !== previousRole) {
      throw new Conflict(`Another person has made ${member.user.name} ${roleNames[member.role]} in the meantime.`)
    }
    if (member.role === 'OWNER') await requireOtherOwner(tx, organizationId, userId)
    await tx.db.membership.update({ where: { organizationId_userId: { organizationId, userId } }, data: { role } })
    await announceUser(tx, userId)
    const ended = await endRights(tx, member, role)
    return [{ ...member, role }, { kind: 'MEMBER_ROLE_CHANGED', ...subject(member) }, ...ended]
  })
}

/**
 * Removes a member and the invitations that they made, and keeps the keys. Only owners can remove others; every member can leave.
 * @throws NotFound for a person who is not a member. @throws Conflict when no owner would be left.
 */
export async function removeMember(ctx: ChangeContext & SessionCache, userId: string): Promise<Member> {
  const isSelf = ctx.actor.kind === 'user' && requireUser(ctx).userId === userId
  const organizationId = isSelf ? requireScope(ctx, 'READ') : requireOwner(ctx)
  requireConfirmation(ctx)
  return change(ctx, organizationId, async (tx): Promise<ChangeResult<Member>> => {
    const member = await findMember(tx, organizationId, userId)
    if (member.role === 'OWNER') await requireOtherOwner(tx, organizationId, userId)
    await tx.db.membership.delete({ where: { organizationId_userId: { organizationId, userId } } })
    await announceUser(tx, userId)
    return [member, { kind: 'MEMBER_REMOVED', ...subject(member) }, ...(await endRights(tx, member, null))]
  })
}

/**
 * Revokes the invitations of a member who is no longer an owner, because the member could accept one of them. Returns the events,
 * with one for the keys and read tokens that the member created and that allow more than their role. They go on working, because
 * programs of the organization may need them: the owners decide.
 * @param role null: the member was removed.
 */
async function endRights(tx: Context, member: Member, role: Role | null): Promise<NewEvent[]> {
  const { organizationId } = member
  const kept = (await keptCredentials(tx, member, role)).map(({ name }) => name)
  const invitations =
    role === 'OWNER'
      ? []
      : await tx.db.invitation.findMany({
          where: { organizationId, invitedById: member.user.id },
        })
  await tx.db.invitation.deleteMany({ where: { id: { in: invitations.map(({ id }) => id) } } })
  const revoked = invitations.map(
    ({ id, email }) => ({ kind: 'INVITATION_REVOKED', subjectId: id, subjectName: email }) as const,
  )
  if (kept.length === 0) return revoked
  const more = kept.length > NAMED_KEYS ? ` and ${kept.length - NAMED_KEYS} more` : ''
  const subjectName = `${member.user.name}: ${kept.slice(0, NAMED_KEYS).join(', ')}${more}`
  return [...revoked, { kind: 'MEMBER_KEYS_KEPT', subjectId: member.user.id, subjectName }]
}

/** A key or a read token. */
export interface KeptCredential {
  readonly kind: 'API_KEY' | 'PAGE_TOKEN'
  readonly name: string
  /** The first characters of a key; null: it is a read token. */
  readonly prefix: string | null
}

/**
 * Returns the keys and read tokens that a person created and that work, if they allow more than a role.
 * @param role null: the person is no longer a member.
 */
export async function keptCredentials(
  ctx: Context,
  { organizationId, user }: Pick<Member, 'organizationId'> & { readonly user: Pick<User, 'id'> },
  role: Role | null,
): Promise<KeptCredential[]> {
  const keys = await usableKeys(ctx, organizationId, user.id)
  const tokens = role === null ? await pageTokensOf(ctx, organizationId, user.id) : []
  return [
    ...keys
      .filter(({ scope }) => role === null || !roleIncludes(role, scope))
      .map(({ name, prefix }) => ({ kind: 'API_KEY', name, prefix }) as const),
    ...tokens.map(({ name }) => ({ kind: 'PAGE_TOKEN', name, prefix: null }) as const),
  ]
}

async function findMember({ db }: Context, organizationId: string, userId: string): Promise<Member> {
  const isId = isIdOf('User', userId)
  const member = isId
    ? await db.membership.findUnique({
        where: { organizationId_userId: { organizationId, userId } },
        select: memberFields,
      })
    : null
  if (member === null) throw new NotFound('Member not found.')
  return member
}

async function requireOtherOwner({ db }: Context, organizationId: string, userId: string): Promise<void> {
  const other = await db.membership.findFirst({ where: { organizationId, role: 'OWNER', userId: { not: userId } } })
  if (other === null) throw new Conflict('An organization must have an owner. Make another member an owner first.')
}

const subject = ({ user }: Member) => ({ subjectId: user.id, subjectName: user.name })
