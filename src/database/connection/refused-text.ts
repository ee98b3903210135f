import { Invalid } from '../../core/errors.ts'

/**
 * The codes with which PostgreSQL refuses NUL in a text and in JSON (manual, appendix A: `character_not_in_repertoire`,
 * `untranslatable_character`).
 */
const STATES = /^(22021|22P05)$/
/** The message for half of a surrogate pair in JSON, which is the only mistake that `JSON.stringify` can make. */
const INVALID_JSON = /invalid input syntax for type json/

/**
 * Returns the error for a caller whose text the database cannot store, behind an unexpected error of pg or Prisma; null:
 * it is another error. A text is refused where it comes in; this is for those that come in elsewhere.
 */
export function refusedText(error: unknown): Invalid | null {
  if (!isAboutText(error, 0)) return null
  return new Invalid('INVALID_INPUT', 'A text contains a character that cannot be stored, such as NUL.')
}

/** Errors of the adapter and of Prisma contain that of the database. */
function isAboutText(error: unknown, depth: number): boolean {
  if (typeof error !== 'object' || error === null || depth > 5) return false
  const { code, originalCode, message, cause, meta } = error as {
    readonly [name in 'code' | 'originalCode' | 'message' | 'cause' | 'meta']?: unknown
  }
  if ([code, originalCode].some((state) => typeof state === 'string' && STATES.test(state))) return true
  if (typeof message === 'string' && INVALID_JSON.test(message)) return true
  const { driverAdapterError } = (meta ?? {}) as { readonly driverAdapterError?: unknown }
  return isAboutText(cause, depth + 1) || isAboutText(driverAdapterError, depth + 1)
}
