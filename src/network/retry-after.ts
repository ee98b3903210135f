import type { IncomingHttpHeaders } from 'node:http'
import { SECOND } from '../core/time.ts'

/**
 * Parses `Retry-After` (RFC 9110 §10.2.3), a number of seconds or a date, to milliseconds from now; null: absent or
 * invalid.
 */
export function readRetryAfter({ 'retry-after': value }: IncomingHttpHeaders, now: Date): number | null {
  if (value === undefined) return null
  // Discord sends fractions of seconds.
  if (/^\d{1,9}(\.\d{1,9})?$/.test(value)) return Math.ceil(Number(value) * SECOND)
  // `Date.parse` finds a date in almost any text, so the format is checked first.
  const at = / GMT$/.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime())
}
