import { canReadOrganization } from '../../core/access.ts'
import type { GraphContext } from './builder.ts'

/**
 * Guards a private field of a public type. Such a field is nullable, so that a caller without a key loses only that
 * field and not the whole result.
 */
export function ownerOnly(
  { organizationId }: { readonly organizationId: string },
  _args: object,
  { actor }: Pick<GraphContext, 'actor'>,
): boolean {
  return canReadOrganization(actor, organizationId)
}
