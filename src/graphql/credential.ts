import { bearerOf } from '../http/caller.ts'

/** Why what a client says of itself at the start of a websocket cannot be taken; closes the socket with 4400. */
export class BadParams extends Error {
  override readonly name = 'BadParams'
}

/** Members that hold an `Authorization` value, and those that hold a bare key; letters' case and `-` or `_` do not matter. */
const AUTHORIZATION = 'authorization'
const KEYS: ReadonlySet<string> = new Set(['apikey', 'xapikey'])
/** Ordinary headers, which clients put here too and which say nothing of who calls. */
const ORDINARY =
  /^(accept|content|apollographql|useragent|origin|referer|traceparent|tracestate|xrequestid|xcorrelationid)/
/** Members that we do not know are refused: within `headers` those that may be a credential, elsewhere all. */
const ANY = /(?:)/
const SUSPICIOUS = /auth|key|token|secret|passw|credential|bearer|jwt|session|cookie/

/**
 * The key in the payload of `connection_init`, since browsers cannot set headers on websockets; null when there is none. It
 * may be spelt in all the usual ways, also within `headers`.
 * @throws BadParams when there is a member that we do not know: a caller who sends a key is never taken for nobody.
 */
export function credentialIn(params: unknown): string | null {
  if (params === null || params === undefined) return null
  if (!isObject(params)) throw new BadParams('connectionParams must be an object.')
  const found = new Set<string | null>()
  for (const [name, value] of given(params)) {
    if (plain(name) !== 'headers' || !isObject(value)) collect(name, value, found, ANY)
    else for (const [header, text] of given(value)) collect(header, text, found, SUSPICIOUS)
  }
  const isForeign = found.delete(null)
  if (found.size > 1) throw new BadParams('connectionParams has two different keys.')
  const [key] = found
  if (key !== undefined) return key
  if (isForeign) throw new BadParams('connectionParams: authorization must be "Bearer" and a key.')
  return null
}

/** Adds the credential that a member holds, null for another scheme’s; others are refused when their name matches `refused`. */
function collect(name: string, value: unknown, found: Set<string | null>, refused: RegExp): void {
  const spelling = plain(name)
  if (spelling === AUTHORIZATION) found.add(tokenIn(value))
  else if (KEYS.has(spelling)) found.add(typeof value === 'string' ? value.trim() : '')
  else if (!ORDINARY.test(spelling) && refused.test(spelling)) {
    const shown = name.replace(/[^\w-]/g, '?').slice(0, 30)
    throw new BadParams(`connectionParams: unknown member "${shown}". Send authorization or apiKey.`)
  }
}

/** The key of an authorization; null for one of another scheme, such as a proxy's own. */
function tokenIn(value: unknown): string | null {
  return typeof value === 'string' ? bearerOf(value) : ''
}

const given = (members: object) => Object.entries(members).filter(([, value]) => value !== null && value !== undefined)

const plain = (name: string) => name.toLowerCase().replace(/[-_]/g, '')

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
