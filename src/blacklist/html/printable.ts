/**
 * The maximum number of characters of a list's own text to show. A DNS TXT string has at most 255 bytes, but a record
 * may have many strings.
 */
const MAX_PRINTED_LENGTH = 400

/**
 * Makes untrusted text from DNS safe to show. Returns one line of limited length, in which every control, format and
 * unassigned character except line breaks is replaced with a visible `�`, so that none can reorder, hide or break the
 * surrounding text. The renderer escapes HTML.
 */
export function printable(text: string): string {
  const characters = [...text.replaceAll(/\s+/gu, ' ').trim()]
  const shown = characters.length > MAX_PRINTED_LENGTH ? [...characters.slice(0, MAX_PRINTED_LENGTH), '…'] : characters
  return shown.join('').replaceAll(/\p{C}/gu, '\u{FFFD}')
}
