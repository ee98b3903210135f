import type { BuyerContext } from '../context.ts'

// Adds the context of the resolvers in this folder.
declare module '../../graphql/schema/builder.ts' {
  interface GraphContext extends BuyerContext {}
}
