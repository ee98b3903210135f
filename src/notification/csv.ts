/** A record of a CSV text. */
export interface CsvRow {
  /** The line on which it begins, from 1. */
  readonly line: number
  readonly fields: readonly string[]
}

/**
 * Reads comma-separated values (RFC 4180): fields may stand in double quotes, in which a doubled one means itself. Lines end as
 * they do anywhere, and where there are more semicolons than commas on the first they separate, as spreadsheets write it in
 * much of Europe. Quotes that are not closed end with the text.
 */
export function parseCsv(text: string): CsvRow[] {
  const source = text.replace(/^\ufeff/, '')
  const separator = separatorOf(source.split(/\r|\n/, 1)[0] ?? '')
  const pattern = new RegExp(`("(?:[^"]|"")*(?:"|$)|[^${separator}\\r\\n]*)(${separator}|\\r\\n|\\r|\\n|$)`, 'y')
  const rows: CsvRow[] = []
  let fields: string[] = []
  let [line, begun] = [1, 1]
  while (pattern.lastIndex < source.length) {
    const match = pattern.exec(source)
    if (!match) break
    const [whole, field = '', end] = match
    fields.push(field.startsWith('"') ? field.slice(1).replace(/"$/, '').replaceAll('""', '"') : field)
    line += whole.match(/\r\n|\r|\n/g)?.length ?? 0
    if (end === separator && pattern.lastIndex < source.length) continue
    rows.push({ line: begun, fields })
    fields = []
    begun = line
  }
  return rows
}

function separatorOf(line: string): ',' | ';' {
  return line.split(';').length > line.split(',').length ? ';' : ','
}
