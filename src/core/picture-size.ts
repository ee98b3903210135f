import { GIF } from 'image-size/types/gif'
import { PNG } from 'image-size/types/png'
import { WEBP } from 'image-size/types/webp'

/** The format of a picture, and its size in pixels according to its header. */
export interface PictureSize {
  readonly format: 'png' | 'jpg' | 'webp' | 'gif'
  readonly width: number
  readonly height: number
}

/** These formats have their size within their first bytes; the parsers get no more. */
const parsers = { png: PNG, webp: WEBP, gif: GIF } as const
const HEADER_BYTES = 64
/** A JPEG has metadata before its size; cameras write up to some 100 kB. */
const MAX_JPEG_HEADER = 1024 * 1024

/** Returns the format and the size of a picture; null for any other file, and for a broken header. */
export function pictureSize(content: Uint8Array): PictureSize | null {
  const header = content.subarray(0, HEADER_BYTES)
  for (const format of ['png', 'webp', 'gif'] as const) {
    try {
      const { validate, calculate } = parsers[format]
      if (!validate(header)) continue
      const { width, height } = calculate(header)
      return { format, width, height }
    } catch {
      return null
    }
  }
  return jpegSize(content.subarray(0, MAX_JPEG_HEADER))
}

/**
 * Reads the size of a JPEG from its first frame header (ITU-T T.81 §B.1.1.2 and §B.2.2), by skipping the segments
 * before it. The parser of `image-size` advances by single bytes where a file is broken, which takes a second for 5 MB.
 */
function jpegSize(content: Uint8Array): PictureSize | null {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength)
  if (content.length < 4 || view.getUint16(0) !== 0xffd8) return null
  let at = 2
  while (at + 9 <= content.length && view.getUint8(at) === 0xff) {
    const marker = view.getUint8(at + 1)
    // A marker may be preceded by any number of fill bytes.
    if (marker === 0xff) {
      at += 1
      continue
    }
    if (isFrame(marker)) return { format: 'jpg', height: view.getUint16(at + 5), width: view.getUint16(at + 7) }
    const length = view.getUint16(at + 2)
    // The scan has begun without a frame, or the length is impossible.
    if (marker === 0xda || length < 2) return null
    at += 2 + length
  }
  return null
}

/** Returns whether a marker begins a frame: SOF0 to SOF15 without the tables and extensions among them. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
