import { cappedText } from '../../core/validation.ts'

/** Leading flags, such as `(?i)`, which RE2 supports and JavaScript does not. */
const flags = /^\(\?[ims]{1,3}\)/

/**
 * The schema of a regular expression in the syntax of RE2, which takes linear time. Checks only its form, because the
 * thread that uses it compiles it.
 */
export const patternText = cappedText(200)
  .min(1, 'must not be empty')
  .superRefine((text, ctx) => {
    const problem = patternProblem(text)
    if (problem !== null) ctx.addIssue({ code: 'custom', message: problem })
  })

/** Returns the problem of a regular expression's form; null: there is none. */
function patternProblem(text: string): string | null {
  if (/\(\?<?[=!]|\\[1-9k]/.test(text)) return 'must not look ahead, look behind or refer back'
  try {
    RegExp(text.replace(flags, ''))
    return null
  } catch {
    return 'must be a regular expression'
  }
}

/** RE2 rejected a regular expression. The message has the reason. */
export class PatternRefused extends Error {
  override readonly name = 'PatternRefused'
}
