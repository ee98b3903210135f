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
 * Returns a record of a CSV file with its line end. A field that a spreadsheet would evaluate, because it begins with
 * `=`, `+`, `-` or `@`, gets a leading apostrophe.
 */
export function csvLine(fields: readonly string[]): string {
  return `${fields.map(csvField).join(',')}\r\n`
}

function csvField(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
