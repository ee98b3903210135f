import { z } from 'zod'
import type { Issue } from './errors.ts'
import { Invalid } from './errors.ts'

/** One line of at most `max` characters that is not blank. */
export function lineText(max: number): z.ZodString {
  return z
    .string()
    .trim()
    .min(1, 'must not be blank')
    .max(max, `must have at most ${max} characters`)
    .regex(/^\P{Cc}*$/u, 'must not have line breaks or other control characters')
    .regex(plain, 'must not have line separators or characters that turn the direction of text')
}

/** What would break a line, or show a text in another order than it is read in, and halves of characters. */
const plain = /^[^\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]*$/u
/** The marks of one direction stay: texts of two scripts need them, and they turn nothing around. */
const plainProse = /^[^\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u

/** What a person calls a thing. */
export const nameText = lineText(100)

/** Text of any number of lines and at most `max` characters; it may be empty. */
export function proseText(max: number): z.ZodString {
  return z
    .string()
    .trim()
    .max(max, `must have at most ${max} characters`)
    .regex(/^[\P{Cc}\t\n\r]*$/u, 'must not have control characters other than tabs and line breaks')
    .regex(plainProse, 'must not have characters that turn the direction of text')
}

/**
 * The input as the schema reads it.
 * @throws Invalid `INVALID_INPUT` with one issue per thing that is wrong, each with its path.
 */
export function validate<T extends z.ZodType>(schema: T, input: unknown): z.infer<T> {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  throw invalid(parsed.error.issues.map(({ path, message }) => ({ path: path.map(String), message })))
}

/**
 * The one of `keys` that an input has; null or absent members do not count.
 * @throws Invalid `INVALID_INPUT` when there is none, or more than one.
 */
export function exactlyOne<K extends string>(keys: readonly K[], input: { readonly [key in K]?: unknown }): K {
  const key = atMostOne(keys, input)
  if (key === null) throw invalid([{ path: [], message: mustBeOne(keys) }])
  return key
}

/**
 * As `exactlyOne`, for inputs that may have none: null then.
 * @throws Invalid `INVALID_INPUT` when there is more than one.
 */
export function atMostOne<K extends string>(keys: readonly K[], input: { readonly [key in K]?: unknown }): K | null {
  const given = keys.filter((key) => input[key] !== undefined && input[key] !== null)
  if (given.length > 1) throw invalid([{ path: given.slice(-1), message: mustBeOne(keys) }])
  return given[0] ?? null
}

const mustBeOne = (keys: readonly string[]) => `exactly one of ${keys.join(', ')} must be given`

/** What to throw when these things are wrong with an input. */
export function invalid(issues: readonly Issue[]): Invalid {
  const summary = issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': ')).join('; ')
  return new Invalid('INVALID_INPUT', `The input is not valid. ${summary}.`, issues)
}
