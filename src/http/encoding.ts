import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'

/** A file in the encodings that browsers take; as it is it is made again of the smaller ones for those who take neither. */
export interface Compressed {
  readonly br: Uint8Array<ArrayBuffer>
  readonly gzip: Uint8Array<ArrayBuffer>
}

/** Higher qualities take seconds for megabytes, and save a tenth. */
const BROTLI = { params: { [zlib.BROTLI_PARAM_QUALITY]: 6 } }

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** Compresses a file, in the threads that Node keeps for such work. */
export async function compress(file: Buffer): Promise<Compressed> {
  const [br, gz] = await Promise.all([brotli(file, BROTLI), zip(file)])
  return { br, gzip: gz }
}

/** The encoding to send, by the `Accept-Encoding` of a request (RFC 9110 §12.5.3); null: as it is. */
export function encodingFor(accepted: string | undefined): keyof Compressed | null {
  const takes = (name: string) =>
    new RegExp(`(^|[,\\s])${name}(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))\\s*(,|;|$)`, 'i').test(accepted ?? '')
  return takes('br') ? 'br' : takes('gzip') ? 'gzip' : null
}

/** The file as it is, piece by piece. */
export function unpacked({ gzip: packed }: Compressed): ReadableStream<Uint8Array> {
  const unpacking = new DecompressionStream('gzip')
  return new Blob([packed]).stream().pipeThrough(unpacking)
}
