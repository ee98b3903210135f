import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'

/** A record of a CSV file. */
export interface CsvRow {
  /** The number of its first line, from 1. */
  readonly line: number
  readonly fields: readonly string[]
}

/**
 * Reads comma-separated values (RFC 4180), and yields to the event loop: fields can be in double quotes, with `""` for
 * a quote. Accepts all line endings, and semicolons as separators if the first line has more of them than commas, as
 * spreadsheets in much of Europe write. An unclosed quote ends with the text.
 */
export async function* readCsv(text: string): AsyncGenerator<CsvRow, void> {
  const owner = {}
  for (const row of csvFields(text)) {
    await yieldAfterTimeSlice(owner)
    if (row !== null) yield row
  }
}

/** Reads comma-separated values as `readCsv` does, but without yielding to the event loop; for threads. */
export function* csvRows(text: string): Generator<CsvRow, void> {
  for (const row of csvFields(text)) if (row !== null) yield row
}

/** Yields a row after its last field, and null after each other field. */
function* csvFields(text: string): Generator<CsvRow | null, void> {
  const source = text.replace(/^\ufeff/, '')
  const separator = separatorOf(source.split(/\r|\n/, 1)[0] ?? '')
  const pattern = new RegExp(`("(?:[^"]|"")*(?:"|$)|[^${separator}\\r\\n]*)(${separator}|\\r\\n|\\r|\\n|$)`, 'y')
  let fields: string[] = []
  let [line, begun] = [1, 1]
  while (pattern.lastIndex < source.length) {
    const match = pattern.exec(source)
    if (!match) break
    const [whole, field = '', end] = match
    fields.push(field.startsWith('"') ? field.slice(1).replace(/"$/, '').replaceAll('""', '"') : field)
    line += whole.match(/\r\n|\r|\n/g)?.length ?? 0
    if (end === separator && pattern.lastIndex < source.length) {
      yield null
      continue
    }
    yield { line: begun, fields }
    fields = []
    begun = line
  }
}

function separatorOf(line: string): ',' | ';' {
  return line.split(';').length > line.split(',').length ? ';' : ','
}

/**
 * Returns a record of a CSV file with its line end. A spreadsheet evaluates a cell that begins with `=`, `+`, `-` or
 * `@`, so an apostrophe precedes these (OWASP, "CSV Injection"). That holds for a negative number too, which stays, and
 * within a field after a separator or a line end: a spreadsheet that expects other separators splits the field there.
 */
export function csvLine(fields: readonly string[]): string {
  return `${fields.map(csvField).join(',')}\r\n`
}

/** Where a cell may begin, before what makes it a formula, also in the full width of East Asian keyboards. */
const FORMULA = /((?:^|[;|\t\r\n])[ "']*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g

function csvField(text: string): string {
  const isNumber = /^-?\d+(?:\.\d+)?$/.test(text)
  const safe = isNumber ? text : text.replace(FORMULA, "$1'").replace(/^[\t\r\n]/, "'$&")
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Returns a field as it was before `csvLine` made it harmless. */
export function withoutApostrophe(field: string): string {
  return field.replace(/^'(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/, '')
}
