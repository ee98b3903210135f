import { describe, expect, test } from 'vitest'
import { judgeCommon } from '../../../src/monitoring/probe/common.ts'
import { probeResult } from '../../../src/monitoring/result/probe-result.ts'

describe('the common options of all kinds', () => {
  test.each([
    ['UP', {}, 'UP', 'said'],
    ['UP', { downAboveMs: 100 }, 'UP', 'said'],
    ['UP', { downAboveMs: 99 }, 'DOWN', 'Answered in 100 ms, more than 99 ms'],
    ['DEGRADED', { downAboveMs: 99 }, 'DOWN', 'Answered in 100 ms, more than 99 ms'],
    ['DOWN', { downAboveMs: 99 }, 'DOWN', 'said'],
    ['UNKNOWN', { downAboveMs: 99 }, 'UNKNOWN', 'said'],
    ['UP', { inverted: true }, 'DOWN', 'Succeeded unexpectedly: said'],
    ['DEGRADED', { inverted: true }, 'DOWN', 'Succeeded unexpectedly: said'],
    ['DOWN', { inverted: true }, 'UP', 'Failed as expected: said'],
    ['UNKNOWN', { inverted: true }, 'UNKNOWN', 'said'],
    ['UP', { inverted: true, downAboveMs: 99 }, 'UP', 'Failed as expected: Answered in 100 ms, more than 99 ms'],
  ] as const)('%s with %j is %s', (outcome, options, judged, message) => {
    const result = probeResult(outcome, 'said', { latencyMs: 100 })
    expect(judgeCommon(result, options)).toMatchObject({ outcome: judged, message, latencyMs: 100 })
  })
})
