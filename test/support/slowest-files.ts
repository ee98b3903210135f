import type { Reporter, TestModule } from 'vitest/node'
import { isMarkedSlow, testFiles } from './projects.ts'
import { isThorough, sampleSeed } from './runs.ts'

const SHOWN = 10

/** On a machine that may be busy: files that take longer should be marked as slow, and marked files that take less should not. */
const LONG_MS = 6000
const SHORT_MS = 3000

/** Prints at the end of a run how long it took, and which test files took longest, including their imports. */
export class SlowestFiles implements Reporter {
  #start = 0
  readonly #leftOut: number

  /** @param leftOut the number of slow files that the run leaves out. */
  constructor(leftOut: number) {
    this.#leftOut = leftOut
  }

  onTestRunStart(): void {
    this.#start = performance.now()
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => {
      const { collectDuration, duration } = module.diagnostic()
      const isSkipped = module.state() === 'skipped'
      return { path: module.relativeModuleId, milliseconds: collectDuration + duration, isSkipped }
    })
    if (files.length <= 1) return
    const slowest = files.sort((one, other) => other.milliseconds - one.milliseconds).slice(0, SHOWN)
    const lines = slowest.map(({ path, milliseconds }) => `${seconds(milliseconds).padStart(8)}  ${path}`)
    const took = `The run took ${seconds(performance.now() - this.#start).trim()}; the slowest of ${files.length} files:`
    const hint =
      this.#leftOut === 0 ? [] : [`${this.#leftOut} slow files were left out: npm run test:all runs them too.`]
    const seed = isThorough ? [] : [`SAMPLE_SEED=${sampleSeed} repeats the samples and random cases.`]
    process.stdout.write(`\n${[took, ...lines, ...hint, ...misplaced(files), ...seed].join('\n')}\n`)
  }
}

interface TestFile {
  readonly path: string
  readonly milliseconds: number
  readonly isSkipped: boolean
}

/** Names files whose mark does not fit the time that they took. Those that need a browser are slow without it. */
function misplaced(files: readonly TestFile[]): string[] {
  const { browser } = testFiles()
  return files.flatMap(({ path, milliseconds, isSkipped }) => {
    if (isSkipped || browser.includes(path)) return []
    const isMarked = isMarkedSlow(path)
    if (!isMarked && milliseconds > LONG_MS) return [`${path} took ${seconds(milliseconds).trim()} without // @slow.`]
    if (isMarked && milliseconds < SHORT_MS) return [`${path} took ${seconds(milliseconds).trim()}, but has // @slow.`]
    return []
  })
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}
