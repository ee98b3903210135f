import { parseUrl } from '../../core/url.ts'
import { Stop } from './attempt.ts'
import { locationText } from './header-text.ts'
import type { OutboundRequest } from './outbound.ts'
import { portRefusal } from './port-policy.ts'

/** One request in a chain of redirects. */
export interface Hop {
  readonly url: URL
  readonly method: string
  /** The values by lower-case name. Host and Content-Length are added automatically. */
  readonly headers: ReadonlyMap<string, string[]>
  /** The default headers, without the caller's own. */
  readonly defaults: Hop['headers']
  /** The value of the header Cookie, with the caller's own; null: there is none, or only the caller's own. */
  readonly cookies: string | null
  readonly body: Buffer | undefined
}

/**
 * Creates the first hop of a request, with the default headers.
 * @throws Stop `invalid` or `forbidden`.
 */
export function firstHop(request: OutboundRequest, defaults: Hop['headers']): Hop {
  const body = request.body === undefined ? undefined : Buffer.from(request.body)
  const given = new Map<string, string[]>()
  for (const { name, value } of request.headers ?? []) {
    const key = name.toLowerCase()
    given.set(key, [...(given.get(key) ?? []), value])
  }
  return {
    url: readUrl(request.url, undefined),
    method: request.method ?? 'GET',
    headers: new Map([...defaults, ...given]),
    defaults,
    cookies: null,
    body,
  }
}

/**
 * Returns the hop to which a response redirects (RFC 9110 §15.4); null: the response is not a redirect that is
 * followed. Other parties do not get the caller's own headers, because any of them may be a secret, and do not get a
 * body: a redirect that would send them one is not followed.
 * @throws Stop when the target of the redirect cannot be requested.
 */
export function nextHop(
  { url, method, headers, defaults, body }: Hop,
  status: number,
  location: string | undefined,
): Hop | null {
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return null
  const target = readUrl(locationText(location), url)
  const toGet = status === 303 ? method !== 'HEAD' : status <= 302 && method === 'POST'
  const trusted = isSameParty(url, target)
  if (body !== undefined && !toGet && !trusted) return null
  const kept = [...(trusted ? headers : defaults)].filter(([name]) => !(toGet && name === 'content-type'))
  return {
    url: target,
    method: toGet ? 'GET' : method,
    headers: new Map(kept),
    defaults,
    cookies: null,
    body: toGet ? undefined : body,
  }
}

/** Returns the failure for too many redirects. It names the loop if there is one. */
export function tooManyRedirects(hops: readonly Hop[], maximum: number): Stop {
  const last = hops.at(-1)
  const before = hops.findLastIndex(({ url, method }, index) => {
    return index < hops.length - 1 && url.href === last?.url.href && method === last.method
  })
  if (before === -1)
    return new Stop('redirects', 'theirs', `More than ${maximum} ${maximum === 1 ? 'redirect' : 'redirects'}`)
  // Paths may contain secrets, so only origins are named.
  const places = hops.slice(before).map(({ url }) => url.origin)
  const origins = places.filter((place, index) => place !== places[index - 1])
  const loop = origins.length === 1 ? `within ${origins[0]}` : `: ${origins.join(' → ')}`
  return new Stop('redirects', 'theirs', `Redirects in a loop${origins.length === 1 ? ' ' : ''}${loop}`)
}

/** Returns whether two URLs have the same origin, or the second is the https URL of the same host. */
function isSameParty(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true
  return (
    from.hostname === to.hostname &&
    from.protocol === 'http:' &&
    from.port === '' &&
    to.origin === `https://${to.hostname}`
  )
}

/** Parses a URL. @throws Stop `invalid` for an invalid URL of the caller, `redirects` for an invalid redirect. */
function readUrl(text: string, base: URL | undefined): URL {
  const where = base === undefined ? 'The URL is' : 'The redirect target is'
  const reason = base === undefined ? 'invalid' : 'redirects'
  const url = parseUrl(text, base)
  if (url === null) throw new Stop(reason, 'theirs', `${where} not a valid URL`)
  if (!/^https?:$/.test(url.protocol)) {
    const scheme =
      base === undefined
        ? 'The URL is not an http:// or https:// URL'
        : `The redirect target is a ${url.protocol.slice(0, 20)} URL, not an http:// or https:// URL`
    throw new Stop(reason, 'theirs', scheme)
  }
  if (url.username !== '' || url.password !== '') throw new Stop(reason, 'theirs', `${where} a URL with credentials`)
  const refusal = portRefusal(Number(url.port), 'application')
  if (refusal !== null) throw new Stop('forbidden', 'theirs', `${where} on ${refusal}`)
  return url
}
