import { z } from 'zod'

/** Flags at the beginning, such as `(?i)`: RE2 has them, JavaScript has not. */
const flags = /^\(\?[ims]{1,3}\)/

/**
 * A regular expression in the syntax of RE2, which takes linear time. Only its form is checked here, cheaply: it is
 * compiled in the thread that searches with it.
 */
export const patternText = z
  .string()
  .min(1, 'must not be empty')
  .max(200)
  .superRefine((text, ctx) => {
    const problem = patternProblem(text)
    if (problem !== null) ctx.addIssue({ code: 'custom', message: problem })
  })

/** Returns what is wrong with a regular expression; null: nothing that its form shows. */
function patternProblem(text: string): string | null {
  if (/\(\?<?[=!]|\\[1-9k]/.test(text)) return 'must not look ahead, look behind or refer back'
  try {
    RegExp(text.replace(flags, ''))
    return null
  } catch {
    return 'must be a regular expression'
  }
}

/** RE2 refuses a regular expression; the message says why. */
export class PatternRefused extends Error {
  override readonly name = 'PatternRefused'
}
