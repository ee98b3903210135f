import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { compiledSources } from './test/support/compiled-sources.ts'
import { LongestFirst } from './test/support/longest-first.ts'
import { isSlow, type Kind, onDatabaseOfCommit, testFiles } from './test/support/projects.ts'
import { sampleNumber } from './test/support/runs.ts'
import { SlowestFiles } from './test/support/slowest-files.ts'

const isCi = Boolean(process.env['CI'])
const isNamed = process.argv.slice(2).some((argument) => argument.includes('test/'))
const files = isCi && !isNamed ? filesOfCommit() : testFiles()
const kinds = Object.keys(files) as Kind[]

/** What CI runs at this commit, unless files are named. */
function filesOfCommit(): ReturnType<typeof testFiles> {
  const every = testFiles()
  const ofCommit = (of: readonly string[]) =>
    onDatabaseOfCommit(of, Boolean(process.env['TEST_DATABASE_URL']), sampleNumber)
  // A step of its own runs these with all their cases.
  const ownStep = ['test/browser/accessibility.test.ts', 'test/browser/console-actions.test.ts']
  return {
    pure: every.pure,
    database: ofCommit(every.database),
    service: ofCommit(every.service),
    browser: every.browser.filter((file) => !ownStep.includes(file)),
  }
}

/** Tests must share one copy of graphql with the program and the libraries. */
const alias = [{ find: /^graphql$/, replacement: 'graphql/index.js' }]

const sources = await compiledSources()

/**
 * A run is too short for most of what V8 optimizes: with ten times its budgets, that saves a sixth of the processor time.
 * Of the supported releases, only Node.js 20 has both flags; its V8 has the smallest budgets.
 */
const patientOptimizer = ['--interrupt-budget=1000000', '--wasm-tiering-budget=20000000']

/** The runner keeps its form of test files between runs, by their content and this configuration. */
const experimental = { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/allclear/modules' }

/** More than there are processors: tests wait for timers, databases and browsers for a third of their time. */
const maxWorkers = Math.ceil(availableParallelism() * 1.5)

/**
 * Whether files or kinds of them were asked for. Then there is a project of each kind, so that files that need no database wait for
 * none. Otherwise one project has all files: a worker takes those of one project only, and to load the program, open a database and start a
 * browser anew for each kind would take a tenth of the run.
 */
const isPart = process.argv
  .slice(2)
  .some((argument) => argument.startsWith('--project') || /^(?!run$)[^-]/.test(argument))

/** Whether all test files run, as in CI, and not only the fast ones: that takes four times as long. */
const isWhole = isCi || Boolean(process.env['ALL_TESTS'])

const fast = kinds.flatMap((kind) => files[kind].filter((file) => !isSlow(file, kind)))
const all = kinds.flatMap((kind) => files[kind])

const project = (name: string, include: readonly string[], needsDatabase: boolean) => ({
  plugins: [sources],
  resolve: { alias },
  test: {
    name,
    include: [...include],
    experimental,
    pool: 'forks' as const,
    isolate: false,
    maxWorkers,
    execArgv: [
      // For tests that weigh what is reachable.
      '--expose-gc',
      // Fewer collections, on the worker's own thread, save a tenth of the processor time.
      '--max-semi-space-size=64',
      '--single-threaded-gc',
      ...(process.versions.v8.startsWith('11.') ? patientOptimizer : []),
    ],
    // No test goes by how long it takes, and a machine may have much else to do.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    setupFiles: ['test/support/patience.ts'],
    globalSetup: needsDatabase ? ['test/support/database-setup.ts'] : [],
  },
})

export default defineConfig({
  test: {
    experimental,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new SlowestFiles(isPart || isWhole ? 0 : all.length - fast.length)],
    globalSetup: ['test/support/global-setup.ts'],
    projects: isPart
      ? kinds.map((kind) => project(kind, files[kind], kind !== 'pure'))
      : [project('all', isWhole ? all : fast, true)],
  },
})
