import type { Terminal } from './command.ts'

const codes = { red: 31, green: 32, yellow: 33, blue: 34, grey: 90, bold: 1 } as const

export type Colour = keyof typeof codes

/** Colours a text where a person looks. */
export function paint({ hasColours }: Terminal, colour: Colour, text: string): string {
  return hasColours ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text
}

/** The colour of a status, a state, an indicator or an impact. */
export function colourOf(word: string): Colour {
  if (/^(OPERATIONAL|UP|NONE|RESOLVED|OK)$/.test(word)) return 'green'
  if (/^(MAJOR_OUTAGE|MAJOR|CRITICAL|DOWN|UNREACHABLE)$/.test(word)) return 'red'
  if (/^(UNDER_MAINTENANCE|MAINTENANCE)$/.test(word)) return 'blue'
  return /^(PENDING|PAUSED|UNKNOWN)$/.test(word) ? 'grey' : 'yellow'
}

/** Writes `MAJOR_OUTAGE` as `major outage`. */
export function wordsOf(constant: string): string {
  return constant.toLowerCase().replaceAll('_', ' ')
}

/** Sets rows under each other, in columns. What others wrote may hold control characters, which a terminal would obey. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const clean = rows.map((row) => row.map(printable))
  const widths = (clean[0] ?? []).map((_, index) => Math.max(...clean.map((row) => row[index]?.length ?? 0)))
  return clean.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** Returns a text on one line, without characters that a terminal obeys. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
}
