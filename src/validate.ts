import { z } from 'zod'
import { Invalid } from './errors.ts'

/** What a person calls a thing: one line that is not blank. */
export const nameText = z
  .string()
  .trim()
  .min(1, 'must not be blank')
  .max(100, 'must have at most 100 characters')
  .regex(/^\P{Cc}*$/u, 'must not have line breaks or other control characters')

/**
 * The input as the schema reads it.
 * @throws Invalid `INVALID_INPUT` with one issue per thing that is wrong, each with its path.
 */
export function validate<T extends z.ZodType>(schema: T, input: unknown): z.infer<T> {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map(({ path, message }) => ({ path: path.map(String), message }))
  const summary = issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': ')).join('; ')
  throw new Invalid('INVALID_INPUT', `The input is not valid. ${summary}.`, issues)
}
