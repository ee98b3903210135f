import type { IncomingHttpHeaders } from 'node:http'
import { SECOND } from '../core/time.ts'

/** What `Retry-After` asks for (RFC 9110 §10.2.3), seconds or a date, in milliseconds from now; null: nothing usable. */
export function readRetryAfter({ 'retry-after': value }: IncomingHttpHeaders, now: Date): number | null {
  if (value === undefined) return null
  // Discord gives fractions of seconds.
  if (/^\d{1,9}(\.\d{1,9})?$/.test(value)) return Math.ceil(Number(value) * SECOND)
  // Left to itself, `parse` finds a date in almost anything.
  const at = / GMT$/.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime())
}
