import type { PageFinder, PageReader } from '../../account/page/page-guard.ts'
import { builderFor } from '../../graphql/schema/builder.ts'
import type { PageSource } from '../html/rendered-page.tsx'

/** What the resolvers of this room need. */
export interface StatusPageNeeds extends PageFinder, PageReader {
  /** The source of rendered pages. */
  readonly pages: PageSource
}

export const builder = builderFor<StatusPageNeeds>()
