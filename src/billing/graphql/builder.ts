import type { SecretBox } from '../../core/secret-box.ts'
import { builderFor } from '../../graphql/schema/builder.ts'
import type { BuyerContext } from '../context.ts'

/** What the resolvers of this room need. */
export interface BillingNeeds extends BuyerContext {
  /** Seals the secrets of purchases in stored answers. */
  readonly seal: SecretBox
}

export const builder = builderFor<BillingNeeds>()
