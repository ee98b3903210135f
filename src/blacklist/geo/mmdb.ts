import { open as openFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { open, type Reader, type Response } from 'maxmind'
import { StartError } from '../../core/errors.ts'

/** Maximum decoded records that the reader caches, out of some hundred thousand. */
const MAX_CACHED_RECORDS = 1000

/**
 * Reads a MaxMind database into memory and returns a function that looks up the record of an address, or null. The
 * function throws when the file is damaged.
 * @throws when the file cannot be read or is not a MaxMind database.
 */
export async function openMmdb(file: string): Promise<(address: string) => unknown> {
  const reader = await read(file)
  // The reader would look up an IPv6 address in an IPv4 tree by its first 32 bits.
  const knowsIpv6 = reader.metadata.ipVersion === 6
  return (address) => (knowsIpv6 || !isIPv6(address) ? reader.get(address) : null)
}

/** The marker before the metadata of a database, within its last 128 KiB (MaxMind DB 2.0). */
const METADATA_MARKER = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex')
const METADATA_TAIL_BYTES = 128 * 1024

/**
 * Verifies that a file is a MaxMind database, without reading all of it.
 * @throws StartError with the name of the setting when it is not, or cannot be read.
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

async function read(file: string): Promise<Reader<Response>> {
  try {
    return await open(file, { cache: { max: MAX_CACHED_RECORDS } })
  } catch (error) {
    throw new Error(`${file} cannot be read as a MaxMind database`, { cause: error })
  }
}
