import { constants, crc32, deflateRawSync } from 'node:zlib'

const MIB = 2 ** 20
/** A gzip member of deflated data without optional header fields. */
const head = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])

/**
 * Returns data that decompresses to so many MiB of one byte, in a thousandth of that size. Compresses only the first
 * MiB.
 */
export function bomb(mebibytes: number, byte = 0): Buffer {
  const unpacked = Buffer.alloc(MIB, byte)
  // Flushed so that another block can follow.
  const block = deflateRawSync(unpacked, { level: 9, finishFlush: constants.Z_FULL_FLUSH })
  const end = deflateRawSync(Buffer.alloc(0))
  const trailer = Buffer.alloc(8)
  let sum = 0
  for (let n = 0; n < mebibytes; n++) sum = crc32(unpacked, sum)
  trailer.writeUInt32LE(sum)
  trailer.writeUInt32LE(mebibytes * MIB, 4)
  return Buffer.concat([head, ...Array<Buffer>(mebibytes).fill(block), end, trailer])
}
