import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * The kinds of test files, by what they need: a browser, a running service, a database, or only this process. A file is
 * of the first kind whose support it imports, directly or indirectly.
 */
const support = {
  browser: ['test/support/chromium.ts'],
  service: ['test/support/app.ts', 'test/support/built.ts', 'test/support/process.ts'],
  database: ['test/support/database.ts', 'test/support/child.ts'],
} as const

export type Kind = keyof typeof support | 'pure'

/**
 * Marks a file that takes more than three seconds of processor time or four of the clock, in its first line. Like files
 * that need a browser, it runs in CI, in a run of the whole suite, and when it is named.
 */
const SLOW = /^\/\/ @slow\n/

/** Returns whether a test file is slow. */
export function isSlow(file: string, kind: Kind): boolean {
  return kind === 'browser' || isMarkedSlow(file)
}

/** Returns whether a test file has the mark of slow ones. */
export function isMarkedSlow(file: string): boolean {
  return SLOW.test(readFileSync(file, 'utf8'))
}

/**
 * Returns the files that CI runs on one of the two databases: each slow file on one of them. Files
 * that distinguish the databases run on both.
 * @param seed chooses which one.
 */
export function onDatabaseOfCommit(files: readonly string[], isServer: boolean, seed: number): string[] {
  const distinguishes = (file: string) => /serverUrl|TEST_DATABASE_URL/.test(readFileSync(file, 'utf8'))
  const alternating = files.filter((file) => isMarkedSlow(file) && !distinguishes(file)).sort()
  return files.filter((file) => {
    const index = alternating.indexOf(file)
    return index === -1 || (index + seed) % 2 === Number(isServer)
  })
}

/** The test files of each kind, as paths from the repository's root. */
export function testFiles(): Readonly<Record<Kind, readonly string[]>> {
  const files: Record<Kind, string[]> = { pure: [], database: [], service: [], browser: [] }
  for (const entry of readdirSync('test', { recursive: true, encoding: 'utf8' })) {
    if (/(?<!\bnode_modules\b.*)\.test\.tsx?$/.test(entry)) files[kindOf(join('test', entry))].push(join('test', entry))
  }
  return files
}

function kindOf(file: string): Kind {
  const loaded = loadedBy(file)
  for (const [kind, files] of Object.entries(support)) {
    if (files.some((path) => loaded.has(path))) return kind as Kind
  }
  return 'pure'
}

const loads = new Map<string, readonly string[]>()

/** Returns the files of `test/` that a file imports, directly or indirectly, including itself. */
function loadedBy(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  const own = loads.get(file) ?? importsOf(file)
  loads.set(file, own)
  for (const path of own) loadedBy(path, seen)
  return seen
}

/** Type imports are not loaded. */
function importsOf(file: string): string[] {
  const statements = readFileSync(file, 'utf8').matchAll(
    /^(?:import|export)\s+(?!type\s)[^']*?'(\.\.?\/[^']+)'|import\('(\.[^']+)'\)/gm,
  )
  const paths = Array.from(statements, ([, named, called]) => join(dirname(file), named ?? called ?? ''))
  return paths.filter((path) => path.startsWith('test/'))
}
