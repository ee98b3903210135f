import { root } from '../process/paths.ts'

/** Entry points of worker threads and processes; `build.js` bundles each. */
export const workerFiles = [
  'database/embedded/embedded-worker',
  'blacklist/geo/asn-compiler',
  'docs/docs-worker',
  'graphql/document/introspection-worker',
  'http/assets/library-worker',
  'configuration/yaml-worker',
  'import/import-worker',
  'core/markdown/markdown-worker',
  'monitoring/probe/json-worker',
  'network/outbound/tls-worker',
  'people/credential/passkey-worker',
  'status-page/png-worker',
] as const

export type WorkerFile = (typeof workerFiles)[number]

/** Whether this code runs from a bundle of `dist/`. */
export const isBundled = !import.meta.url.endsWith('.ts')

/**
 * Returns the module of a worker, and the options of Node.js that it needs: its bundle when this code runs from a
 * bundle, or its source.
 */
export function workerModule(file: WorkerFile): { readonly path: URL; readonly execArgv: readonly string[] } {
  if (isBundled) return { path: new URL(`dist/${file}.js`, root), execArgv: [] }
  const loader = new URL('src/typescript-loader.js', root)
  return { path: new URL(`src/${file}.ts`, root), execArgv: ['--import', loader.href] }
}
