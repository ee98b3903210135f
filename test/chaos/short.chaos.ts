import { describe, test } from 'vitest'
import { shortCases } from './cases.ts'
import { runChaos } from './chaos.ts'
import { clusterMissing } from './cluster.ts'

describe.skipIf(clusterMissing !== null)('chaos, in short', () => {
  test('three instances lose nothing, and all is well again within 30 s', () => runChaos(shortCases))
})
