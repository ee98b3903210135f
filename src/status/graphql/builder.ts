import type { EditContext } from '../../account/managed-object.ts'
import type { PageFinder, PageReader } from '../../account/page/page-guard.ts'
import { builderFor } from '../../graphql/schema/builder.ts'
import { bulkFor } from '../../graphql/schema/bulk.ts'
import type { AccountMailer } from '../../people/context.ts'

/** What the resolvers of this room need. */
export interface StatusNeeds extends EditContext, PageFinder, PageReader, AccountMailer {
  /** Our public URL, without a trailing slash. */
  readonly site: { readonly baseUrl: string }
}

export const builder = builderFor<StatusNeeds>()
export const { bulkMutation, bulkCreation, bulkMutationOfIds } = bulkFor<StatusNeeds>()
