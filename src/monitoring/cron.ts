import { Cron } from 'croner'
import { LRUCache } from 'lru-cache'
import { DAY } from '../core/time.ts'

/** When a job runs: a cron expression of five fields or a name such as `@daily`, and the time zone of its clock. */
export interface CronSchedule {
  readonly expression: string
  /** An IANA name. */
  readonly timeZone: string
}

/** How many parsed expressions are kept: parsing one costs more than asking it. */
const MAX_KEPT = 1000
const kept = new LRUCache<string, Cron>({ max: MAX_KEPT })

/** A schedule has to come up within this time from any of its dates, in milliseconds. */
export const MAX_GAP_MS = 366 * DAY

/** An arbitrary time, so that a valid expression stays one. */
const SOME_TIME = new Date('2025-01-01T00:00:00Z')

/**
 * Returns the first time after `after` at which a job runs; null: there is none. Where clocks change, as in Debian's cron: a
 * time of day that is skipped comes at the change, and one that comes twice counts once, unless the job runs every hour.
 * @throws Error for an invalid expression.
 */
export function nextRun({ expression, timeZone }: CronSchedule, after: Date): Date | null {
  return parsed(expression, timeZone).nextRun(after)
}

/** Returns why an expression is not allowed; null: it is. */
export function cronProblem(expression: string): string | null {
  let first: Date | null
  try {
    // A date is no expression, though the parser takes one.
    if (/\dT\d/.test(expression)) return INVALID
    first = nextRun({ expression, timeZone: 'UTC' }, SOME_TIME)
  } catch {
    return INVALID
  }
  if (first === null || first.getTime() - SOME_TIME.getTime() > MAX_GAP_MS) return 'must come up at least once a year'
  return null
}

const INVALID = 'must be a cron expression of five fields, such as 30 2 * * 1-5'

function parsed(expression: string, timeZone: string): Cron {
  const key = `${timeZone} ${expression}`
  const known = kept.get(key)
  if (known) return known
  // Without a function it starts no timer.
  const cron = new Cron(expression, { timezone: timeZone, mode: '5-part', paused: true })
  kept.set(key, cron)
  return cron
}
