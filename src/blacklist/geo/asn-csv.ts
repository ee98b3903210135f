import { open } from 'node:fs/promises'
import { isIP } from 'node:net'
import { type AddressWords, type AsnData, addressWords, type Boundaries, type Holder } from './asn-table.ts'

/**
 * The paths of the two files of `@ip-location-db/asn`. A row is, for example: `1.0.0.0,1.0.0.255,13335,"Cloudflare,
 * Inc."`.
 */
export interface AsnFiles {
  readonly ipv4: string
  readonly ipv6: string
}

/**
 * Reads both files. Where two ranges overlap (once in the data of June 2026), the later one wins.
 * @throws when a file cannot be read, or at the first invalid row, with its line number.
 */
export async function readAsnFiles(files: AsnFiles): Promise<AsnData> {
  const positions = new Map<string, number>()
  const ipv4 = await readBoundaries(files.ipv4, [0], positions)
  const ipv6 = await readBoundaries(files.ipv6, [0, 0, 0, 0], positions)
  return { ipv4, ipv6, holders: Array.from(positions.keys(), parseHolder) }
}

/** Reads one file. `zero`: the first address of its family. `positions`: collects the holders as the rows have them. */
async function readBoundaries(path: string, zero: AddressWords, positions: Map<string, number>): Promise<Boundaries> {
  const starts: number[] = []
  const holders: number[] = []
  const begin = (start: AddressWords, holder: number) => {
    if (holder === (holders.at(-1) ?? 0)) return
    starts.push(...start)
    holders.push(holder)
  }
  const position = (holder: string) => {
    const known = positions.get(holder) ?? positions.size + 1
    positions.set(holder, known)
    return known
  }

  let line = 0
  let previous: CsvRow | null = null
  let free: AddressWords | null = zero
  const file = await open(path)
  try {
    for await (const text of file.readLines()) {
      line++
      const row = parseRow(text, zero.length)
      if (row === null || !follows(row, previous)) {
        throw new Error(`${path}, line ${line}: not a range that follows the previous one: ${text.slice(0, 100)}`)
      }
      if (free !== null && compare(row.first, free) > 0) begin(free, 0)
      begin(row.first, position(row.holder))
      free = nextAddress(row.last)
      previous = row
    }
  } finally {
    await file.close()
  }
  if (free !== null) begin(free, 0)
  return { starts, holders }
}

interface CsvRow {
  readonly first: AddressWords
  readonly last: AddressWords
  /** The holder's columns as the row has them: number, comma, name. */
  readonly holder: string
}

function parseRow(text: string, wordCount: number): CsvRow | null {
  const [, from = '', to = '', holder = ''] = /^([^,]+),([^,]+),(\d{1,10},.*)$/.exec(text) ?? []
  if (isIP(from) === 0 || isIP(to) === 0) return null
  const first = addressWords(from)
  const last = addressWords(to)
  return first.length === wordCount && last.length === wordCount ? { first, last, holder } : null
}

/** Returns whether a row starts and ends after the previous one. */
function follows(row: CsvRow, previous: CsvRow | null): boolean {
  if (compare(row.first, row.last) > 0) return false
  return previous === null || (compare(row.first, previous.first) > 0 && compare(row.last, previous.last) > 0)
}

/** Parses the holder's columns. A field with commas or quotes is quoted, and its quotes are doubled (RFC 4180). */
function parseHolder(text: string): Holder {
  const comma = text.indexOf(',')
  const name = text.slice(comma + 1)
  const plain = name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name
  return { number: Number(text.slice(0, comma)), name: plain.trim() }
}

function compare(left: AddressWords, right: AddressWords): number {
  const index = left.findIndex((word, position) => word !== right[position])
  return index < 0 ? 0 : (left[index] ?? 0) - (right[index] ?? 0)
}

/** Returns the next address; null after the last address of the family. */
function nextAddress(address: AddressWords): AddressWords | null {
  const index = address.findLastIndex((word) => word < 0xffff_ffff)
  return index < 0
    ? null
    : address.map((word, position) => (position < index ? word : position === index ? word + 1 : 0))
}
