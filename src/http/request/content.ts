import { isUtf8 } from 'node:buffer'
import { promisify } from 'node:util'
import type { ZlibOptions } from 'node:zlib'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { HTTPException } from 'hono/http-exception'
import { Invalid } from '../../core/errors.ts'
import { mediaTypeOf } from './media-type.ts'

type Decode = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer<ArrayBuffer>>

/** The codings of content (RFC 9110 §8.4.1) and their functions; `x-gzip` is the same as `gzip`. */
const codings: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', promisify(gunzip) as Decode],
  ['x-gzip', promisify(gunzip) as Decode],
  ['deflate', promisify(inflate) as Decode],
  ['br', promisify(brotliDecompress) as Decode],
])

/** For `Accept-Encoding` in a refusal (RFC 9110 §15.5.16). */
const ACCEPTED_CODINGS = 'gzip, deflate, br, identity'
/** One after the other; no client applies more. */
const MAX_CODINGS = 2

/**
 * Decodes a body by its `Content-Encoding`, off the main thread.
 * @throws HTTPException 413 when it has more than `maxBytes`, 415 for an unknown coding.
 * @throws Invalid when it is not in the stated coding.
 */
export async function decodeContent(
  bytes: Buffer<ArrayBuffer>,
  contentEncoding: string | null | undefined,
  maxBytes: number,
): Promise<Buffer<ArrayBuffer>> {
  if (!contentEncoding) return bytes
  const names = contentEncoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  const applied = names.filter((name) => name !== '' && name !== 'identity').toReversed()
  const decoders = applied.flatMap((name) => codings.get(name) ?? [])
  if (decoders.length !== applied.length || applied.length > MAX_CODINGS) throw unknownCoding()
  let decoded = bytes
  for (const decode of decoders) decoded = await decode(decoded, { maxOutputLength: maxBytes }).catch(refuse(maxBytes))
  return decoded
}

const refuse = (maxBytes: number) => (error: NodeJS.ErrnoException) => {
  if (error.code === 'ERR_BUFFER_TOO_LARGE') throw bodyTooLarge(maxBytes)
  throw new Invalid('INVALID_INPUT', 'The request body is not in the coding that Content-Encoding names.')
}

/** Creates the error for a body that is too large. */
export const bodyTooLarge = (maxBytes: number): HTTPException =>
  new HTTPException(413, { message: `The request body must be at most ${maxBytes / 1024} KiB.` })

function unknownCoding(): HTTPException {
  const message = `Send the body in one of these codings: ${ACCEPTED_CODINGS}.`
  return new HTTPException(415, {
    message,
    res: new Response(message, { status: 415, headers: { 'Accept-Encoding': ACCEPTED_CODINGS } }),
  })
}

/** Charsets whose texts are UTF-8 as well. */
const CHARSETS: ReadonlySet<string | null> = new Set([null, 'utf-8', 'utf8', 'us-ascii', 'ascii'])

/**
 * Returns the text of a body, without a byte order mark. Never replaces what it cannot read.
 * @throws HTTPException 415 for another charset. @throws Invalid when the body is not UTF-8.
 */
export function decodeText(bytes: Buffer, contentType: string | null | undefined): string {
  const charset = mediaTypeOf(contentType)?.charset ?? null
  if (!CHARSETS.has(charset)) throw new HTTPException(415, { message: 'Send the body in UTF-8.' })
  if (!isUtf8(bytes)) throw new Invalid('INVALID_INPUT', 'The request body is not UTF-8.')
  const text = bytes.toString('utf8')
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}
