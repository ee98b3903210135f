import { seesOrganization } from '../account/access.ts'
import type { GraphContext } from './builder.ts'

/**
 * Guards a field of a public type that the public page does not show: it is for the organization itself. Such a field is
 * nullable, so that asking for it without a key costs a stranger that field and not the whole answer.
 */
export function ownerOnly(
  { organizationId }: { readonly organizationId: string },
  _args: object,
  { actor }: Pick<GraphContext, 'actor'>,
): boolean {
  return seesOrganization(actor, organizationId)
}
