import type { MonitoringContext } from '../context.ts'
import type { ResultFeed } from '../result/result-feed.ts'

declare module '../../graphql/schema/builder.ts' {
  interface GraphContext extends MonitoringContext {
    readonly resultFeed: ResultFeed
  }
}
