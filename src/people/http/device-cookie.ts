import type { Context as HttpContext } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { DAY, SECOND } from '../../core/time.ts'
import { isSecure } from './session-cookie.ts'

interface Site {
  readonly baseUrl: string
}

/** Browsers keep no cookie longer than 400 days (RFC 6265bis §5.5). */
const LIFETIME = 400 * DAY

const nameFor = (site: Site) => (isSecure(site) ? '__Host-allclear_device' : 'allclear_device')

/** Returns what the browser keeps since a person signed in; undefined: nothing. */
export function deviceOf(c: HttpContext, site: Site): string | undefined {
  return getCookie(c, nameFor(site))
}

/** Has the browser keep that a person has signed in, also after the session. */
export function setDeviceCookie(c: HttpContext, site: Site, device: string): void {
  const cookie = { path: '/', httpOnly: true, sameSite: 'Lax', maxAge: LIFETIME / SECOND } as const
  setCookie(c, nameFor(site), device, { ...cookie, secure: isSecure(site) })
}
