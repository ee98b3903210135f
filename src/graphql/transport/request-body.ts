import { GraphQLError } from 'graphql'
import type { GraphQLParams, Plugin } from 'graphql-yoga'
import { HTTPException } from 'hono/http-exception'
import { Invalid } from '../../core/errors.ts'
import type { Caller } from '../../http/request/caller.ts'
import { decodeContent, decodeText } from '../../http/request/content.ts'
import { turnOf } from './turn.ts'

/**
 * Reads the bodies of POST requests: of limited size, decoded, in UTF-8, and parsed in a turn of their caller. Ignores
 * members that the protocol does not have, such as the `id` of Relay's network layer, and an empty `operationName`.
 * @param maxBytes the largest accepted body; a larger one gets 413 `REQUEST_ENTITY_TOO_LARGE`.
 */
export function requestBodies(maxBytes: number): Plugin<object, { readonly caller: Caller }> {
  return {
    onRequestParse({ request, setRequestParser, serverContext: { caller } }) {
      if (request.method !== 'POST') return
      if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge()
      setRequestParser(async (unread) => {
        const text = await readText(unread, maxBytes)
        const turn = turnOf(caller.address)
        if (turn !== undefined) await turn
        return paramsOf(parse(text))
      })
    },
  }
}

/** @throws GraphQLError for a body that is too large or cannot be decoded. */
async function readText(request: Request, maxBytes: number): Promise<string> {
  const { headers } = request
  // Node reads no more of a body than its Content-Length announces, so only a body without one is counted.
  const isAnnounced = headers.get('content-length') !== null
  const bytes = isAnnounced ? Buffer.from(await request.arrayBuffer()) : await readWithin(request, maxBytes)
  try {
    return decodeText(
      await decodeContent(bytes, headers.get('content-encoding'), maxBytes),
      headers.get('content-type'),
    )
  } catch (error) {
    throw refusalOf(error)
  }
}

/** Reads a body of unknown length. @throws GraphQLError when it is larger than `maxBytes`. */
async function readWithin(request: Request, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  // An iteration that ends early would close the connection before the answer is sent.
  const reader = request.body?.getReader()
  const chunks: Uint8Array[] = []
  for (let size = 0, part = await reader?.read(); part?.value; part = await reader?.read()) {
    size += part.value.byteLength
    if (size > maxBytes) throw tooLarge()
    chunks.push(part.value)
  }
  return Buffer.concat(chunks)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('The body is not valid JSON.')
  }
}

/** Returns the parameters in a body. Yoga refuses a list, and members of wrong types. */
function paramsOf(body: unknown): GraphQLParams {
  if (typeof body !== 'object' || body === null) throw badRequest('The body must be a JSON object.')
  if (Array.isArray(body)) return body as GraphQLParams
  const { query, variables, operationName, extensions, ...unknown } = body as GraphQLParams & Record<string, unknown>
  // Its name is probably misspelled.
  if (query == null && extensions == null && Object.keys(unknown).length > 0) {
    throw badRequest('The body has no member query.')
  }
  return {
    query,
    variables,
    extensions,
    ...(operationName !== '' && operationName !== undefined && { operationName }),
  } as GraphQLParams
}

function refusalOf(error: unknown): unknown {
  if (error instanceof Invalid) return badRequest(error.message)
  if (!(error instanceof HTTPException)) return error
  if (error.status === 413) return tooLarge()
  const accepted = error.res?.headers.get('accept-encoding')
  const headers: Record<string, string> = accepted ? { 'Accept-Encoding': accepted } : {}
  return new GraphQLError(error.message, {
    extensions: { code: 'UNSUPPORTED_MEDIA_TYPE', http: { status: error.status, headers } },
  })
}

/** Creates the error for a request that is not GraphQL over HTTP. */
export const badRequest = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'BAD_REQUEST', http: { status: 400 } } })

const tooLarge = () =>
  new GraphQLError('Request body too large', {
    extensions: { code: 'REQUEST_ENTITY_TOO_LARGE', http: { status: 413 } },
  })
