import { z } from 'zod'
import type { Issue } from './errors.ts'
import { Invalid } from './errors.ts'
import { issueMessage } from './issue-message.ts'

/** A schema for text of at most `max` characters. The checks that follow never see longer text. */
export function cappedText(max: number): z.ZodString {
  return z.string().max(max, { message: `must have at most ${max} characters`, abort: true })
}

/** A schema for text of at most `max` characters without the spaces around it, which it removes. */
export function trimmedText(max: number): z.ZodString {
  return z
    .string()
    .trim()
    .max(max, { message: `must have at most ${max} characters`, abort: true })
}

/** A schema for one line of at most `max` characters that is not blank. */
export function lineText(max: number): z.ZodString {
  return trimmedText(max)
    .min(1, 'must not be blank')
    .regex(/^\P{Cc}*$/u, 'must not have line breaks or other control characters')
    .regex(plain, 'must not have line separators or characters that change the direction of text')
}

/** Rejects line separators, bidirectional controls and lone surrogates. */
const plain = /^[^\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]*$/u
/** Allows directional marks, which mixed scripts need and which cannot reverse other text. */
const plainProse = /^[^\u202a-\u202e\u2066-\u2069\p{Cs}]*$/u

/** A name. */
export const nameText = lineText(100)

/** A schema for text of any number of lines and at most `max` characters, which may be empty. */
export function proseText(max: number): z.ZodString {
  return trimmedText(max)
    .regex(/^[\P{Cc}\t\n\r]*$/u, 'must not have control characters other than tabs and line breaks')
    .regex(plainProse, 'must not have characters that change the direction of text')
}

/**
 * Parses an input with a schema.
 * @throws Invalid `INVALID_INPUT` with one issue per error, each with its path.
 */
export function validate<T extends z.ZodType>(schema: T, input: unknown): z.infer<T> {
  const parsed = parse(schema, input)
  if (parsed.success) return parsed.data
  throw invalid(parsed.issues)
}

/** Parses an input with a schema. Returns its value, or one issue per error, each with its path. */
export function parse<T extends z.ZodType>(
  schema: T,
  input: unknown,
): { readonly success: true; readonly data: z.infer<T> } | { readonly success: false; readonly issues: Issue[] } {
  const parsed = schema.safeParse(input, { error: issueMessage })
  if (parsed.success) return parsed
  return {
    success: false,
    issues: parsed.error.issues.map(({ path, message }) => ({ path: path.map(String), message })),
  }
}

/**
 * Returns the one of `keys` that an input has; ignores null and absent fields.
 * @throws Invalid `INVALID_INPUT` for none or more than one.
 */
export function exactlyOne<K extends string>(keys: readonly K[], input: { readonly [key in K]?: unknown }): K {
  const key = atMostOne(keys, input)
  if (key === null) throw invalid([{ path: [], message: mustBeOne(keys) }])
  return key
}

/**
 * Returns the one of `keys` that an input has; null: none.
 * @throws Invalid `INVALID_INPUT` for more than one.
 */
export function atMostOne<K extends string>(keys: readonly K[], input: { readonly [key in K]?: unknown }): K | null {
  const given = keys.filter((key) => input[key] !== undefined && input[key] !== null)
  if (given.length > 1) throw invalid([{ path: given.slice(-1), message: mustBeOne(keys) }])
  return given[0] ?? null
}

const mustBeOne = (keys: readonly string[]) => `exactly one of ${keys.join(', ')} must be given`

/** Creates the error for invalid fields of an input. */
export function invalid(issues: readonly Issue[]): Invalid {
  const summary = issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': ')).join('; ')
  return new Invalid('INVALID_INPUT', `The input is invalid. ${summary}.`, issues)
}
