import { expect, test } from 'vitest'
import { Invalid } from '../../src/errors.ts'
import { paceOf } from '../../src/monitoring/pace.ts'

const usual = { intervalSeconds: 60, timeoutMs: 10_000, failureThreshold: 2, recoveryThreshold: 1 }

/** What is said to be wrong. */
function refusal(work: () => unknown): string[] {
  try {
    work()
  } catch (error) {
    if (error instanceof Invalid) return error.issues.map(({ path, message }) => `${path.join('.')} ${message}`)
    throw error
  }
  return []
}

test('a pace is what is given, else what it was, else what is usual', () => {
  const http = { kind: 'HTTP', tier: 'TEAM' } as const
  expect(paceOf({}, http)).toEqual(usual)
  expect(paceOf({ intervalSeconds: null, timeoutMs: 5000 }, http)).toEqual({ ...usual, timeoutMs: 5000 })
  const before = { intervalSeconds: 30, timeoutMs: 700, failureThreshold: 3, recoveryThreshold: 4 }
  expect(paceOf({ failureThreshold: 1 }, { ...http, before })).toEqual({ ...before, failureThreshold: 1 })
  expect(paceOf({}, { kind: 'BLACKLIST', tier: 'FREE' })).toEqual({ ...usual, intervalSeconds: 3600 })
})

test('a heartbeat has no thresholds but its grace, and may be as rare as a month', () => {
  const given = { intervalSeconds: 31 * 86_400, failureThreshold: 5, recoveryThreshold: 5 }
  const pace = paceOf(given, { kind: 'HEARTBEAT', tier: 'FREE' })
  expect(pace).toEqual({ ...usual, intervalSeconds: 31 * 86_400, failureThreshold: 1 })
})

test.each([
  ['HTTP', 'FREE', { intervalSeconds: 59 }, 'intervalSeconds must be at least 60 in the tier FREE'],
  ['HTTP', 'TEAM', { intervalSeconds: 9, timeoutMs: 500 }, 'intervalSeconds must be at least 10 for the kind HTTP'],
  ['BLACKLIST', 'TEAM', { intervalSeconds: 899 }, 'intervalSeconds must be at least 900 for the kind BLACKLIST'],
  ['DNS', 'TEAM', { intervalSeconds: 86_401 }, 'intervalSeconds must be at most 86400'],
  ['PING', 'TEAM', { intervalSeconds: 10, timeoutMs: 10_001 }, 'timeoutMs must not be longer than the interval'],
] as const)('a monitor of kind %s in the tier %s is refused %j', (kind, tier, given, issue) => {
  expect(refusal(() => paceOf(given, { kind, tier }))).toEqual([issue])
})

test('what was allowed when it was set stays so, until it is changed', () => {
  const before = { ...usual, intervalSeconds: 10 }
  const fallen = { kind: 'HTTP', tier: 'FREE', before } as const
  expect(paceOf({ intervalSeconds: 10, failureThreshold: 5 }, fallen)).toEqual({ ...before, failureThreshold: 5 })
  expect(refusal(() => paceOf({ timeoutMs: 5000 }, fallen))).toHaveLength(1)
})
