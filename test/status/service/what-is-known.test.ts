import { expect, test } from 'vitest'
import type { Subject } from '../../../src/status/service/what-is-known.ts'
import { whatIsKnown } from '../../../src/status/service/what-is-known.ts'

const since = new Date('2026-11-20T12:00:00Z')
const up: Subject = { shown: 'OPERATIONAL', unknownSince: null }
const waits: Subject = { shown: 'UNKNOWN', unknownSince: null }
const silent: Subject = { shown: 'UNKNOWN', unknownSince: since }
const planned: Subject = { shown: 'UNDER_MAINTENANCE', unknownSince: null }
const slow: Subject = { shown: 'DEGRADED_PERFORMANCE', unknownSince: null }
const down: Subject = { shown: 'MAJOR_OUTAGE', unknownSince: since }

test.each([
  ['nothing', [], [], 'NOTHING', [0, 0, 0, 0]],
  ['nothing, and an incident', [], ['PARTIAL_OUTAGE'], 'PROBLEM', [0, 0, 0, 0]],
  ['all work', [up, up], [], 'OPERATIONAL', [2, 0, 0, 0]],
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
  expect(whatIsKnown(subjects, causes)).toMatchObject({ kind, all, impaired, waiting, silent: quiet })
})
