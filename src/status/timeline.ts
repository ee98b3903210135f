import { proseText } from '../validate.ts'

/** What an entry of a timeline says, in markdown; an entry that only tells of a change of status may say nothing. */
export const entryText = proseText(10_000)

/** What an entry says that a person writes. */
export const message = entryText.min(1, 'must not be blank')

/**
 * The time of a new entry of a timeline: now, or just after the newest entry when that has the same time or, by another
 * machine's clock, a later one. So an entry's place is where it was written.
 */
export function entryTime(now: Date, newest: Date | undefined): Date {
  return newest === undefined || newest < now ? now : new Date(newest.getTime() + 1)
}
