import type { PageSource } from '../html/rendered-page.tsx'

// Adds the context of the resolvers in this folder.
declare module '../../graphql/schema/builder.ts' {
  interface GraphContext {
    /** The source of rendered pages. */
    readonly pages: PageSource
  }
}
