import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'

/**
 * The body of a request as text, read no further than `most` bytes, whether or not its length was told.
 * @throws HTTPException 413 when there is more.
 */
export async function readBody(c: Context, most: number): Promise<string> {
  const tooLarge = new HTTPException(413, { message: `The body has more than ${most / 1024} KiB.` })
  if (Number(c.req.header('content-length')) > most) throw tooLarge
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of c.req.raw.body ?? []) {
    size += chunk.length
    if (size > most) throw tooLarge
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
