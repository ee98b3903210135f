import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql'
import { createSourceEventStream, execute } from 'graphql'
import type { Logger } from 'pino'
import type { Clock } from '../../core/time.ts'
import type { Follower } from '../../event-log/tail.ts'
import { withoutHttp } from '../document/request-error.ts'
import type { GraphContext } from '../schema/builder.ts'
import { maskError } from '../schema/errors.ts'
import { isFollower } from './event-source.ts'

/** The dependencies for running operations as a visitor. */
export interface VisitorOptions {
  /** Creates a context for a single execution, because resolvers cache in it. */
  readonly visitorContext: () => Promise<GraphContext>
  readonly log: Logger
  readonly now: Clock
}

/** Runs operations as a visitor. */
export interface VisitorEngine {
  /** Opens the source of a subscription; returns the result of a refused operation. */
  openSource(args: ExecutionArgs): Promise<Follower | ExecutionResult>
  /** Returns a function that returns the result of an event as JSON; it executes each event once. */
  rendererOf(args: ExecutionArgs): (event: object) => Promise<string>
  /** Masks an error, without `extensions.http`, because results are sent unchanged. */
  maskedError(error: unknown): GraphQLError
}

/** Creates the engine. */
export function createVisitorEngine(options: VisitorOptions): VisitorEngine {
  const { visitorContext } = options
  const maskedError = (error: unknown) => withoutHttp(maskError(error, options))
  const masked = (result: ExecutionResult): ExecutionResult =>
    result.errors ? { ...result, errors: result.errors.map(maskedError) } : result
  return {
    async openSource(args) {
      const source = await createSourceEventStream({ ...args, contextValue: await visitorContext() })
      if (isFollower(source)) return source
      if (Symbol.asyncIterator in source) throw new Error('The source of a broadcast field must follow an event log.')
      return masked(source)
    },
    rendererOf(args) {
      // By event, because the log returns the same object to all readers of a recent one.
      const results = new WeakMap<object, Promise<string>>()
      const render = async (event: object) => {
        const contextValue = await visitorContext()
        return JSON.stringify(masked(await execute({ ...args, contextValue, rootValue: event })))
      }
      return (event) => {
        const result = results.get(event) ?? render(event)
        results.set(event, result)
        return result
      }
    },
    maskedError,
  }
}
