import type { IncomingMessage } from 'node:http'
import { Invalid } from '../../core/errors.ts'
import { formLimits, type InputLimit, longFields } from '../../core/input-limits.ts'
import { ownValue } from '../../core/own-value.ts'
import { invalid } from '../../core/validation.ts'
import { readBody } from './body.ts'

/**
 * Reads the fields of an urlencoded form of at most `maxBytes`.
 * @throws HTTPException 413 when it is larger. @throws Invalid when it is not UTF-8 or exceeds a limit of `formLimits`.
 */
export async function readFields(request: IncomingMessage, maxBytes: number): Promise<URLSearchParams> {
  const text = await readBody(request, maxBytes)
  // Before it is parsed, which takes as long as it has fields.
  if (!hasAtMost(text, '&', formLimits.fields.most - 1)) throw tooManyFields()
  const fields = new URLSearchParams(text)
  requireWithinLimits(fields)
  if (hasReplacements(fields, text)) throw new Invalid('INVALID_INPUT', 'A field of the form is not UTF-8.')
  return fields
}

/** Returns whether the parser has read bytes that are not UTF-8, for which it takes U+FFFD. */
function hasReplacements(fields: URLSearchParams, text: string): boolean {
  let read = 0
  for (const field of fields) for (const part of field) read += part.split('\uFFFD').length - 1
  return read > 0 && read > (text.match(/%EF%BF%BD|\uFFFD/gi)?.length ?? 0)
}

/** @throws Invalid when fields are too many, or the name or text of one is too long. */
export function requireWithinLimits(fields: URLSearchParams): void {
  if (fields.size > formLimits.fields.most) throw tooManyFields()
  for (const [name, text] of fields) {
    if (name.length > formLimits.fieldName.most) {
      throw new Invalid(
        'INVALID_INPUT',
        `The name of a field must have at most ${formLimits.fieldName.most} characters.`,
      )
    }
    const limit = fieldLimit(name)
    if (text.length > limit.most) {
      throw invalid([{ path: name.split('.'), message: `must have at most ${limit.most} characters` }])
    }
  }
}

const tooManyFields = () => new Invalid('INVALID_INPUT', `A form must have at most ${formLimits.fields.most} fields.`)

/** Returns whether a text contains another at most this many times. Reads no further than needed. */
function hasAtMost(text: string, sought: string, most: number): boolean {
  let count = 0
  for (let at = text.indexOf(sought); at !== -1; at = text.indexOf(sought, at + 1)) {
    count += 1
    if (count > most) return false
  }
  return true
}

/** Returns the limit of a form's field by its name, such as `http.headers.value`. */
export function fieldLimit(name: string): InputLimit {
  return ownValue(longFields, name.slice(name.lastIndexOf('.') + 1)) ?? formLimits.fieldText
}
