import type { IncomingMessage } from 'node:http'
import { requestLimits } from '../../core/input-limits.ts'

/** A refusal of a request. */
export interface Refusal {
  /** 414: the address is too long (RFC 9110 §15.5.15); 431: a header is (RFC 6585 §5); 400: it is malformed. */
  readonly status: 400 | 414 | 431
  readonly message: string
}

const { path, query, parameter, header, shortHeader } = requestLimits

/** Headers that are searched with regular expressions or split, in lower case. */
const shortHeaders: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'if-modified-since',
  'if-none-match',
  'origin',
  'range',
  'sec-websocket-protocol',
  'upgrade',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
])
/** Other sites on our domain set cookies too, tokens of a proxy may be large, and a wrong key is answered as such. Only the limit of all headers applies. */
const longHeaders: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization', 'x-api-key'])

/** Returns why the address or a header of a request is too long; null: neither is. */
export function lengthRefusal({ url = '', rawHeaders }: Pick<IncomingMessage, 'url' | 'rawHeaders'>): Refusal | null {
  // Nearly all requests end here.
  if (url.length > parameter.most) {
    const message = addressProblem(url)
    if (message !== null) return { status: 414, message }
  }
  for (let index = 1; index < rawHeaders.length; index += 2) {
    const length = rawHeaders[index]?.length ?? 0
    if (length > shortHeader.most && length > longest(rawHeaders[index - 1] ?? '')) {
      return { status: 431, message: `The header ${rawHeaders[index - 1]} is too long.` }
    }
  }
  return null
}

function longest(name: string): number {
  const known = name.toLowerCase()
  if (longHeaders.has(known)) return requestLimits.head.most
  return shortHeaders.has(known) ? shortHeader.most : header.most
}

function addressProblem(url: string): string | null {
  const start = url.indexOf('?')
  const [pathname, search] = start < 0 ? [url, ''] : [url.slice(0, start), url.slice(start + 1)]
  if (pathname.length > path.most) return `The path of an address has at most ${path.most} characters.`
  // These limit their queries themselves, and answer in their own form.
  if (/^\/(?:graphql\/?$|api\/)/.test(pathname)) return null
  if (search.length > query.most) return `The query of an address has at most ${query.most} characters.`
  if (search.split('&').every((each) => decodedLength(each) <= parameter.most)) return null
  return `A parameter of an address has at most ${parameter.most} characters.`
}

/** Returns the length of a parameter after decoding; that of invalid text as it is. */
function decodedLength(text: string): number {
  if (text.length <= parameter.most) return text.length
  try {
    return decodeURIComponent(text).length
  } catch {
    return text.length
  }
}
