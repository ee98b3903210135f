import type { IncomingMessage } from 'node:http'
import { HTTPException } from 'hono/http-exception'
import { Invalid } from '../errors.ts'

/**
 * The body of a request as text, kept no further than `most` bytes, whether or not its length was told; what comes after
 * them is let pass.
 * @throws HTTPException 413 when there is more. @throws Invalid when the caller leaves before the end.
 */
export async function readBody(request: IncomingMessage, most: number): Promise<string> {
  return (await readBytes(request, most)).toString('utf8')
}

/** The same as the bytes that were sent. */
export function readBytes(request: IncomingMessage, most: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = new HTTPException(413, { message: `The body has more than ${most / 1024} KiB.` })
    if (Number(request.headers['content-length']) > most) reject(tooLarge)
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > most) reject(tooLarge)
      else chunks.push(chunk)
    })
    request.once('end', () => resolve(Buffer.concat(chunks)))
    request.once('close', () => reject(new Invalid('INVALID_INPUT', 'The body broke off.')))
  })
}
