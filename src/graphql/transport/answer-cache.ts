import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { GraphQLSchema } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { Invalid } from '../../core/errors.ts'
import type { Clock } from '../../core/time.ts'
import { createLogCache } from '../../event-log/log-cache.ts'
import { readBytes } from '../../http/request/body.ts'
import type { Caller } from '../../http/request/caller.ts'
import { identifyingHeaders } from '../../http/request/caller.ts'
import { publicCacheControl } from '../../http/response/cache-control.ts'
import { hasCurrent } from '../../http/response/etag.ts'
import type { DocumentCache } from '../document/document-cache.ts'
import type { PersistedQueries } from '../document/persisted-queries.ts'
import { isCacheable } from '../execution/cacheable.ts'
import type { Shown } from '../schema/builder.ts'
import type { GraphqlServer } from './server.ts'
import { MAX_BODY_BYTES } from './server.ts'
import { turnOf } from './turn.ts'

/** Answers visitors' queries from memory, until the event log of the organization shown moves. */
export interface AnswerCache {
  /** Answers a request from memory, or by executing it. */
  handle(request: IncomingMessage, response: ServerResponse, context: { readonly caller: Caller }): void
  /** Marks the answers about an organization as stale after its log moved; null: all answers. */
  invalidate(organizationId: string | null): void
}

/** Everything besides data that the answer to a visitor depends on. */
interface Question {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Empty for GET. */
  readonly body: Buffer
}

/** A complete response. */
interface Answer {
  /** The organization shown; null: it does not exist. */
  readonly organizationId: string | null
  /** Whether the page is private, so that the answer is for visitors without access. */
  readonly isPrivate: boolean
  /** Whether the answer remains valid until the log of this organization moves. */
  readonly isCacheable: boolean
  readonly status: number
  readonly headers: Readonly<Record<string, string | number>>
  readonly body: Buffer
}

/** The request headers that the executor reads. */
const RELEVANT_HEADERS = ['accept', 'content-type'] as const

/** A visitor without any identification. */
const ANY_VISITOR: Caller = { address: '', credential: null, organization: null }

/** The maximum size of all stored answers, in bytes. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024
/** The estimated size of an answer in addition to its body and its key, in bytes. */
const OVERHEAD_BYTES = 1000
/** The maximum size of the requests whose cacheability is stored, in characters. */
const MAX_KNOWN_LENGTH = 8 * 1024 * 1024

/** Creates an empty cache in front of a GraphQL server. The caller must call `invalidate` whenever a log moves. */
export function createAnswerCache(options: {
  readonly schema: GraphQLSchema
  readonly server: GraphqlServer
  readonly persisted: PersistedQueries
  readonly documents: DocumentCache
  readonly log: Logger
  readonly now: Clock
}): AnswerCache {
  const { schema, server, persisted, documents, log, now } = options
  const answers = createLogCache<Answer>({
    maxSize: MAX_ANSWER_BYTES,
    sizeOf: ({ body }, key) => key.length + body.length + OVERHEAD_BYTES,
    isCacheable: (answer) => answer.isCacheable,
    now,
  })
  const known = new LRUCache<string, boolean>({
    maxSize: MAX_KNOWN_LENGTH,
    sizeCalculation: (_isCacheable, key) => key.length + 1,
  })

  function isKnownCacheable(key: string, question: Question): boolean {
    const found = known.get(key)
    if (found !== undefined) return found
    const { query, operationName, extensions } = parametersOf(question)
    // A persisted query may become known later.
    const document = query ?? persisted.find(extensions)
    if (document === undefined) return false
    const is = isDocumentCacheable(document, operationName)
    known.set(key, is)
    return is
  }

  function isDocumentCacheable(text: unknown, operationName: unknown): boolean {
    if (typeof text !== 'string' || (operationName != null && typeof operationName !== 'string')) return false
    try {
      const document = documents.parse(text)
      return documents.validate(schema, document).length === 0 && isCacheable(schema, document, operationName)
    } catch {
      // The executor reports the problem.
      return false
    }
  }

  async function execute({ method, url, headers, body }: Question): Promise<Answer> {
    const shown: Shown = { organizationIds: new Set(), isPrivate: false, isPartial: false }
    const { Request } = server.fetchAPI
    const text = method === 'POST' ? body.toString('utf8') : null
    const request = new Request(`http://localhost${url}`, { method, headers, body: text })
    const response = await server.fetch(request, { caller: ANY_VISITOR, shown })
    return answerOf(response, Buffer.from(await response.arrayBuffer()), shown, method)
  }

  /** Executes a request in a time slice of its address, so that many concurrent ones delay others by one slice. */
  async function serve(request: NodeRequest, response: ServerResponse, caller: Caller): Promise<void> {
    const turn = turnOf(caller.address)
    if (turn !== undefined) await turn
    await server(request, response, { caller })
  }

  async function respond(request: IncomingMessage, response: ServerResponse, caller: Caller): Promise<void> {
    const question = await readQuestion(request)
    // To find out whether it can be answered from memory, its document is parsed.
    const turn = turnOf(caller.address)
    if (turn !== undefined) await turn
    const key = keyOf(question)
    if (isKnownCacheable(key, question)) {
      const answer = await answers.get(key, async () => {
        const turn = turnOf(caller.address)
        if (turn !== undefined) await turn
        return execute(question)
      })
      // This caller's address or cookie may give access to it.
      if (answer.isPrivate) await serve(withBody(request, question.body), response, caller)
      else send(response, answer, request.headers['if-none-match'])
    } else {
      await serve(withBody(request, question.body), response, caller)
    }
  }

  return {
    handle(request, response, { caller }) {
      if (!mayBeCacheable(request, caller)) void serve(request, response, caller)
      else {
        void respond(request, response, caller).catch((error: unknown) => {
          // A body that ends early means that the caller has disconnected.
          if (!(error instanceof Invalid)) log.error({ err: error }, 'graphql: could not answer a query')
          response.destroy()
        })
      }
    },
    invalidate: answers.invalidate,
  }
}

/** Returns whether a request is a visitor's whose answer only depends on a `Question`. */
function mayBeCacheable({ method, headers }: IncomingMessage, caller: Caller): boolean {
  if (caller.credential !== null || caller.organization !== null || caller.session !== undefined) return false
  if (headers.accept?.includes('text/event-stream')) return false
  if (method === 'GET') return true
  const length = Number(headers['content-length'])
  return method === 'POST' && length <= MAX_BODY_BYTES && headers['content-encoding'] === undefined
}

async function readQuestion(request: IncomingMessage): Promise<Question> {
  const { method = 'GET', url = '/' } = request
  const headers: Record<string, string> = {}
  for (const name of RELEVANT_HEADERS) {
    const value = request.headers[name]
    if (value !== undefined) headers[name] = value
  }
  return { method, url, headers, body: method === 'POST' ? await readBytes(request, MAX_BODY_BYTES) : Buffer.alloc(0) }
}

/** Returns a unique key for a question. */
function keyOf({ method, url, headers, body }: Question): string {
  const { accept = '', 'content-type': type = '' } = headers
  // Neither URLs nor headers contain line breaks, and each byte becomes one character.
  return `${method} ${url}\n${accept}\n${type}\n${body.toString('latin1')}`
}

/** The parameters of a request that determine what is executed, as sent. */
interface Parameters {
  readonly query?: unknown
  readonly operationName?: unknown
  readonly extensions?: unknown
}

/** Returns no parameters for a request that the executor might parse differently. */
function parametersOf({ method, url, body }: Question): Parameters {
  try {
    if (method === 'POST') return isUtf8(body) ? Object(JSON.parse(body.toString('utf8'))) : {}
    const { searchParams } = new URL(url, 'http://localhost')
    const parameters = Object.fromEntries(searchParams)
    const isUnambiguous = Object.keys(parameters).length === searchParams.size
    return isUnambiguous ? { ...parameters, extensions: JSON.parse(parameters['extensions'] ?? '{}') } : {}
  } catch {
    return {}
  }
}

function answerOf(
  response: Response,
  body: Buffer,
  { organizationIds, isPrivate, isPartial }: Shown,
  method: string,
): Answer {
  const [organizationId = null] = organizationIds
  const isCacheable = response.status === 200 && organizationIds.size === 1 && !isPartial && !isPrivate
  const headers: Record<string, string | number> = {
    ...Object.fromEntries(response.headers),
    'content-length': body.length,
    // Also for callers without an Origin, so that the answer is the same for all.
    'access-control-allow-origin': '*',
  }
  if (isCacheable && method === 'GET') {
    headers['etag'] = `"${createHash('sha1').update(body).digest('base64url')}"`
    headers['cache-control'] = publicCacheControl
    headers['vary'] = ['accept', ...identifyingHeaders].join(', ')
  }
  return { organizationId, isPrivate, isCacheable, status: response.status, headers, body }
}

function send(response: ServerResponse, { status, headers, body }: Answer, ifNoneMatch: string | undefined): void {
  const etag = headers['etag']
  if (etag !== undefined && hasCurrent(ifNoneMatch, String(etag))) {
    const { 'content-length': _length, 'content-type': _type, ...validators } = headers
    response.writeHead(304, validators).end()
  } else {
    response.writeHead(status, headers).end(body)
  }
}

/** A request, or one whose body can be read again. */
type NodeRequest = IncomingMessage | ReturnType<typeof withBody>

/** Returns a request whose body can be read again. */
function withBody({ method, url, headers, socket }: IncomingMessage, body: Buffer) {
  return Object.assign(Readable.from([body], { objectMode: false }), { method, url, headers, socket })
}
