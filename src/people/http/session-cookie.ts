import type { IncomingMessage } from 'node:http'
import type { Context as HttpContext } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { parse } from 'hono/utils/cookie'
import { SECOND } from '../../core/time.ts'
import { isOwnOrigin } from '../../http/request/own-origin.ts'
import { SESSION_LIFETIME } from '../session.ts'

interface Site {
  readonly baseUrl: string
}

/** `__Host-` binds the cookie to this host and to https (RFC 6265bis §4.1.3.2). Plain http does not support the prefix. */
const nameFor = ({ baseUrl }: Site) => (isSecure({ baseUrl }) ? '__Host-allclear' : 'allclear_session')
/** Returns whether cookies may be sent over https only. */
export const isSecure = ({ baseUrl }: Site) => baseUrl.startsWith('https:')

/** Returns the token in the session cookie, or null. */
export function sessionToken(c: HttpContext, site: Site): string | null {
  return getCookie(c, nameFor(site)) ?? null
}

/** Sets the session cookie. @param token null: deletes the cookie. */
export function setSessionCookie(c: HttpContext, site: Site, token: string | null): void {
  setCookie(c, nameFor(site), token ?? '', {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    secure: isSecure(site),
    maxAge: token === null ? 0 : SESSION_LIFETIME / SECOND,
  })
}

/**
 * Returns the session of a GraphQL request or websocket that comes from one of our own pages. Ignores the cookie of GET requests,
 * which other sites can cause and caches may store. Undefined: no session.
 */
export function sessionOfRequest(request: IncomingMessage, site: Site): string | undefined {
  const { method, headers } = request
  if (headers.cookie === undefined || (method === 'GET' && headers.upgrade === undefined)) return undefined
  if (!isOwnOrigin(request, true)) return undefined
  const name = nameFor(site)
  return parse(headers.cookie, name)[name]
}
