import type { AlertingContext } from '../context.ts'

declare module '../../graphql/schema/builder.ts' {
  interface GraphContext extends Omit<AlertingContext, 'tools'> {}
}
