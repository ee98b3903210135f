import type { AlertingContext } from '../context.ts'

// What the resolvers of this room need.
declare module '../../graphql/builder.ts' {
  interface GraphContext extends Omit<AlertingContext, 'tools'> {}
}
