import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { ownValue } from '../../core/own-value.ts'
import { type Attempt, awaiting, inPhase, Stop } from './attempt.ts'
import { type ProxyServer, proxyAuthorization } from './proxy.ts'
import type { Hop } from './redirect.ts'

/** The maximum size of a response head, in bytes. */
const MAX_HEAD_BYTES = 16 * 1024

/** The maximum number of interim responses (RFC 9110 §15.2). Servers send one or two. */
const MAX_INTERIM_RESPONSES = 100

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
): Promise<IncomingMessage> {
  return inPhase(state, 'firstByte', 'answer', () =>
    awaiting(state, (resolve, reject) => {
      const sent = open(socket, hop, proxy)
      let interim = 0
      sent.on('information', () => {
        interim += 1
        if (interim > MAX_INTERIM_RESPONSES) reject(new Stop('protocol', 'theirs', 'Too many interim responses'))
      })
      sent.once('response', resolve)
      sent.on('error', (error: NodeJS.ErrnoException) => reject(exchangeFailure(error)))
      sent.end(hop.body)
      return () => socket.destroy()
    }),
  )
}

/** Starts a request. @throws Stop `invalid` when its method, path or a header is invalid. */
function open(socket: Socket, { url, method, headers }: Hop, proxy: ProxyServer | null): ClientRequest {
  const authorization = proxy && proxyAuthorization(proxy)
  try {
    return request({
      createConnection: () => socket,
      method,
      path: `${proxy === null ? '' : url.origin}${url.pathname}${url.search}`,
      headers: {
        ...Object.fromEntries(headers),
        host: url.host,
        ...(authorization !== null && { 'proxy-authorization': authorization }),
      },
      maxHeaderSize: MAX_HEAD_BYTES,
    })
  } catch {
    // The error's message could reveal a header.
    throw new Stop('invalid', 'theirs', 'The request has an invalid method, path or header')
  }
}

function exchangeFailure({ code = '' }: NodeJS.ErrnoException): Stop {
  if (code === 'HPE_HEADER_OVERFLOW') return new Stop('protocol', 'theirs', 'The response headers exceed 16 KiB')
  if (code.startsWith('HPE_')) return new Stop('protocol', 'theirs', 'The response is not valid HTTP')
  return new Stop('closed', 'theirs', 'Connection closed without a response')
}

/**
 * Reads and decodes the body of a response, up to `limit` bytes. Neither its length nor its decoded size can exhaust
 * memory.
 * @throws Stop
 */
export function readBody(
  answer: IncomingMessage,
  limit: number,
  state: Attempt,
): Promise<{ readonly body: Buffer; readonly complete: boolean }> {
  state.awaited = 'complete answer'
  return awaiting(state, (resolve, reject) => {
    const unpack = ownValue(decoders, answer.headers['content-encoding']?.trim().toLowerCase() ?? '')?.()
    const decoded = createCollector(limit)
    let received = 0
    // Chunks that arrived together are still delivered after this has ended.
    let isOver = false

    function giveUp() {
      isOver = true
      answer.destroy()
      unpack?.destroy()
    }
    const finish = (complete: boolean) => {
      giveUp()
      resolve({ body: decoded.bytes(), complete })
    }
    const fail = (stop: Stop) => {
      giveUp()
      reject(stop)
    }

    answer.on('error', () => fail(new Stop('closed', 'theirs', 'Connection closed before the response was complete')))
    answer.on('data', (chunk: Buffer) => {
      if (isOver) return
      received += chunk.length
      // Encoded data is hardly ever larger than decoded data. Without this limit, it could go on forever.
      if (unpack !== undefined && received > 2 * limit + MAX_HEAD_BYTES) fail(undecodable())
    })
    // An empty body cannot be decoded.
    answer.on('end', () => received === 0 && finish(true))
    const body = unpack === undefined ? answer : answer.pipe(unpack.on('error', () => fail(undecodable())))
    body.on('data', (chunk: Buffer) => {
      if (!isOver && !decoded.add(chunk)) finish(false)
    })
    body.on('end', () => finish(true))
    return giveUp
  })
}

/** The initial size of a collector's buffer, in bytes. */
const COLLECTED_BYTES = 16 * 1024

/** Collects up to `limit` bytes, in linear time and memory even if the chunks are small. */
function createCollector(limit: number) {
  let buffer = Buffer.allocUnsafeSlow(Math.min(limit, COLLECTED_BYTES))
  let length = 0
  return {
    /** Returns false when the limit is exceeded. */
    add(chunk: Buffer): boolean {
      const end = Math.min(length + chunk.length, limit)
      const fits = length + chunk.length <= limit
      if (end > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(Math.min(limit, Math.max(2 * buffer.length, end)))
        buffer.copy(larger, 0, 0, length)
        buffer = larger
      }
      length += chunk.copy(buffer, length, 0, end - length)
      return fits
    },
    bytes: () => buffer.subarray(0, length),
  }
}

/** The value of the header Accept-Encoding. */
export const ACCEPTED_ENCODINGS = 'gzip, br'

/** Returns the content encoding of a response if it is not supported; null: it is supported. */
export function unsupportedEncoding(headers: IncomingMessage['headers']): string | null {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  return encoding === '' || encoding === 'identity' || encoding in decoders ? null : encoding.slice(0, 40)
}

/** Decodes deflate in zlib's format (RFC 9110 §8.4.1.2), or raw as some servers send it. */
class Inflate extends Transform {
  #unpack: Transform | null = null

  override _transform(chunk: Buffer, encoding: BufferEncoding, done: () => void) {
    this.#unpack ??= this.#open(chunk)
    this.#unpack.write(chunk, encoding, done)
  }

  override _flush(done: () => void) {
    if (this.#unpack === null) return done()
    this.#unpack.once('end', done).end()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void) {
    this.#unpack?.destroy()
    done(error)
  }

  #open([first = 0]: Buffer): Transform {
    const isZlib = (first & 0x0f) === 8
    const unpack = isZlib ? createInflate() : createInflateRaw()
    unpack.on('data', (unpacked: Buffer) => this.push(unpacked))
    unpack.on('error', (error) => this.destroy(error))
    return unpack
  }
}

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: () => new Inflate(),
  br: createBrotliDecompress,
}

function undecodable(): Stop {
  return new Stop('protocol', 'theirs', 'The response body cannot be decoded')
}
