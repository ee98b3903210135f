import { describe, expect, test } from 'vitest'
import { ProbeOutcome } from '../../../src/generated/prisma/enums.ts'
import type { MonitorFacts } from '../../../src/monitoring/result/after-result.ts'
import { lacksIncident, mayEndStaleness } from '../../../src/monitoring/result/after-result.ts'

const outcomes = Object.values(ProbeOutcome)
const down: MonitorFacts = {
  state: 'DOWN',
  hasService: true,
  isInIncident: false,
  isUnderMaintenance: false,
  isStale: false,
  isBlocked: false,
}

describe('a monitor lacks an incident', () => {
  test('if it is down, and its result too', () =>
    expect(outcomes.filter((outcome) => lacksIncident(down, outcome))).toEqual(['DOWN']))

  test.each<[string, Partial<MonitorFacts>]>([
    ['it is not down', { state: 'UP' }],
    ['it is degraded', { state: 'DEGRADED' }],
    ['it has no result yet', { state: 'PENDING' }],
    ['it has no service', { hasService: false }],
    ['it has an incident', { isInIncident: true }],
    ['its service is under maintenance', { isUnderMaintenance: true }],
  ])('but not if %s', (_, facts) => expect(lacksIncident({ ...down, ...facts }, 'DOWN')).toBe(false))

  test('also while it is stale', () => expect(lacksIncident({ ...down, isStale: true }, 'DOWN')).toBe(true))
})

describe('a result may end staleness', () => {
  const cases = [true, false].flatMap((isStale) => [true, false].map((isBlocked) => ({ ...down, isStale, isBlocked })))

  test('if it is known and no parent is down', () =>
    expect(
      cases.map((facts) => [facts.isStale, facts.isBlocked, outcomes.filter((each) => mayEndStaleness(facts, each))]),
    ).toEqual([
      [true, true, []],
      [true, false, outcomes.filter((outcome) => outcome !== 'UNKNOWN')],
      [false, true, []],
      [false, false, []],
    ]))
})
