import { isJsonObject } from '../../core/json-object.ts'
import { bearerOf } from '../../http/request/caller.ts'

/** The payload of `connection_init` is invalid; closes the socket with 4400. */
export class InvalidConnectionParams extends Error {
  override readonly name = 'InvalidConnectionParams'
}

/** The members with an `Authorization` value and those with a plain key, regardless of case, `-` and `_`. */
const AUTHORIZATION = 'authorization'
const KEYS: ReadonlySet<string> = new Set(['apikey', 'xapikey'])
/** Headers that clients include and that do not identify the caller. */
const HARMLESS_HEADERS =
  /^(accept|content|apollographql|useragent|origin|referer|traceparent|tracestate|xrequestid|xcorrelationid)/
/** Unknown members are rejected: within `headers` those that look like credentials, elsewhere all. */
const ANY_NAME = /(?:)/
const CREDENTIAL_LIKE = /auth|key|token|secret|passw|credential|bearer|jwt|session|cookie/

/**
 * Returns the key in the payload of `connection_init`, because browsers cannot set headers on websockets; null: there
 * is none. Accepts all usual spellings, also within `headers`.
 * @throws InvalidConnectionParams for unknown members, so that a misspelt key is never ignored.
 */
export function credentialIn(params: unknown): string | null {
  if (params === null || params === undefined) return null
  if (!isJsonObject(params)) throw new InvalidConnectionParams('connectionParams must be an object.')
  const found = new Set<string | null>()
  for (const [name, value] of presentMembers(params)) {
    if (normalizeName(name) !== 'headers' || !isJsonObject(value)) collect(name, value, found, ANY_NAME)
    else for (const [header, text] of presentMembers(value)) collect(header, text, found, CREDENTIAL_LIKE)
  }
  const isForeign = found.delete(null)
  if (found.size > 1) throw new InvalidConnectionParams('connectionParams contains two different keys.')
  const [key] = found
  if (key !== undefined) return key
  if (isForeign) throw new InvalidConnectionParams('connectionParams: authorization must be "Bearer" and a key.')
  return null
}

/** Adds the credential of a member, null for another scheme's. Rejects other members whose name matches `refused`. */
function collect(name: string, value: unknown, found: Set<string | null>, refused: RegExp): void {
  const normalized = normalizeName(name)
  if (normalized === AUTHORIZATION) found.add(bearerToken(value))
  else if (KEYS.has(normalized)) found.add(typeof value === 'string' ? value.trim() : '')
  else if (!HARMLESS_HEADERS.test(normalized) && refused.test(normalized)) {
    const printable = name.replace(/[^\w-]/g, '?').slice(0, 30)
    throw new InvalidConnectionParams(`connectionParams: unknown member "${printable}". Send authorization or apiKey.`)
  }
}

/** Returns the key of an `Authorization` value; null for another scheme, such as a proxy's. */
function bearerToken(value: unknown): string | null {
  return typeof value === 'string' ? bearerOf(value) : ''
}

const presentMembers = (members: object) =>
  Object.entries(members).filter(([, value]) => value !== null && value !== undefined)

const normalizeName = (name: string) => name.toLowerCase().replace(/[-_]/g, '')
