import { createHash } from 'node:crypto'
import { randomText } from './id.ts'

/** The characters that the ids of errors of one kind share. */
const KIND_LENGTH = 6

/**
 * Creates the id of an unexpected error, for the log and the caller. Errors of one type, code and place begin with the
 * same characters, so that one whose line the log has only counted is found among the lines of its kind.
 */
export function newErrorId(error: unknown): string {
  return kindOf(error) + randomText(KIND_LENGTH)
}

/** Returns how the ids of all errors of the same kind begin. */
export const errorIdStart = (errorId: string): string => errorId.slice(0, KIND_LENGTH)

function kindOf(error: unknown): string {
  const { stack, code } = (error ?? {}) as { readonly stack?: unknown; readonly code?: unknown }
  const [place = ''] = /^ {4}at .*$/m.exec(String(stack ?? '')) ?? []
  const type = error instanceof Error ? error.constructor.name : typeof error
  return createHash('sha256')
    .update(JSON.stringify([type, typeof code === 'string' ? code : null, place]))
    .digest('hex')
    .slice(0, KIND_LENGTH)
}
