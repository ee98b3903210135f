import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { described } from './described.ts'
import { Conflict } from './errors.ts'

/** The words of the version that an edit is based on. */
export const versionWords = {
  description: 'The version that you read. If there is a newer one, the mutation returns a ConflictError.',
} as const

/** The version that an edit is based on; absent: the edit applies to any version. */
export const versionInput = described(z.int().nullish(), versionWords)

/** @throws Conflict when an edit is based on a version other than the current one. */
export function requireVersion(thing: { readonly version: number }, read: z.infer<typeof versionInput>): void {
  if (read === null || read === undefined || read === thing.version) return
  throw new Conflict(
    `This object was changed in the meantime: you read version ${read}, and the current version is ${thing.version}. Read it again.`,
  )
}

/**
 * Returns whether an edit changes any value; undefined values stay. An edit without changes does not increment the
 * version, and appends no event.
 */
export function hasChanges(thing: object, given: Readonly<Record<string, unknown>>): boolean {
  return changedFields(thing, given).length > 0
}

/** Returns an edit without undefined values. */
export function defined<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const values = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries(values) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

/** Returns the names of the values that an edit changes. */
export function changedFields(thing: object, given: Readonly<Record<string, unknown>>): string[] {
  const known = new Map<string, unknown>(Object.entries(thing))
  const changed = Object.entries(given).filter(
    ([key, value]) => value !== undefined && !isDeepStrictEqual(value, known.get(key)),
  )
  return changed.map(([key]) => key)
}

/** Returns whether two lists have the same items in any order. */
export function sameSet<T>(one: readonly T[], other: readonly T[], keyOf: (item: T) => string): boolean {
  return isDeepStrictEqual(one.map(keyOf).sort(), other.map(keyOf).sort())
}
