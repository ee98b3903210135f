import { expect, test } from 'vitest'
import { isKnownState, severityOf } from '../../../src/monitoring/watch/severity.ts'

test.each([
  ['PENDING', 0, false],
  ['PAUSED', 0, false],
  ['UP', 0, true],
  ['DEGRADED', 1, true],
  ['DOWN', 2, true],
] as const)('%s has severity %i; it comes from results: %s', (state, severity, isKnown) => {
  expect([severityOf(state), isKnownState(state)]).toEqual([severity, isKnown])
})
