import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'

/** Bytes in the escapes of URLs (RFC 3986 §2.1), as many as follow each other. */
const ESCAPES = /(?:%[0-9a-f]{2})+/gi

/**
 * Returns whether the escapes in a text are text: UTF-8 without NUL, which the database cannot store. UTF-8 has neither
 * lone surrogates nor characters in more bytes than necessary (RFC 3629 §3).
 */
export function areEscapesText(text: string): boolean {
  if (!text.includes('%')) return true
  for (const [escapes] of text.matchAll(ESCAPES)) {
    const bytes = Buffer.from(escapes.replaceAll('%', ''), 'hex')
    if (bytes.includes(0) || !isUtf8(bytes)) return false
  }
  return true
}

/**
 * Returns why the address of a request is refused; null: it is not. Checks by REST read their query themselves, compare
 * it with nothing stored, and answer with their own code.
 */
export function escapesProblem({ url = '' }: Pick<IncomingMessage, 'url'>): string | null {
  const [path = ''] = url.split('?', 1)
  const read = path.startsWith('/api/blacklist-monitor/') ? path : url
  return areEscapesText(read) ? null : 'The address contains escapes that are no text: NUL, or no UTF-8.'
}

/**
 * Removes cookies whose escapes are no text from a request. They are not refused: other sites on our domain set cookies
 * too, and would lock their visitors out.
 */
export function dropUnreadableCookies(request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): void {
  const { headers, rawHeaders } = request
  if (headers.cookie === undefined || areEscapesText(headers.cookie)) return
  headers.cookie = readableCookies(headers.cookie)
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'cookie')
      rawHeaders[index + 1] = readableCookies(rawHeaders[index + 1] ?? '')
  }
}

const readableCookies = (cookies: string) => cookies.split(';').filter(areEscapesText).join(';')
