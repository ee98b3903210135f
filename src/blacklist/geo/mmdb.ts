import { open as openFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { open, type Reader, type Response } from 'maxmind'
import { StartError } from '../../errors.ts'

/** Records that the reader keeps decoded, out of some hundred thousand. */
const CACHED_RECORDS = 1000

/**
 * Reads a MaxMind database into memory and gives its lookup: the record of an address, null when it has none. The
 * lookup throws when the file turns out to be damaged.
 * @throws when the file cannot be read or is no such database.
 */
export async function openMmdb(file: string): Promise<(address: string) => unknown> {
  const reader = await read(file)
  // An IPv6 address in an IPv4 tree would be answered with the record of its first 32 bits.
  const knowsIpv6 = reader.metadata.ipVersion === 6
  return (address) => (knowsIpv6 || !isIPv6(address) ? reader.get(address) : null)
}

/** What stands before the metadata of every such database, in its last 128 KiB (MaxMind DB 2.0). */
const METADATA = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex')
const METADATA_WITHIN = 128 * 1024

/**
 * Looks whether a file that a setting names is a MaxMind database, without reading it whole.
 * @throws StartError when it is none, or cannot be read.
 */
export async function requireMmdb(setting: string, path: string): Promise<void> {
  const refuse = (why: string) =>
    new StartError(`${setting} is ${JSON.stringify(path)}, but takes a MaxMind database: ${why}.`)
  const file = await openFile(path).catch((error: Error) => {
    throw refuse(error.message)
  })
  try {
    const { size } = await file.stat()
    const end = Buffer.alloc(Math.min(size, METADATA_WITHIN))
    await file.read(end, 0, end.length, size - end.length)
    if (!end.includes(METADATA)) throw refuse('the file is none')
  } catch (error) {
    throw error instanceof StartError ? error : refuse((error as Error).message)
  } finally {
    await file.close()
  }
}

async function read(file: string): Promise<Reader<Response>> {
  try {
    return await open(file, { cache: { max: CACHED_RECORDS } })
  } catch (error) {
    throw new Error(`${file} cannot be read as a MaxMind database`, { cause: error })
  }
}
