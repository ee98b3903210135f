import { z } from 'zod'
import { described } from '../../core/described.ts'
import { Conflict } from '../../core/errors.ts'
import { lineText, proseText } from '../../core/validation.ts'

/** The maximum length of an update's message, in characters. */
export const MAX_MESSAGE_LENGTH = 10_000

/** The title of an incident or a maintenance. */
export const titleText = described(lineText(200), { label: 'Title', description: 'A short title.' })

/** A message in markdown; empty for an update that only changes the status. */
export const optionalMessage = described(proseText(MAX_MESSAGE_LENGTH), { description: 'The message, in markdown.' })

/** A message that a person writes. */
export const message = optionalMessage.min(1, 'must not be blank')

/** The maximum number of updates in a timeline: more than people write, and few enough for one page. */
export const MAX_UPDATES = 500

/** @throws Conflict `TIMELINE_FULL` unless a timeline has room. The update that closes it may exceed the limit. */
export function requireRoomForUpdate(updates: number): void {
  if (updates < MAX_UPDATES) return
  throw new Conflict(
    `The timeline has ${MAX_UPDATES} updates. Only an update that closes it can be added.`,
    'TIMELINE_FULL',
  )
}

/** @throws Conflict when the update to delete is the only one. */
export function requireOtherUpdates(updates: number, what: 'incident' | 'maintenance'): void {
  if (updates > 1) return
  throw new Conflict(`This is the only update. Edit it, or delete the ${what}.`)
}

/** Whether subscribers are notified. */
export const notifySubscribers = described(
  z
    .boolean()
    .nullish()
    .transform((given) => given ?? true),
  {
    description: 'Whether subscribers are notified of it. The page, its feeds and live events show it in any case.',
    assumed: true,
  },
)
