import { open as openFile } from 'node:fs/promises'
import { StartError } from '../../core/errors.ts'
import { addressWords } from './asn-table.ts'
import { decodeValue } from './mmdb-value.ts'
import type { PagedFile } from './paged-file.ts'
import { openPagedFile } from './paged-file.ts'

/** A MaxMind database (https://maxmind.github.io/MaxMind-DB), read from disk on demand. */
export interface Mmdb {
  /** Returns the record of an address; null: there is none. @throws when the file is damaged. */
  lookUp(address: string): unknown
  close(): void
}

/** The marker before the metadata of a database, within its last 128 KiB. */
const METADATA_MARKER = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex')
const METADATA_TAIL_BYTES = 128 * 1024
/** The number of zero bytes between the tree and the data. */
const SEPARATOR_BYTES = 16
/** The number of leading zero bits of an IPv4 address in an IPv6 tree. */
const IPV4_DEPTH = 96

/** Opens a database. @throws when the file cannot be read or is not a MaxMind database. */
export function openMmdb(path: string): Mmdb {
  try {
    const file = openPagedFile(path)
    try {
      return readerOf(file)
    } catch (error) {
      file.close()
      throw error
    }
  } catch (error) {
    throw new Error(`cannot read ${path} as a MaxMind database`, { cause: error })
  }
}

/**
 * Verifies that a file is a MaxMind database, without reading all of it.
 * @throws StartError with the name of the setting when it is not one, or cannot be read.
 */
export async function assertMmdb(setting: string, path: string): Promise<void> {
  const refuse = (why: string) =>
    new StartError(`${setting} is ${JSON.stringify(path)}, but must name a MaxMind database: ${why}.`)
  const file = await openFile(path).catch((error: Error) => {
    throw refuse(error.message)
  })
  try {
    const { size } = await file.stat()
    const end = Buffer.alloc(Math.min(size, METADATA_TAIL_BYTES))
    await file.read(end, 0, end.length, size - end.length)
    if (!end.includes(METADATA_MARKER)) throw refuse('the file is not one')
  } catch (error) {
    throw error instanceof StartError ? error : refuse((error as Error).message)
  } finally {
    await file.close()
  }
}

function readerOf(file: PagedFile): Mmdb {
  const { nodeCount, recordBits, isIpv6 } = metadataOf(file)
  const nodeBytes = recordBits / 4
  const dataStart = nodeCount * nodeBytes + SEPARATOR_BYTES
  const next = recordReader(file, recordBits)

  /** Follows the bits of an address from a node. Returns a node, or for a record a number of at least `nodeCount`. */
  function follow(from: number, words: readonly number[], depth: number): number {
    let node = from
    for (let bit = 0; bit < depth && node < nodeCount; bit++) {
      const word = words[bit >>> 5] ?? 0
      node = next(node * nodeBytes, ((word >>> (31 - (bit & 31))) & 1) === 1)
    }
    return node
  }

  const ipv4Root = isIpv6 ? follow(0, [0, 0, 0], IPV4_DEPTH) : 0
  return {
    lookUp(address) {
      const words = addressWords(address)
      if (words.length > 1 && !isIpv6) return null
      const found = follow(words.length > 1 ? 0 : ipv4Root, words, words.length * 32)
      if (found <= nodeCount) return null
      return decodeValue(file, found - nodeCount - SEPARATOR_BYTES + dataStart, dataStart).value
    },
    close: file.close,
  }
}

function metadataOf(file: PagedFile) {
  const start = Math.max(0, file.size - METADATA_TAIL_BYTES)
  const marker = file.bytesAt(start, file.size - start).lastIndexOf(METADATA_MARKER)
  if (marker < 0) throw new Error('The file has no metadata.')
  const offset = start + marker + METADATA_MARKER.length
  const { value } = decodeValue(file, offset, offset)
  const metadata = new Map(typeof value === 'object' && value !== null ? Object.entries(value) : [])
  const nodeCount = Number(metadata.get('node_count'))
  const recordBits = Number(metadata.get('record_size'))
  const isIpv6 = metadata.get('ip_version') === 6
  if (!Number.isSafeInteger(nodeCount) || ![24, 28, 32].includes(recordBits)) {
    throw new Error(`Invalid metadata: ${nodeCount} nodes of ${recordBits} bits.`)
  }
  return { nodeCount, recordBits, isIpv6 }
}

/** Returns a function that reads the left (0) or right (1) record of a node. */
function recordReader(file: PagedFile, recordBits: number): (offset: number, isOne: boolean) => number {
  if (recordBits !== 28) {
    const bytes = recordBits / 8
    return (offset, isOne) => file.numberAt(isOne ? offset + bytes : offset, bytes)
  }
  // The middle byte has the highest bits of both records.
  return (offset, isOne) =>
    isOne
      ? file.numberAt(offset + 3, 4) & 0x0fff_ffff
      : ((file.byteAt(offset + 3) & 0xf0) << 20) | file.numberAt(offset, 3)
}
