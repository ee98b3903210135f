import { isIPv4 } from 'node:net'
import { endianness } from 'node:os'
import ipaddr from 'ipaddr.js'
import { type Network, network } from './record.ts'

/** An address as unsigned 32-bit words, the most significant first: one for IPv4, four for IPv6. */
export type Words = readonly number[]

/** An autonomous system and who holds it. */
export interface Holder {
  readonly number: number
  readonly name: string
}

/**
 * Where the holder changes among the addresses of one family: from each start (ascending, its words one after another)
 * up to the next, all addresses have the holder at the same place in `holders`: 0 nobody, else its position from 1.
 */
export interface Boundaries {
  readonly starts: ArrayLike<number>
  readonly holders: ArrayLike<number>
}

/** Who announces which addresses. */
export interface AsnData {
  readonly ipv4: Boundaries
  readonly ipv6: Boundaries
  readonly holders: readonly Holder[]
}

/** Names the layout that `packAsnTable` writes, and changes with it; the words are in the machine's own byte order. */
export const asnLayout = `asn-table/1 ${endianness()}`

/**
 * Packs the data into one block of about 10 MB, in which addresses are found without unpacking anything.
 * Words of 32 bits: the counts of IPv4 boundaries, IPv6 boundaries and holders; starts and holders of IPv4; starts and
 * holders of IPv6; each holder's number; where each holder's name ends. Then the names in UTF-8.
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
  const block = new Uint8Array(wordCount * 4 + end)
  const words = new Uint32Array(block.buffer, 0, wordCount)
  let at = 0
  for (const column of columns) {
    words.set(column, at)
    at += column.length
  }
  block.set(Buffer.concat(names), wordCount * 4)
  return block
}

/** The lookup in a block that `packAsnTable` made: who announces an address, null when nobody does. */
export function readAsnTable(block: Uint8Array<ArrayBuffer>): (address: string) => Network | null {
  let at = block.byteOffset
  const column = (length: number) => {
    const words = new Uint32Array(block.buffer, at, length)
    at += words.byteLength
    return words
  }
  const [ipv4Count = 0, ipv6Count = 0, holderCount = 0] = column(3)
  const ipv4 = { starts: column(ipv4Count), holders: column(ipv4Count) }
  const ipv6 = { starts: column(ipv6Count * 4), holders: column(ipv6Count) }
  const numbers = column(holderCount)
  const nameEnds = column(holderCount)
  const names = Buffer.from(block.buffer, at, nameEnds.at(-1) ?? 0)

  return (address) => {
    const words = addressWords(address)
    const holder = holderOf(words.length === 1 ? ipv4 : ipv6, words)
    if (holder === 0) return null
    const name = names.toString('utf8', nameEnds[holder - 2] ?? 0, nameEnds[holder - 1])
    return network(numbers[holder - 1] ?? 0, name)
  }
}

/**
 * The words of an address.
 * @throws when it is no address.
 */
export function addressWords(address: string): Words {
  if (isIPv4(address)) return [address.split('.').reduce((word, octet) => word * 256 + Number(octet), 0)]
  const { parts } = ipaddr.IPv6.parse(address)
  return [0, 2, 4, 6].map((index) => (parts[index] ?? 0) * 0x1_0000 + (parts[index + 1] ?? 0))
}

function holderOf({ starts, holders }: Boundaries, address: Words): number {
  let low = 0
  let high = holders.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isPast(address, starts, middle * address.length)) low = middle + 1
    else high = middle
  }
  return holders[low - 1] ?? 0
}

/** Whether the address is the one that starts at `offset`, or comes after it. */
function isPast(address: Words, starts: ArrayLike<number>, offset: number): boolean {
  // Not with an iterator, which for every comparison of a search would make objects.
  for (let index = 0; index < address.length; index++) {
    const word = address[index] ?? 0
    const start = starts[offset + index] ?? 0
    if (word !== start) return word > start
  }
  return true
}
