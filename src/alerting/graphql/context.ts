import type { AlertingContext } from '../context.ts'

declare module '../../graphql/builder.ts' {
  interface GraphContext extends Omit<AlertingContext, 'tools'> {}
}
