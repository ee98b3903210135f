/**
 * Bundles the service and its dependencies into dist/, before each `npm start`, unless what is there was made from the same
 * sources: a bundle starts in a third of the time, and what runs is always what the sources say. Arguments such as
 * `bench=test/bench/run.ts` are bundled beside it.
 */
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, relative } from 'node:path'

const service = {
  main: 'src/main.ts',
  'database/embedded-worker': 'src/database/embedded-worker.ts',
  'blacklist/geo/asn-compiler': 'src/blacklist/geo/asn-compiler.ts',
  'core/markdown-worker': 'src/core/markdown-worker.ts',
  'docs/docs-worker': 'src/docs/docs-worker.ts',
  'graphql/introspection-worker': 'src/graphql/introspection-worker.ts',
  'http/library-worker': 'src/http/library-worker.ts',
  'monitoring/probe/json-worker': 'src/monitoring/probe/json-worker.ts',
  'status-page/png-worker': 'src/status-page/png-worker.ts',
}
const others = Object.fromEntries(process.argv.slice(2).map((argument) => argument.split('=')))
const entryPoints = { ...service, ...others }

/** What decides beside the sources themselves how they are bundled. */
const settings = ['src/build.js', 'tsconfig.json', 'package-lock.json']
/** What the bundle of these entry points was made of, and what it was then. */
const record = `dist/.made-of-${hash(JSON.stringify(entryPoints)).slice(0, 8)}.json`

if (!(await isUpToDate())) await bundle()

async function isUpToDate() {
  try {
    const { sources, packages, outputs } = JSON.parse(await readFile(record, 'utf8'))
    return (await areSame(sources, hashOf)) && (await areSame({ ...packages, ...outputs }, stampOf))
  } catch {
    // There is no bundle yet, or something it was made of is gone.
    return false
  }
}

async function areSame(recorded, read) {
  const same = await Promise.all(Object.entries(recorded).map(async ([path, value]) => (await read(path)) === value))
  return !same.includes(false)
}

async function bundle() {
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    entryPoints,
    outdir: 'dist',
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    // Packages that find files of their own beside them, or that are needed rarely.
    external: ['@electric-sql/pglite', '@graphql-yoga/render-graphiql', 'esbuild', 'pg-native', 'stripe'],
    // Packages written as CommonJS call it.
    banner: {
      js: "import * as nodeModule from 'node:module'\nconst require = nodeModule.createRequire(import.meta.url)",
    },
    logLevel: 'warning',
    metafile: true,
    write: false,
  })
  const inputs = [...settings, ...Object.keys(metafile.inputs)]
  const isPackage = (path) => path.startsWith('node_modules/')
  const sources = await valuesOf(
    inputs.filter((path) => !isPackage(path)),
    hashOf,
  )
  const packages = await valuesOf(inputs.filter(isPackage), stampOf)
  // Code is ASCII by now, only comments are not; and for a single other character V8 keeps the whole in two bytes each.
  for (const { path, text } of outputFiles) await write(path, text.replace(/\P{ASCII}/gu, '?'))
  const outputs = await valuesOf(
    outputFiles.map(({ path }) => relative('', path)),
    stampOf,
  )
  await write(record, JSON.stringify({ sources, packages, outputs }))
}

async function valuesOf(paths, read) {
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await read(path)])))
}

async function hashOf(path) {
  return hash(await readFile(path))
}

/** The size and time of a file: enough for what nobody edits. */
async function stampOf(path) {
  const { size, mtimeMs } = await stat(path)
  return `${size} ${mtimeMs}`
}

function hash(content) {
  return createHash('sha256').update(content).digest('hex')
}

/** Whole or not at all: another process may read it meanwhile, or write the same. */
async function write(path, text) {
  const unfinished = `${path}.${process.pid}`
  await mkdir(dirname(path), { recursive: true })
  await writeFile(unfinished, text)
  await rename(unfinished, path)
}
