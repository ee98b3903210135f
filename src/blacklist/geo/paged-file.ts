import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { LRUCache } from 'lru-cache'

/** The size of a read in bytes, and the number of pages to cache. The system caches the rest, at 2 µs per read. */
const PAGE_BYTES = 4096
const MAX_PAGES = 512

/** Bytes for small reads in random order. All methods throw a RangeError for a read beyond the end. */
export interface RandomAccess {
  byteAt(offset: number): number
  /** Returns a big-endian unsigned number of at most six bytes. */
  numberAt(offset: number, length: number): number
  bytesAt(offset: number, length: number): Buffer
}

/** A file for small reads in random order. */
export interface PagedFile extends RandomAccess {
  readonly size: number
  close(): void
}

/** Returns random access to an array in memory. */
export function randomAccessTo({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>): RandomAccess {
  const bytes = Buffer.from(buffer, byteOffset, length)
  return {
    byteAt: (offset) => bytes.readUInt8(offset),
    numberAt: (offset, length) => (length === 0 ? 0 : bytes.readUIntBE(offset, length)),
    bytesAt(offset, length) {
      if (offset < 0 || offset + length > bytes.length) throw new RangeError(`It ends before ${offset + length}`)
      return bytes.subarray(offset, offset + length)
    },
  }
}

/** Opens a file. Reads are synchronous. @throws if it cannot be opened. */
export function openPagedFile(path: string): PagedFile {
  const file = openSync(path, 'r')
  const { size } = fstatSync(file)
  const pages = new LRUCache<number, Buffer>({ max: MAX_PAGES })
  let isClosed = false

  // Most reads are close to the previous one, so its page is kept at hand.
  let last: { readonly number: number; readonly page: Buffer } = { number: -1, page: Buffer.alloc(0) }

  function pageOf(number: number): Buffer {
    if (last.number !== number) last = { number, page: readPage(number) }
    return last.page
  }

  function readPage(number: number): Buffer {
    const known = pages.get(number)
    if (known !== undefined) return known
    // After a close, the system may reuse the file descriptor for another file.
    if (isClosed) throw new Error(`${path} is closed`)
    const page = Buffer.allocUnsafeSlow(PAGE_BYTES)
    const length = readSync(file, page, 0, PAGE_BYTES, number * PAGE_BYTES)
    const read = page.subarray(0, length)
    pages.set(number, read)
    return read
  }

  function requireWithin(offset: number, length: number): void {
    if (offset < 0 || length < 0 || offset + length > size)
      throw new RangeError(`${path} ends before ${offset + length}`)
  }

  function bytesAt(offset: number, length: number): Buffer {
    requireWithin(offset, length)
    const pieces: Buffer[] = []
    for (let at = offset; at < offset + length; ) {
      const start = at % PAGE_BYTES
      const piece = pageOf((at - start) / PAGE_BYTES).subarray(start, start + offset + length - at)
      if (piece.length === 0) throw new RangeError(`${path} has become shorter`)
      if (piece.length === length) return piece
      pieces.push(piece)
      at += piece.length
    }
    return Buffer.concat(pieces)
  }

  return {
    size,
    // Reads the byte without allocating an object, which would take most of the time.
    byteAt(offset) {
      requireWithin(offset, 1)
      const byte = pageOf(Math.floor(offset / PAGE_BYTES))[offset % PAGE_BYTES]
      return byte ?? bytesAt(offset, 1).readUInt8()
    },
    numberAt(offset, length) {
      requireWithin(offset, length)
      if (length === 0) return 0
      const start = offset % PAGE_BYTES
      const page = pageOf((offset - start) / PAGE_BYTES)
      return start + length <= page.length
        ? page.readUIntBE(start, length)
        : bytesAt(offset, length).readUIntBE(0, length)
    },
    bytesAt,
    close() {
      if (isClosed) return
      isClosed = true
      pages.clear()
      last = { number: -1, page: Buffer.alloc(0) }
      closeSync(file)
    },
  }
}
