import { z } from 'zod'
import { Conflict } from './errors.ts'

/** The version of a thing that an edit was made from; absent: the edit holds whatever the thing is now. */
export const readVersion = z.int().nullish()

/** @throws Conflict when an edit was made from another version than the thing has now. */
export function requireVersion(thing: { readonly version: number }, read: z.infer<typeof readVersion>): void {
  if (read === null || read === undefined || read === thing.version) return
  throw new Conflict(`This was changed meanwhile: you read version ${read}, it is at ${thing.version}. Read it again.`)
}
