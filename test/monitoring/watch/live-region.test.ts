import { expect, test } from 'vitest'
import { SECOND } from '../../../src/core/time.ts'
import { isLive } from '../../../src/monitoring/watch/live-region.ts'
import { noon } from '../../support/context.ts'

test.each([
  ['never', null, false],
  ['just now', 0, true],
  ['59 s ago', 59, true],
  ['a minute ago', 60, false],
  ['in the future of a slow clock', -5, true],
] as const)('a region whose workers reported %s', (_, secondsAgo, expected) => {
  const lastSeenAt = secondsAgo === null ? null : new Date(noon.getTime() - secondsAgo * SECOND)
  expect(isLive(lastSeenAt, noon)).toBe(expected)
})
