import type { IncomingMessage } from 'node:http'
import { parseUrl } from '../../core/url.ts'

/**
 * Returns whether a request comes from a page of this host. Browsers say so in `Sec-Fetch-Site`, or name the page's origin;
 * other clients have no cookies to abuse, unless `strict`: then a request that says neither is refused.
 */
export function isOwnOrigin({ headers }: Pick<IncomingMessage, 'headers'>, strict = false): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin, host } = headers
  if (origin === undefined) return !strict
  return parseUrl(origin)?.host === host
}
