import type { NotificationContext } from '../context.ts'

// What the resolvers of this room need.
declare module '../../graphql/builder.ts' {
  interface GraphContext extends NotificationContext {}
}
