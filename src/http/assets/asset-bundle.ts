import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, stop } from 'esbuild'
import { root } from '../../core/process/paths.ts'
import type { AssetFile } from './assets.ts'

/** The assets that every page uses. */
const common = [new URL('src/http/assets/style.css', root), new URL('src/http/assets/favicon.svg', root)]

/** Assets, ready to serve, and the paths of their sources. */
export interface AssetBundle {
  readonly files: readonly AssetFile[]
  readonly sources: readonly string[]
}

/**
 * Minifies the assets that every page uses and bundles those given, in esbuild's own process.
 * @throws when a file is missing or does not compile.
 */
export async function bundleAssets(pageSources: readonly URL[]): Promise<AssetBundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [...common, ...pageSources].map((url) => fileURLToPath(url)),
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
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  // Ends esbuild's process.
  await stop()
  const files = outputFiles.map(({ path, contents }) => ({ name: basename(path), contents }))
  return { files, sources: Object.keys(metafile.inputs) }
}
