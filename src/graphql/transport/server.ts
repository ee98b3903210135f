import type { ExecutionArgs, GraphQLSchema } from 'graphql'
import { GraphQLError, getOperationAST, OperationTypeNode } from 'graphql'
import type { Plugin, YogaServerInstance } from 'graphql-yoga'
import { createYoga } from 'graphql-yoga'
import type { Logger } from 'pino'
import { graphqlLimits } from '../../core/input-limits.ts'
import type { Tracer } from '../../core/telemetry/tracing.ts'
import type { Clock } from '../../core/time.ts'
import type { Caller } from '../../http/request/caller.ts'
import type { CostCheck } from '../document/cost-check.ts'
import type { DocumentCache } from '../document/document-cache.ts'
import { answerIntrospection } from '../document/introspection.ts'
import { requireOperation } from '../document/parse.ts'
import type { PersistedQueries } from '../document/persisted-queries.ts'
import { withoutHttp } from '../document/request-error.ts'
import { coerceVariables } from '../document/variables.ts'
import { isCacheable } from '../execution/cacheable.ts'
import { operationSpans } from '../execution/operation-span.ts'
import type { GraphContext, Shown } from '../schema/builder.ts'
import { maskError } from '../schema/errors.ts'
import { compression } from './compression.ts'
import { mediaTypes, takesEvents } from './media-type.ts'
import { badRequest, requestBodies } from './request-body.ts'
import { turnOf } from './turn.ts'

/** The context that the HTTP server and the websocket pass with each operation. */
interface ServerContext {
  readonly caller: Caller
  readonly shown?: Shown
}

export type GraphqlServer = YogaServerInstance<ServerContext, GraphContext>

/** Our own operations have a few hundred bytes; the largest is a bulk check with its variables. */
export const MAX_BODY_BYTES = graphqlLimits.body.most

/**
 * Creates the engine for GraphQL over HTTP and server-sent events; `graphql/transport/websocket.ts` uses the same one.
 */
export function createGraphqlServer(options: {
  readonly schema: GraphQLSchema
  readonly contextOf: (caller: Caller, cancellation: GraphContext['cancellation']) => Promise<GraphContext>
  readonly checkCost: CostCheck
  readonly live: Plugin
  readonly persisted: PersistedQueries
  readonly documents: DocumentCache
  /** Called after each mutation with the caller's organization; null: none. */
  readonly onMutation: (organizationId: string | null) => void
  readonly log: Logger
  readonly now: Clock
  /** Null or absent: operations are not traced. */
  readonly tracer?: Tracer | null
}): GraphqlServer {
  const { schema, contextOf, checkCost, live, persisted, documents, onMutation, log, now, tracer } = options
  const debug = (...args: unknown[]) => log.debug({ args }, 'graphql')
  return createYoga<ServerContext, GraphContext>({
    schema,
    context: ({ caller, request }) => contextOf(caller, request),
    plugins: [
      ...(tracer ? [operationSpans(tracer)] : []),
      mediaTypes,
      parsing(documents),
      requestBodies(MAX_BODY_BYTES),
      persisted.plugin,
      limits(checkCost, documents),
      mutations(onMutation),
      live,
      partialAnswers,
      unbuffered,
      compression,
    ],
    maskedErrors: { maskError: (error) => maskError(error, { log, now }) },
    cors: { origin: '*', credentials: false },
    // The router serves it to browsers: http/api-tools/graphiql.tsx.
    graphiql: false,
    landingPage: false,
    multipart: false,
    batching: false,
    maxRequestBodySize: false,
    // Ours.
    parserAndValidationCache: false,
    // Unexpected errors are logged where they are masked; others are callers' mistakes.
    logging: { debug, info: debug, warn: debug, error: debug },
  })
}

/** Sets the parser itself, so that its limits apply over HTTP and websocket alike. */
const parsing = (documents: DocumentCache): Plugin<object, ServerContext> => ({
  onRequestParse({ request, requestParser, setRequestParser }) {
    if (request.method === 'POST' || !requestParser) return
    setRequestParser(async (query) => {
      try {
        return await requestParser(query)
      } catch (error) {
        if (error instanceof SyntaxError) throw badRequest('The parameters variables and extensions must be JSON.')
        throw error
      }
    })
  },
  async onParams({ params, context: { caller } }) {
    const name: unknown = params.operationName
    if (name != null && typeof name !== 'string') throw badRequest('operationName must be a string.')
    // Parsing and validation follow.
    const turn = turnOf(caller.address)
    if (turn !== undefined) await turn
  },
  onParse({ context, setParseFn }) {
    setParseFn(documents.parse)
    return ({ result }) => {
      // The caller's parameters, set by Yoga and the websocket.
      const { params } = context as { readonly params?: { readonly operationName?: string | null } }
      if (!(result instanceof Error)) requireOperation(result, params?.operationName)
    }
  },
})

/** Rejects expensive operations before validation and execution, over every transport. */
const limits = (checkCost: CostCheck, documents: DocumentCache): Plugin => ({
  onValidate: ({ setValidationFn }) => setValidationFn(documents.validate),
  async onExecute({ args, setResultAndStopExecution }) {
    requireCacheable(args)
    // Coercion, the computation of the cost and the first fields follow.
    const turn = turnOf(addressIn(args))
    if (turn !== undefined) await turn
    const { error } = coerceVariables(args)
    if (error) return setResultAndStopExecution({ errors: [error] })
    const schemaAlone = await answerIntrospection(args)
    if (schemaAlone) return setResultAndStopExecution(schemaAlone)
    const refusal = await checkCost(args)
    if (refusal) setResultAndStopExecution({ errors: [refusal] })
  },
  async onSubscribe({ args, setResultAndStopExecution }) {
    const turn = turnOf(addressIn(args))
    if (turn !== undefined) await turn
    const refusal = eventStreamError(args.contextValue) ?? (await checkCost(args))
    if (refusal) setResultAndStopExecution({ errors: [refusal] })
  },
})

/** The context that `contextOf` made. */
const addressIn = ({ contextValue }: ExecutionArgs) => (contextValue as GraphContext).clientAddress ?? ''

/**
 * @throws when the answer would be cached but must not be: the code that decided to cache it has parsed the request
 * differently.
 */
function requireCacheable({ schema, document, operationName, contextValue }: ExecutionArgs): void {
  // The context that `contextOf` made.
  const { shown } = contextValue as GraphContext
  if (shown && !isCacheable(schema, document, operationName))
    throw new Error('The answer to this operation must not be cached.')
}

/** Reports each mutation, over every transport, before its result is sent. */
const mutations = (onMutation: (organizationId: string | null) => void): Plugin<GraphContext> => ({
  onExecute({ args: { document, operationName, contextValue } }) {
    if (getOperationAST(document, operationName)?.operation !== OperationTypeNode.MUTATION) return
    const { actor } = contextValue
    const organizationId = ('organizationId' in actor && actor.organizationId) || null
    return { onExecuteDone: () => onMutation(organizationId) }
  },
})

/** Returns the error for a subscription over HTTP whose caller does not accept events; null: none. */
function eventStreamError({ request }: { readonly request?: Request }): GraphQLError | null {
  if (!request || takesEvents(request.headers.get('accept'))) return null
  const message = 'Subscriptions are sent as text/event-stream or over websocket. Send Accept: text/event-stream.'
  return new GraphQLError(message, { extensions: { code: 'NOT_ACCEPTABLE', http: { status: 406 } } })
}

/** Makes nginx and similar proxies forward events at once. */
const unbuffered: Plugin = {
  onResponse({ response: { headers } }) {
    if (headers.get('content-type')?.startsWith('text/event-stream')) headers.set('x-accel-buffering', 'no')
  },
}

/**
 * Sets status 200 for a result with data, whatever its errors, because clients ignore the data of other statuses. If
 * the database is unavailable and every field is null, the status stays 503, so that proxies and clients retry.
 */
const partialAnswers: Plugin = {
  onExecutionResult({ result, setResult, context }) {
    if (!result || Symbol.asyncIterator in result || !result.errors) return
    // The context that `contextOf` created.
    const { shown } = context as unknown as GraphContext
    if (shown) shown.isPartial = true
    if (!result.data) return
    const isEmpty = Object.values(result.data).every((value) => value === null)
    const isOutage = (error: GraphQLError) => isEmpty && error.extensions['code'] === 'UNAVAILABLE'
    setResult({ ...result, errors: result.errors.map((error) => (isOutage(error) ? error : withoutHttp(error))) })
  },
}
