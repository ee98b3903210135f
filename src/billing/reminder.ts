import { DAY } from '../time.ts'

/** What is told of a check plan that ends: that it does in a week, in a day, and that it has. */
export type Reminder = 'WEEK' | 'DAY' | 'ENDED'

/** How long before the end each is due, in milliseconds; the earliest first. */
const ahead = [
  ['WEEK', 7 * DAY],
  ['DAY', 1 * DAY],
  ['ENDED', 0],
] as const satisfies readonly (readonly [Reminder, number])[]

/** For how long after the end it is still worth saying. */
const WORTH_SAYING = 3 * DAY

/**
 * The reminder that applies at a moment to a plan that ends at `until`: the newest whose time has come, so that after a time
 * in which none could be sent it is one and not several. Null: it is too early for any, or too late.
 */
export function reminderDue(until: Date, now: Date): Reminder | null {
  if (now.getTime() > until.getTime() + WORTH_SAYING) return null
  return ahead.findLast(([, before]) => now.getTime() >= until.getTime() - before)?.[0] ?? null
}

/** When the next reminder after a moment is due, of a plan that ends at `until`; null: none comes. */
export function nextReminder(until: Date, after: Date): Date | null {
  const moments = ahead.map(([, before]) => new Date(until.getTime() - before))
  return moments.find((moment) => moment > after) ?? null
}
