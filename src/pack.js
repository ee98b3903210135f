/**
 * Creates the files that the published package has and the repository does not, before `npm pack`: the bundles, the
 * client library with its types, copies of the files that `packageFile` finds, the notices of
 * what it contains, and a `package.json` without the
 * dependencies that the bundles contain, so that installing it needs neither a build nor their packages. `--clean`
 * undoes the last three, because the sources use the packages.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { copiedFiles, separateDependencies, shippedPackages } from './build/packages.js'

const run = promisify(execFile)
const copies = 'dist/files'
const client = 'dist/client'
/** Files of `dist/` that readers and scanners look for beside the licence. */
const legalFiles = ['THIRD-PARTY-NOTICES', 'sbom.cdx.json']
const manifest = 'package.json'
/** The repository's manifest, while that of the package is in its place. */
const original = 'dist/.package.json'

// A run that was interrupted may have left them.
for (const path of [copies, ...legalFiles]) await rm(path, { recursive: true, force: true })
if (existsSync(original)) await rename(original, manifest)
if (!process.argv.includes('--clean')) {
  await run(process.execPath, ['src/build.js'])
  await Promise.all([...copiedFiles.map(copyPackageFile), packClient()])
  for (const name of legalFiles) await copyFile(`dist/${name}`, name)
  await packManifest()
}

/** Leaves out the dependencies that the bundles contain, so that nobody installs them twice, and the tools. */
async function packManifest() {
  const text = await readFile(manifest, 'utf8')
  const { dependencies, devDependencies, overrides, ...rest } = JSON.parse(text)
  const shipped = shippedPackages(JSON.parse(await readFile('dist/contents.json', 'utf8')))
  const published = { ...rest, dependencies: separateDependencies(dependencies, shipped) }
  await writeFile(original, text)
  await writeFile(manifest, `${JSON.stringify(published, null, 2)}\n`)
}

async function copyPackageFile(name) {
  const to = `${copies}/${name}${extname(name) === '' ? '.js' : ''}`
  await mkdir(dirname(to), { recursive: true })
  await copyFile(fileURLToPath(import.meta.resolve(name)), to)
}

/** Builds the library for Node.js and browsers, its declarations, and those of the schema. */
async function packClient() {
  const { build } = await import('esbuild')
  const common = { bundle: true, format: 'esm', target: 'es2022' }
  await build({ ...common, entryPoints: ['src/client/index.ts'], outfile: `${client}/index.js`, platform: 'neutral' })
  await run(process.execPath, ['node_modules/typescript/bin/tsc', '--project', 'src/client.tsconfig.json'])
  const generator = `${client}/.schema-types.mjs`
  await build({
    ...common,
    entryPoints: ['src/app/schema-types.ts'],
    outfile: generator,
    platform: 'node',
    external: ['graphql'],
  })
  const [{ schemaTypes }, { buildSchema }] = await Promise.all([import(`../${generator}`), import('graphql')])
  await writeFile(`${client}/schema.d.ts`, schemaTypes(buildSchema(await readFile('schema.graphql', 'utf8'))))
  await rm(generator)
}
