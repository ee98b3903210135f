/**
 * Creates the files that the published package has and the repository does not, before `npm pack`: the bundles, the
 * client library with its types, and copies of the files that `packageFile` finds, so that installing it needs neither
 * a build nor their packages. `--clean` removes the copies again, because the sources use the packages.
 */
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const copies = 'dist/files'
const client = 'dist/client'
const packageFiles = [
  '@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf',
  '@expo-google-fonts/inter/700Bold/Inter_700Bold.ttf',
  '@graphql-yoga/render-graphiql/graphiql',
  '@resvg/resvg-wasm/index_bg.wasm',
  'swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui-dist/swagger-ui.css',
]

await rm(copies, { recursive: true, force: true })
if (!process.argv.includes('--clean')) {
  await run(process.execPath, ['src/build.js'])
  await Promise.all([...packageFiles.map(copyPackageFile), packClient()])
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
  await run('npx', ['--no-install', 'tsc', '--project', 'src/client.tsconfig.json'])
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
