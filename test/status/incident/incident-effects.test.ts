import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HOUR } from '../../../src/core/time.ts'
import type { ServiceStatus } from '../../../src/generated/prisma/enums.ts'
import { ServiceStatus as statuses } from '../../../src/generated/prisma/enums.ts'
import {
  effectsOf,
  proposedStatuses,
  worstEffect,
  worstEffects,
} from '../../../src/status/incident/incident-effects.ts'
import { noon } from '../../support/context.ts'

const at = (hours: number) => new Date(noon.getTime() + hours * HOUR)
const now = at(24)

/** An update: its hour, the service's status, and whether it resolves the incident. */
type Update = readonly [hour: number, ServiceStatus | null, 'RESOLVED'?]
type Effect = readonly [from: number, to: number, ServiceStatus]

const [slow, partial, major, well] = ['DEGRADED_PERFORMANCE', 'PARTIAL_OUTAGE', 'MAJOR_OUTAGE', 'OPERATIONAL'] as const

function effects(
  started: number,
  resolved: number | null,
  given: readonly Update[],
  current: ServiceStatus | null,
): Effect[] {
  const updates = given.map(([hour, status, resolution]) => ({
    at: at(hour),
    status,
    isResolved: resolution !== undefined,
  }))
  const times = { startedAt: at(started), resolvedAt: resolved === null ? null : at(resolved) }
  const hourOf = (time: Date) => (time.getTime() - noon.getTime()) / HOUR
  return effectsOf({ ...times, current }, updates, now).map(({ from, to, status }) => [
    hourOf(from),
    hourOf(to),
    status,
  ])
}

describe('the effects of an incident on a service', () => {
  test.each<[what: string, started: number, resolved: number | null, Update[], ServiceStatus | null, Effect[]]>([
    ['open, since its start', 0, null, [[0, major]], major, [[0, 24, major]]],
    ['open, with a first update an hour after its start', 0, null, [[1, major]], major, [[0, 24, major]]],
    [
      'resolved',
      0,
      2,
      [
        [0, partial],
        [2, null, 'RESOLVED'],
      ],
      well,
      [[0, 2, partial]],
    ],
    [
      'worse, then better',
      0,
      9,
      [
        [0, slow],
        [2, major],
        [5, slow],
        [9, null, 'RESOLVED'],
      ],
      well,
      [
        [0, 2, slow],
        [2, 5, major],
        [5, 9, slow],
      ],
    ],
    [
      'recovered before the resolution',
      0,
      9,
      [
        [0, major],
        [3, well],
        [9, null, 'RESOLVED'],
      ],
      well,
      [[0, 3, major]],
    ],
    [
      'affected later than its start',
      0,
      9,
      [
        [0, null],
        [4, slow],
        [9, null, 'RESOLVED'],
      ],
      well,
      [[4, 9, slow]],
    ],
    [
      'an update that does not name the service',
      0,
      9,
      [
        [0, slow],
        [4, null],
        [9, null, 'RESOLVED'],
      ],
      well,
      [[0, 9, slow]],
    ],
    [
      'the same status again',
      0,
      9,
      [
        [0, slow],
        [4, slow],
        [9, null, 'RESOLVED'],
      ],
      well,
      [[0, 9, slow]],
    ],
    [
      'reopened without naming it',
      0,
      null,
      [
        [0, major],
        [2, null, 'RESOLVED'],
        [5, null],
      ],
      well,
      [[0, 2, major]],
    ],
    [
      'reopened and worse',
      0,
      null,
      [
        [0, slow],
        [2, null, 'RESOLVED'],
        [5, major],
      ],
      major,
      [
        [0, 2, slow],
        [5, 24, major],
      ],
    ],
    [
      'reopened and resolved',
      0,
      7,
      [
        [0, slow],
        [2, null, 'RESOLVED'],
        [5, major],
        [7, null, 'RESOLVED'],
      ],
      well,
      [
        [0, 2, slow],
        [5, 7, major],
      ],
    ],
    [
      'resolved by two updates',
      0,
      2,
      [
        [0, slow],
        [2, null, 'RESOLVED'],
        [5, null, 'RESOLVED'],
      ],
      well,
      [[0, 2, slow]],
    ],
    ['recorded afterwards as resolved', 0, 3, [[3, major, 'RESOLVED']], well, [[0, 3, major]]],
    [
      'recorded as resolved, then reopened',
      0,
      null,
      [
        [3, major, 'RESOLVED'],
        [5, null],
      ],
      well,
      [[0, 3, major]],
    ],
    [
      'a resolution time set to a later time manually',
      0,
      6,
      [
        [0, slow],
        [2, null, 'RESOLVED'],
      ],
      well,
      [[0, 6, slow]],
    ],
    [
      'a resolution time set to an earlier time manually',
      0,
      1,
      [
        [0, slow],
        [2, null, 'RESOLVED'],
      ],
      well,
      [[0, 1, slow]],
    ],
    [
      'a start set to a later time manually',
      1,
      4,
      [
        [0, slow],
        [4, null, 'RESOLVED'],
      ],
      well,
      [[1, 4, slow]],
    ],
    [
      'a start set to an earlier time manually',
      -2,
      4,
      [
        [0, slow],
        [4, null, 'RESOLVED'],
      ],
      well,
      [[-2, 4, slow]],
    ],
    [
      'edited while open, without an update',
      0,
      null,
      [
        [0, slow],
        [3, null],
      ],
      major,
      [
        [0, 3, slow],
        [3, 24, major],
      ],
    ],
    [
      'added while open, without an update',
      0,
      null,
      [
        [0, null],
        [3, null],
      ],
      slow,
      [[0, 24, slow]],
    ],
    [
      'recovered by an edit',
      0,
      null,
      [
        [0, slow],
        [3, null],
      ],
      well,
      [[0, 3, slow]],
    ],
    ['removed by an edit', 0, null, [[0, slow]], null, [[0, 24, slow]]],
    [
      'no impaired status',
      0,
      5,
      [
        [0, well],
        [5, null, 'RESOLVED'],
      ],
      well,
      [],
    ],
    [
      'never names the service',
      0,
      5,
      [
        [0, null],
        [5, null, 'RESOLVED'],
      ],
      well,
      [],
    ],
    ['resolved at once', 0, 0, [[0, major, 'RESOLVED']], well, []],
  ])('%s', (_, started, resolved, given, current, expected) => {
    expect(effects(started, resolved, given, current)).toEqual(expected)
  })

  test('are in order, without overlaps, and within the incident', () => {
    const anyUpdate = fc.record({
      at: fc.integer({ min: -5, max: 23 }).map(at),
      isResolved: fc.boolean(),
      status: fc.option(fc.constantFrom(...Object.values(statuses))),
    })
    const anyTime = fc.integer({ min: -5, max: 23 }).map(at)
    fc.assert(
      fc.property(
        fc.uniqueArray(anyUpdate, { selector: (each) => +each.at }),
        anyTime,
        fc.option(anyTime),
        (updates, startedAt, resolvedAt) => {
          const sorted = updates.toSorted((one, other) => +one.at - +other.at)
          const found = effectsOf({ startedAt, resolvedAt, current: null }, sorted, now)
          const times = found.flatMap(({ from, to }) => [+from, +to])
          expect(times).toEqual(times.toSorted((one, other) => one - other))
          for (const { from, to } of found)
            expect(from < to && from >= startedAt && to <= (resolvedAt ?? at(30))).toBe(true)
        },
      ),
    )
  })
})

describe('the worst effect in a span', () => {
  const all = [
    { from: at(0), to: at(2), status: slow },
    { from: at(2), to: at(3), status: major },
    { from: at(3), to: at(4), status: partial },
  ]
  test.each<[number, number, ServiceStatus | null]>([
    [0, 2, slow],
    [0, 3, major],
    [3, 9, partial],
    [1, 9, major],
    [4, 9, null],
    [-1, 0, null],
  ])('from %s to %s is %s', (from, to, worst) => {
    expect(worstEffect(all, { from: at(from), to: at(to) })).toBe(worst)
  })

  test('for many spans equals a comparison with every effect', () => {
    const order = [null, slow, partial, major]
    const hour = fc.integer({ min: -5, max: 30 })
    const effect = fc.tuple(hour, hour, fc.constantFrom(slow, partial, major))
    fc.assert(
      fc.property(fc.array(effect), fc.uniqueArray(hour, { minLength: 1 }), (drawn, bounds) => {
        const found = drawn.map(([from, to, status]) => ({ from: at(from), to: at(to), status }))
        const sorted = bounds.toSorted((one, other) => one - other)
        const spans = sorted.slice(1).map((to, index) => ({ from: at(sorted[index] ?? 0), to: at(to) }))
        const naive = spans.map(({ from, to }) => {
          const within = found.filter((each) => each.from < to && each.to > from)
          return order[Math.max(0, ...within.map(({ status }) => order.indexOf(status)))]
        })
        expect(worstEffects(found, spans)).toEqual(naive)
      }),
    )
  })
})

test('a new incident proposes a status only for the impaired service that its author came from', () => {
  const shown = [well, slow, 'UNKNOWN', partial, 'UNDER_MAINTENANCE', major] as const
  const services = shown.map((each, index) => ({ id: `${index}`, shown: each }))
  const proposed = [...services.map(({ id }) => id), null, 'unknown'].map((from) => [
    ...proposedStatuses(services, from),
  ])
  expect(proposed).toEqual([[], [['1', slow]], [], [['3', partial]], [], [['5', major]], [], []])
})
