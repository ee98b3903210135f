import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The pure files come last: they are short, so that the workers end together. */
const projects = ['service', 'browser', 'database', 'pure']

/** The files that take longest for the little they do: they wait. A first run, which knows no durations yet, goes by size. */
const waiting = ['test/hostile/hostile.test.ts', 'test/app/idle.test.ts', 'test/app/start.test.ts', 'test/main.test.ts']

/** Orders the test files of a run: those that take long first, so that none is left to run alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((one, other) => rankOf(one) - rankOf(other))
  }
}

function rankOf({ project, moduleId }: TestSpecification): number {
  const isWaiting = waiting.some((file) => moduleId.endsWith(file))
  return 2 * projects.indexOf(project.name) + (isWaiting ? 0 : 1)
}
