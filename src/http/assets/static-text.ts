import type { Context } from 'hono'
import { compress, decompress, encodingFor } from '../response/encoding.ts'
import { hasCurrent, weakEtag } from '../response/etag.ts'

/** A text that does not change while the service runs: compressed, with its ETag and its other headers. */
interface StaticText {
  readonly content: Awaited<ReturnType<typeof compress>>
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Creates a function that sends a text in an encoding that the client accepts, or 304 if the client has it (RFC 9110
 * §13.1.2). `make` is called for the first request, and again after a failure.
 */
export function staticText(
  make: () => Promise<string> | string,
  headers: Readonly<Record<string, string>>,
): (c: Context) => Promise<Response> {
  const prepared = retryingOnce(async () => prepare(await make(), headers))
  return async (c) => send(c, await prepared())
}

async function prepare(text: string, headers: StaticText['headers']): Promise<StaticText> {
  return {
    content: await compress(Buffer.from(text)),
    headers: {
      ...headers,
      'cache-control': 'public, no-cache',
      vary: headers['vary'] ?? 'accept-encoding',
      etag: weakEtag(text),
    },
  }
}

function send(c: Context, { content, headers }: StaticText): Response {
  if (hasCurrent(c.req.header('if-none-match'), headers['etag'] ?? '')) return c.body(null, 304, headers)
  const encoding = encodingFor(c.req.header('accept-encoding'))
  if (encoding === null) return c.body(decompress(content), 200, headers)
  return c.body(content[encoding], 200, {
    ...headers,
    'content-encoding': encoding,
    'content-length': String(content[encoding].length),
  })
}

/** Calls `make` once; retries after a failure. */
export function retryingOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null
      throw error
    })
    return made
  }
}
