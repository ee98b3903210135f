import type { NotificationContext } from '../context.ts'

declare module '../../graphql/builder.ts' {
  interface GraphContext extends NotificationContext {}
}
