import { isIPv6 } from 'node:net'
import { open, type Reader, type Response } from 'maxmind'

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

async function read(file: string): Promise<Reader<Response>> {
  try {
    return await open(file, { cache: { max: CACHED_RECORDS } })
  } catch (error) {
    throw new Error(`${file} cannot be read as a MaxMind database`, { cause: error })
  }
}
