import { expect, test } from 'vitest'
import type { Subject } from '../../../src/status/service/what-is-known.ts'
import { whatIsKnown } from '../../../src/status/service/what-is-known.ts'

const up: Subject = { shown: 'OPERATIONAL', basis: 'MONITORS' }
const stated: Subject = { shown: 'OPERATIONAL', basis: 'OWNER' }
const unstated: Subject = { shown: 'UNKNOWN', basis: 'UNSTATED' }
const waits: Subject = { shown: 'UNKNOWN', basis: 'PENDING' }
const silent: Subject = { shown: 'UNKNOWN', basis: 'SILENT' }
const planned: Subject = { shown: 'UNDER_MAINTENANCE', basis: 'MONITORS' }
const slow: Subject = { shown: 'DEGRADED_PERFORMANCE', basis: 'MONITORS' }
const down: Subject = { shown: 'MAJOR_OUTAGE', basis: 'SILENT' }

test.each([
  ['nothing', [], [], 'NOTHING', [0, 0, 0, 0]],
  ['nothing, and a harmless incident', [], ['OPERATIONAL'], 'NOTHING', [0, 0, 0, 0]],
  ['nothing, and an incident', [], ['PARTIAL_OUTAGE'], 'PROBLEM', [0, 0, 0, 0]],
  ['all work', [up, up], [], 'OPERATIONAL', [2, 0, 0, 0]],
  ['all work, one by hand', [up, stated], [], 'OPERATIONAL', [2, 0, 0, 0]],
  ['all work, and an incident', [up], ['DEGRADED_PERFORMANCE'], 'PROBLEM', [1, 0, 0, 0]],
  ['three of four wait', [up, { ...waits, count: 3 }], [], 'WAITING', [4, 0, 3, 0]],
  ['all wait', [waits, waits], [], 'WAITING', [2, 0, 2, 0]],
  ['some wait, some are silent', [waits, silent, up], [], 'NO_DATA', [3, 0, 1, 1]],
  ['some are silent during maintenance', [planned, silent], [], 'NO_DATA', [2, 0, 0, 1]],
  ['some wait during maintenance', [planned, waits], [], 'WAITING', [2, 0, 1, 0]],
  ['maintenance', [planned, up], [], 'MAINTENANCE', [2, 0, 0, 0]],
  ['slow', [slow, up, waits], [], 'PROBLEM', [3, 1, 1, 0]],
  ['down, then silent', [down, silent], [], 'PROBLEM', [2, 1, 0, 1]],
] as const)('what is known of: %s', (_name, subjects, causes, kind, [all, impaired, waiting, quiet]) => {
  expect(whatIsKnown(subjects, causes)).toMatchObject({ kind, all, impaired, waiting, silent: quiet, unstated: 0 })
})

test.each([
  ['none is stated', [unstated, { ...unstated, count: 2 }], [], 'UNSTATED', { all: 3, unstated: 3, waiting: 0 }],
  ['one is unstated, the others work', [unstated, up, stated], [], 'UNSTATED', { all: 3, unstated: 1 }],
  ['one is unstated during maintenance', [unstated, planned], [], 'UNSTATED', { all: 2, unstated: 1 }],
  ['one is unstated, one waits', [unstated, waits], [], 'WAITING', { waiting: 1, unstated: 1 }],
  ['one is unstated, one is silent', [unstated, silent], [], 'NO_DATA', { silent: 1, waiting: 0, unstated: 1 }],
  ['one is unstated, one is slow', [unstated, slow], [], 'PROBLEM', { impaired: 1, unstated: 1 }],
  ['one is unstated, and an incident', [unstated], ['MAJOR_OUTAGE'], 'PROBLEM', { impaired: 0, unstated: 1 }],
  ['one is unstated, and a harmless incident', [unstated], ['OPERATIONAL'], 'UNSTATED', { unstated: 1 }],
] as const)('what is known where nobody stated a status: %s', (_name, subjects, causes, kind, counts) => {
  expect(whatIsKnown(subjects, causes)).toMatchObject({ kind, ...counts })
})
