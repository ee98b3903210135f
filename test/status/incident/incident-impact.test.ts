import { expect, test } from 'vitest'
import { impactOfStatuses } from '../../../src/status/incident/incident-impact.ts'

test.each([
  [[], 'MINOR'],
  [['OPERATIONAL'], 'NONE'],
  [['UNDER_MAINTENANCE', 'OPERATIONAL'], 'NONE'],
  [['DEGRADED_PERFORMANCE'], 'MINOR'],
  [['PARTIAL_OUTAGE', 'DEGRADED_PERFORMANCE'], 'MAJOR'],
  [['DEGRADED_PERFORMANCE', 'MAJOR_OUTAGE', 'PARTIAL_OUTAGE'], 'CRITICAL'],
] as const)('an incident of services with the statuses %j has the impact %s', (statuses, impact) => {
  expect(impactOfStatuses(statuses)).toBe(impact)
})
