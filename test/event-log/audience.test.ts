import { expect, test } from 'vitest'
import type { Audience } from '../../src/event-log/audience.ts'
import { isFor, publicKinds } from '../../src/event-log/audience.ts'
import { EventKind } from '../../src/generated/prisma/enums.ts'

test.each([
  ['INCIDENT_CREATED', ['page', 'subscribers', 'browsers']],
  ['INCIDENT_UPDATE_EDITED', ['page']],
  ['MONITOR_STATE_CHANGED', ['alerts']],
  ['SERVICE_DELETED', ['page', 'alerts']],
  ['REPORT_CREATED', ['subscribers']],
  ['API_KEY_CREATED', []],
  ['TIER_CHANGED', []],
] as const satisfies [EventKind, Audience[]][])('%s is for %j', (kind, audiences) => {
  const all = ['page', 'subscribers', 'browsers', 'alerts'] as const
  expect(all.filter((audience) => isFor(audience, kind))).toEqual(audiences)
})

test('only kinds for the page are public', () => {
  expect(publicKinds).toEqual(Object.values(EventKind).filter((kind) => isFor('page', kind)))
  expect(publicKinds).not.toContain('INCIDENT_DRAFTED')
})
