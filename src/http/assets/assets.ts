import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import type { Context } from 'hono'
import { Hono } from 'hono'
import { ownValue } from '../../core/own-value.ts'
import { root } from '../../core/process/paths.ts'
import { isBundled } from '../../core/thread/worker-thread.ts'
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

/** The assets that the build has created beside the service's own bundle. */
export const bundledAssets = new URL('dist/assets.json', root)

/**
 * Loads the assets that every page uses and those given: style sheets, and browser scripts (`check.ts` becomes
 * `check.js`). The service's bundle contains them; from sources, they are built now.
 * @throws when a file is missing or does not compile.
 */
export async function loadAssets(pageSources: readonly URL[]): Promise<Assets> {
  if (isBundled) return serveAssets(readBundled(await readFile(bundledAssets, 'utf8')))
  const { bundleAssets } = await import('./asset-bundle.ts')
  return serveAssets((await bundleAssets(pageSources)).files)
}

/** Writes assets as the text of a file that `loadAssets` reads. */
export function writeBundled(files: readonly AssetFile[]): string {
  return JSON.stringify(files.map(({ name, contents }) => [name, Buffer.from(contents).toString('base64')]))
}

function readBundled(text: string): AssetFile[] {
  const files: readonly (readonly [string, string])[] = JSON.parse(text)
  return files.map(([name, contents]) => ({ name, contents: Buffer.from(contents, 'base64') }))
}

async function serveAssets(all: readonly AssetFile[]): Promise<Assets> {
  const paths = new Map<string, string>()
  const files = new Map<string, { readonly content: Compressed; readonly type: string }>()
  const isFont = ({ name }: AssetFile) => extname(name) === '.woff2'
  // Referenced by style sheets, and already compressed.
  const fonts = new Map(all.filter(isFont).map(({ name, contents }) => [name, contents.slice()]))
  const texts = all.filter((file) => !isFont(file))
  const compressed = await Promise.all(texts.map(({ contents }) => compress(Buffer.from(contents))))
  for (const [index, { name, contents }] of texts.entries()) {
    const extension = extname(name)
    const hash = createHash('sha256').update(contents).digest('hex').slice(0, 10)
    const file = `${basename(name, extension)}.${hash}${extension}`
    paths.set(name, `/assets/${file}`)
    const content = compressed[index]
    if (content) files.set(file, { content, type: ownValue(contentTypes, extension) ?? 'application/octet-stream' })
  }

  const routes = new Hono()
  routes.get('/assets/:file', (c) => {
    const font = fonts.get(c.req.param('file'))
    // The preview of a page is in a frame without an origin, and browsers load fonts of other origins only with CORS.
    if (font)
      return c.body(font, 200, { ...immutable, 'content-type': 'font/woff2', 'access-control-allow-origin': '*' })
    const file = files.get(c.req.param('file'))
    if (!file) return c.text('File not found.', 404)
    return sendAsset(c, file.type, file.content)
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
