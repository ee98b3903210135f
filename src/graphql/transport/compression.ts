import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Plugin } from 'graphql-yoga'
import { accepts } from '../../http/response/encoding.ts'

/** Shorter answers fit into a few packets. */
const MIN_BYTES = 8000

/**
 * Compresses long answers to callers with a key who accept gzip. Answers to visitors are cached uncompressed. Answers
 * to sessions stay uncompressed, because a page of another site could request them and infer secrets from their lengths
 * (BREACH, breachattack.com), which it cannot do with a key.
 */
export const compression: Plugin = {
  async onResponse({ request, response, setResponse, fetchAPI }) {
    const { headers, status } = response
    const isLong = Number(headers.get('content-length') ?? 0) >= MIN_BYTES && headers.get('content-encoding') === null
    if (!isLong || request.headers.get('authorization') === null) return
    headers.append('vary', 'Accept-Encoding')
    if (!accepts(request.headers.get('accept-encoding') ?? undefined, 'gzip')) return
    const body = await promisify(gzip)(Buffer.from(await response.arrayBuffer()))
    headers.set('content-encoding', 'gzip')
    headers.set('content-length', String(body.length))
    setResponse(new fetchAPI.Response(body, { status, headers }))
  },
}
