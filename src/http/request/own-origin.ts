import type { IncomingMessage } from 'node:http'
import { parseUrl } from '../../core/url.ts'

/**
 * Returns whether a request comes from a page of this host. Browsers indicate that in `Sec-Fetch-Site` or by the page's
 * origin; other clients have no cookies to abuse. With `strict`, a request without either is refused.
 */
export function isOwnOrigin({ headers }: Pick<IncomingMessage, 'headers'>, strict = false): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin, host } = headers
  if (origin === undefined) return !strict
  return parseUrl(origin)?.host === host
}
