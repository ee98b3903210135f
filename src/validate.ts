import type { z } from 'zod'
import { Invalid } from './errors.ts'

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
