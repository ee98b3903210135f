import { ownValue } from '../core/own-value.ts'
import { cachetTable, type Tables } from './cachet-tables.ts'
import { Unreadable } from './translation.ts'

/** The maximum number of rows to read from a table. Further rows are skipped. */
const MAX_ROWS = 50_000
/** The maximum length of a value. Longer values count as absent. */
const MAX_VALUE_LENGTH = 200_000

type Row = Record<string, unknown>

/**
 * Reads the tables of Cachet from a `mysqldump` file: columns from `CREATE TABLE`, values from `INSERT`. Takes linear time for any
 * text. @throws Unreadable.
 */
export function readDump(text: string): Tables {
  const columns = new Map<string, readonly string[]>()
  const tables = new Map<string, Row[]>()
  const reader = new Reader(text)
  while (reader.toStatement()) readStatement(reader, columns, tables)
  if (tables.size === 0) throw new Unreadable('This isn’t a Cachet export: neither JSON nor a dump with its tables.')
  return tables
}

const CREATE = /CREATE TABLE (?:IF NOT EXISTS )?[`"]?(\w+)[`"]?\s*\(/iy
const INSERT = /(?:INSERT|REPLACE) (?:IGNORE )?INTO [`"]?(\w+)[`"]?\s*(?:\(([^()]{0,5000})\)\s*)?VALUES\s*/iy

function readStatement(reader: Reader, columns: Map<string, readonly string[]>, tables: Map<string, Row[]>): void {
  const created = cachetTable(reader.match(CREATE)?.[1] ?? '')
  if (created !== null) {
    const body = reader.restOfStatement().slice(0, MAX_VALUE_LENGTH)
    columns.set(
      created,
      [...body.matchAll(/^[ \t]*[`"](\w+)[`"]\s/gm)].map((found) => found[1] ?? ''),
    )
    return
  }
  const inserted = reader.match(INSERT)
  const name = cachetTable(inserted?.[1] ?? '')
  if (name === null) {
    reader.restOfStatement()
    return
  }
  const given = inserted?.[2]?.split(',').map((column) => column.trim().replace(/^[`"]|[`"]$/g, ''))
  const rows = tables.get(name) ?? []
  tables.set(name, rows)
  readRows(reader, given ?? columns.get(name) ?? [], rows)
}

function readRows(reader: Reader, columns: readonly string[], rows: Row[]): void {
  while (reader.match(/\s*\(\s*/y) !== null) {
    const row: Row = {}
    let index = 0
    do {
      const value = reader.value()
      const column = columns[index]
      if (column !== undefined && rows.length < MAX_ROWS) row[column] = value
      index += 1
    } while (reader.match(/\s*,\s*/y) !== null)
    if (reader.match(/\s*\)\s*/y) === null) break
    if (rows.length < MAX_ROWS) rows.push(row)
    if (reader.match(/,/y) === null) break
  }
  reader.restOfStatement()
}

/** Reads a text sequentially. */
class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Advances to the next statement. Returns false at the end. */
  toStatement(): boolean {
    for (;;) {
      this.match(/[\s;]+/y)
      if (this.#text.startsWith('/*', this.#at)) this.#at = this.#after('*/')
      else if (this.#text.startsWith('--', this.#at) || this.#text.startsWith('#', this.#at))
        this.#at = this.#after('\n')
      else return this.#at < this.#text.length
    }
  }

  /** Consumes and returns the match of a sticky expression at this position. */
  match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#text)
    if (found !== null) this.#at = expression.lastIndex
    return found
  }

  /** Consumes and returns the rest of a statement. */
  restOfStatement(): string {
    const begin = this.#at
    const next = /[;'"`]/g
    for (;;) {
      next.lastIndex = this.#at
      const found = next.exec(this.#text)
      if (found === null) {
        this.#at = this.#text.length
        break
      }
      this.#at = next.lastIndex
      if (found[0] === ';') break
      this.#passQuoted(found[0])
    }
    return this.#text.slice(begin, this.#at)
  }

  /** Consumes a value: a text, a number or null. Other values become null. */
  value(): unknown {
    const quoted = this.match(/(?:_\w+\s*)?'/y)
    if (quoted !== null) {
      const begin = this.#at
      this.#passQuoted("'")
      const length = this.#at - 1 - begin
      return length > MAX_VALUE_LENGTH ? null : unescaped(this.#text.slice(begin, this.#at - 1))
    }
    if (this.match(/\w{1,64}\s*\([^()']{0,100}\)/y) !== null) return null
    const plain = this.match(/[^,()';]{1,200}/y)?.[0].trim() ?? ''
    return plain !== '' && Number.isFinite(Number(plain)) ? Number(plain) : null
  }

  /** Skips the rest of a quoted text. */
  #passQuoted(quote: string): void {
    const end = quote === "'" ? /['\\]/g : quote === '"' ? /["\\]/g : /[`\\]/g
    for (;;) {
      end.lastIndex = this.#at
      const found = end.exec(this.#text)
      if (found === null) {
        this.#at = this.#text.length
        return
      }
      this.#at = end.lastIndex
      if (found[0] === '\\') this.#at += 1
      else if (this.#text[this.#at] === quote) this.#at += 1
      else return
    }
  }

  #after(end: string): number {
    const at = this.#text.indexOf(end, this.#at)
    return at === -1 ? this.#text.length : at + end.length
  }
}

const escapes: Readonly<Record<string, string>> = { '0': '\0', b: '\b', n: '\n', r: '\r', t: '\t', Z: '\u001a' }

/** Unescapes a string literal of MySQL (its manual, String Literals). */
const unescaped = (text: string) =>
  text.replace(/\\(.)|''/gs, (whole, escaped: string | undefined) =>
    escaped === undefined ? "'" : (ownValue(escapes, escaped) ?? (whole.length === 2 ? escaped : whole)),
  )
