import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Database } from '../../core/context.ts'
import { pictureSize } from '../../core/picture-size.ts'
import { invalid } from '../../core/validation.ts'
import type { Page } from '../../generated/prisma/client.ts'
import { isLogoAddress } from './page-settings.ts'

/** The maximum size of a logo in bytes. */
export const MAX_LOGO_BYTES = 256 * 1024
/** The maximum width and height of a logo in pixels: a page shows 40 of them. */
export const MAX_LOGO_PIXELS = 2000
/** The path below which uploaded logos are served. */
export const LOGO_PATH = '/logos'

/** The media types of logos by the extension of their file. */
export const logoTypes = {
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  svg: 'image/svg+xml',
} as const
type Format = keyof typeof logoTypes

/** A logo that was checked. Its file names its content, so that it can be cached for ever. */
export interface LogoFile {
  readonly file: string
  readonly content: Uint8Array<ArrayBuffer>
}

/** Checks an uploaded logo by its content, whatever its name says. @throws Invalid for a picture that pages may not show. */
export function readLogo(content: Uint8Array<ArrayBuffer>): LogoFile {
  if (content.length > MAX_LOGO_BYTES) throw wrong(`must be a file of at most ${MAX_LOGO_BYTES / 1024} kB`)
  const format = formatOf(content)
  if (format === null) throw wrong('must be a PNG, JPEG, WebP or SVG file')
  return { file: `${createHash('sha256').update(content).digest('hex')}.${format}`, content }
}

const wrong = (message: string) => invalid([{ path: ['logo'], message }])

/** Returns the format of a picture; null: unknown or broken. @throws Invalid when it is too large. */
function formatOf(content: Uint8Array): Format | null {
  const picture = pictureSize(content)
  if (picture === null) return isSvg(content) ? 'svg' : null
  const { format, width, height } = picture
  if (format === 'gif' || Math.min(width, height) < 1) return null
  if (Math.max(width, height) <= MAX_LOGO_PIXELS) return format
  throw wrong(`must be at most ${MAX_LOGO_PIXELS} pixels wide and high`)
}

/**
 * Returns whether a file is SVG. What it contains matters little: browsers run no script of a picture, and it is served so that
 * it cannot run one when it is opened alone. Entities, which could make it grow without bound, are refused.
 */
function isSvg(content: Uint8Array): boolean {
  if (!isUtf8(content)) return false
  const text = Buffer.from(content).toString('utf8')
  if (!/^\s*<(\?xml|!--|!DOCTYPE svg|svg)[\s>]/.test(text)) return false
  return text.includes('<svg') && text.includes('http://www.w3.org/2000/svg') && !text.includes('<!ENTITY')
}

/** Returns the address of a logo that holds its content, for a page that shows it before it is stored. */
export function dataUrl({ file, content }: LogoFile): string {
  const type = logoTypes[file.slice(file.indexOf('.') + 1) as Format]
  return `data:${type};base64,${Buffer.from(content).toString('base64')}`
}

/** Returns whether a stored logo is an uploaded one. */
export function isUploaded(logo: string): boolean {
  return logo.startsWith(`${LOGO_PATH}/`)
}

/** Returns the stored logo as pages load it: a path of this service or an https URL; null: none. */
export function shownLogo(logo: string | null): string | null {
  return logo !== null && (isUploaded(logo) || isLogoAddress(logo)) ? logo : null
}

/** Returns the URL of a stored logo; null: none. @param origin the public address that the path of an uploaded one is added to. */
export function logoUrlAt(origin: string, logo: string | null): string | null {
  return logo !== null && isUploaded(logo) ? origin + logo : logo || null
}

/**
 * Returns what becomes the stored logo; undefined: it stays. The URL of an uploaded logo, as the API gives it, keeps that one.
 * @param logoUrl of the input.
 */
export function changedLogo(
  { logoUrl: before }: { readonly logoUrl: string | null },
  logoUrl: string | null | undefined,
  upload: LogoFile | undefined,
): string | null | undefined {
  if (upload) return `${LOGO_PATH}/${upload.file}`
  return before !== null && isUploaded(before) && logoUrl?.endsWith(before) ? undefined : logoUrl
}

/** Stores the uploaded logo of a page in the place of the last one; undefined: it has none any more. */
export async function storeLogo(
  db: Database,
  { id: pageId, organizationId }: Pick<Page, 'id' | 'organizationId'>,
  upload: LogoFile | undefined,
): Promise<void> {
  await db.logo.deleteMany({ where: { pageId } })
  if (upload) await db.logo.create({ data: { pageId, organizationId, ...upload } })
}

/** The content of an uploaded logo; null: no page has it, so that it belongs to no organization. */
export interface LogoContent {
  readonly organizationId: string | null
  readonly content: Uint8Array<ArrayBuffer> | null
}

/** Reads an uploaded logo by the name of its file. */
export async function readLogoContent(db: Database, file: string): Promise<LogoContent> {
  const where = { file, organization: { deletedAt: null } }
  const found = await db.logo.findFirst({ where, select: { content: true, organizationId: true } })
  return found ?? { organizationId: null, content: null }
}
