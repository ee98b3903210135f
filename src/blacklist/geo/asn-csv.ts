import { open } from 'node:fs/promises'
import { isIP } from 'node:net'
import { type AsnData, addressWords, type Boundaries, type Holder, type Words } from './asn-table.ts'

/** The paths of the two files of `@ip-location-db/asn`; a row is like `1.0.0.0,1.0.0.255,13335,"Cloudflare, Inc."`. */
export interface AsnFiles {
  readonly ipv4: string
  readonly ipv6: string
}

/**
 * Reads both files. Where two ranges overlap (in the data of June 2026 once), the later one counts.
 * @throws when a file cannot be read, and at the first row that cannot be used, naming its line.
 */
export async function readAsnFiles(files: AsnFiles): Promise<AsnData> {
  const positions = new Map<string, number>()
  const ipv4 = await readBoundaries(files.ipv4, [0], positions)
  const ipv6 = await readBoundaries(files.ipv6, [0, 0, 0, 0], positions)
  return { ipv4, ipv6, holders: Array.from(positions.keys(), parseHolder) }
}

/** Reads one file. `zero` is its family's first address; `positions` collects the holders as the rows write them. */
async function readBoundaries(path: string, zero: Words, positions: Map<string, number>): Promise<Boundaries> {
  const starts: number[] = []
  const holders: number[] = []
  const begin = (start: Words, holder: number) => {
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
  let previous: Row | null = null
  let free: Words | null = zero
  const file = await open(path)
  try {
    for await (const text of file.readLines()) {
      line++
      const row = parseRow(text, zero.length)
      if (row === null || !follows(row, previous)) {
        throw new Error(`${path}, line ${line}: not a range after the one before: ${text.slice(0, 100)}`)
      }
      if (free !== null && compare(row.first, free) > 0) begin(free, 0)
      begin(row.first, position(row.holder))
      free = following(row.last)
      previous = row
    }
  } finally {
    await file.close()
  }
  if (free !== null) begin(free, 0)
  return { starts, holders }
}

interface Row {
  readonly first: Words
  readonly last: Words
  /** The holder's columns as they are written: number, comma, name. */
  readonly holder: string
}

function parseRow(text: string, wordCount: number): Row | null {
  const [, from = '', to = '', holder = ''] = /^([^,]+),([^,]+),(\d{1,10},.*)$/.exec(text) ?? []
  if (isIP(from) === 0 || isIP(to) === 0) return null
  const first = addressWords(from)
  const last = addressWords(to)
  return first.length === wordCount && last.length === wordCount ? { first, last, holder } : null
}

/** Whether a row comes after the one before it, with its start and with its end. */
function follows(row: Row, previous: Row | null): boolean {
  if (compare(row.first, row.last) > 0) return false
  return previous === null || (compare(row.first, previous.first) > 0 && compare(row.last, previous.last) > 0)
}

/** RFC 4180: a field with commas or quotes is quoted, and a quote in it doubled. */
function parseHolder(text: string): Holder {
  const comma = text.indexOf(',')
  const name = text.slice(comma + 1)
  const plain = name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name
  return { number: Number(text.slice(0, comma)), name: plain.trim() }
}

function compare(left: Words, right: Words): number {
  const index = left.findIndex((word, position) => word !== right[position])
  return index < 0 ? 0 : (left[index] ?? 0) - (right[index] ?? 0)
}

/** The address after this one; null after the family's last. */
function following(address: Words): Words | null {
  const index = address.findLastIndex((word) => word < 0xffff_ffff)
  return index < 0
    ? null
    : address.map((word, position) => (position < index ? word : position === index ? word + 1 : 0))
}
