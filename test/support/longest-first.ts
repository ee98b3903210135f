import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { type Kind, testFiles } from './projects.ts'

/** The pure files come last: they are short, so the workers finish together. */
const kinds: readonly Kind[] = ['service', 'browser', 'database', 'pure']

/**
 * Files that mostly wait, and so take longer than their size suggests. A first run, without known durations, sorts by
 * size.
 */
const waiting = ['test/hostile/hostile.test.ts', 'test/app/idle.test.ts', 'test/app/start.test.ts', 'test/main.test.ts']

/** Orders the test files of a run: long ones first, so that none runs alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const byKind = testFiles()
    const ranks = new Map(kinds.flatMap((kind, rank) => byKind[kind].map((file) => [file, rank] as const)))
    const rankOf = ({ moduleId }: TestSpecification) => {
      const file = relative(process.cwd(), moduleId)
      return 2 * (ranks.get(file) ?? 0) + (waiting.includes(file) ? 0 : 1)
    }
    return sorted.sort((one, other) => rankOf(one) - rankOf(other))
  }
}
