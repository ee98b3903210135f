import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { createKeyLimiter } from '../core/concurrency/key-limiter.ts'
import { onBehalfOf } from '../core/concurrency/owner.ts'
import { inTurn, noteArrival } from '../core/concurrency/time-slice.ts'
import { StartError } from '../core/errors.ts'
import { clientSubject } from '../core/ip-address.ts'
import { lazily } from '../core/lazily.ts'
import type { Tracer } from '../core/telemetry/tracing.ts'
import { MINUTE, SECOND } from '../core/time.ts'
import { requirePace } from './pace.ts'
import { bodyLength } from './request/body.ts'
import type { Caller } from './request/caller.ts'
import { hostError, originForm } from './request/host-header.ts'
import { Incoming, turnOwner } from './request/incoming.ts'
import { lengthRefusal, type Refusal } from './request/request-limits.ts'
import { inRequestSpan, noteRoute } from './request/request-span.ts'
import { dropUnreadableCookies, escapesProblem } from './request/text-escapes.ts'
import { cutOff } from './response/cut-off.ts'
import { earlyRefusal } from './response/early-refusal.ts'
import { PrivateResponse } from './response/private-response.ts'
import { refuseConnection } from './response/raw-refusal.ts'

/** Answers GraphQL requests. */
type GraphqlHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  context: { readonly caller: Caller },
) => unknown

/** Serves WebSockets. */
interface WebsocketHandler {
  /** Takes over a connection that requests a WebSocket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Closes every connection; terminates those still open after `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** The HTTP server: GraphQL and its WebSockets at `/graphql`, everything else in the router. */
export interface HttpServer {
  /** Starts listening and returns the port. @throws StartError when the port is in use or not permitted. */
  listen(port: number, host: string): Promise<number>
  /** Stops accepting connections, waits up to `graceMs` for running requests, then closes their connections. */
  close(graceMs: number): Promise<void>
}

/**
 * The time limit for receiving a request, which `requirePace` also limits: three files of 5 MB take as long at 26 KiB a
 * second. Node answers 408 after it.
 */
const REQUEST_TIMEOUT_MS = 10 * MINUTE
/** The time limit for receiving the headers of a request. */
const HEADERS_TIMEOUT_MS = 60 * SECOND
/** The size above which a body takes a slot, in bytes. Nearly all are smaller: the forms of sign-ins have 200 bytes. */
const SMALL_BODY_BYTES = 16 * 1024
/** How many larger bodies may be in memory at once, of which one network may send half. Most routes accept 256 KiB. */
const MAX_LARGE_BODIES = 256

/**
 * How long an idle connection stays open: longer than proxies keep theirs (nginx and the load
 * balancers of AWS: 60 s), which would otherwise send requests on connections that are about to close.
 */
const KEEP_ALIVE_TIMEOUT_MS = 75 * SECOND
/**
 * The maximum number of new connections that wait to be accepted, as far as the system allows (Linux:
 * net.core.somaxconn, 4096). All open pages of an organization request the changes of an event within 250 ms, and those
 * beyond Node's 511 would be reset.
 */
const MAX_WAITING_CONNECTIONS = 16_384
const options = {
  requestTimeout: REQUEST_TIMEOUT_MS,
  headersTimeout: HEADERS_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  requireHostHeader: false,
  IncomingMessage: Incoming,
  ServerResponse: PrivateResponse,
} as const

/** Creates the server. GraphQL bypasses the router, which would cost it a quarter of its speed. */
export function createHttpServer(handlers: {
  readonly router: RequestListener
  /** Null: neither GraphQL nor WebSockets. */
  readonly graphql: GraphqlHandler | null
  readonly websocket: WebsocketHandler | null
  readonly callerOf: (request: IncomingMessage) => Caller
  /** Returns whether the server answers to the host of a request; absent: it answers to every host. */
  readonly isServed?: (request: IncomingMessage) => boolean | Promise<boolean>
  /** Returns the value of `Strict-Transport-Security` for a request; null or absent: none. */
  readonly strictTransportFor?: (request: IncomingMessage) => string | null
  /** Null or absent: requests are not traced. */
  readonly tracer?: Tracer | null
}): HttpServer {
  const { router, graphql, websocket, callerOf, tracer, isServed = () => true, strictTransportFor } = handlers
  const largeBodies = createKeyLimiter({ inTotal: MAX_LARGE_BODIES })
  let openRequests = 0
  let isClosing = false
  const closeWhenIdle = () => {
    if (isClosing && openRequests === 0) server.closeAllConnections()
  }
  const onRequestClosed = () => {
    openRequests -= 1
    closeWhenIdle()
  }
  const server = createServer(options, (request, response) => {
    openRequests += 1
    if (isClosing) response.setHeader('Connection', 'close')
    response.on('close', onRequestClosed)
    request.clientOf = clientOf
    request.onTooManyPieces = () => cutOff(request, response, TOO_MANY_PIECES)
    start(request, request.socket, () => enter(request, response))
  })

  /**
   * Starts work on a request in a turn of its client, since a turn of the event loop brings all that have arrived: the
   * hundreds of one client delay that of another by a time slice. Does nothing if the connection has closed meanwhile,
   * after which nothing would end the work.
   */
  function start(request: IncomingMessage, socket: Duplex, work: () => void): void {
    inTurn(
      () => turnOwner(request),
      () => {
        if (!socket.destroyed) work()
      },
      'new',
    )
  }

  function enter(request: IncomingMessage, response: PrivateResponse): void {
    const refusal = refusalOf(request)
    if (refusal !== null) refuseInProtocol(request, response, refusal)
    else {
      dropUnreadableCookies(request)
      request.url = originForm(request.url ?? '')
      admit(request, {
        served: () => serve(request, response),
        refused: (status, sentence) => refuse(response, status, sentence),
      })
    }
  }

  /** Lets a request pass if the server answers to its host. */
  function admit(request: IncomingMessage, then: Admission): void {
    const answer = (is: boolean) => (is ? then.served() : then.refused(421, misdirected(request)))
    const is = isServed(request)
    if (typeof is === 'boolean') answer(is)
    else is.then(answer, () => then.refused(503, HOST_UNKNOWN))
  }

  function serve(request: IncomingMessage, response: PrivateResponse): void {
    response.strictTransport = strictTransportFor?.(request) ?? null
    requirePace(request, response)
    if (bodyLength(request) > SMALL_BODY_BYTES && !takeSlot(request, response)) {
      const { headers, body } = earlyRefusal(request, 'UNAVAILABLE', TOO_MANY_BODIES)
      response.writeHead(503, { 'Retry-After': '5', ...headers }).end(body)
      return
    }
    if (tracer) inRequestSpan(tracer, request, response, () => answer(request, response))
    else answer(request, response)
  }

  /** Returns the name of a request's client, which takes turns with others. */
  function clientOf(request: IncomingMessage): string {
    return clientSubject(callerOf(request).address)
  }

  /** Takes a slot for the body of a request until its answer ends. Returns false if the client or all have too many. */
  function takeSlot(request: IncomingMessage, response: ServerResponse): boolean {
    const leave = largeBodies.tryAcquire(clientOf(request))
    if (leave !== null) response.once('close', leave)
    return leave !== null
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const caller = lazily(() => callerOf(request))
    onBehalfOf(
      () => clientSubject(caller().address),
      () => route(request, response, caller),
    )
  }

  function route(request: IncomingMessage, response: ServerResponse, caller: () => Caller): void {
    if (graphql && isGraphql(request) && !isForGraphiql(request)) {
      if (tracer) noteRoute(request, '/graphql')
      void graphql(request, response, { caller: caller() })
    } else router(request, response)
  }
  server.on('connection', noteArrival)
  server.on('upgrade', (request, socket, head) => {
    // Node has removed its own listener, and an unhandled error would end the process.
    socket.on('error', () => socket.destroy())
    request.clientOf = clientOf
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') ignoreUpgrade(server, request, socket, head)
    else start(request, socket, () => upgrade(request, socket, head))
  })

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (refusalOf(request) !== null) {
      refuseConnection(socket, 400)
      return
    }
    admit(request, {
      served() {
        dropUnreadableCookies(request)
        // The check of the host may have taken a while.
        if (socket.destroyed) return
        if (isClosing) refuseConnection(socket, 503)
        else if (websocket && isGraphql(request)) websocket.upgrade(request, socket, head)
        else refuseConnection(socket, 404)
      },
      refused: (status, sentence) => refuseConnection(socket, status, {}, `${sentence}\n`),
    })
  }
  server.on('clientError', refuseUnreadable)

  return {
    listen: (port, host) => listen(server, port, host),
    async close(graceMs) {
      isClosing = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // Closes connections without a request, such as those that browsers open in advance.
      closeWhenIdle()
      const deadline = setTimeout(() => server.closeAllConnections(), graceMs)
      await Promise.all([websocket?.close(graceMs), closed])
      clearTimeout(deadline)
    },
  }
}

/**
 * Reads a request again that offers an upgrade to another protocol, such as HTTP/2, without the offer, which a server
 * may ignore (RFC 9110 §7.8). Once Node listens for upgrades, it treats every offer as one, and parses neither the body
 * nor a next request.
 */
function ignoreUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2)
    const kept = withoutOffer(name, value)
    if (kept !== null) lines.push(`${name}: ${kept}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('connection', socket)
}

const OFFER: ReadonlySet<string> = new Set(['upgrade', 'http2-settings'])

/** Returns the value of a header without what offers an upgrade; null: nothing remains. */
function withoutOffer(name: string, value: string): string | null {
  const lower = name.toLowerCase()
  if (lower !== 'connection') return OFFER.has(lower) ? null : value
  const options = value.split(',').filter((option) => !OFFER.has(option.trim().toLowerCase()))
  return options.length === 0 ? null : options.join(',')
}

/** The status of an error of Node's parser. All others are 400. */
const parserStatus = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
])

/** Refuses what is not a request, like Node itself, unless an answer has begun on the connection. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  // The answer to which Node currently writes.
  const { _httpMessage: running } = socket as Duplex & { readonly _httpMessage?: ServerResponse | null }
  if (!socket.writable || running?.headersSent) socket.destroy(error)
  else refuseConnection(socket, parserStatus.get(error.code ?? '') ?? 400)
}

/** What follows the check of a host. */
interface Admission {
  readonly served: () => void
  readonly refused: (status: number, sentence: string) => void
}

/** RFC 9110 §15.5.20. */
const misdirected = ({ headers: { host = '' } }: IncomingMessage) =>
  `This service does not answer to the host ${host}. If it should, set BASE_URL to its public address, or add the name to ALLOWED_HOSTS.`
const HOST_UNKNOWN = 'The service cannot look up this host at the moment. Try again in a few seconds.'

/** Refuses a request before it reaches a route, and closes the connection, because its body is not read. */
function refuse(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, refusalHeaders).end(`${sentence}\n`)
}

/** Refuses a malformed request before it reaches a route, as its route would. */
function refuseInProtocol(request: IncomingMessage, response: ServerResponse, { status, message }: Refusal): void {
  const { headers, body } = earlyRefusal(request, 'INVALID_INPUT', message)
  response.writeHead(status, { Connection: 'close', ...headers }).end(body)
}

const refusalHeaders = { Connection: 'close', 'Content-Type': 'text/plain; charset=utf-8' }
const TOO_MANY_PIECES = {
  status: 400,
  code: 'INVALID_INPUT',
  message: 'The request body has too many small chunks. Send at least 16 bytes in each.',
} as const
const TOO_MANY_BODIES = 'Too many large requests are being received. Try again soon.'

/** Returns why a request is refused before any other code reads it; null: it is not. */
function refusalOf(request: IncomingMessage): Refusal | null {
  const tooLong = lengthRefusal(request)
  if (tooLong !== null) return tooLong
  const message = hostError(request) ?? escapesProblem(request)
  return message === null ? null : { status: 400, message }
}

function isGraphql({ url = '' }: IncomingMessage): boolean {
  return /^\/graphql\/?(\?|$)/.test(url)
}

/** Returns whether a browser opens the address, which shows GraphiQL. */
function isForGraphiql({ method, headers: { accept = '' } }: IncomingMessage): boolean {
  return method === 'GET' && accept.includes('text/html')
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (cause: Error) =>
      reject(new StartError(`Cannot listen on port ${port} of ${host}: ${cause.message}.`, { cause }))
    server.once('error', onError)
    server.listen({ port, host, backlog: MAX_WAITING_CONNECTIONS }, () => {
      server.off('error', onError)
      resolve((server.address() as AddressInfo).port)
    })
  })
}
