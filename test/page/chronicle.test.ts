import { expect, test } from 'vitest'
import { maintenancePath } from '../../src/page/chronicle.ts'
import { zoneOf } from '../../src/page/zone.ts'

const startsAt = new Date('2026-10-31T23:30:00Z')

test.each([
  ['SCHEDULED', null, '#mnt_1'],
  ['IN_PROGRESS', startsAt, '#mnt_1'],
  ['VERIFYING', startsAt, '#mnt_1'],
  ['COMPLETED', startsAt, '/history?month=2026-11#mnt_1'],
  ['CANCELLED', startsAt, '/history?month=2026-11#mnt_1'],
  ['CANCELLED', null, ''],
] as const)('a maintenance that is %s, and started at %s, is told of at "%s"', (status, startedAt, path) => {
  expect(maintenancePath({ id: 'mnt_1', status, startsAt, startedAt }, zoneOf('Europe/Berlin'))).toBe(path)
})
