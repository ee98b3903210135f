import { expect, test } from 'vitest'
import { wasOpenDuring } from '../../../src/monitoring/state/outage-incident.ts'

const at = (hour: number | null) => (hour === null ? null : new Date(Date.UTC(2026, 10, 20, hour)))
const start = (hour: number) => new Date(Date.UTC(2026, 10, 20, hour))

test.each<[incident: [number, number | null], outage: [number, number | null], is: boolean]>([
  [[1, 2], [3, 4], false],
  [[1, 3], [3, 4], true],
  [[1, null], [3, 4], true],
  [[3, 4], [3, 4], true],
  [[4, 5], [3, 4], true],
  [[5, 6], [3, 4], false],
  [[5, null], [3, 4], false],
  [[5, 6], [3, null], true],
  [[1, 2], [3, null], false],
])('an incident in the hours %j was open during an outage in the hours %j: %s', (incident, outage, is) => {
  const open = { startedAt: start(incident[0]), resolvedAt: at(incident[1]) }
  expect(wasOpenDuring(open, { startedAt: start(outage[0]), endedAt: at(outage[1]) })).toBe(is)
})
