import type { IncomingMessage } from 'node:http'
import { HTTPException } from 'hono/http-exception'
import { Invalid } from '../core/errors.ts'

/**
 * Reads the body of a request as text, up to `maxBytes` with or without a Content-Length. Reads on after the limit, but
 * buffers nothing more.
 * @throws HTTPException 413 when the body is larger. @throws Invalid when the connection closes before the end.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  return (await readBytes(request, maxBytes)).toString('utf8')
}

/** Reads the body of a request as bytes, like `readBody`. */
export function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const refuse = () =>
      reject(new HTTPException(413, { message: `The request body must be at most ${maxBytes / 1024} KiB.` }))
    if (Number(request.headers['content-length']) > maxBytes) refuse()
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) refuse()
      else chunks.push(chunk)
    })
    // Creates no unused error: its stack takes as long as the rest of a small request.
    const onClose = () => reject(new Invalid('INVALID_INPUT', 'The request body is incomplete.'))
    request.once('close', onClose)
    request.once('end', () => {
      request.off('close', onClose)
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks))
    })
  })
}
