import type { Context as HttpContext } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { DAY, SECOND } from '../../core/time.ts'
import { isSecure } from './session-cookie.ts'

interface Site {
  readonly baseUrl: string
}

/** The maximum lifetime of a cookie in browsers: 400 days (RFC 6265bis §5.5). */
const LIFETIME = 400 * DAY

const nameFor = (site: Site) => (isSecure(site) ? '__Host-allclear_device' : 'allclear_device')

/** Returns the value stored in the browser when a person signed in; undefined: none. */
export function deviceOf(c: HttpContext, site: Site): string | undefined {
  return getCookie(c, nameFor(site))
}

/** Marks the browser as one in which a person has signed in. The cookie outlives the session. */
export function setDeviceCookie(c: HttpContext, site: Site, device: string): void {
  const cookie = { path: '/', httpOnly: true, sameSite: 'Lax', maxAge: LIFETIME / SECOND } as const
  setCookie(c, nameFor(site), device, { ...cookie, secure: isSecure(site) })
}
