import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { MINUTE, SECOND } from '../../core/time.ts'
import type { Answer, Certificate } from '../../network/outbound/outbound.ts'
import type { ProbeResult } from '../result/probe-result.ts'
import { probeResult } from '../result/probe-result.ts'
import { unreachableResult } from './host.ts'
import type { HttpOptions } from './http-options.ts'
import type { ProbeRun } from './probe.ts'

type Client = NonNullable<HttpOptions['oauth']>

/** A token, and whether an earlier probe obtained it. */
export interface Token {
  readonly value: string
  readonly isStored: boolean
  /** That of the server that issued it; null: it has none. */
  readonly certificate: Certificate | null
}

/** The tokens that this process caches until shortly before they expire, by organization and client. */
const tokens = new LRUCache<string, Omit<Token, 'isStored'> & { readonly endsAt: number }>({ max: 2000 })

/** How long before its expiry a token is dropped, and how long to cache a token without an expiry. */
const MARGIN_MS = 30 * SECOND
const DEFAULT_LIFE_MS = 5 * MINUTE
const MAX_ANSWER_BYTES = 64 * 1024

/** Returns a token for the client (RFC 6749 §4.4), or the result of the probe if there is none. */
export async function accessToken(
  client: Client,
  proxy: HttpOptions['proxy'],
  run: ProbeRun,
): Promise<Token | ProbeResult> {
  const key = keyOf(client, run)
  const now = run.tools.now().getTime()
  const stored = tokens.get(key)
  if (stored !== undefined && stored.endsAt > now)
    return { value: stored.value, certificate: stored.certificate, isStored: true }
  const answer = await run.tools.outbound.request(
    {
      url: client.tokenUrl,
      method: 'POST',
      ...grantOf(client),
      maxRedirects: 0,
      maxBodyBytes: MAX_ANSWER_BYTES,
      proxy,
    },
    run,
  )
  if (answer.kind === 'failed') {
    const result = unreachableResult(new URL(client.tokenUrl).hostname, answer, run.tools.now())
    return { ...result, message: `No token: ${result.message}` }
  }
  const read = readToken(answer)
  if (typeof read === 'string') return probeResult('DOWN', `No token: ${read}`)
  const { certificate } = answer
  tokens.set(key, { value: read.value, certificate, endsAt: now + read.lifeMs - MARGIN_MS })
  return { value: read.value, certificate, isStored: false }
}

/** Drops the cached token of a client after it was refused. */
export function forgetToken(client: Client, run: ProbeRun): void {
  tokens.delete(keyOf(client, run))
}

/**
 * Returns the cache key of a client. The hash covers the secret, so that clients with the same id do not share tokens.
 */
function keyOf(client: Client, { owner }: ProbeRun): string {
  return createHash('sha256')
    .update(JSON.stringify([owner, client]))
    .digest('base64')
}

function grantOf({ clientId, clientSecret, scope, audience, authentication }: Client) {
  const isPost = authentication === 'POST'
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience }),
    ...(isPost && { client_id: clientId, client_secret: clientSecret }),
  })
  const encoded = [clientId, clientSecret].map(encodeURIComponent).join(':')
  const basic = { name: 'Authorization', value: `Basic ${Buffer.from(encoded).toString('base64')}` }
  const type = { name: 'Content-Type', value: 'application/x-www-form-urlencoded' }
  const headers = [type, { name: 'Accept', value: 'application/json' }, ...(isPost ? [] : [basic])]
  return { headers, body: body.toString() }
}

/** Returns the token and its lifetime in an answer, or the problem. */
function readToken({ status, body, complete }: Answer): { readonly value: string; readonly lifeMs: number } | string {
  const members = complete ? readMembers(body) : {}
  const { access_token: value, expires_in: life, error } = members
  const code = typeof error === 'string' && /^[\w.-]{1,40}$/.test(error) ? ` (${error})` : ''
  if (status !== 200) return `HTTP ${status}${code} from the token URL`
  if (typeof value !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(value)) return 'the answer has no access_token'
  const seconds = Number(life)
  return { value, lifeMs: Number.isFinite(seconds) && seconds > 0 ? seconds * SECOND : DEFAULT_LIFE_MS }
}

function readMembers(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body.toString())
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
