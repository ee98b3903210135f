import type { Issue } from './errors.ts'
import { invalid } from './validation.ts'

/** Between these years, the database and JavaScript format times in the same way. */
export const MIN_TIME = Date.UTC(1000, 0)
export const MAX_TIME = Date.UTC(10_000, 0) - 1

/** The maximum length of a text, in characters, and the maximum number of values in a list. */
const LIMITS = { textLength: 100, values: 100 } as const

/** The end of each text filter's description. */
export const ANY_CASE = `in any case; at most ${LIMITS.textLength} characters. Blank: all.`

/**
 * Returns the text to search for; null: none.
 * @throws Invalid when it is too long.
 */
export function searchText(name: string, text: string | null | undefined): string | null {
  const trimmed = text?.trim() ?? ''
  if ([...trimmed].length > LIMITS.textLength)
    throw filterIssue(name, `must have at most ${LIMITS.textLength} characters`)
  // The database accepts neither NUL nor lone surrogates.
  return trimmed === '' ? null : trimmed.replaceAll('\0', '\ufffd').replace(/\p{Cs}/gu, '\ufffd')
}

/** Returns the condition that a text contains another one, ignoring case. */
export function containsText(text: string): { readonly contains: string; readonly mode: 'insensitive' } {
  // Escapes the special characters of LIKE.
  return { contains: text.replace(/[\\%_]/g, '\\$&'), mode: 'insensitive' }
}

/**
 * Returns the condition that a value is one of several; undefined: any.
 * @throws Invalid for too many values.
 */
export function oneOf<T>(name: string, values: readonly T[] | null | undefined): { readonly in: T[] } | undefined {
  if (values == null) return undefined
  if (values.length > LIMITS.values) throw filterIssue(name, `must have at most ${LIMITS.values} values`)
  return { in: [...new Set(values)] }
}

type Time = Date | null | undefined

/**
 * Returns the condition that a time is in a range, including its start and excluding its end; undefined: any time.
 * @param name the prefix of the filter members that end in `After` and `Before`.
 * @throws Invalid for an empty range, and for times outside the database's calendar.
 */
export function inRange(
  name: string,
  after: Time,
  before: Time,
): { readonly gte?: Date; readonly lt?: Date } | undefined {
  const issues: Issue[] = []
  const check = (member: string, time: Time) => {
    if (time && (time.getTime() < MIN_TIME || time.getTime() > MAX_TIME)) {
      issues.push({ path: ['filter', member], message: 'must be between the years 1000 and 9999' })
    }
  }
  check(`${name}After`, after)
  check(`${name}Before`, before)
  if (after && before && after >= before) {
    issues.push({ path: ['filter', `${name}Before`], message: `must be later than ${name}After` })
  }
  if (issues.length > 0) throw invalid(issues)
  return after || before ? { ...(after && { gte: after }), ...(before && { lt: before }) } : undefined
}

const filterIssue = (name: string, message: string) => invalid([{ path: ['filter', name], message }])
