import { Http2Failure } from './http2-failure.ts'

/**
 * The lengths of the codes of the bytes from 0 to 255 and of the end of the string, in bits (RFC 7541, appendix B).
 * The code is canonical: codes of one length are consecutive, in the order of their bytes.
 */
const codeLengths = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23,
  22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22,
  23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
  20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
  27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
  27, 27, 27, 26, 30,
]
const MAX_LENGTH = 30
const END_OF_STRING = 256

/** The symbols of each length, in the order of their codes, and the first of these codes. */
const lengths = symbolsByLength()

function symbolsByLength(): readonly { readonly symbols: readonly number[]; readonly first: number }[] {
  let next = 0
  return Array.from({ length: MAX_LENGTH + 1 }, (_, length) => {
    const symbols = codeLengths.flatMap((each, symbol) => (each === length ? [symbol] : []))
    const first = 2 * next
    next = first + symbols.length
    return { symbols, first }
  })
}

/**
 * Decodes a Huffman-encoded string (RFC 7541 §5.2) to Latin-1.
 * @throws Http2Failure `protocol` when it is malformed.
 */
export function decodeHuffman(encoded: Buffer): string {
  const decoded: number[] = []
  let code = 0
  let length = 0
  for (const byte of encoded) {
    for (let bit = 7; bit >= 0; bit--) {
      code = 2 * code + ((byte >> bit) & 1)
      length += 1
      const { symbols, first } = lengths[length] ?? { symbols: [], first: 0 }
      const symbol = symbols[code - first]
      if (symbol === END_OF_STRING || length > MAX_LENGTH) throw new Http2Failure('protocol')
      if (symbol === undefined) continue
      decoded.push(symbol)
      code = 0
      length = 0
    }
  }
  // The last byte is padded with the first bits of the end of the string, which are ones.
  if (length > 7 || code !== 2 ** length - 1) throw new Http2Failure('protocol')
  return Buffer.from(decoded).toString('latin1')
}
