import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/**
 * The size of a read in bytes, and the number of pages to cache: 2 MB. The system caches the rest, at 2 µs per read. The
 * nodes that every lookup visits are apart from one another, so small pages hold more of them.
 */
const PAGE_BYTES = 512
const SLOTS = 4096

/** Bytes for small reads in random order. All methods throw a RangeError for a read beyond the end. */
export interface RandomAccess {
  byteAt(offset: number): number
  /** Returns a big-endian unsigned number of at most six bytes. */
  numberAt(offset: number, length: number): number
  /** Returns a text in UTF-8. @param length in bytes. */
  textAt(offset: number, length: number): string
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
  const bytesAt = (offset: number, length: number) => {
    if (offset < 0 || offset + length > bytes.length) throw new RangeError(`It ends before ${offset + length}`)
    return bytes.subarray(offset, offset + length)
  }
  return {
    byteAt: (offset) => bytes.readUInt8(offset),
    numberAt: (offset, length) => (length === 0 ? 0 : bytes.readUIntBE(offset, length)),
    textAt: (offset, length) => bytesAt(offset, length).toString(),
    bytesAt,
  }
}

/** Opens a file. Reads are synchronous. @throws if it cannot be opened. */
export function openPagedFile(path: string): PagedFile {
  const file = openSync(path, 'r')
  const { size } = fstatSync(file)
  // Each page has one slot, so that a lookup is a division. An LRU list and memory for each page take half of the time.
  const slots = Buffer.alloc(SLOTS * PAGE_BYTES)
  const pageInSlot = new Int32Array(SLOTS).fill(-1)
  let isClosed = false

  /** Returns where a byte is in `slots`, after it has read the byte's page. */
  function locate(offset: number): number {
    const start = offset % PAGE_BYTES
    const page = (offset - start) / PAGE_BYTES
    const slot = page % SLOTS
    if (pageInSlot[slot] !== page) readPage(page, slot)
    return slot * PAGE_BYTES + start
  }

  function readPage(page: number, slot: number): void {
    // After a close, the system may reuse the file descriptor for another file.
    if (isClosed) throw new Error(`${path} is closed`)
    pageInSlot[slot] = -1
    const offset = page * PAGE_BYTES
    const length = Math.min(PAGE_BYTES, size - offset)
    const read = readSync(file, slots, slot * PAGE_BYTES, length, offset)
    if (read < length) throw new RangeError(`${path} has become shorter`)
    pageInSlot[slot] = page
  }

  function requireWithin(offset: number, length: number): void {
    if (offset < 0 || length < 0 || offset + length > size)
      throw new RangeError(`${path} ends before ${offset + length}`)
  }

  /** Returns how many of some bytes are in the same page as the first one. */
  const inFirstPage = (offset: number, length: number) => Math.min(length, PAGE_BYTES - (offset % PAGE_BYTES))

  function bytesAt(offset: number, length: number): Buffer {
    requireWithin(offset, length)
    const bytes = Buffer.allocUnsafe(length)
    for (let at = 0; at < length; ) {
      const count = inFirstPage(offset + at, length - at)
      const from = locate(offset + at)
      at += slots.copy(bytes, at, from, from + count)
    }
    return bytes
  }

  return {
    size,
    // Reads numbers and texts without allocating an object, which would take most of the time.
    byteAt(offset) {
      requireWithin(offset, 1)
      return slots.readUInt8(locate(offset))
    },
    numberAt(offset, length) {
      requireWithin(offset, length)
      if (length === 0) return 0
      return inFirstPage(offset, length) === length
        ? slots.readUIntBE(locate(offset), length)
        : bytesAt(offset, length).readUIntBE(0, length)
    },
    textAt(offset, length) {
      requireWithin(offset, length)
      if (inFirstPage(offset, length) < length) return bytesAt(offset, length).toString()
      const start = locate(offset)
      return slots.toString('utf8', start, start + length)
    },
    bytesAt,
    close() {
      if (isClosed) return
      isClosed = true
      pageInSlot.fill(-1)
      closeSync(file)
    },
  }
}
