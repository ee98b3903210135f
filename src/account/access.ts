import type { Actor, Context } from '../context.ts'
import { Forbidden, NotFound, Unauthenticated } from '../errors.ts'
import type { Scope } from '../generated/prisma/enums.ts'

/** The header in which the operator names an organization to act for. */
export const ORGANIZATION_HEADER = 'X-Organization'

/** Each scope includes the ones before it (contract §4). */
const scopeOrder = { READ: 0, WRITE: 1, ADMIN: 2 } as const satisfies Record<Scope, number>

/** Whether a key with scope `has` may do what needs `needed`. */
export function includesScope(has: Scope, needed: Scope): boolean {
  return scopeOrder[has] >= scopeOrder[needed]
}

/**
 * The organization whose key the caller holds, or that the operator acts for: the operator may do what an owner may.
 * @throws Unauthenticated when the caller has no key. @throws Forbidden when the key's scope is too small.
 */
export function requireScope(ctx: Context, needed: Scope): string {
  const { actor } = ctx
  if (actor.kind === 'operator') {
    if (actor.organizationId !== undefined) return actor.organizationId
    const message = `Name the organization that you act for, by its id or slug, in the header ${ORGANIZATION_HEADER}.`
    throw new Unauthenticated('UNAUTHENTICATED', message)
  }
  if (actor.kind !== 'apiKey') {
    throw new Unauthenticated(
      'UNAUTHENTICATED',
      'An API key of the organization is needed: Authorization: Bearer ac_….',
    )
  }
  if (!includesScope(actor.scope, needed)) {
    throw new Forbidden('FORBIDDEN', `This needs a key with scope ${needed}; yours has ${actor.scope}.`)
  }
  return actor.organizationId
}

/**
 * Of an organization that a caller names beside its key: there is none but its own.
 * @throws NotFound when it is another one.
 */
export function requireSame(named: string | null | undefined, own: string): void {
  if (named != null && named !== own) throw new NotFound('There is no such organization.')
}

/** Whether the caller may do in an organization what needs a scope. */
export function hasScope(actor: Actor, organizationId: string, needed: Scope): boolean {
  if (actor.kind === 'operator') return true
  return actor.kind === 'apiKey' && actor.organizationId === organizationId && includesScope(actor.scope, needed)
}

/** @throws Unauthenticated or Forbidden unless the caller is the operator. */
export function requireOperator(ctx: Context): void {
  if (ctx.actor.kind === 'operator') return
  if (ctx.actor.kind === 'visitor') {
    throw new Unauthenticated('UNAUTHENTICATED', 'The operator’s token is needed: Authorization: Bearer TOKEN.')
  }
  throw new Forbidden('FORBIDDEN', 'Only the operator may do this.')
}

/** Whether the caller may see what only an organization itself may: with a key of it, or as the operator. */
export function seesOrganization(actor: Actor, organizationId: string): boolean {
  return actor.kind === 'operator' || (actor.kind === 'apiKey' && actor.organizationId === organizationId)
}
