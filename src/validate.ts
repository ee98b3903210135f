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
}

/** What a person calls a thing. */
export const nameText = lineText(100)

/** Text of any number of lines and at most `max` characters; it may be empty. */
export function proseText(max: number): z.ZodString {
  return z
    .string()
    .trim()
    .max(max, `must have at most ${max} characters`)
    .regex(/^[\P{Cc}\t\n\r]*$/u, 'must not have control characters other than tabs and line breaks')
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

/** What to throw when these things are wrong with an input. */
export function invalid(issues: readonly Issue[]): Invalid {
  const summary = issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': ')).join('; ')
  return new Invalid('INVALID_INPUT', `The input is not valid. ${summary}.`, issues)
}
