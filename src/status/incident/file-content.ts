import { isUtf8 } from 'node:buffer'
import { bodyLimits } from '../../core/input-limits.ts'
import type { PictureSize } from '../../core/picture-size.ts'
import { pictureSize } from '../../core/picture-size.ts'
import { invalid, lineText } from '../../core/validation.ts'

/** The maximum size of a file in bytes. */
export const MAX_FILE_BYTES = bodyLimits.incidentFile.most
/** The maximum length of a file's name, in characters. */
export const MAX_NAME_LENGTH = 120
/** The maximum length of the description of a picture, in characters. */
export const MAX_ALT_LENGTH = 500
/** The maximum width and height, and number of pixels, of a picture that a page shows; decoded, it takes 100 MB. */
const MAX_SIDE = 12_000
const MAX_PIXELS = 25_000_000

/** The media types of the pictures that pages show, and their file extensions. */
const formats = {
  png: { type: 'image/png', extensions: ['png'] },
  jpg: { type: 'image/jpeg', extensions: ['jpg', 'jpeg'] },
  webp: { type: 'image/webp', extensions: ['webp'] },
  gif: { type: 'image/gif', extensions: ['gif'] },
} as const satisfies Record<PictureSize['format'], object>

/** A file as uploaded. */
export interface UploadedFile {
  /** The name that the sender gave it, which is not trusted. */
  readonly name: string
  readonly content: Uint8Array
  /** Describes a picture for readers who cannot see it. */
  readonly alt?: string | null | undefined
}

/** A file whose content was checked. */
export interface CheckedFile {
  readonly name: string
  /** The media type detected in the content. */
  readonly type: string
  readonly content: Uint8Array
  /** Empty for files that pages do not show. */
  readonly alt: string
  /** The size in pixels; null for files that pages do not show. */
  readonly width: number | null
  readonly height: number | null
}

const altText = lineText(MAX_ALT_LENGTH)

/**
 * Checks an uploaded file by its content, regardless of its name, and cleans its name. A picture that pages show needs
 * a description.
 * @param path the input path of the file.
 * @throws Invalid if it is empty or too large, or a picture without a description.
 */
export function checkFile({ name, content, alt }: UploadedFile, path: readonly string[]): CheckedFile {
  if (content.length === 0) throw invalid([{ path: [...path, 'content'], message: 'must not be empty' }])
  if (content.length > MAX_FILE_BYTES) {
    const message = `must be a file of at most ${MAX_FILE_BYTES / 1024 / 1024} MB`
    throw invalid([{ path: [...path, 'content'], message }])
  }
  const picture = pictureIn(content)
  if (picture === null) {
    return { name: cleanName(name), type: typeOf(content), content, alt: '', width: null, height: null }
  }
  const described = altText.safeParse(alt ?? '')
  if (!described.success) {
    const message = `must describe the picture in at most ${MAX_ALT_LENGTH} characters`
    throw invalid([{ path: [...path, 'alt'], message }])
  }
  const { format, width, height } = picture
  return {
    ...{ name: pictureName(name, format), type: formats[format].type, content },
    ...{ alt: described.data, width, height },
  }
}

/**
 * Returns the size and format of a picture that pages show; null for other files, broken pictures and those that would
 * take too much memory.
 */
function pictureIn(content: Uint8Array): PictureSize | null {
  const picture = pictureSize(content)
  if (picture === null) return null
  const { width, height } = picture
  const fits = Math.max(width, height) <= MAX_SIDE && width * height <= MAX_PIXELS && Math.min(width, height) >= 1
  return fits ? picture : null
}

/** Returns the media type of a file that pages only offer for download. */
function typeOf(content: Uint8Array): string {
  if (Buffer.from(content.subarray(0, 5)).toString('latin1') === '%PDF-') return 'application/pdf'
  return isUtf8(content) && !content.includes(0) ? 'text/plain; charset=utf-8' : 'application/octet-stream'
}

/** Characters that file systems refuse, that are invisible, or that change the text direction. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}"*:<>?|\\/]+/gu

/**
 * Returns a name that is safe to show and to save a file under: the last part of the path, without leading dots, or
 * `file` if nothing is left.
 */
export function cleanName(name: string): string {
  const [last = ''] = name.slice(-1000).split(/[\\/]/).slice(-1)
  const clean = last
    .normalize('NFC')
    .replace(UNSAFE, ' ')
    .replace(/\s+/gu, ' ')
    .replace(/^[\s.]+|(?<![\s.])[\s.]+$/gu, '')
  if (clean === '') return 'file'
  const extension = /\.[\p{L}\p{N}]{1,10}$/u.exec(clean)?.[0] ?? ''
  const stem = [...clean.slice(0, clean.length - extension.length)]
  return (
    stem
      .slice(0, MAX_NAME_LENGTH - extension.length)
      .join('')
      .trimEnd() + extension
  )
}

/**
 * Gives a picture the extension of its type: a picture named `page.html` could otherwise be opened as a page after it
 * is saved.
 */
function pictureName(name: string, format: PictureSize['format']): string {
  const clean = cleanName(name)
  const { extensions } = formats[format]
  const [first] = extensions
  if (extensions.some((extension) => clean.toLowerCase().endsWith(`.${extension}`))) return clean
  return `${[...clean].slice(0, MAX_NAME_LENGTH - first.length - 1).join('')}.${first}`
}

/** Returns whether pages show a file as a picture. */
export function isPicture({ width }: Pick<CheckedFile, 'width'>): boolean {
  return width !== null
}
