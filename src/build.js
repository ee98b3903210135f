/**
 * Bundles the service and its dependencies into dist/, before each `npm start`: it takes half a second, saves more than that
 * when the bundle starts, and what runs is always what the sources say. Arguments such as `bench=test/bench/run.ts` are
 * bundled beside it.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { build } from 'esbuild'

const service = {
  main: 'src/main.ts',
  'database/embedded-worker': 'src/database/embedded-worker.ts',
  'blacklist/geo/asn-compiler': 'src/blacklist/geo/asn-compiler.ts',
  'markdown-worker': 'src/markdown-worker.ts',
  'http/library-worker': 'src/http/library-worker.ts',
  'page/picture-worker': 'src/page/picture-worker.ts',
}
const others = Object.fromEntries(process.argv.slice(2).map((argument) => argument.split('=')))

const { outputFiles } = await build({
  entryPoints: { ...service, ...others },
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  // Packages that find files of their own beside them, or that are needed rarely.
  external: [
    '@electric-sql/pglite',
    '@graphql-yoga/render-graphiql',
    '@prisma/schema-engine-wasm',
    'esbuild',
    'pg-native',
    'stripe',
  ],
  // Packages written as CommonJS call it.
  banner: {
    js: "import * as nodeModule from 'node:module'\nconst require = nodeModule.createRequire(import.meta.url)",
  },
  logLevel: 'warning',
  write: false,
})
// Code is ASCII by now, only comments are not; and for a single other character V8 keeps the whole in two bytes each.
for (const { path, text } of outputFiles) {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text.replace(/\P{ASCII}/gu, '?'))
}
