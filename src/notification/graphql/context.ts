import type { NotificationContext } from '../context.ts'

declare module '../../graphql/schema/builder.ts' {
  interface GraphContext extends NotificationContext {}
}
