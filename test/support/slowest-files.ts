import type { Reporter, TestModule } from 'vitest/node'

const SHOWN = 10

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
      return { path: module.relativeModuleId, milliseconds: collectDuration + duration }
    })
    if (files.length <= 1) return
    const slowest = files.sort((one, other) => other.milliseconds - one.milliseconds).slice(0, SHOWN)
    const lines = slowest.map(({ path, milliseconds }) => `${seconds(milliseconds).padStart(8)}  ${path}`)
    const took = `The run took ${seconds(performance.now() - this.#start).trim()}; the slowest of ${files.length} files:`
    const hint =
      this.#leftOut === 0 ? [] : [`${this.#leftOut} slow files were left out: npm run test:all runs them too.`]
    process.stdout.write(`\n${[took, ...lines, ...hint].join('\n')}\n`)
  }
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}
