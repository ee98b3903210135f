import type { IncomingHttpHeaders } from 'node:http'
import { Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type ZlibOptions,
} from 'node:zlib'
import { ownValue } from '../../core/own-value.ts'

/** The value of the header Accept-Encoding. */
export const ACCEPTED_ENCODINGS = 'gzip, br'

/** How many encodings a response may have on top of each other, as in curl (`MAX_ENCODE_STACK`). */
const MAX_ENCODINGS = 5

/** Returns the content encoding of a response if it is not supported; null: it is supported. */
export function unsupportedEncoding(headers: IncomingHttpHeaders): string | null {
  const encodings = encodingsOf(headers)
  if (encodings.length > MAX_ENCODINGS) return encodings.join(', ').slice(0, 40)
  return encodings.find((each) => ownValue(decoders, each) === undefined)?.slice(0, 40) ?? null
}

/** Creates the decoders of a body, in the order in which to apply them; empty: its encoding is not supported, or none. */
export function createDecoders(headers: IncomingHttpHeaders): readonly Transform[] {
  if (unsupportedEncoding(headers) !== null) return []
  // The last encoding was applied last (RFC 9110 §8.4).
  return encodingsOf(headers)
    .reverse()
    .flatMap((each) => ownValue(decoders, each)?.() ?? [])
}

/** Returns the encodings of a body in the order in which they were applied. `identity` is none. */
function encodingsOf(headers: IncomingHttpHeaders): string[] {
  return (headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '' && each !== 'identity')
}

/** Some servers leave out the end of what they encode. Browsers and curl show what is there, so it decodes. */
const withoutEnd: ZlibOptions = { finishFlush: constants.Z_SYNC_FLUSH }

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(withoutEnd),
  'x-gzip': () => createGunzip(withoutEnd),
  deflate: () => new Inflate(),
  br: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
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
    const unpack = isZlib ? createInflate(withoutEnd) : createInflateRaw(withoutEnd)
    unpack.on('data', (unpacked: Buffer) => this.push(unpacked))
    unpack.on('error', (error) => this.destroy(error))
    return unpack
  }
}
