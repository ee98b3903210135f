import type { OutboundRequest } from '../outbound.ts'
import { Stop } from './attempt.ts'

/** One request on the way of its redirects. */
export interface Hop {
  readonly url: URL
  readonly method: string
  /** The values by lower-case name; Host and Content-Length come by themselves. */
  readonly headers: ReadonlyMap<string, string[]>
  /** Those that every request has, without the caller's own. */
  readonly defaults: Hop['headers']
  readonly body: Buffer | undefined
}

/** SMTP, which can be spoken to in the body of an HTTP request: nobody sends mail through us (the Fetch Standard's bad ports). */
const MAIL_PORT = '25'

/**
 * The first hop of a request, with the headers that every request has.
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
    body,
  }
}

/**
 * Where an answer redirects to (RFC 9110 §15.4); null when it does not. Other parties than the one asked are told none of
 * the caller's own headers, for any may be a secret, and get no body: a redirect that asks for that is not followed.
 * @throws Stop when it redirects to where nothing can be asked.
 */
export function nextHop(
  { url, method, headers, defaults, body }: Hop,
  status: number,
  location: string | undefined,
): Hop | null {
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return null
  const target = readUrl(location, url)
  const toGet = status === 303 ? method !== 'HEAD' : status <= 302 && method === 'POST'
  const trusted = isSameParty(url, target)
  if (body !== undefined && !toGet && !trusted) return null
  const kept = [...(trusted ? headers : defaults)].filter(([name]) => !(toGet && name === 'content-type'))
  return {
    url: target,
    method: toGet ? 'GET' : method,
    headers: new Map(kept),
    defaults,
    body: toGet ? undefined : body,
  }
}

/** What to throw when redirects do not end, by where they led: the last one leads on, and perhaps to where it was already. */
export function tooManyRedirects(hops: readonly Hop[], most: number): Stop {
  const last = hops.at(-1)
  const before = hops.findLastIndex(({ url, method }, index) => {
    return index < hops.length - 1 && url.href === last?.url.href && method === last.method
  })
  if (before === -1)
    return new Stop('redirects', 'theirs', `More than ${most} ${most === 1 ? 'redirect' : 'redirects'}`)
  // Paths may hold secrets.
  const places = hops.slice(before).map(({ url }) => url.origin)
  const way = places.filter((place, index) => place !== places[index - 1])
  const loop = way.length === 1 ? `within ${way[0]}` : `: ${way.join(' → ')}`
  return new Stop('redirects', 'theirs', `Redirects in a loop${way.length === 1 ? ' ' : ''}${loop}`)
}

/** The same origin, or the same host in its secure form. */
function isSameParty(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true
  return (
    from.hostname === to.hostname &&
    from.protocol === 'http:' &&
    from.port === '' &&
    to.origin === `https://${to.hostname}`
  )
}

/** A URL that cannot be used is the caller's mistake, but a redirect to one is the server's. */
function readUrl(text: string, base: URL | undefined): URL {
  const where = base === undefined ? 'The URL is' : 'Redirects to what is'
  const reason = base === undefined ? 'invalid' : 'redirects'
  if (!URL.canParse(text, base)) throw new Stop(reason, 'theirs', `${where} not a valid URL`)
  const url = new URL(text, base)
  if (!/^https?:$/.test(url.protocol)) {
    const scheme =
      base === undefined
        ? 'The URL is no http:// or https:// URL'
        : `Redirects to ${url.protocol.slice(0, 20)}//, not to http:// or https://`
    throw new Stop(reason, 'theirs', scheme)
  }
  if (url.username !== '' || url.password !== '') throw new Stop(reason, 'theirs', `${where} a URL with a user`)
  if (url.port === MAIL_PORT) throw new Stop('forbidden', 'theirs', `${where} on port 25, which is for mail`)
  return url
}
