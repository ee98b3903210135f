import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { type Attempt, awaiting, inPhase, Stop } from './attempt.ts'
import { type ProxyServer, proxyAuthorization } from './proxy.ts'
import type { Hop } from './redirect.ts'
import { MAX_HEAD_BYTES, MAX_HEADERS, UnreadableHead } from './response-head.ts'
import { TolerantConnection } from './tolerant-connection.ts'

/** A response whose body has not been read. */
interface Exchanged {
  readonly answer: IncomingMessage
  /** Returns what it does, as far as it has arrived, that HTTP forbids or that many clients refuse, as phrases. */
  readonly oddities: () => readonly string[]
}

/**
 * Sends a request over a connection, and returns its response before the body is read.
 * @param proxy the proxy that gets the request instead of the target, in absolute form (RFC 9112 §3.2.2).
 * @throws Stop
 */
export function exchange(
  socket: Socket,
  hop: Hop,
  state: Attempt,
  proxy: ProxyServer | null = null,
): Promise<Exchanged> {
  return inPhase(state, 'firstByte', 'answer', () =>
    awaiting(state, (resolve, reject) => {
      const connection = new TolerantConnection(socket)
      const sent = open(connection, hop, proxy)
      let received: IncomingMessage | null = null
      sent.once('response', (answer) => {
        received = answer
        resolve({ answer, oddities: () => connection.oddities })
      })
      sent.on('error', (error: NodeJS.ErrnoException) => {
        const failure = exchangeFailure(error)
        reject(failure)
        // After the end of the body, anything may follow.
        if (received?.complete === false) received.destroy(failure)
      })
      sent.end(hop.body)
      return () => socket.destroy()
    }),
  )
}

/** Starts a request. @throws Stop `invalid` when its method, path or a header is invalid. */
function open(
  connection: TolerantConnection,
  { url, method, headers, cookies }: Hop,
  proxy: ProxyServer | null,
): ClientRequest {
  const authorization = proxy && proxyAuthorization(proxy)
  try {
    const sent = request({
      createConnection: () => connection,
      method,
      path: `${proxy === null ? '' : url.origin}${url.pathname}${url.search}`,
      headers: {
        ...Object.fromEntries(headers),
        ...(cookies !== null && { cookie: cookies }),
        host: url.host,
        ...(authorization !== null && { 'proxy-authorization': authorization }),
      },
      maxHeaderSize: 2 * MAX_HEAD_BYTES,
      // The head and the chunks have been checked; of trailers, this accepts unusual ones.
      insecureHTTPParser: true,
    })
    sent.maxHeadersCount = MAX_HEADERS
    return sent
  } catch {
    // The error's message could reveal a header.
    throw new Stop('invalid', 'theirs', 'The request has an invalid method, path or header')
  }
}

function exchangeFailure(error: NodeJS.ErrnoException): Stop {
  if (error instanceof UnreadableHead) return new Stop('protocol', 'theirs', error.message)
  if (error.code?.startsWith('HPE_')) return new Stop('protocol', 'theirs', 'The response is not valid HTTP')
  return new Stop('closed', 'theirs', 'Connection closed without a response')
}
