import type { GraphQLSchema } from 'graphql'
import { parse } from 'graphql'
import type { Plugin, YogaServerInstance } from 'graphql-yoga'
import { createYoga } from 'graphql-yoga'
import type { Logger } from 'pino'
import type { Caller } from '../http/caller.ts'
import { validateInTime } from './breadth.ts'
import type { GraphContext } from './builder.ts'
import { costRefusal } from './cost.ts'
import { maskError } from './errors.ts'

/** What the HTTP server and the websocket hand over with each operation. */
export interface ServerContext {
  readonly caller: Caller
}

export type GraphqlServer = YogaServerInstance<ServerContext, GraphContext>

/** An operation of ours is a few hundred bytes; a bulk check with its variables is the largest. */
const LARGEST_BODY = 128 * 1024
/** Tokens a document may have: GraphiQL's introspection has about 300. Parsing stops there. */
const MOST_TOKENS = 4000

/** GraphQL over HTTP and server-sent events; `graphql/websocket.ts` serves the same engine. */
export function createGraphqlServer(options: {
  readonly schema: GraphQLSchema
  readonly contextOf: (caller: Caller, leaving: GraphContext['leaving']) => Promise<GraphContext>
  readonly live: Plugin
  readonly log: Logger
}): GraphqlServer {
  const { schema, contextOf, live, log } = options
  const debug = (...args: unknown[]) => log.debug({ args }, 'graphql')
  return createYoga<ServerContext, GraphContext>({
    schema,
    context: ({ caller, request }) => contextOf(caller, request),
    plugins: [jsonOnly, tokenLimit, limits, live],
    maskedErrors: { maskError: (error) => maskError(error, log) },
    cors: { origin: '*', credentials: false },
    // Browsers get it from the router: http/graphiql.tsx.
    graphiql: false,
    landingPage: false,
    multipart: false,
    batching: false,
    maxRequestBodySize: LARGEST_BODY,
    // What should not happen is logged where it is masked; the rest are callers' mistakes.
    logging: { debug, info: debug, warn: debug, error: debug },
  })
}

/**
 * Refuses bodies that are not JSON: what a form or a script of any site can send without asking first (`text/plain`, forms,
 * no media type at all) must not run a mutation.
 */
const jsonOnly: Plugin = {
  onRequest({ request, fetchAPI, endResponse }) {
    if (request.method !== 'POST' || JSON_BODY.test(request.headers.get('content-type') ?? '')) return
    const message = 'Send the operation as Content-Type: application/json.'
    const body = JSON.stringify({ errors: [{ message, extensions: { code: 'UNSUPPORTED_MEDIA_TYPE' } }] })
    const headers = { 'content-type': mediaTypeFor(request.headers.get('accept')) }
    endResponse(new fetchAPI.Response(body, { status: 415, headers }))
  },
}

/** What Yoga reads as JSON; some clients send the type twice. */
const JSON_BODY = /^application\/(graphql\+)?json([;,]|$)/

function mediaTypeFor(accept: string | null): string {
  const type = accept?.includes('application/graphql-response+json') ? 'graphql-response+json' : 'json'
  return `application/${type}; charset=utf-8`
}

/** Stands in the parser itself, so that it holds over HTTP and websocket alike. */
const tokenLimit: Plugin = {
  onParse: ({ setParseFn }) => setParseFn((source, given) => parse(source, { ...given, maxTokens: MOST_TOKENS })),
}

/** Refuses what asks for too much, before it is validated and before it is executed, over every transport alike. */
const limits: Plugin = {
  onValidate: ({ setValidationFn }) => setValidationFn(validateInTime),
  onExecute({ args, setResultAndStopExecution }) {
    const refusal = costRefusal(args)
    if (refusal) setResultAndStopExecution({ errors: [refusal] })
  },
  onSubscribe({ args, setResultAndStopExecution }) {
    const refusal = costRefusal(args)
    if (refusal) setResultAndStopExecution({ errors: [refusal] })
  },
}
