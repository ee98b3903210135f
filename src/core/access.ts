import type { Role, Scope } from '../generated/prisma/enums.ts'
import type { Actor, Context, SignedInUser } from './context.ts'
import { Forbidden, NotFound, Unauthenticated } from './errors.ts'
import { MINUTE } from './time.ts'

/** The header that selects the organization the operator acts for. */
export const ORGANIZATION_HEADER = 'X-Organization'

/** Each scope includes the ones before it. */
const scopeOrder = { READ: 0, WRITE: 1, ADMIN: 2 } as const satisfies Record<Scope, number>

/** Returns whether scope `has` includes scope `needed`. */
function includesScope(has: Scope, needed: Scope): boolean {
  return scopeOrder[has] >= scopeOrder[needed]
}

/** The scope of each role. */
const scopeOf = { VIEWER: 'READ', EDITOR: 'WRITE', ADMIN: 'ADMIN', OWNER: 'ADMIN' } as const satisfies Record<
  Role,
  Scope
>

/** The role that each scope requires of a person. */
const roleFor = { READ: 'VIEWER', WRITE: 'EDITOR', ADMIN: 'ADMIN' } as const satisfies Record<Scope, Role>

/** Returns whether a role includes a scope. */
export function roleIncludes(role: Role, needed: Scope): boolean {
  return includesScope(scopeOf[role], needed)
}

/**
 * Returns the organization of the caller's key, the one in which a person acts, or the one that the operator acts for
 * with an owner's rights.
 * @throws Unauthenticated when the caller is unknown.
 * @throws Forbidden when scope or role are not sufficient.
 */
export function requireScope(ctx: Context, needed: Scope): string {
  const { actor } = ctx
  if (actor.kind === 'operator') {
    if (actor.organizationId !== undefined) return actor.organizationId
    throw organizationMissing()
  }
  if (actor.kind === 'user') {
    const { organizationId, role } = requireMember(actor)
    if (roleIncludes(role, needed)) return organizationId
    throw new Forbidden('FORBIDDEN', `This requires the role ${roleFor[needed]}; yours is ${role}.`)
  }
  if (actor.kind !== 'apiKey') {
    throw new Unauthenticated('UNAUTHENTICATED', 'Send an API key of the organization: Authorization: Bearer ac_….')
  }
  if (!includesScope(actor.scope, needed)) {
    throw new Forbidden('FORBIDDEN', `This requires an API key with scope ${needed}; yours has ${actor.scope}.`)
  }
  return actor.organizationId
}

/**
 * Returns the organization that the caller owns, to manage its people. Refuses keys, because an admin could use one to
 * become an owner. The operator has the rights of an owner.
 * @throws Unauthenticated and Forbidden like `requireScope`.
 */
export function requireOwner(ctx: Context): string {
  const organizationId = requireOwnerOrKey(ctx)
  if (ctx.actor.kind !== 'apiKey') return organizationId
  throw new Forbidden('FORBIDDEN', 'Only a signed-in owner may do this.')
}

/** Like `requireOwner`, for billing and deletion, which a key with scope ADMIN allows too. */
export function requireOwnerOrKey(ctx: Context): string {
  const organizationId = requireScope(ctx, 'ADMIN')
  if (ctx.actor.kind !== 'user') return organizationId
  const { role } = requireMember(ctx.actor)
  if (role === 'OWNER') return organizationId
  throw new Forbidden('FORBIDDEN', `Only an owner may do this; your role is ${role}.`)
}

/** Returns the organization for which the caller may pay: with any of its keys, or as its owner. */
export function requirePayer(ctx: Context): string {
  return ctx.actor.kind === 'user' ? requireOwnerOrKey(ctx) : requireScope(ctx, 'READ')
}

/** How long a confirmation of identity allows sensitive actions. */
const CONFIRMATION_LIFETIME = 10 * MINUTE

/**
 * Checks that a person entered their password or used their passkey in the last ten minutes. Keys and the operator's
 * token need no confirmation.
 * @throws Unauthenticated `CONFIRMATION_REQUIRED`.
 */
export function requireConfirmation({ actor, now }: Pick<Context, 'actor' | 'now'>): void {
  const confirmedAt = 'confirmedAt' in actor ? actor.confirmedAt : undefined
  if (confirmedAt === undefined || now().getTime() - confirmedAt.getTime() < CONFIRMATION_LIFETIME) return
  throw new Unauthenticated('CONFIRMATION_REQUIRED', 'Confirm that it is you: enter your password or use your passkey.')
}

/** Returns the organization in which a person acts, and the role. */
function requireMember({ organizationId, memberships }: SignedInUser): { organizationId: string; role: Role } {
  const role = organizationId === undefined ? undefined : memberships.get(organizationId)?.role
  if (organizationId === undefined || role === undefined) throw organizationMissing()
  return { organizationId, role }
}

function organizationMissing(): Unauthenticated {
  const message = `Send the id or slug of the organization that you act for in the ${ORGANIZATION_HEADER} header.`
  return new Unauthenticated('UNAUTHENTICATED', message)
}

/**
 * Checks that an id given in addition to the key is that of the key's organization.
 * @throws NotFound for another organization.
 */
export function requireOwnOrganization(named: string | null | undefined, own: string): void {
  if (named != null && named !== own) throw new NotFound('Organization not found.')
}

/** Returns whether the caller has a scope in an organization. */
export function hasScope(actor: Actor, organizationId: string, needed: Scope): boolean {
  if (actor.kind === 'operator') return true
  if (actor.kind === 'user') {
    const role = actor.memberships.get(organizationId)?.role
    return role !== undefined && roleIncludes(role, needed)
  }
  return actor.kind === 'apiKey' && actor.organizationId === organizationId && includesScope(actor.scope, needed)
}

/** Returns whether the caller may act as the operator. */
export function isOperator(actor: Actor): boolean {
  return actor.kind === 'operator' || (actor.kind === 'user' && actor.isOperator)
}

/** @throws Unauthenticated or Forbidden unless the caller is the operator. */
export function requireOperator(ctx: Context): void {
  if (isOperator(ctx.actor)) return
  if (ctx.actor.kind === 'visitor') {
    throw new Unauthenticated('UNAUTHENTICATED', 'Send the operator’s token: Authorization: Bearer TOKEN.')
  }
  throw new Forbidden('FORBIDDEN', 'Only the operator may do this.')
}

/**
 * Returns whether the caller may see an organization's private data: with one of its keys, as a member or as the
 * operator.
 */
export function canReadOrganization(actor: Actor, organizationId: string): boolean {
  return hasScope(actor, organizationId, 'READ')
}

/** Returns the organization that the caller acts in; null: none. */
export function organizationOf(actor: Actor): string | null {
  return 'organizationId' in actor ? (actor.organizationId ?? null) : null
}

/** Returns the organization whose pro plan pays for the caller's checks; null: none. */
export function proOrganizationOf(actor: Actor): string | null {
  if (actor.kind === 'apiKey') return actor.checkPlan === 'PRO' ? actor.organizationId : null
  if (actor.kind !== 'user' || actor.organizationId === undefined) return null
  return actor.memberships.get(actor.organizationId)?.checkPlan === 'PRO' ? actor.organizationId : null
}

/** Returns the id of the key or session that identifies the caller; null: neither. */
export function credentialIdOf(actor: Actor): string | null {
  if (actor.kind === 'apiKey') return actor.keyId
  return actor.kind === 'user' ? actor.sessionId : null
}
