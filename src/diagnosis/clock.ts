import { SECOND } from '../core/time.ts'
import type { Finding } from './finding.ts'
import { found } from './finding.ts'

/** The maximum clock difference, in milliseconds, at which expiring links and authenticator codes work reliably. */
const MAX_SKEW_MS = 2 * SECOND

/** Readings of two clocks at about the same time. */
interface Reading {
  /** This process’s clock before and after the other clock was read. */
  readonly before: Date
  readonly after: Date
  readonly other: Date
  /** The name of the other clock, such as `the database server’s`. */
  readonly than: string
}

/** Compares two clocks. Allows for a slow answer: the other clock may have been read at any time before it arrived. */
export function examineClock({ before, after, other, than }: Reading): Finding {
  const skewMs = Math.max(before.getTime() - other.getTime(), other.getTime() - after.getTime())
  if (skewMs <= MAX_SKEW_MS) return found('CLOCK_OK', { than })
  return found('CLOCK_OFF', { than, seconds: Math.round(skewMs / SECOND) })
}

/** Returns the time of a Date header, which has whole seconds. Null if it is missing or invalid. */
export function timeOfHeader(date: string | null): Date | null {
  const at = date === null ? Number.NaN : Date.parse(date)
  return Number.isNaN(at) ? null : new Date(at + SECOND / 2)
}
