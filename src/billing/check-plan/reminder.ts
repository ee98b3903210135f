import { DAY } from '../../core/time.ts'

/** The reminders about the end of a check plan: a week before, a day before, and after the end. */
export type Reminder = 'WEEK' | 'DAY' | 'ENDED'

/** How long before the end each reminder is due, in milliseconds; earliest first. */
const LEAD_TIMES = [
  ['WEEK', 7 * DAY],
  ['DAY', 1 * DAY],
  ['ENDED', 0],
] as const satisfies readonly (readonly [Reminder, number])[]

/** How long after the end a reminder is still sent, in milliseconds. */
const MAX_LATENESS_MS = 3 * DAY

/**
 * Returns the reminder to send now for a plan that ends at `until`. It is the latest one due, so that after an outage
 * one reminder is sent, not several. Null: it is too early or too late.
 */
export function reminderDue(until: Date, now: Date): Reminder | null {
  if (now.getTime() > until.getTime() + MAX_LATENESS_MS) return null
  return LEAD_TIMES.findLast(([, before]) => now.getTime() >= until.getTime() - before)?.[0] ?? null
}

/** Returns when the next reminder after `after` is due for a plan that ends at `until`; null when none is left. */
export function nextReminder(until: Date, after: Date): Date | null {
  const moments = LEAD_TIMES.map(([, before]) => new Date(until.getTime() - before))
  return moments.find((moment) => moment > after) ?? null
}
