import { createHash } from 'node:crypto'
import { basename, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, stop } from 'esbuild'
import type { Context } from 'hono'
import { Hono } from 'hono'
import { root } from '../core/paths.ts'
import type { Compressed } from './encoding.ts'
import { compress, decompress, encodingFor } from './encoding.ts'

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

const sources = [new URL('src/http/assets/style.css', root), new URL('src/http/assets/favicon.svg', root)]

/**
 * Minifies the assets every page uses and bundles those given: style sheets, and browser scripts in TypeScript (`check.ts`
 * becomes `check.js`). Done once, at start.
 * @throws when a file is missing or does not compile.
 */
export async function loadAssets(pageSources: readonly URL[]): Promise<Assets> {
  const result = await build({
    entryPoints: [...sources, ...pageSources].map((url) => fileURLToPath(url)),
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    loader: { '.svg': 'copy', '.woff2': 'file' },
    assetNames: '[name].[hash]',
    publicPath: '/assets',
    outdir: '/',
    entryNames: '[name]',
    write: false,
    logLevel: 'silent',
  })
  // Ends esbuild's process.
  await stop()
  const paths = new Map<string, string>()
  const files = new Map<string, { readonly content: Compressed; readonly type: string }>()
  const isFont = ({ path }: { readonly path: string }) => extname(path) === '.woff2'
  // Style sheets name them; they are compressed already.
  const fonts = new Map(
    result.outputFiles.filter(isFont).map(({ path, contents }) => [basename(path), contents.slice()]),
  )
  const texts = result.outputFiles.filter((file) => !isFont(file))
  const compressed = await Promise.all(texts.map(({ contents }) => compress(Buffer.from(contents))))
  for (const [index, { path, text }] of texts.entries()) {
    const name = basename(path)
    const extension = extname(name)
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 10)
    const file = `${basename(name, extension)}.${hash}${extension}`
    paths.set(name, `/assets/${file}`)
    const content = compressed[index]
    if (content) files.set(file, { content, type: contentTypes[extension] ?? 'application/octet-stream' })
  }

  const routes = new Hono()
  routes.get('/assets/:file', (c) => {
    const font = fonts.get(c.req.param('file'))
    // The preview of a page stands in a frame without an origin, and browsers load fonts of other origins only with CORS.
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
