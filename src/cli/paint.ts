import type { Terminal } from './command.ts'

const codes = { red: 31, green: 32, yellow: 33, blue: 34, grey: 90, bold: 1 } as const

export type Colour = keyof typeof codes

/** Colours a text if the terminal shows colours. */
export function paint({ hasColours }: Terminal, colour: Colour, text: string): string {
  return hasColours ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text
}

/** Returns the colour of a status, state, indicator or impact. */
export function colourOf(word: string): Colour {
  if (/^(OPERATIONAL|UP|NONE|RESOLVED|OK)$/.test(word)) return 'green'
  if (/^(MAJOR_OUTAGE|MAJOR|CRITICAL|DOWN|UNREACHABLE)$/.test(word)) return 'red'
  if (/^(UNDER_MAINTENANCE|MAINTENANCE)$/.test(word)) return 'blue'
  return /^(PENDING|PAUSED|UNKNOWN)$/.test(word) ? 'grey' : 'yellow'
}

/** Converts `MAJOR_OUTAGE` to `major outage`. */
export function wordsOf(constant: string): string {
  return constant.toLowerCase().replaceAll('_', ' ')
}

/** Aligns rows in columns. Removes control characters, because a terminal would execute those in foreign texts. */
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

/** Returns a number with its noun, such as `2 changes`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Returns a text on one line, without terminal control characters. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
}
