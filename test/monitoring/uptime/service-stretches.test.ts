import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY, HOUR, SECOND } from '../../../src/core/time.ts'
import type { MonitorState, UptimeSource } from '../../../src/generated/prisma/enums.ts'
import {
  reportedDays,
  serviceStretches,
  uptimeSourceOf,
  withDeclared,
} from '../../../src/monitoring/uptime/service-stretches.ts'
import { outageTime, stretches, tallies, tally, uptimePercent } from '../../../src/monitoring/uptime/uptime.ts'
import type { ImpairedStatus } from '../../../src/status/service/service-status.ts'
import { noon } from '../../support/context.ts'

const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const hour = (hours: number) => at(hours * HOUR)
const hourOf = (time: Date) => (+time - +noon) / HOUR

test.each<[monitored: boolean, chosen: UptimeSource, source: UptimeSource]>([
  [true, 'MONITORS_AND_INCIDENTS', 'MONITORS_AND_INCIDENTS'],
  [true, 'MONITORS', 'MONITORS'],
  [true, 'INCIDENTS', 'INCIDENTS'],
  [false, 'MONITORS_AND_INCIDENTS', 'INCIDENTS'],
  [false, 'MONITORS', 'INCIDENTS'],
  [false, 'INCIDENTS', 'INCIDENTS'],
])('the source of a service with monitors: %s, configured: %s, is %s', (monitored, chosen, source) => {
  expect(uptimeSourceOf(monitored, chosen)).toBe(source)
})

type Effect = readonly [from: number, to: number, ImpairedStatus]
/** An incident with these effects, which a person declared unless it is `automatic`. */
const said = (...effects: readonly (Effect | 'automatic')[]) => [
  {
    isDeclared: !effects.includes('automatic'),
    effects: effects
      .filter((each) => each !== 'automatic')
      .map(([from, to, status]) => ({ from: hour(from), to: hour(to), status })),
  },
]
const spansOf = (spans: readonly (readonly [number, number])[]) =>
  spans.map(([from, to]) => ({ from: hour(from), to: hour(to) }))

const span = { from: hour(0), to: hour(10) }
const shown = (record: Parameters<typeof serviceStretches>[0]) =>
  serviceStretches(record, span).map(({ from, to, condition }) => `${hourOf(from)}-${hourOf(to)} ${condition}`)

describe('the stretches of a service based on incidents', () => {
  const stretchesOf = (
    incidents: ReturnType<typeof said>,
    knownSince: number | null,
    maintenance: [number, number][],
  ) =>
    shown({
      ...{ source: 'INCIDENTS', monitors: [], incidents, maintenance: spansOf(maintenance) },
      knownSince: knownSince === null ? null : hour(knownSince),
    })

  test.each<[what: string, ...args: Parameters<typeof stretchesOf>, expected: string[]]>([
    ['no incident', [], 0, [], ['0-10 up']],
    ['a major outage', said([2, 3, 'MAJOR_OUTAGE']), 0, [], ['0-2 up', '2-3 down', '3-10 up']],
    ['a partial outage', said([2, 3, 'PARTIAL_OUTAGE']), 0, [], ['0-2 up', '2-3 partial', '3-10 up']],
    ['degraded performance', said([2, 3, 'DEGRADED_PERFORMANCE']), 0, [], ['0-2 up', '2-3 degraded', '3-10 up']],
    [
      'an outage that a monitor opened',
      said('automatic', [2, 3, 'MAJOR_OUTAGE']),
      0,
      [],
      ['0-2 up', '2-3 down', '3-10 up'],
    ],
    [
      'three at once',
      [...said([2, 5, 'DEGRADED_PERFORMANCE']), ...said([3, 4, 'MAJOR_OUTAGE']), ...said([1, 4.5, 'PARTIAL_OUTAGE'])],
      0,
      [],
      ['0-1 up', '1-3 partial', '3-4 down', '4-4.5 partial', '4.5-5 degraded', '5-10 up'],
    ],
    [
      'maintenance during the outage',
      said([2, 5, 'MAJOR_OUTAGE']),
      0,
      [[3, 4]],
      ['0-2 up', '2-3 down', '3-4 maintenance', '4-5 down', '5-10 up'],
    ],
    [
      'an incident that started before anything was known',
      said([2, 5, 'MAJOR_OUTAGE']),
      4,
      [],
      ['0-4 unknown', '4-5 down', '5-10 up'],
    ],
    ['a service that does not exist yet', [], 12, [], ['0-10 unknown']],
    ['a service of which nothing is known', said([2, 5, 'MAJOR_OUTAGE']), null, [], ['0-10 unknown']],
    ['an incident longer than the span', said([-5, 20, 'MAJOR_OUTAGE']), 0, [], ['0-10 down']],
  ])('%s', (_, incidents, knownSince, maintenance, expected) => {
    expect(stretchesOf(incidents, knownSince, maintenance)).toEqual(expected)
  })

  test('are tallied to the millisecond', () => {
    const days = [0, 1].map((n) => ({ day: at(n * DAY), from: at(n * DAY), to: at((n + 1) * DAY) }))
    const effects = [{ from: at(DAY - 1), to: at(DAY + 1), status: 'MAJOR_OUTAGE' as const }]
    const incidents = [{ effects, isDeclared: true }]
    const found = reportedDays({ source: 'INCIDENTS', incidents, maintenance: [], knownSince: noon }, days)
    expect(found.map(({ tally }) => [tally.up, tally.down])).toEqual([
      [DAY - 1, 1],
      [DAY - 1, 1],
    ])
    expect(found.map(({ tally }) => uptimePercent(tally))).toEqual([99.999, 99.999])
  })
})

describe('the stretches of a service based on monitors and incidents', () => {
  type State = readonly [from: number, MonitorState]
  const monitor = (states: readonly State[], gaps: [number, number][] = []) => ({
    intervals: states.map(([from, state], index) => {
      const next = states[index + 1]
      return { startedAt: hour(from), endedAt: next ? hour(next[0]) : null, state, cause: '' }
    }),
    gaps: spansOf(gaps),
    staleSince: null,
  })
  const up = monitor([[0, 'UP']])
  const record = (more: Partial<Parameters<typeof serviceStretches>[0]>) => ({
    ...{
      source: 'MONITORS_AND_INCIDENTS' as const,
      monitors: [up],
      incidents: [],
      maintenance: [],
      knownSince: hour(0),
    },
    ...more,
  })

  test.each<[what: string, Parameters<typeof record>[0], expected: string[]]>([
    ['nothing declared', {}, ['0-10 up']],
    [
      'a full outage beside a monitor that is up',
      { incidents: said([2, 5, 'MAJOR_OUTAGE']) },
      ['0-2 up', '2-5 down', '5-10 up'],
    ],
    ['a partial outage', { incidents: said([2, 5, 'PARTIAL_OUTAGE']) }, ['0-2 up', '2-5 partial', '5-10 up']],
    [
      'degraded performance',
      { incidents: said([2, 5, 'DEGRADED_PERFORMANCE']) },
      ['0-2 up', '2-5 degraded', '5-10 up'],
    ],
    [
      'an outage of the monitor within a declared partial one',
      {
        monitors: [
          monitor([
            [0, 'UP'],
            [3, 'DOWN'],
            [4, 'UP'],
          ]),
        ],
        incidents: said([2, 5, 'PARTIAL_OUTAGE']),
      },
      ['0-2 up', '2-3 partial', '3-4 down', '4-5 partial', '5-10 up'],
    ],
    [
      'the same outage twice, once',
      {
        monitors: [
          monitor([
            [0, 'UP'],
            [2, 'DOWN'],
            [5, 'UP'],
          ]),
        ],
        incidents: said([2, 5, 'MAJOR_OUTAGE']),
      },
      ['0-2 up', '2-5 down', '5-10 up'],
    ],
    ['an incident that a monitor opened', { incidents: said('automatic', [2, 5, 'MAJOR_OUTAGE']) }, ['0-10 up']],
    [
      'a declared outage while the monitors know nothing',
      { monitors: [monitor([[0, 'UP']], [[1, 8]])], incidents: said([2, 5, 'MAJOR_OUTAGE']) },
      ['0-1 up', '1-2 unknown', '2-5 down', '5-8 unknown', '8-10 up'],
    ],
    [
      'maintenance during it',
      { incidents: said([2, 5, 'MAJOR_OUTAGE']), maintenance: spansOf([[3, 6]]) },
      ['0-2 up', '2-3 down', '3-6 maintenance', '6-10 up'],
    ],
    [
      'an incident before monitoring started',
      { monitors: [monitor([[4, 'UP']])], incidents: said([2, 5, 'MAJOR_OUTAGE']), knownSince: hour(4) },
      ['0-4 unknown', '4-5 down', '5-10 up'],
    ],
    ['monitors alone', { source: 'MONITORS', incidents: said([2, 5, 'MAJOR_OUTAGE']) }, ['0-10 up']],
    [
      'incidents alone',
      { source: 'INCIDENTS', monitors: [monitor([[0, 'DOWN']])], incidents: said([2, 5, 'MAJOR_OUTAGE']) },
      ['0-2 up', '2-5 down', '5-10 up'],
    ],
  ])('%s', (_, more, expected) => {
    expect(shown(record(more))).toEqual(expected)
  })

  const rank = { up: 1, degraded: 2, partial: 3, down: 4 } as const
  const stateOf = { UP: 'up', DEGRADED: 'degraded', DOWN: 'down' } as const
  const statusOf = { DEGRADED_PERFORMANCE: 'degraded', PARTIAL_OUTAGE: 'partial', MAJOR_OUTAGE: 'down' } as const
  const anySpan = fc
    .tuple(fc.integer({ min: 0, max: 48 }), fc.integer({ min: 1, max: 24 }))
    .map(([from, length]) => [from, from + length] as const)
  const anyEffect = fc
    .tuple(anySpan, fc.constantFrom('DEGRADED_PERFORMANCE', 'PARTIAL_OUTAGE', 'MAJOR_OUTAGE'))
    .map(([[from, to], status]): Effect => [from, to, status as ImpairedStatus])
  const anyStates = fc.uniqueArray(
    fc.tuple(fc.integer({ min: 0, max: 47 }), fc.constantFrom('UP', 'DEGRADED', 'DOWN')),
    { minLength: 1, maxLength: 6, selector: ([from]) => from },
  )

  test('are the worse of both at each time, also when only touched days are tallied again', () => {
    const days = [0, 1].map((n) => ({ day: at(n * DAY), from: at(n * DAY), to: at((n + 1) * DAY) }))
    const whole = { from: hour(0), to: hour(48) }
    fc.assert(
      fc.property(
        anyStates,
        fc.array(anyEffect, { maxLength: 4 }),
        fc.array(anySpan, { maxLength: 1 }),
        (drawn, effects, held) => {
          const states = drawn.toSorted(([one], [other]) => one - other) as [number, 'UP' | 'DEGRADED' | 'DOWN'][]
          const maintenance = spansOf(held.map(([from, to]) => [from, to]))
          const all = record({
            monitors: [monitor(states)],
            incidents: effects.flatMap((effect) => said(effect)),
            maintenance,
          })
          const found = serviceStretches(all, whole)
          const sum = { up: 0, degraded: 0, partial: 0, down: 0, unknown: 0, maintenance: 0 }
          for (let at = 0; at < 48; at++) {
            const measured = states.findLast(([from]) => from <= at)
            const known = [
              ...(measured ? [stateOf[measured[1]]] : []),
              ...effects.filter(([from, to]) => from <= at && at < to).map(([, , status]) => statusOf[status]),
            ].toSorted((one, other) => rank[other] - rank[one])
            sum[held.some(([from, to]) => from <= at && at < to) ? 'maintenance' : (known[0] ?? 'unknown')] += HOUR
          }
          expect(tally(found, whole)).toEqual(sum)
          const measured = tallies(stretches(all.monitors, maintenance, whole), days)
          const rolledUp = days.map((day, index) => ({ ...day, tally: measured[index] ?? tally(found, day) }))
          const declared = effects.map(([from, to, status]) => ({
            from: hour(from),
            to: hour(to),
            condition: statusOf[status],
          }))
          const again = withDeclared(rolledUp, declared, all).map((day) => day.tally)
          expect(again).toEqual(tallies(found, days))
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('a percentage', () => {
  const none = { up: 0, degraded: 0, partial: 0, down: 0, unknown: 0, maintenance: 0 }
  test.each([
    [{ up: 21 * HOUR, down: 3 * HOUR }, 3 * HOUR, 87.5],
    [{ up: 21 * HOUR, partial: 3 * HOUR }, 0.9 * HOUR, 96.25],
    [{ up: 21 * HOUR, degraded: 3 * HOUR }, 0, 100],
    [{ partial: HOUR }, 0.3 * HOUR, 70],
    // Rounded against the service.
    [{ up: DAY, partial: 1 }, 1, 99.999],
    [{ up: 365 * DAY, partial: SECOND }, 300, 99.999],
    [{ unknown: DAY, maintenance: DAY }, 0, null],
  ])('of %j counts %d ms of outage: %s', (of, outage, percent) => {
    expect([outageTime({ ...none, ...of }), uptimePercent({ ...none, ...of })]).toEqual([outage, percent])
  })
})
