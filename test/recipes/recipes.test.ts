// @slow
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { MINUTE } from '../../src/core/time.ts'

// The recipes of docs/contributing.md, as patches of this tree. What a command writes (the migration, the client of the
// database and schema.graphql) is in none of them.
const recipes = [
  { name: 'monitor-kind', most: 5 },
  { name: 'incident-field', most: 12 },
] as const

const copy = mkdtempSync(join(tmpdir(), 'allclear-recipes-'))
afterAll(() => rmSync(copy, { recursive: true, force: true }))

/** The environment without what this run has set for itself. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:VITEST|NODE_|TEST_|ALL_TESTS|CI$)/.test(name)),
)

const patchOf = (name: string) => resolve(`test/recipes/${name}.patch`)

/** Returns the paths of the files that a patch changes. */
const filesOf = (name: string) =>
  [...readFileSync(patchOf(name), 'utf8').matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, path = '']) => path)

/** Runs a program in the copy. Its output is in the error when it fails. */
function run(program: string, ...args: readonly string[]): string {
  try {
    return execFileSync(program, args, { cwd: copy, env: environment, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
    throw new Error(`${[program, ...args].join(' ')}\n${stdout}\n${stderr}`)
  }
}

/** Copies the files that git knows or does not ignore, with the installed packages. */
function copyTree(): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'])
  const removed = new Set(String(execFileSync('git', ['ls-files', '-z', '--deleted'])).split('\0'))
  for (const path of String(listed).split('\0')) {
    if (path !== '' && !removed.has(path)) cpSync(path, join(copy, path))
  }
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
}

const node = (path: string, ...args: readonly string[]) => run(process.execPath, `node_modules/${path}`, ...args)

test('each recipe changes at most its number of files', () => {
  for (const { name, most } of recipes) expect(filesOf(name).length, name).toBeLessThanOrEqual(most)
})

test(
  'the recipes apply to this tree, whose types and tests then pass',
  () => {
    copyTree()
    // One line of context, so that changes nearby do not matter.
    for (const { name } of recipes) run('git', 'apply', '-C1', patchOf(name))
    node('prisma/build/index.js', 'generate')
    run('npm', 'run', '--silent', 'migration', '--', 'recipes')
    run('npm', 'run', '--silent', 'schema')
    const changed = recipes.flatMap(({ name }) => filesOf(name))
    node('@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '--no-errors-on-unmatched', ...changed)
    node('typescript/bin/tsc', '--noEmit')
    const own = changed.filter((path) => path.endsWith('.test.ts'))
    const general = [
      'test/architecture.test.ts',
      'test/app/schema.test.ts',
      'test/monitoring/monitor/option-list.test.ts',
    ]
    node('vitest/vitest.mjs', 'run', ...own, ...general)
  },
  15 * MINUTE,
)
