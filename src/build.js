/**
 * Bundles the service and its dependencies into dist/ at `npm install`, and before each `npm start` if its sources have
 * changed. A bundle starts in a third of the time, and always matches the sources. Also writes the code cache from
 * which V8 starts the service, and the assets of pages. Bundles arguments such as `bench=test/bench/run.ts` too.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { promisify } from 'node:util'
import { inAscii } from './build/ascii.js'
import { billOfMaterials } from './build/bill-of-materials.js'
import { describePackage, readPackage } from './build/licences.js'
import { noticesOf } from './build/notices.js'
import { separateDependencies, shippedPackages } from './build/packages.js'

/** CommonJS, because V8 accepts a code cache for scripts only; `main` loads it. */
const program = { 'app/program': 'src/app/program.ts' }
/** Loaded when first needed. CommonJS, so that `require` and `import` find the same exports. */
const parts = {
  'billing/stripe': 'node_modules/stripe/cjs/stripe.cjs.node.js',
  'core/telemetry/otlp': 'src/core/telemetry/otlp.ts',
}
const service = {
  allclear: 'src/allclear.ts',
  main: 'src/main.ts',
  'app/write-build-files': 'src/app/write-build-files.ts',
  'cli/command-line': 'src/cli/command-line.ts',
  'database/embedded/embedded-worker': 'src/database/embedded/embedded-worker.ts',
  'blacklist/geo/asn-compiler': 'src/blacklist/geo/asn-compiler.ts',
  'configuration/yaml-worker': 'src/configuration/yaml-worker.ts',
  'core/markdown/markdown-worker': 'src/core/markdown/markdown-worker.ts',
  'docs/docs-worker': 'src/docs/docs-worker.ts',
  'graphql/document/introspection-worker': 'src/graphql/document/introspection-worker.ts',
  'http/assets/library-worker': 'src/http/assets/library-worker.ts',
  'import/import-worker': 'src/import/import-worker.ts',
  'monitoring/probe/json-worker': 'src/monitoring/probe/json-worker.ts',
  'network/outbound/tls-worker': 'src/network/outbound/tls-worker.ts',
  'people/credential/passkey-worker': 'src/people/credential/passkey-worker.ts',
  'status-page/png-worker': 'src/status-page/png-worker.ts',
}
const others = Object.fromEntries(process.argv.slice(2).map((argument) => argument.split('=')))
const entryPoints = { ...service, ...others }

/** The inputs of the bundle besides its sources. */
const settings = [
  'src/build.js',
  ...readdirSync('src/build', { recursive: true })
    .filter((name) => /\.(js|txt)$/.test(name))
    .map((name) => `src/build/${name.replaceAll('\\', '/')}`),
  'tsconfig.json',
  'package-lock.json',
]
/** The sources and outputs of the bundle of these entry points. Another Node.js needs another code cache. */
const record = `dist/.made-of-${hash(JSON.stringify([entryPoints, program, process.version])).slice(0, 8)}.json`

/** The sources that each bundle of the service and the assets of pages contain. */
const contents = 'dist/contents.json'
/** The licences of all packages that are part of the service, and its bill of materials in CycloneDX. */
const notices = 'dist/THIRD-PARTY-NOTICES'
const materials = 'dist/sbom.cdx.json'

/** Prisma's query compiler in WebAssembly, which the first query reads. Prisma has it as text, which takes longer to load. */
const queryCompiler = 'dist/app/query-compiler.wasm'

/** Bundles code separately that the program does not always need, or not at once. */
const apart = {
  name: 'apart',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /\.wasm-base64\.mjs$/ }, async ({ path }) => {
      const { wasm } = await import(path)
      await write(queryCompiler, Buffer.from(wasm, 'base64'))
      // Prisma decodes it with `Buffer.from(wasm, 'base64')`, which copies bytes as they are.
      return { contents: "export const wasm = require('node:fs').readFileSync(__dirname + '/query-compiler.wasm')" }
    })
    onResolve({ filter: /^stripe$/ }, () => ({ path: '../billing/stripe.cjs', external: true }))
    onResolve({ filter: /^\.\/otlp\.ts$/ }, () => ({ path: '../core/telemetry/otlp.cjs', external: true }))
  },
}

if (!(await isUpToDate())) await bundle()

async function isUpToDate() {
  try {
    const { hashes, stamps } = JSON.parse(await readFile(record, 'utf8'))
    return (await areSame(hashes, hashOf)) && (await areSame(stamps, stampOf))
  } catch {
    // There is no bundle yet, or one of its files is gone.
    return false
  }
}

async function areSame(recorded, read) {
  const same = await Promise.all(Object.entries(recorded).map(async ([path, value]) => (await read(path)) === value))
  return !same.includes(false)
}

async function bundle() {
  const { build } = await import('esbuild')
  const common = {
    outdir: 'dist',
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    // Packages that read their own files, or that are rarely needed.
    external: ['@electric-sql/pglite', '@graphql-yoga/render-graphiql', 'esbuild', 'node-sqlite3-wasm', 'pg-native'],
    // Saves a fifth. Keeps names, so that stack traces are readable.
    minifyWhitespace: true,
    logLevel: 'warning',
    metafile: true,
    write: false,
  }
  const built = await Promise.all([
    build({
      ...common,
      entryPoints,
      format: 'esm',
      // Used by packages written as CommonJS.
      banner: {
        js: "import * as nodeModule from 'node:module'\nconst require = nodeModule.createRequire(import.meta.url)",
      },
    }),
    build({
      ...common,
      entryPoints: program,
      format: 'cjs',
      outExtension: { '.js': '.cjs' },
      plugins: [apart],
      // `loadBundle` provides it, and a script with a code cache cannot import.
      define: { 'import.meta.url': 'importMetaUrl' },
      supported: { 'dynamic-import': false },
    }),
    build({
      ...common,
      entryPoints: parts,
      format: 'cjs',
      outExtension: { '.js': '.cjs' },
      // Of ES modules, unlike CommonJS, only the used parts are bundled: a fifth of OpenTelemetry's libraries.
      mainFields: ['module', 'main'],
    }),
  ])
  const outputFiles = built.flatMap((result) => result.outputFiles)
  // A single character beyond ASCII would make V8 store everything with two bytes per character.
  for (const { path, text } of outputFiles) {
    const code = inAscii(text)
    // `loadBundle` finds the code cache of this code by the hash.
    await write(path, path.endsWith('.cjs') ? `${code}//${hash(code)}` : code)
  }
  const { stdout } = await promisify(execFile)(process.execPath, ['dist/app/write-build-files.js'])
  const assetSources = JSON.parse(stdout)
  const sources = { ...contentsOf(built), 'assets.json': assetSources.sort() }
  await write(contents, JSON.stringify(sources, null, 2))
  await writeLegalFiles(sources)
  const made = [...built.flatMap(({ metafile }) => Object.keys(metafile.inputs)), ...assetSources]
  const inputs = [...settings, ...new Set(made)]
  const isPackage = (path) => path.startsWith('node_modules/')
  const outputs = [...outputFiles.map(({ path }) => relative('', path)), contents, notices, materials, queryCompiler]
  // Every build writes the assets again, so their time says nothing.
  const hashes = await valuesOf([...inputs.filter((path) => !isPackage(path)), 'dist/assets.json'], hashOf)
  const stamps = await valuesOf([...inputs.filter(isPackage), ...outputs], stampOf)
  await write(record, JSON.stringify({ hashes, stamps }))
}

/** Writes the notices and the bill of materials of what the bundles contain. */
async function writeLegalFiles(sources) {
  const shipped = shippedPackages(sources)
  // Has what matters of `package.json`, in whose place is the manifest of the package while it is packed.
  const { packages: locked } = JSON.parse(await readFile('package-lock.json', 'utf8'))
  const manifest = locked['']
  const contained = shipped.map(readPackage)
  const separate = Object.keys(separateDependencies(manifest.dependencies, shipped)).map((name) =>
    describePackage(`node_modules/${name}`),
  )
  await write(notices, noticesOf(contained))
  await write(materials, billOfMaterials({ manifest, contained, separate, locked }))
}

/** Returns the sources of which something is in each bundle of the service, by the bundle's path without `dist/`. */
function contentsOf(built) {
  const outputs = built.flatMap(({ metafile }) => Object.entries(metafile.outputs))
  const isService = (path) => [service, program, parts].some((entries) => Object.hasOwn(entries, path))
  return Object.fromEntries(
    outputs
      .flatMap(([path, { inputs }]) => {
        const name = path.slice('dist/'.length)
        const used = Object.keys(inputs).filter((input) => inputs[input].bytesInOutput > 0)
        return isService(name.replace(/\.c?js$/, '')) ? [[name, used.sort()]] : []
      })
      .sort(),
  )
}

async function valuesOf(paths, read) {
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await read(path)])))
}

async function hashOf(path) {
  return hash(await readFile(path))
}

/** Returns the size and time of a file, which are sufficient for files that are not edited. */
async function stampOf(path) {
  const { size, mtimeMs } = await stat(path)
  return `${size} ${mtimeMs}`
}

function hash(content) {
  return createHash('sha256').update(content).digest('hex')
}

/**
 * Writes a file atomically, because another process may read or write it at the same time. Leaves a file with this
 * content as it is: the record of another bundle has its time.
 */
async function write(path, content) {
  const existing = await readFile(path).catch(() => null)
  if (existing?.equals(Buffer.from(content))) return
  const unfinished = `${path}.${process.pid}`
  await mkdir(dirname(path), { recursive: true })
  await writeFile(unfinished, content)
  await rename(unfinished, path)
}
