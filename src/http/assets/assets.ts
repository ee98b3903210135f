import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import type { Context } from 'hono'
import { Hono } from 'hono'
import { ownValue } from '../../core/own-value.ts'
import { root } from '../../core/process/paths.ts'
import { isBundled } from '../../core/thread/worker-module.ts'
import type { Compressed } from '../response/encoding.ts'
import { compress, decompress, encodingFor } from '../response/encoding.ts'

/** The style sheet, the icon and the browser scripts, ready to serve. */
export interface Assets {
  /**
   * Returns the path of an asset by its logical name, such as `style.css` → `/assets/style.3f2a9c01d4.css`.
   * @throws Error when there is no such asset: a misspelt name is a bug.
   */
  url(name: string): string
  /** Serves the assets under `/assets/` as immutable: a changed file has another name. */
  readonly routes: Hono
}

/** The media types of assets by file extension. */
export const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** An asset and the name under which pages request it. */
export interface AssetFile {
  readonly name: string
  readonly contents: Uint8Array
}

/** An asset as it is sent: fonts are compressed already, all else is sent as brotli or gzip. */
interface PreparedAsset {
  readonly name: string
  /** The last part of its path: the name with a hash of its contents. */
  readonly file: string
  readonly content: Compressed | Buffer<ArrayBuffer>
}

/** The assets that the build has created beside the service's own bundle. */
export const bundledAssets = new URL('dist/assets.json', root)

/**
 * Loads the assets that every page uses and those given: style sheets, and browser scripts (`check.ts` becomes `check.js`).
 * The service's bundle contains them; from sources, they are built now.
 * @throws when a file is missing or does not compile.
 */
export async function loadAssets(pageSources: readonly URL[]): Promise<Assets> {
  if (isBundled) return serveAssets(readBundled(await readFile(bundledAssets, 'utf8')))
  const { bundleAssets } = await import('./asset-bundle.ts')
  const { files } = await bundleAssets(pageSources)
  return serveAssets(await Promise.all(files.map(prepare)))
}

/** Compresses assets, and returns the text of a file that `loadAssets` reads. */
export async function writeBundled(files: readonly AssetFile[]): Promise<string> {
  const prepared = await Promise.all(files.map(prepare))
  return JSON.stringify(
    prepared.map(
      ({ name, file, content }): BundledAsset => [
        name,
        file,
        ...(Buffer.isBuffer(content) ? [content] : [content.br, content.gzip]).map((bytes) => bytes.toString('base64')),
      ],
    ),
  )
}

/** The name, the file, and the content in base64: of a font, or as brotli and as gzip. */
type BundledAsset = [name: string, file: string, ...contents: string[]]

function readBundled(text: string): PreparedAsset[] {
  const assets: readonly BundledAsset[] = JSON.parse(text)
  return assets.map(([name, file, first = '', gzip]) => {
    const bytes = Buffer.from(first, 'base64')
    return { name, file, content: gzip === undefined ? bytes : { br: bytes, gzip: Buffer.from(gzip, 'base64') } }
  })
}

async function prepare({ name, contents }: AssetFile): Promise<PreparedAsset> {
  const extension = extname(name)
  // Style sheets name fonts with a hash already.
  if (extension === '.woff2') return { name, file: name, content: Buffer.from(contents) }
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, 10)
  const file = `${basename(name, extension)}.${hash}${extension}`
  return { name, file, content: await compress(Buffer.from(contents)) }
}

function serveAssets(assets: readonly PreparedAsset[]): Assets {
  const paths = new Map(assets.map(({ name, file }) => [name, `/assets/${file}`]))
  const contents = new Map(assets.map(({ file, content }) => [file, content]))
  const routes = new Hono()
  routes.get('/assets/:file', (c) => {
    const file = c.req.param('file')
    const content = contents.get(file)
    if (!content) return c.text('File not found.', 404)
    const type = ownValue(contentTypes, extname(file)) ?? 'application/octet-stream'
    if (!Buffer.isBuffer(content)) return sendAsset(c, type, content)
    // The preview of a page is in a frame without an origin, and browsers load fonts of other origins only with CORS.
    return c.body(content, 200, { ...immutable, 'content-type': type, 'access-control-allow-origin': '*' })
  })

  return {
    routes,
    url(name) {
      const path = paths.get(name)
      if (path === undefined) throw new Error(`There is no asset named ${name}.`)
      return path
    },
  }
}

const immutable = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
} as const

/** Sends an asset whose name contains its hash as immutable, in an encoding that the client accepts. */
export function sendAsset(c: Context, type: string, content: Compressed): Response {
  const encoding = encodingFor(c.req.header('accept-encoding'))
  return c.body(encoding === null ? decompress(content) : content[encoding], 200, {
    'content-type': type,
    ...immutable,
    vary: 'accept-encoding',
    ...(encoding !== null && { 'content-encoding': encoding, 'content-length': String(content[encoding].length) }),
  })
}
