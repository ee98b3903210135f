import { describe, expect, test } from 'vitest'
import { clusterMissing } from '../support/postgres-cluster.ts'
import { clockCases, shortCases } from './cases.ts'
import { runChaos } from './chaos.ts'
import { clockMissing } from './faked-clock.ts'
import { diskMissing, runFullDisk } from './full-disk.ts'

/** Skips what is not installed, with its reason; fails where everything has to be installed. */
const leftOut = Object.entries({ cluster: clusterMissing, clock: clockMissing, disk: diskMissing }).filter(
  ([, reason]) => reason !== null,
)

test.skipIf(process.env['CI'] === undefined)('all required programs are installed', () => {
  expect(leftOut).toEqual([])
})

describe.skipIf(clusterMissing !== null)('chaos, short cases', () => {
  const cases = [...shortCases, ...(clockMissing === null ? clockCases : [])]
  const without = clockMissing === null ? '' : ` (without clocks: ${clockMissing})`
  test(`three instances lose nothing and recover within 30 s${without}`, () => runChaos(cases))
})

describe.skipIf(diskMissing !== null)(`a full disk${diskMissing === null ? '' : ` (skipped: ${diskMissing})`}`, () => {
  test('under the embedded database and the log loses nothing, and the service recovers', () => runFullDisk())
})
