import { expect, test } from 'vitest'
import { Invalid } from '../../../src/core/errors.ts'
import { probeSettingsOf } from '../../../src/monitoring/monitor/probe-settings.ts'

const usual = { intervalSeconds: 60, timeoutMs: 10_000, failureThreshold: 2, recoveryThreshold: 1 }

/** Returns the issues. */
function refusal(work: () => unknown): string[] {
  try {
    work()
  } catch (error) {
    if (error instanceof Invalid) return error.issues.map(({ path, message }) => `${path.join('.')} ${message}`)
    throw error
  }
  return []
}

test('a setting has the given value, else the current value, else the default', () => {
  const http = { kind: 'HTTP', tier: 'TEAM' } as const
  expect(probeSettingsOf({}, http)).toEqual(usual)
  expect(probeSettingsOf({ intervalSeconds: null, timeoutMs: 5000 }, http)).toEqual({ ...usual, timeoutMs: 5000 })
  const before = { intervalSeconds: 30, timeoutMs: 700, failureThreshold: 3, recoveryThreshold: 4 }
  expect(probeSettingsOf({ failureThreshold: 1 }, { ...http, before })).toEqual({ ...before, failureThreshold: 1 })
  expect(probeSettingsOf({}, { kind: 'BLACKLIST', tier: 'FREE' })).toEqual({ ...usual, intervalSeconds: 3600 })
})

test('a heartbeat has thresholds of 1, and an interval of up to a month', () => {
  const given = { intervalSeconds: 31 * 86_400, failureThreshold: 5, recoveryThreshold: 5 }
  const pace = probeSettingsOf(given, { kind: 'HEARTBEAT', tier: 'FREE' })
  expect(pace).toEqual({ ...usual, intervalSeconds: 31 * 86_400, failureThreshold: 1 })
})

test.each([
  ['HTTP', 'FREE', { intervalSeconds: 59 }, 'intervalSeconds must be at least 60 on the tier FREE'],
  [
    'HTTP',
    'TEAM',
    { intervalSeconds: 9, timeoutMs: 500 },
    'intervalSeconds must be at least 10 for monitors of kind HTTP',
  ],
  [
    'BLACKLIST',
    'TEAM',
    { intervalSeconds: 899 },
    'intervalSeconds must be at least 900 for monitors of kind BLACKLIST',
  ],
  ['DNS', 'TEAM', { intervalSeconds: 86_401 }, 'intervalSeconds must be at most 86400'],
  ['PING', 'TEAM', { intervalSeconds: 10, timeoutMs: 10_001 }, 'timeoutMs must not be longer than the interval'],
] as const)('a monitor of kind %s on the tier %s is refused %j', (kind, tier, given, issue) => {
  expect(refusal(() => probeSettingsOf(given, { kind, tier }))).toEqual([issue])
})

test('a value that was allowed stays allowed until it is changed', () => {
  const before = { ...usual, intervalSeconds: 10 }
  const fallen = { kind: 'HTTP', tier: 'FREE', before } as const
  expect(probeSettingsOf({ intervalSeconds: 10, failureThreshold: 5 }, fallen)).toEqual({
    ...before,
    failureThreshold: 5,
  })
  expect(refusal(() => probeSettingsOf({ timeoutMs: 5000 }, fallen))).toHaveLength(1)
})
