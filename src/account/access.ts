import type { Actor, Context } from '../context.ts'
import { Forbidden, Unauthenticated } from '../errors.ts'
import type { Scope } from '../generated/prisma/enums.ts'

/** Each scope includes the ones before it (contract §4). */
const scopeOrder = { READ: 0, WRITE: 1, ADMIN: 2 } as const satisfies Record<Scope, number>

/** Whether a key with scope `has` may do what needs `needed`. */
export function includesScope(has: Scope, needed: Scope): boolean {
  return scopeOrder[has] >= scopeOrder[needed]
}

/**
 * The organization whose key the caller holds.
 * @throws Unauthenticated when the caller has no key. @throws Forbidden when the key's scope is too small.
 */
export function requireScope(ctx: Context, needed: Scope): string {
  const { actor } = ctx
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
