/**
 * Maximum characters of a list's own text to show. A DNS TXT string has at most 255 bytes, but a record may hold
 * many.
 */
const MAX_PRINTED_LENGTH = 400

/**
 * Makes untrusted text from DNS safe to show: one line of limited length, with every control, format or unassigned
 * character (except line breaks) replaced by a visible `�`, so that none can reorder, hide or break the surrounding
 * text. The renderer escapes HTML.
 */
export function printable(text: string): string {
  const characters = [...text.replaceAll(/\s+/gu, ' ').trim()]
  const shown = characters.length > MAX_PRINTED_LENGTH ? [...characters.slice(0, MAX_PRINTED_LENGTH), '…'] : characters
  return shown.join('').replaceAll(/\p{C}/gu, '\u{FFFD}')
}
