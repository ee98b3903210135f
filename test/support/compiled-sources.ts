import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin as EsbuildPlugin, version } from 'esbuild'
import type { Plugin } from 'vitest/config'
import { inAscii } from '../../src/build/ascii.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Contains the compiled modules. Its name stays the same, because the runner's cache contains it. */
const folder = join(root, 'node_modules/.cache/allclear/sources')

/** Modules of the program that others replace in tests. The replacements, and tests, import the program's own. */
const replacements: Readonly<Record<string, string>> = {
  // Worker threads start from bundles, as those of the service do.
  'src/core/thread/worker-module.ts': 'test/support/worker-module.ts',
  // The assets of pages are bundled and compressed once in a worker, not for each service that starts in it.
  'src/http/assets/asset-bundle.ts': 'test/support/asset-bundle.ts',
  'src/http/response/encoding.ts': 'test/support/encoding.ts',
  // A hash takes a thirtieth of the time.
  'src/people/password-cost.ts': 'test/support/password-cost.ts',
}

/**
 * Compiles each module of the program to a file that Node.js loads itself: in a third of the time that the runner takes
 * for the sources, and not in its main process, for which all workers wait. The modules have the form of the built
 * service: by the same compiler, for the same Node.js, in ASCII; only white space and the joining to bundles differ. What
 * did not change is kept from earlier runs. Returns the plugin with which test files load the compiled modules.
 */
export async function compiledSources(): Promise<Plugin> {
  keepOnly(rulesOfOutput())
  const sources = [...typescriptSources(), ...Object.values(replacements)]
  removeOrphans(new Set(sources.map(outputOf)))
  await compile(sources.filter(isChanged))
  return {
    name: 'compiled-sources',
    enforce: 'pre',
    resolveId(id, importer) {
      if (!id.startsWith('.') || importer === undefined) return null
      const source = relative(root, resolve(dirname(importer), id))
      const output = outputOf(source)
      return source.startsWith('src/') && existsSync(output) ? { id: output, external: true } : null
    },
  }
}

/** A hash of what the output depends on beside its source. */
function rulesOfOutput(): string {
  const rules = ['test/support/compiled-sources.ts', 'src/build/ascii.js', 'tsconfig.json'].map((file) =>
    readFileSync(join(root, file)),
  )
  return createHash('sha256')
    .update(`${version}\n${rules.join('\n')}`)
    .digest('hex')
}

/** Removes modules that were compiled by other rules. */
function keepOnly(rules: string): void {
  const stamp = join(folder, 'rules')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === rules) return
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(stamp, rules)
}

/** Removes the output of deleted sources, which other modules could still import. */
function removeOrphans(outputs: ReadonlySet<string>): void {
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, entry)
    if (path.endsWith('.mjs') && !outputs.has(path)) rmSync(path)
  }
}

function typescriptSources(): string[] {
  const entries = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  return entries.filter((entry) => /(?<!\.d)\.tsx?$/.test(entry)).map((entry) => join('src', entry))
}

function outputOf(source: string): string {
  return join(folder, source.replace(/\.tsx?$/, '.mjs'))
}

/** An output has the time of its source. */
function isChanged(source: string): boolean {
  const output = outputOf(source)
  return !existsSync(output) || timeOf(output) !== timeOf(join(root, source))
}

/** To the millisecond, because a file's time is set with less precision than it is read. */
function timeOf(path: string): number {
  return Math.round(statSync(path).mtimeMs)
}

async function compile(sources: readonly string[]): Promise<void> {
  if (sources.length === 0) return
  const times = new Map(sources.map((source) => [source, timeOf(join(root, source))]))
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [...sources],
    outdir: folder,
    outbase: '.',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    sourcemap: 'inline',
    sourcesContent: false,
    plugins: [moduleByModule],
    write: false,
  })
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, inAscii(text))
  }
  for (const [source, time] of times) utimesSync(outputOf(source), time / 1000, time / 1000)
}

/** Leaves every import to Node.js, and every module the URL of its source. */
const moduleByModule: EsbuildPlugin = {
  name: 'module-by-module',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ path, kind, importer, resolveDir }) => {
      if (kind === 'entry-point') return null
      if (!path.startsWith('.')) return { path, external: true }
      const source = relative(root, resolve(resolveDir, path))
      const isProgram = relative(root, importer).startsWith('src/')
      const imported = (isProgram && replacements[source]) || source
      if (!/\.tsx?$/.test(imported)) return { path: pathToFileURL(join(root, imported)).href, external: true }
      return {
        path: relativeTo(outputOf(relative(root, importer)), outputOf(imported)),
        external: true,
      }
    })
    onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const contents = text
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        // A path in a variable, which a dynamic import loads.
        .replace(/(const source: string = '\..+)\.ts'/, "$1.mjs'")
      return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' }
    })
  },
}

function relativeTo(from: string, to: string): string {
  const path = relative(dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}
