import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { type Attempt, awaiting, inPhase, Stop } from './attempt.ts'
import type { Hop } from './redirect.ts'

/** The head of an answer, in bytes. */
const LARGEST_HEAD = 16 * 1024

/**
 * Sends a request over a connection, and gives the head of its answer; the body is still to be read.
 * @throws Stop
 */
export function exchange(socket: Socket, hop: Hop, state: Attempt): Promise<IncomingMessage> {
  return inPhase(state, 'firstByte', 'answer', () =>
    awaiting(state, (resolve, reject) => {
      const sent = open(socket, hop)
      sent.once('response', resolve)
      sent.on('error', (error: NodeJS.ErrnoException) => reject(exchangeFailure(error)))
      sent.end(hop.body)
      return () => socket.destroy()
    }),
  )
}

/** @throws Stop `invalid` when a header cannot be sent. */
function open(socket: Socket, { url, method, headers }: Hop): ClientRequest {
  try {
    return request({
      createConnection: () => socket,
      method,
      path: url.pathname + url.search,
      headers: { ...Object.fromEntries(headers), host: url.host },
      maxHeaderSize: LARGEST_HEAD,
    })
  } catch {
    // Its message could show a header.
    throw new Stop('invalid', 'theirs', 'The request has a method, path or header that cannot be sent')
  }
}

function exchangeFailure({ code = '' }: NodeJS.ErrnoException): Stop {
  if (code === 'HPE_HEADER_OVERFLOW') return new Stop('protocol', 'theirs', 'The head of the answer exceeds 16 KiB')
  if (code.startsWith('HPE_')) return new Stop('protocol', 'theirs', 'The answer is not valid HTTP')
  return new Stop('closed', 'theirs', 'Connection closed without an answer')
}

/**
 * Reads the body of an answer, unpacked if it is packed in one of the ways we ask for, and no further than `limit` bytes:
 * neither its length nor what it unpacks to grows our memory.
 * @throws Stop
 */
export function readBody(
  answer: IncomingMessage,
  limit: number,
  state: Attempt,
): Promise<{ readonly body: Buffer; readonly complete: boolean }> {
  state.awaited = 'complete answer'
  return awaiting(state, (resolve, reject) => {
    const unpack = unpackers[answer.headers['content-encoding']?.trim().toLowerCase() ?? '']?.()
    const chunks: Buffer[] = []
    let size = 0
    let received = 0

    function giveUp() {
      answer.destroy()
      unpack?.destroy()
    }
    const finish = (complete: boolean) => {
      giveUp()
      resolve({ body: Buffer.concat(chunks).subarray(0, limit), complete })
    }
    const fail = (stop: Stop) => {
      giveUp()
      reject(stop)
    }

    answer.on('error', () => fail(new Stop('closed', 'theirs', 'Connection closed before the answer was complete')))
    answer.on('data', (chunk: Buffer) => {
      received += chunk.length
      // What is packed is smaller than what it unpacks to, give or take a little: more could go on for ever.
      if (unpack !== undefined && received > 2 * limit + LARGEST_HEAD) fail(unreadable())
    })
    // Nothing at all cannot be unpacked, and need not be.
    answer.on('end', () => received === 0 && finish(true))
    const body = unpack === undefined ? answer : answer.pipe(unpack.on('error', () => fail(unreadable())))
    body.on('data', (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size > limit) finish(false)
    })
    body.on('end', () => finish(true))
    return giveUp
  })
}

/** What the header Accept-Encoding asks for. */
export const ACCEPTED_ENCODINGS = 'gzip, br'

/** The way in which an answer is packed that we cannot unpack; null: it is read as it was meant. */
export function unknownPacking(headers: IncomingMessage['headers']): string | null {
  const packing = headers['content-encoding']?.trim().toLowerCase() ?? ''
  return packing === '' || packing === 'identity' || packing in unpackers ? null : packing.slice(0, 40)
}

/** What is called deflate: in zlib's form, as RFC 9110 §8.4.1.2 has it, or bare, as some servers send it. */
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

const unpackers: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: () => new Inflate(),
  br: createBrotliDecompress,
}

function unreadable(): Stop {
  return new Stop('protocol', 'theirs', 'The answer does not unpack')
}
