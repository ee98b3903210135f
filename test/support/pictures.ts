import { Buffer } from 'node:buffer'

/** Pictures in the formats of logos. Their headers contain the size; there is no image. */

/** A PNG file of this size. */
export function png(width: number, height: number): Uint8Array<ArrayBuffer> {
  const file = Buffer.alloc(33)
  file.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13])
  file.write('IHDR', 12, 'latin1')
  file.writeUInt32BE(width, 16)
  file.writeUInt32BE(height, 20)
  file.set([8, 6], 24)
  return new Uint8Array(file)
}

/** A JPEG file of this size. */
export function jpeg(width: number, height: number): Uint8Array<ArrayBuffer> {
  const file = Buffer.alloc(40)
  file.set([0xff, 0xd8, 0xff, 0xe0, 0, 16])
  file.write('JFIF', 6, 'latin1')
  file.set([0xff, 0xc0, 0, 11, 8], 20)
  file.writeUInt16BE(height, 25)
  file.writeUInt16BE(width, 27)
  return new Uint8Array(file)
}

/** A WebP file (VP8X) of this size. */
export function webp(width: number, height: number): Uint8Array<ArrayBuffer> {
  const file = Buffer.alloc(30)
  file.write('RIFF', 0, 'latin1')
  file.write('WEBPVP8X', 8, 'latin1')
  file.writeUIntLE(width - 1, 24, 3)
  file.writeUIntLE(height - 1, 27, 3)
  return new Uint8Array(file)
}

/** A file with a text. */
export const textFile = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text))

/**
 * An SVG file.
 * @param content its content.
 */
export const svg = (content = '<rect width="9" height="9"/>'): Uint8Array<ArrayBuffer> =>
  textFile(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">${content}</svg>`)

/** A GIF file of this size. */
export function gif(width: number, height: number): Uint8Array<ArrayBuffer> {
  const file = Buffer.alloc(14)
  file.write('GIF89a', 0, 'latin1')
  file.writeUInt16LE(width, 6)
  file.writeUInt16LE(height, 8)
  return new Uint8Array(file)
}
