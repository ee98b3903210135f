import { escapeControls } from '../core/control-characters.ts'
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

/** Matches the escape sequences that `paint` writes. */
const OWN_COLOURS = new RegExp(`(\\u001b\\[(?:0|${Object.values(codes).join('|')})m)`)

/**
 * Returns lines for a terminal: without control characters, which would change its screen, title or clipboard, and
 * without invisible ones, which would change the order of what is shown. Keeps line ends, tabs, and colours if it shows
 * them.
 */
function harmless(text: string, hasColours: boolean): string {
  const parts = hasColours ? text.split(OWN_COLOURS) : [text]
  const clean = (part: string) => part.replace(/(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ')
  // Each second part is a colour.
  return parts.map((part, index) => (index % 2 === 1 ? part : clean(part))).join('')
}

/** Returns a terminal to which any text can be written, also one of a server, a database or a file. */
export function harmlessTerminal(terminal: Terminal): Terminal {
  const clean = (text: string) => harmless(text, terminal.hasColours)
  return {
    ...terminal,
    result: (line) => terminal.result(clean(line)),
    say: (line) => terminal.say(clean(line)),
    // A person reads it; a file or program needs the exact text.
    document: (text) => terminal.document(terminal.isPerson ? harmless(text, false) : text),
    ask: (question, isSecret) => terminal.ask(clean(question), isSecret),
  }
}

/**
 * Returns JSON for a terminal: characters that would control it are escaped (RFC 8259 §7), also those that
 * `JSON.stringify` leaves.
 */
export function jsonText(value: unknown, indent?: number): string {
  return escapeControls(JSON.stringify(value, null, indent))
}
