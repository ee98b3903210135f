import { builderFor } from '../../graphql/schema/builder.ts'
import { bulkFor } from '../../graphql/schema/bulk.ts'
import type { MonitoringContext } from '../context.ts'
import type { ResultFeed } from '../result/result-feed.ts'

/** What the resolvers of this room need. */
export interface MonitoringNeeds extends MonitoringContext {
  readonly resultFeed: ResultFeed
  /** Our public URL, without a trailing slash. */
  readonly site: { readonly baseUrl: string }
}

export const builder = builderFor<MonitoringNeeds>()
export const { bulkMutation, bulkCreation, bulkMutationOfIds } = bulkFor<MonitoringNeeds>()
