import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'

/** A file in the encodings that browsers accept; decompressed on the fly for other clients. */
export interface Compressed {
  readonly br: Uint8Array<ArrayBuffer>
  readonly gzip: Uint8Array<ArrayBuffer>
}

/** Higher qualities take seconds per megabyte and save a tenth. */
const BROTLI = { params: { [zlib.BROTLI_PARAM_QUALITY]: 6 } }

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** Compresses a file in Node's thread pool. */
export async function compress(file: Buffer): Promise<Compressed> {
  const [br, gz] = await Promise.all([brotli(file, BROTLI), zip(file)])
  return { br, gzip: gz }
}

/** Chooses an encoding by a request's `Accept-Encoding` (RFC 9110 §12.5.3); null: no encoding. */
export function encodingFor(accepted: string | undefined): keyof Compressed | null {
  return accepts(accepted, 'br') ? 'br' : accepts(accepted, 'gzip') ? 'gzip' : null
}

/** Returns whether an `Accept-Encoding` names an encoding. */
export function accepts(accepted: string | undefined, name: keyof Compressed): boolean {
  return accepting[name].test(accepted ?? '')
}

const acceptingPattern = (name: string) =>
  new RegExp(`(^|[,\\s])${name}(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))\\s*(,|;|$)`, 'i')
const accepting = { br: acceptingPattern('br'), gzip: acceptingPattern('gzip') }

/** Decompresses a file as a stream. */
export function decompress({ gzip: packed }: Compressed): ReadableStream<Uint8Array> {
  const unpacking = new DecompressionStream('gzip')
  return new Blob([packed]).stream().pipeThrough(unpacking)
}
