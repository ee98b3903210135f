import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { Conflict } from './errors.ts'

/** The version of a thing that an edit was made from; absent: the edit holds whatever the thing is now. */
export const readVersion = z.int().nullish()

/** @throws Conflict when an edit was made from another version than the thing has now. */
export function requireVersion(thing: { readonly version: number }, read: z.infer<typeof readVersion>): void {
  if (read === null || read === undefined || read === thing.version) return
  throw new Conflict(`This was changed meanwhile: you read version ${read}, it is at ${thing.version}. Read it again.`)
}

/**
 * Whether an edit gives a thing another value than it has; what is undefined stays as it is. An edit that alters nothing
 * raises no version and is told to nobody.
 */
export function alters(thing: object, given: Readonly<Record<string, unknown>>): boolean {
  const known = new Map<string, unknown>(Object.entries(thing))
  return Object.entries(given).some(([key, value]) => value !== undefined && !isDeepStrictEqual(value, known.get(key)))
}

/** Whether two lists hold the same, in whatever order. */
export function sameSet<T>(one: readonly T[], other: readonly T[], keyOf: (item: T) => string): boolean {
  return isDeepStrictEqual(one.map(keyOf).sort(), other.map(keyOf).sort())
}
