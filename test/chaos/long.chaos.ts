import { describe, test } from 'vitest'
import { clusterMissing } from '../support/postgres-cluster.ts'
import { longCases } from './cases.ts'
import { runChaos } from './chaos.ts'

describe.skipIf(clusterMissing !== null)('chaos, remaining cases', () => {
  test('three instances lose nothing and recover within 30 s', () => runChaos(longCases))
})
