import type { IncomingMessage } from 'node:http'
import { inTurn } from '../../core/concurrency/time-slice.ts'
import { Invalid } from '../../core/errors.ts'
import { bodyTooLarge, decodeContent, decodeText } from './content.ts'
import { turnOwner } from './incoming.ts'
import { mediaTypeOf } from './media-type.ts'

/** How long the rest of a body that is too large is read before the answer, in milliseconds. */
const LINGER_MS = 2000

/**
 * Reads the body of a request as text, up to `maxBytes` with or without a Content-Length. Reads on after the limit, but
 * buffers nothing more.
 * @throws HTTPException 413 when the body is larger, 415 for another charset or an unknown coding. @throws Invalid when
 *   the connection closes before the end, the body is not UTF-8, or it contains NUL, which cannot be stored.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  const text = decodeText(await readBytes(request, maxBytes), request.headers['content-type'])
  const isForm = mediaTypeOf(request.headers['content-type'])?.essence === 'application/x-www-form-urlencoded'
  if (text.includes('\0') || (isForm && text.includes('%00')))
    throw new Invalid('INVALID_INPUT', 'The request body contains the character NUL.')
  return text
}

/** Reads the body of a request as bytes, like `readBody`, and decodes it by its `Content-Encoding`. */
export async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  const chunks = await readChunks(request, maxBytes)
  const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
  return decodeContent(bytes, request.headers['content-encoding'], maxBytes)
}

/** Returns the announced length of the body of a request, in bytes; Infinity: it is not announced. */
export function bodyLength({ headers }: Pick<IncomingMessage, 'headers'>): number {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  return encoding === undefined ? Number(length ?? 0) : Number.POSITIVE_INFINITY
}

function readChunks(request: IncomingMessage, maxBytes: number): Promise<Buffer<ArrayBuffer>[]> {
  return new Promise((resolve, reject) => {
    const tooLarge = () => bodyTooLarge(maxBytes)
    let lingering: NodeJS.Timeout | null = null
    const refuse = () => {
      if (!closesAfterAnswer(request)) return reject(tooLarge())
      lingering ??= setTimeout(() => reject(tooLarge()), LINGER_MS)
    }
    const announced = bodyLength(request)
    if (announced > maxBytes && announced !== Number.POSITIVE_INFINITY) refuse()
    // Hundreds of bodies may end at once, or the connections on which they were to come.
    const settle = (work: () => void) => inTurn(() => turnOwner(request), work)
    const pieces = createPieces()
    let size = 0
    request.on('data', (chunk: Buffer<ArrayBuffer>) => {
      size += chunk.length
      if (size > maxBytes) refuse()
      else pieces.add(chunk)
    })
    // Creates errors only when needed: the stack takes as long as the rest of a small request.
    const onClose = () => {
      clearTimeout(lingering ?? undefined)
      settle(() => reject(new Invalid('INVALID_INPUT', 'The request body is incomplete.')))
    }
    if (request.destroyed && !request.readableEnded) onClose()
    request.once('close', onClose)
    request.once('end', () => {
      request.off('close', onClose)
      clearTimeout(lingering ?? undefined)
      settle(() => (lingering === null ? resolve(pieces.all()) : reject(tooLarge())))
    })
  })
}

/** How many pieces are kept as they arrived. */
const MAX_LOOSE = 500
/** The least size of joined pieces, in bytes. */
const JOINED_BYTES = 64 * 1024

/** Gathers pieces and joins small ones: each takes about 200 bytes in addition to its content, which may be one byte. */
function createPieces() {
  const joined: Buffer<ArrayBuffer>[] = []
  let loose: Buffer<ArrayBuffer>[] = []

  function join(): void {
    const piece = Buffer.concat(loose)
    if (piece.length < JOINED_BYTES) loose = [piece]
    else {
      joined.push(piece)
      loose = []
    }
  }

  return {
    add(piece: Buffer<ArrayBuffer>) {
      loose.push(piece)
      if (loose.length === MAX_LOOSE) join()
    },
    all: () => [...joined, ...loose],
  }
}

/**
 * Returns whether the connection closes after the answer. An answer before the end of the body would then be lost:
 * closing a connection with unread data resets it (RFC 9112 §9.6).
 */
function closesAfterAnswer({ httpVersion, headers: { connection = '' } }: IncomingMessage): boolean {
  return /\bclose\b/i.test(connection) || (httpVersion === '1.0' && !/\bkeep-alive\b/i.test(connection))
}
