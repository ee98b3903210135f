import type { IncomingMessage } from 'node:http'
import type { Context as HttpContext } from 'hono'
import { setCookie } from 'hono/cookie'
import { parse } from 'hono/utils/cookie'
import { typeOfId } from '../../core/id.ts'
import { SECOND } from '../../core/time.ts'
import { bearerOf } from '../../http/request/caller.ts'
import { isOwnOrigin } from '../../http/request/own-origin.ts'
import type { PageKeys } from '../page/page-guard.ts'
import { PAGE_COOKIE_LIFETIME } from '../page/page-guard.ts'

interface Site {
  readonly baseUrl: string
}

/** `__Host-` binds the cookie to this host and to https, like the cookie of sessions. */
const prefixFor = ({ baseUrl }: Site) => (isSecure({ baseUrl }) ? '__Host-allclear_' : 'allclear_')
const isSecure = ({ baseUrl }: Site) => baseUrl.startsWith('https:')

const none: PageKeys['cookies'] = new Map()

function cookiesIn(header: string | undefined, site: Site): PageKeys['cookies'] {
  if (header === undefined) return none
  const prefix = prefixFor(site)
  const all = Object.entries(parse(header)).map(([name, value]) => [name.slice(prefix.length), name, value] as const)
  return new Map(
    all.flatMap(([id, name, value]) =>
      name.startsWith(prefix) && typeOfId(id) === 'StatusPage' ? [[id, value] as const] : [],
    ),
  )
}

/** Returns the keys in a request for a page or document: a read token in its URL or header, and cookies of opened pages. */
export function pageKeysOf(c: HttpContext, site: Site): PageKeys {
  const from = c.req.header('sec-fetch-site')
  const isForeign = from === 'cross-site' && c.req.header('sec-fetch-mode') !== 'navigate'
  const token = c.req.query('token') ?? bearerOf(c.req.header('authorization'))
  return { token, cookies: cookiesIn(c.req.header('cookie'), site), isCrossSite: isForeign }
}

/**
 * Returns the keys in a GraphQL request or websocket. It ignores cookies of requests from other sites' pages, and of GET requests,
 * which other sites can cause. The read token is the caller's credential.
 */
export function pageKeysOfGraphql(request: IncomingMessage, site: Site): Omit<PageKeys, 'token'> {
  const { method, headers } = request
  const isUnsafe = method !== 'GET' || headers.upgrade !== undefined
  const cookies = isUnsafe && isOwnOrigin(request, true) ? cookiesIn(headers.cookie, site) : none
  return { cookies, isCrossSite: !isOwnOrigin(request) }
}

/** Sets the cookie of an opened page. */
export function setPageCookie(c: HttpContext, site: Site, pageId: string, value: string): void {
  setCookie(c, prefixFor(site) + pageId, value, {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    secure: isSecure(site),
    maxAge: PAGE_COOKIE_LIFETIME / SECOND,
  })
}
