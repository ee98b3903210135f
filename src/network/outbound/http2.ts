import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2'
import type { Socket } from 'node:net'

/** The maximum number of bytes that a server may send in all, and the interval of checks, in milliseconds. */
const MAX_BYTES = 256 * 1024
const LOOK_MS = 50

/** The answer to a call over HTTP/2. */
export interface Http2Answer {
  readonly headers: IncomingHttpHeaders
  /** The trailers (RFC 9113 §8.1). */
  readonly trailers: IncomingHttpHeaders
  readonly body: Buffer
}

interface Http2Call {
  /** The headers, with `:method` and `:path`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly maxBodyBytes: number
  /** Called when the server has sent more than 256 KiB in all. It must destroy the socket. */
  onExcess(): void
}

/**
 * Sends one request over an HTTP/2 connection, and closes the connection. Returns the reason if there is no answer: the
 * server hung up, does not speak HTTP/2, or sent more than `maxBodyBytes`. The caller limits the time by destroying the
 * socket.
 * @param origin an origin such as https://example.com:8443.
 */
export async function callHttp2(
  socket: Socket,
  origin: string,
  { headers, body, maxBodyBytes, onExcess }: Http2Call,
): Promise<Http2Answer | 'closed' | 'protocol' | 'too long'> {
  const session = connect(origin, {
    createConnection: () => socket,
    settings: { enablePush: false, maxHeaderListSize: 16 * 1024 },
  })
  // Polled, because the session bypasses the socket's events, which emits no data.
  const look = setInterval(() => socket.bytesRead > MAX_BYTES && onExcess(), LOOK_MS)
  try {
    return await answerOf(session, headers, body, maxBodyBytes)
  } finally {
    clearInterval(look)
    session.destroy()
  }
}

function answerOf(
  session: ClientHttp2Session,
  head: Http2Call['headers'],
  sent: Buffer,
  maxBodyBytes: number,
): Promise<Http2Answer | 'closed' | 'protocol' | 'too long'> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    let length = 0
    let headers: IncomingHttpHeaders | null = null
    let trailers: IncomingHttpHeaders = {}
    const fail = ({ code = '' }: NodeJS.ErrnoException) =>
      resolve(/^ERR_HTTP2_(?:SESSION_)?ERROR$/.test(code) ? 'protocol' : 'closed')
    const hungUp = () => resolve('closed')
    session.on('error', fail)
    session.on('close', hungUp)
    const stream = session.request(head)
    stream.on('error', fail)
    stream.on('close', hungUp)
    stream.on('response', (received) => {
      headers = received
    })
    stream.on('trailers', (received) => {
      trailers = received
    })
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > maxBodyBytes) resolve('too long')
      else parts.push(chunk)
    })
    stream.on('end', () => {
      if (headers !== null) resolve({ headers, trailers, body: Buffer.concat(parts) })
    })
    stream.end(sent)
  })
}
