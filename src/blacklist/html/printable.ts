/** The most characters of a list's own words that are shown; a DNS TXT string is at most 255 bytes, a record may hold many. */
const MAX_LENGTH = 400

/**
 * Text from a stranger's DNS, fit to be shown: one line, limited in length, and every control, format or unassigned character
 * (line breaks apart) made a visible `�`, so that none can reorder, hide or break what stands around it. HTML is escaped
 * elsewhere, by the renderer.
 */
export function printable(text: string): string {
  const characters = [...text.replaceAll(/\s+/gu, ' ').trim()]
  const shown = characters.length > MAX_LENGTH ? [...characters.slice(0, MAX_LENGTH), '…'] : characters
  return shown.join('').replaceAll(/\p{C}/gu, '\u{FFFD}')
}
