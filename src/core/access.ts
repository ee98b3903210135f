import type { Scope } from '../generated/prisma/enums.ts'
import type { Actor, Context } from './context.ts'
import { Forbidden, NotFound, Unauthenticated } from './errors.ts'

/** The header that selects the organization the operator acts for. */
export const ORGANIZATION_HEADER = 'X-Organization'

/** Each scope includes the ones before it. */
const scopeOrder = { READ: 0, WRITE: 1, ADMIN: 2 } as const satisfies Record<Scope, number>

/** Returns whether scope `has` includes scope `needed`. */
export function includesScope(has: Scope, needed: Scope): boolean {
  return scopeOrder[has] >= scopeOrder[needed]
}

/**
 * Returns the organization of the caller's key, or the one that the operator acts for with an owner's rights.
 * @throws Unauthenticated when the caller has no key. @throws Forbidden when the key's scope is not sufficient.
 */
export function requireScope(ctx: Context, needed: Scope): string {
  const { actor } = ctx
  if (actor.kind === 'operator') {
    if (actor.organizationId !== undefined) return actor.organizationId
    const message = `Send the id or slug of the organization that you act for in the ${ORGANIZATION_HEADER} header.`
    throw new Unauthenticated('UNAUTHENTICATED', message)
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
 * Requires that an id given in addition to the key is that of the key's organization.
 * @throws NotFound when it is another one's.
 */
export function requireOwnOrganization(named: string | null | undefined, own: string): void {
  if (named != null && named !== own) throw new NotFound('Organization not found.')
}

/** Returns whether the caller has a scope in an organization. */
export function hasScope(actor: Actor, organizationId: string, needed: Scope): boolean {
  if (actor.kind === 'operator') return true
  return actor.kind === 'apiKey' && actor.organizationId === organizationId && includesScope(actor.scope, needed)
}

/** @throws Unauthenticated or Forbidden unless the caller is the operator. */
export function requireOperator(ctx: Context): void {
  if (ctx.actor.kind === 'operator') return
  if (ctx.actor.kind === 'visitor') {
    throw new Unauthenticated('UNAUTHENTICATED', 'Send the operator’s token: Authorization: Bearer TOKEN.')
  }
  throw new Forbidden('FORBIDDEN', 'Only the operator may do this.')
}

/** Returns whether the caller may see an organization's private data: with one of its keys, or as the operator. */
export function canReadOrganization(actor: Actor, organizationId: string): boolean {
  return actor.kind === 'operator' || (actor.kind === 'apiKey' && actor.organizationId === organizationId)
}
