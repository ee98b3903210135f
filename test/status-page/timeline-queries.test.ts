import { expect, test } from 'vitest'
import { zoneOf } from '../../src/status-page/time-format.ts'
import { maintenancePath } from '../../src/status-page/timeline-queries.ts'

const startsAt = new Date('2026-10-31T23:30:00Z')

test.each([
  ['SCHEDULED', null, '#mnt_1'],
  ['IN_PROGRESS', startsAt, '#mnt_1'],
  ['VERIFYING', startsAt, '#mnt_1'],
  ['COMPLETED', startsAt, '/history?month=2026-11#mnt_1'],
  ['CANCELLED', startsAt, '/history?month=2026-11#mnt_1'],
  ['CANCELLED', null, ''],
] as const)('a maintenance that is %s, and started at %s, has the path "%s"', (status, startedAt, path) => {
  expect(maintenancePath({ id: 'mnt_1', status, startsAt, startedAt }, zoneOf('Europe/Berlin'))).toBe(path)
})
