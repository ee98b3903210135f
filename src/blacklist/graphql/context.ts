import type { CheckContext } from '../check.ts'

// Adds the context of the resolvers in this folder.
declare module '../../graphql/schema/builder.ts' {
  interface GraphContext extends CheckContext {}
}
