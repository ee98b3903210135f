import { GraphQLError } from 'graphql'
import type { FetchAPI, Plugin } from 'graphql-yoga'

/**
 * Limits the size of request bodies. Unlike Yoga's own `maxRequestBodySize`, it does not send every body through
 * another stream: Node reads no more of a body than its Content-Length announces, so only bodies without one are
 * counted.
 * @param maxBytes the largest accepted body; a larger one gets 413 `REQUEST_ENTITY_TOO_LARGE`.
 */
export function limitBodySize(maxBytes: number): Plugin {
  return {
    onRequestParse({ request, requestParser, setRequestParser, fetchAPI }) {
      const length = request.headers.get('content-length')
      if (length !== null) {
        if (!(Number(length) <= maxBytes)) throw tooLarge()
      } else if (requestParser && request.body) {
        setRequestParser(async (unread) => requestParser(await readWithin(unread, maxBytes, fetchAPI)))
      }
    },
  }
}

/** Reads a body of unknown length. @throws GraphQLError when it is larger than `maxBytes`. */
async function readWithin(request: Request, maxBytes: number, fetchAPI: FetchAPI): Promise<Request> {
  const { url, method, headers, signal } = request
  // An iteration that ends early would close the connection before the answer is sent.
  const reader = request.body?.getReader()
  const chunks: Uint8Array[] = []
  for (let size = 0, part = await reader?.read(); part?.value; part = await reader?.read()) {
    size += part.value.byteLength
    if (size > maxBytes) throw tooLarge()
    chunks.push(part.value)
  }
  return new fetchAPI.Request(url, { method, headers, signal, body: Buffer.concat(chunks) })
}

const tooLarge = () =>
  new GraphQLError('Request body too large', {
    extensions: { code: 'REQUEST_ENTITY_TOO_LARGE', http: { status: 413 } },
  })
