/** Cuts a text to a maximum number of UTF-16 code units, without splitting a character. A cut text ends with "…". */
export function truncate(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, characterEnd(text, most - 1))}…`
}

/**
 * Cuts a text like `truncate`, but after a word if one ends in its last third, and closes the directions that the kept part opens
 * (UAX #9), so that they do not turn what follows.
 */
export function cutAtWord(text: string, most: number): string {
  if (text.length <= most) return text
  const end = characterEnd(text, Math.max(most - 1, 0))
  const isBetweenWords = /\s/.test(text[end] ?? '')
  const last = isBetweenWords ? end : text.slice(0, end).search(/\s\S*$/)
  const kept = text.slice(0, last > (end * 2) / 3 ? last : end).trimEnd()
  return `${kept}…${closingDirections(kept)}`
}

/** Returns the last place at or before an index that is within no character and no sequence of emoji or combining marks. */
function characterEnd(text: string, index: number): number {
  let end = index
  // Sequences are short; a long run of marks is cut.
  for (let steps = 0; steps < MAX_SEQUENCE && end > 0 && isWithinCharacter(text, end); steps++) end -= 1
  return isWithinCharacter(text, end) ? index - (isLowSurrogate(text, index) ? 1 : 0) : end
}

/** The longest emoji of Unicode 16, a family with skin tones, has 41 UTF-16 units with its joiners. */
const MAX_SEQUENCE = 41

const isLowSurrogate = (text: string, index: number) => /[\udc00-\udfff]/.test(text[index] ?? '') && index > 0

function isWithinCharacter(text: string, index: number): boolean {
  if (isLowSurrogate(text, index)) return true
  return /^(?:\p{M}|\p{Emoji_Modifier}|\u200d)/u.test(text.slice(index, index + 2)) || text[index - 1] === '\u200d'
}

/** Returns the characters that close the embeddings, overrides and isolates that a text opens. */
export function closingDirections(text: string): string {
  const open: string[] = []
  for (const [character] of text.matchAll(/[\u202a-\u202e\u2066-\u2069]/g)) {
    if (character === '\u202c' || character === '\u2069') {
      if (open[0] === character) open.shift()
    } else open.unshift(character >= '\u2066' ? '\u2069' : '\u202c')
  }
  return open.join('')
}
