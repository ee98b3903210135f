import { varint } from '../../core/varint.ts'
import { Http2Failure } from './http2-failure.ts'
import { decodeHuffman } from './huffman-code.ts'

/** A header field: its name, in lower case, and its value. */
export type HeaderField = readonly [name: string, value: string]

/** Header fields with well-known numbers, from 1 (RFC 7541, appendix A). */
const staticTable: readonly HeaderField[] = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  [':status', '200'],
  [':status', '204'],
  [':status', '206'],
  [':status', '304'],
  [':status', '400'],
  [':status', '404'],
  [':status', '500'],
  ['accept-charset', ''],
  ['accept-encoding', 'gzip, deflate'],
  ['accept-language', ''],
  ['accept-ranges', ''],
  ['accept', ''],
  ['access-control-allow-origin', ''],
  ['age', ''],
  ['allow', ''],
  ['authorization', ''],
  ['cache-control', ''],
  ['content-disposition', ''],
  ['content-encoding', ''],
  ['content-language', ''],
  ['content-length', ''],
  ['content-location', ''],
  ['content-range', ''],
  ['content-type', ''],
  ['cookie', ''],
  ['date', ''],
  ['etag', ''],
  ['expect', ''],
  ['expires', ''],
  ['from', ''],
  ['host', ''],
  ['if-match', ''],
  ['if-modified-since', ''],
  ['if-none-match', ''],
  ['if-range', ''],
  ['if-unmodified-since', ''],
  ['last-modified', ''],
  ['link', ''],
  ['location', ''],
  ['max-forwards', ''],
  ['proxy-authenticate', ''],
  ['proxy-authorization', ''],
  ['range', ''],
  ['referer', ''],
  ['refresh', ''],
  ['retry-after', ''],
  ['server', ''],
  ['set-cookie', ''],
  ['strict-transport-security', ''],
  ['transfer-encoding', ''],
  ['user-agent', ''],
  ['vary', ''],
  ['via', ''],
  ['www-authenticate', ''],
]

/** The maximum size of the dynamic table unless settings say otherwise, in bytes (RFC 9113 §6.5.2). */
const MAX_TABLE_BYTES = 4096

/** The size of a field as tables and lists of headers count it, in bytes (RFC 7541 §4.1, RFC 9113 §6.5.2). */
const sizeOf = ([name, value]: HeaderField) => name.length + value.length + 32

/** Encodes header fields as literals without Huffman coding, which every decoder reads (RFC 7541 §6.2.2). */
export function writeHeaderBlock(fields: readonly HeaderField[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), ...literalOf(name), ...literalOf(value)]))
}

function literalOf(text: string): Buffer[] {
  const bytes = Buffer.from(text, 'latin1')
  const { length } = bytes
  // An integer with a prefix of seven bits (RFC 7541 §5.1).
  return [Buffer.from(length < 127 ? [length] : [127, ...varint(length - 127)]), bytes]
}

/**
 * Creates a function that decodes the header blocks of a connection in order (HPACK, RFC 7541).
 * @param maxListBytes the maximum size of the fields of a block.
 * @throws Http2Failure `protocol` when a block is malformed, `too long` when it has more fields than allowed.
 */
export function createHeaderDecoder(maxListBytes: number): (block: Buffer) => HeaderField[] {
  const table = createHeaderTable()
  return (block) => {
    const reader = createReader(block)
    const fields: HeaderField[] = []
    let size = 0
    while (!reader.isAtEnd()) {
      const field = readField(reader, table, fields.length === 0)
      if (field === null) continue
      fields.push(field)
      size += sizeOf(field)
      if (size > maxListBytes) throw new Http2Failure('too long')
    }
    return fields
  }
}

/** Reads a field (RFC 7541 §6); null: a change of the table's size, which is allowed only before the first field. */
function readField(reader: Reader, table: HeaderTable, isFirst: boolean): HeaderField | null {
  const kind = reader.peek()
  if (kind & 0x80) return table.field(reader.integer(7))
  if ((kind & 0xe0) === 0x20) {
    if (!isFirst) throw new Http2Failure('protocol')
    table.resize(reader.integer(5))
    return null
  }
  const isAdded = (kind & 0x40) !== 0
  const index = reader.integer(isAdded ? 6 : 4)
  const name = index === 0 ? reader.text() : table.field(index)[0]
  const field = [name, reader.text()] as const
  if (isAdded) table.add(field)
  return field
}

interface HeaderTable {
  /** Returns the field with a number. @throws Http2Failure `protocol`. */
  field(index: number): HeaderField
  add(field: HeaderField): void
  /** Sets the maximum size of the recent fields in bytes. @throws Http2Failure `protocol` when it is larger than allowed. */
  resize(maxBytes: number): void
}

/** Creates a table of the static fields and, after them, the recent ones (RFC 7541 §2.3, §4). */
function createHeaderTable(): HeaderTable {
  const recent: HeaderField[] = []
  let maxSize = MAX_TABLE_BYTES
  let size = 0

  function evict(): void {
    while (size > maxSize) {
      const oldest = recent.pop()
      if (oldest === undefined) return
      size -= sizeOf(oldest)
    }
  }

  return {
    field(index) {
      const field = staticTable[index - 1] ?? recent[index - 1 - staticTable.length]
      if (field === undefined) throw new Http2Failure('protocol')
      return field
    },
    add(field) {
      recent.unshift(field)
      size += sizeOf(field)
      evict()
    },
    resize(maxBytes) {
      if (maxBytes > MAX_TABLE_BYTES) throw new Http2Failure('protocol')
      maxSize = maxBytes
      evict()
    },
  }
}

interface Reader {
  isAtEnd(): boolean
  /** Returns the next byte without consuming it. */
  peek(): number
  /** Reads an integer whose first byte has this many bits for it (RFC 7541 §5.1). */
  integer(prefixBits: number): number
  /** Reads a string (RFC 7541 §5.2) as Latin-1. */
  text(): string
}

/** Creates a reader of a header block. Its methods throw Http2Failure `protocol` at the end of the block. */
function createReader(block: Buffer): Reader {
  let at = 0

  function byte(): number {
    const next = block[at++]
    if (next === undefined) throw new Http2Failure('protocol')
    return next
  }

  function integer(prefixBits: number): number {
    const max = 2 ** prefixBits - 1
    let value = byte() & max
    if (value < max) return value
    // Three more bytes reach two million, more than any block has.
    for (const shift of [0, 7, 14]) {
      const next = byte()
      value += (next & 127) << shift
      if (next < 128) return value
    }
    throw new Http2Failure('protocol')
  }

  return {
    isAtEnd: () => at >= block.length,
    peek: () => block[at] ?? 0,
    integer,
    text() {
      const isHuffman = ((block[at] ?? 0) & 0x80) !== 0
      const end = integer(7) + at
      if (end > block.length) throw new Http2Failure('protocol')
      const bytes = block.subarray(at, end)
      at = end
      return isHuffman ? decodeHuffman(bytes) : bytes.toString('latin1')
    },
  }
}
