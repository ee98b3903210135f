import { expect, test } from 'vitest'
import { isFor } from '../../src/event-log/audience.ts'
import { changesPages } from '../../src/event-log/page-effect.ts'
import { EventKind } from '../../src/generated/prisma/enums.ts'

const kinds = Object.values(EventKind)
const changing = (part: Parameters<typeof changesPages>[0]) => kinds.filter((kind) => changesPages(part, kind))

test('what pages show changes their content', () => {
  expect(kinds.filter((kind) => isFor('page', kind) && !changesPages('content', kind))).toEqual([])
})

test('what changes days changes the content', () => {
  expect(changing('days').filter((kind) => !changesPages('content', kind))).toEqual([])
})

test('incidents and postmortems change no days, and outages of monitors do', () => {
  expect(changing('days').filter((kind) => /^(INCIDENT|POSTMORTEM)_/.test(kind))).toEqual([])
  expect(kinds.filter((kind) => kind.startsWith('MONITOR_') && !changesPages('days', kind))).toEqual([])
})

test('these kinds make the guard of private pages read access anew', () => {
  expect(changing('access').toSorted()).toEqual([
    'HISTORY_IMPORTED',
    'ORGANIZATION_CREATED',
    'ORGANIZATION_DELETED',
    'ORGANIZATION_RESTORED',
    'PAGE_ACCESS_CHANGED',
    'PAGE_CREATED',
    'PAGE_DELETED',
    'PAGE_TOKEN_CREATED',
    'PAGE_TOKEN_REVOKED',
    'PAGE_UPDATED',
    'SERVICES_REORDERED',
    'SERVICE_CREATED',
    'SERVICE_DELETED',
    'SERVICE_GROUPS_REORDERED',
    'SERVICE_GROUP_CREATED',
    'SERVICE_GROUP_DELETED',
    'SERVICE_GROUP_UPDATED',
    'SERVICE_UPDATED',
    'TIER_CHANGED',
  ])
})

test.each(['MEMBER_JOINED', 'INTEGRATION_CREATED', 'TEMPLATE_UPDATED', 'ALERT_OPENED', 'API_KEY_CREATED'] as const)(
  '%s leaves pages as they are',
  (kind) => {
    for (const part of ['content', 'days', 'access'] as const) expect(changesPages(part, kind)).toBe(false)
  },
)
