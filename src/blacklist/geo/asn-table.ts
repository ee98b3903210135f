import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { RandomAccess } from './paged-file.ts'
import { type Network, toNetwork } from './record.ts'

/** An address as unsigned 32-bit words, most significant first: one for IPv4, four for IPv6. */
export type AddressWords = readonly number[]

/** An autonomous system and its holder. */
export interface Holder {
  readonly number: number
  readonly name: string
}

/**
 * The address ranges of one family. `starts` has the words of the first address of each range, in ascending order; a
 * range ends where the next one starts. `holders` has the holder of each range: 0 for none, otherwise its position from
 * 1.
 */
export interface Boundaries {
  readonly starts: ArrayLike<number>
  readonly holders: ArrayLike<number>
}

/** The holders of all announced addresses. */
export interface AsnData {
  readonly ipv4: Boundaries
  readonly ipv6: Boundaries
  readonly holders: readonly Holder[]
}

/** Identifies the layout that `packAsnTable` writes. Change both together. */
export const ASN_TABLE_LAYOUT = 'asn-table/2'

const WORD_BYTES = 4

/**
 * Packs the data into one block of about 10 MB, which lookups read without unpacking it. The block has big-endian
 * 32-bit words: the counts of IPv4 boundaries, IPv6 boundaries and holders; the starts and holders of IPv4; the starts
 * and holders of IPv6; the number of each holder; the end of each holder's name. The names follow in UTF-8.
 */
export function packAsnTable({ ipv4, ipv6, holders }: AsnData): Uint8Array<ArrayBuffer> {
  const names = holders.map((holder) => Buffer.from(holder.name))
  let end = 0
  const nameEnds = names.map((name) => (end += name.length))
  const columns = [
    [ipv4.holders.length, ipv6.holders.length, holders.length],
    ipv4.starts,
    ipv4.holders,
    ipv6.starts,
    ipv6.holders,
    holders.map((holder) => holder.number),
    nameEnds,
  ]
  const wordCount = columns.reduce((sum, column) => sum + column.length, 0)
  const block = new Uint8Array(wordCount * WORD_BYTES + end)
  const words = new DataView(block.buffer)
  let at = 0
  for (const column of columns) {
    for (let index = 0; index < column.length; index++, at += WORD_BYTES) words.setUint32(at, column[index] ?? 0)
  }
  block.set(Buffer.concat(names), at)
  return block
}

/** A sequence of words in a packed block. */
interface Column {
  readonly length: number
  at(index: number): number
}

/**
 * Returns a function that looks up the network of an address in a packed block; null: no network announces the address.
 * @param start the offset of the block.
 */
export function readAsnTable(bytes: RandomAccess, start = 0): (address: string) => Network | null {
  let end = start
  const column = (length: number): Column => {
    const first = end
    end += length * WORD_BYTES
    return { length, at: (index) => bytes.numberAt(first + index * WORD_BYTES, WORD_BYTES) }
  }
  const counts = column(3)
  const [ipv4Count, ipv6Count, holderCount] = [counts.at(0), counts.at(1), counts.at(2)]
  const ipv4 = { starts: column(ipv4Count), holders: column(ipv4Count) }
  const ipv6 = { starts: column(ipv6Count * 4), holders: column(ipv6Count) }
  const numbers = column(holderCount)
  const nameEnds = column(holderCount)
  const names = end

  return (address) => {
    const words = addressWords(address)
    const holder = holderOf(words.length === 1 ? ipv4 : ipv6, words)
    if (holder === 0) return null
    const nameStart = holder === 1 ? 0 : nameEnds.at(holder - 2)
    const name = bytes.textAt(names + nameStart, nameEnds.at(holder - 1) - nameStart)
    return toNetwork(numbers.at(holder - 1), name)
  }
}

/**
 * Returns the words of an address.
 * @throws when the text is not an address.
 */
export function addressWords(address: string): AddressWords {
  if (isIPv4(address)) return [address.split('.').reduce((word, octet) => word * 256 + Number(octet), 0)]
  const { parts } = ipaddr.IPv6.parse(address)
  return [0, 2, 4, 6].map((index) => (parts[index] ?? 0) * 0x1_0000 + (parts[index + 1] ?? 0))
}

function holderOf(
  { starts, holders }: { readonly starts: Column; readonly holders: Column },
  address: AddressWords,
): number {
  let low = 0
  let high = holders.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isAtOrAfter(address, starts, middle * address.length)) low = middle + 1
    else high = middle
  }
  return low === 0 ? 0 : holders.at(low - 1)
}

/** Returns whether the address is at or after the start at `offset`. */
function isAtOrAfter(address: AddressWords, starts: Column, offset: number): boolean {
  // A loop over indexes, because an iterator would allocate objects for every comparison.
  for (let index = 0; index < address.length; index++) {
    const word = address[index] ?? 0
    const start = starts.at(offset + index)
    if (word !== start) return word > start
  }
  return true
}
