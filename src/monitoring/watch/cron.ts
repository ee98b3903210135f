import { Cron } from 'croner'
import { LRUCache } from 'lru-cache'
import { DAY } from '../../core/time.ts'

/** The schedule of a job: a cron expression of five fields, or a name such as `@daily`, in a time zone. */
export interface CronSchedule {
  readonly expression: string
  /** An IANA name. */
  readonly timeZone: string
}

/** The number of parsed expressions to cache. Parsing one takes longer than evaluating it. */
const MAX_KEPT = 1000
const kept = new LRUCache<string, Cron>({ max: MAX_KEPT })

/** The longest allowed time between two runs, in milliseconds. */
export const MAX_GAP_MS = 366 * DAY

/** A fixed time, so that validation does not depend on the date. */
const SOME_TIME = new Date('2025-01-01T00:00:00Z')

/**
 * Returns the first run after `after`; null: there is none. At a clock change it behaves like Debian's cron: a job at a
 * skipped time of day runs at the change, and a job at a repeated one runs once, unless it runs every hour.
 * @throws Error for an invalid expression.
 */
export function nextRun({ expression, timeZone }: CronSchedule, after: Date): Date | null {
  return parsed(expression, timeZone).nextRun(after)
}

/** Returns why an expression is not allowed; null: it is allowed. */
export function cronProblem(expression: string): string | null {
  if (/^@reboot$/i.test(expression.trim())) return REBOOT
  let first: Date | null
  try {
    // The parser also accepts dates.
    if (/\dT\d/.test(expression)) return INVALID
    first = nextRun({ expression, timeZone: 'UTC' }, SOME_TIME)
  } catch {
    return INVALID
  }
  if (first === null || first.getTime() - SOME_TIME.getTime() > MAX_GAP_MS) return 'must run at least once a year'
  return null
}

const INVALID = 'must be a cron expression of five fields, such as 30 2 * * 1-5'

const REBOOT = 'must have a time: @reboot means the start of a machine, so nobody knows when the next run is due'

function parsed(expression: string, timeZone: string): Cron {
  const key = `${timeZone} ${expression}`
  const known = kept.get(key)
  if (known) return known
  const domAndDow = needsBothDays(expression)
  // Starts no timer, because it has no callback.
  const cron = new Cron(expression, { timezone: timeZone, mode: '5-part', paused: true, domAndDow })
  kept.set(key, cron)
  return cron
}

/**
 * Returns whether a day must match both the day of the month and the weekday. Debian’s cron and cronie demand it if
 * either field begins with a star, even with a step or in a list (`entry.c`, DOM_STAR and DOW_STAR). Otherwise one is
 * enough. The parser takes `?` for a star.
 */
function needsBothDays(expression: string): boolean {
  const [, , day = '', , weekday = ''] = expression.trim().split(/\s+/)
  return /^[*?]/.test(day) || /^[*?]/.test(weekday)
}
