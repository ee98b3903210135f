import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Database } from '../../core/context.ts'
import { bodyLimits } from '../../core/input-limits.ts'
import { pictureSize } from '../../core/picture-size.ts'
import { invalid } from '../../core/validation.ts'
import type { Page } from '../../generated/prisma/client.ts'
import { isLogoAddress } from './page-settings.ts'

/** The maximum size of a logo in bytes. */
export const MAX_LOGO_BYTES = bodyLimits.logo.most
/** The maximum width and height of a logo in pixels. A page shows only 40 of them. */
export const MAX_LOGO_PIXELS = 2000
/** The path below which uploaded logos are served. */
export const LOGO_PATH = '/logos'

/** The media types of logos by file extension. */
export const logoTypes = {
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  svg: 'image/svg+xml',
} as const
type Format = keyof typeof logoTypes

/** A checked logo. Its file name is derived from its content, so that it can be cached forever. */
export interface LogoFile {
  readonly file: string
  readonly content: Uint8Array<ArrayBuffer>
}

/** Validates an uploaded logo by its content, regardless of its name. @throws Invalid for an image that pages may not show. */
export function readLogo(content: Uint8Array<ArrayBuffer>): LogoFile {
  if (content.length > MAX_LOGO_BYTES) throw wrong(`must be a file of at most ${MAX_LOGO_BYTES / 1024} kB`)
  const format = formatOf(content)
  if (format === null) throw wrong('must be a PNG, JPEG, WebP or SVG file')
  return { file: `${createHash('sha256').update(content).digest('hex')}.${format}`, content }
}

const wrong = (message: string) => invalid([{ path: ['logo'], message }])

/** Returns the format of an image; null: unknown or broken. @throws Invalid when it is too large. */
function formatOf(content: Uint8Array): Format | null {
  const picture = pictureSize(content)
  if (picture === null) return isSvg(content) ? 'svg' : null
  const { format, width, height } = picture
  if (format === 'gif' || Math.min(width, height) < 1) return null
  if (Math.max(width, height) <= MAX_LOGO_PIXELS) return format
  throw wrong(`must be at most ${MAX_LOGO_PIXELS} pixels wide and high`)
}

/**
 * Returns whether a file is SVG. Scripts in it do no harm: browsers do not run scripts of images, and our headers stop them when
 * the file is opened directly. Entities are refused, because they could make the file grow without bound.
 */
function isSvg(content: Uint8Array): boolean {
  if (!isUtf8(content)) return false
  const text = Buffer.from(content).toString('utf8')
  if (!/^\s*<(\?xml|!--|!DOCTYPE svg|svg)[\s>]/.test(text)) return false
  return text.includes('<svg') && text.includes('http://www.w3.org/2000/svg') && !text.includes('<!ENTITY')
}

/** Returns a data URL of a logo, for a page that shows it before it is stored. */
export function dataUrl({ file, content }: LogoFile): string {
  const type = logoTypes[file.slice(file.indexOf('.') + 1) as Format]
  return `data:${type};base64,${Buffer.from(content).toString('base64')}`
}

/** Returns whether a stored logo was uploaded. */
export function isUploaded(logo: string): boolean {
  return logo.startsWith(`${LOGO_PATH}/`)
}

/** Returns the address of a stored logo on pages: a path of this service or an https URL; null: no logo. */
export function shownLogo(logo: string | null): string | null {
  return logo !== null && (isUploaded(logo) || isLogoAddress(logo)) ? logo : null
}

/** Returns the URL of a stored logo; null: no logo. @param origin the public address that precedes the path of an uploaded logo. */
export function logoUrlAt(origin: string, logo: string | null): string | null {
  return logo !== null && isUploaded(logo) ? origin + logo : logo || null
}

/**
 * Returns the new value of the stored logo; undefined: unchanged. The URL that the API returns for an uploaded logo keeps it.
 * @param logoUrl the URL in the input.
 */
export function changedLogo(
  { logoUrl: before }: { readonly logoUrl: string | null },
  logoUrl: string | null | undefined,
  upload: LogoFile | undefined,
): string | null | undefined {
  if (upload) return `${LOGO_PATH}/${upload.file}`
  return before !== null && isUploaded(before) && logoUrl?.endsWith(before) ? undefined : logoUrl
}

/** Stores the uploaded logo of a page in place of the previous one; undefined: deletes it. */
export async function storeLogo(
  db: Database,
  { id: pageId, organizationId }: Pick<Page, 'id' | 'organizationId'>,
  upload: LogoFile | undefined,
): Promise<void> {
  await db.logo.deleteMany({ where: { pageId } })
  if (upload) await db.logo.create({ data: { pageId, organizationId, ...upload } })
}

/** The content of an uploaded logo; null: no page has it, so it belongs to no organization. */
export interface LogoContent {
  readonly organizationId: string | null
  readonly content: Uint8Array<ArrayBuffer> | null
}

/** Reads an uploaded logo by file name. */
export async function readLogoContent(db: Database, file: string): Promise<LogoContent> {
  const where = { file, organization: { deletedAt: null } }
  const found = await db.logo.findFirst({ where, select: { content: true, organizationId: true } })
  return found ?? { organizationId: null, content: null }
}
