import { Conflict } from '../errors.ts'
import { proseText } from '../validate.ts'

/** The most characters an entry of a timeline may have. */
export const LONGEST_ENTRY = 10_000

/** What an entry of a timeline says, in markdown; an entry that only tells of a change of status may say nothing. */
export const entryText = proseText(LONGEST_ENTRY)

/** What an entry says that a person writes. */
export const message = entryText.min(1, 'must not be blank')

/** How many entries a timeline has room for: more than anybody writes, and few enough for one page. */
export const MOST_ENTRIES = 500

/**
 * Has a timeline take no more entries than it has room for. Its last one may come beyond that: what is over can always be told.
 * @throws Conflict `TIMELINE_FULL` when so many entries fill it.
 */
export function requireRoom(entries: number): void {
  if (entries < MOST_ENTRIES) return
  throw new Conflict(`The timeline has ${MOST_ENTRIES} entries, and takes only one that ends it.`, 'TIMELINE_FULL')
}

/** @throws Conflict when a timeline has one entry only, which cannot be deleted by itself. */
export function requireAnother(entries: number, what: 'incident' | 'maintenance'): void {
  if (entries > 1) return
  throw new Conflict(`This is the only entry of its timeline. Delete the ${what}, or edit the entry.`)
}

/**
 * The time of a new entry of a timeline: now, or just after the newest entry when that has the same time or, by another
 * machine's clock, a later one. So an entry's place is where it was written.
 */
export function entryTime(now: Date, newest: Date | undefined): Date {
  return newest === undefined || newest < now ? now : new Date(newest.getTime() + 1)
}
