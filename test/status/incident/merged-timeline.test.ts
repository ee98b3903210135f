// @slow
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deriveState } from '../../../src/status/incident/incident-corrections.ts'
import { effectsOf, worstEffect } from '../../../src/status/incident/incident-effects.ts'
import type { MergedPart } from '../../../src/status/incident/merged-timeline.ts'
import { joinTimelines } from '../../../src/status/incident/merged-timeline.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 10, 23) + minute * 60_000)
const NOW = at(1000)
const services = ['svc_a', 'svc_b']

/** An incident with these updates. */
function part(startedAt: number, updates: MergedPart['updates'], resolvedAt?: number): MergedPart {
  const derived = deriveState(updates)
  const end = resolvedAt === undefined || derived.resolvedAt === null ? derived.resolvedAt : at(resolvedAt)
  return { startedAt: at(startedAt), resolvedAt: end, current: derived.services, updates }
}

const named = (a: string | null, b: string | null) =>
  [a, b].flatMap((status, index) =>
    status === null ? [] : [{ serviceId: services[index] ?? '', status: status as 'OPERATIONAL' }],
  )

/** The status that an incident gives a service in a minute; null if it is not impaired. */
function statusAt(
  of: Omit<MergedPart, 'updates'> & { updates: readonly Omit<MergedPart['updates'][number], 'id'>[] },
  serviceId: string,
  minute: number,
) {
  const cause = { startedAt: of.startedAt, resolvedAt: of.resolvedAt, current: of.current.get(serviceId) ?? null }
  const updates = of.updates.map((update) => ({
    at: update.createdAt,
    isResolved: update.status === 'RESOLVED',
    status: update.services.find((each) => each.serviceId === serviceId)?.status ?? null,
  }))
  const span = { from: new Date(at(minute).getTime() + 20_000), to: new Date(at(minute).getTime() + 40_000) }
  return worstEffect(effectsOf(cause, updates, NOW), span)
}

const ranks = ['DEGRADED_PERFORMANCE', 'PARTIAL_OUTAGE', 'MAJOR_OUTAGE']
const worse = (one: string | null, other: string | null) =>
  ranks[Math.max(ranks.indexOf(one ?? ''), ranks.indexOf(other ?? ''))] ?? null

describe('the joint timeline', () => {
  test('is open while either incident is, with the status of the open one', () => {
    const one = part(0, [
      { id: 'a1', status: 'INVESTIGATING', createdAt: at(0), services: named('MAJOR_OUTAGE', null) },
      { id: 'a2', status: 'RESOLVED', createdAt: at(20), services: [] },
    ])
    const other = part(10, [
      { id: 'b1', status: 'IDENTIFIED', createdAt: at(10), services: named('DEGRADED_PERFORMANCE', 'PARTIAL_OUTAGE') },
    ])
    const joint = joinTimelines(one, other)
    expect(joint).toMatchObject({ startedAt: at(0), resolvedAt: null, status: 'IDENTIFIED' })
    expect(joint.updates.map(({ id, status, services }) => [id, status, services])).toEqual([
      ['a1', 'INVESTIGATING', named('MAJOR_OUTAGE', null)],
      ['b1', 'IDENTIFIED', named('MAJOR_OUTAGE', 'PARTIAL_OUTAGE')],
      // The resolution of the first incident has the status of the other, and the service has the severity of the
      // other.
      ['a2', 'IDENTIFIED', named('DEGRADED_PERFORMANCE', null)],
    ])
    expect(joint.current).toEqual(
      new Map([
        ['svc_a', 'DEGRADED_PERFORMANCE'],
        ['svc_b', 'PARTIAL_OUTAGE'],
      ]),
    )
    expect(joinTimelines(other, one)).toEqual(joint)
  })

  test('has an update without a message at the start of a past incident that was recorded as resolved', () => {
    const past = part(
      5,
      [{ id: 'p', status: 'RESOLVED', createdAt: at(15), services: named('MAJOR_OUTAGE', null) }],
      15,
    )
    const open = part(0, [{ id: 'o', status: 'MONITORING', createdAt: at(0), services: named(null, 'PARTIAL_OUTAGE') }])
    const joint = joinTimelines(past, open)
    expect(joint.updates.map(({ id, status, createdAt }) => [id, status, createdAt])).toEqual([
      ['o', 'MONITORING', at(0)],
      [null, 'INVESTIGATING', at(5)],
      ['p', 'MONITORING', at(15)],
    ])
    expect([4, 5, 14, 15].map((minute) => statusAt(joint, 'svc_a', minute))).toEqual([
      null,
      'MAJOR_OUTAGE',
      'MAJOR_OUTAGE',
      null,
    ])
  })

  test('has the worse of both statuses at each time, in random histories', () => {
    const status = fc.constantFrom(null, 'OPERATIONAL', ...ranks)
    const update = fc.record({
      gap: fc.integer({ min: 1, max: 12 }),
      status: fc.constantFrom('INVESTIGATING', 'IDENTIFIED', 'MONITORING', 'RESOLVED'),
      a: status,
      b: status,
    })
    const incident = fc.record({
      start: fc.integer({ min: 0, max: 40 }),
      late: fc.integer({ min: 0, max: 8 }),
      updates: fc.array(update, { minLength: 1, maxLength: 6 }),
    })
    const made = (id: string, { start, late, updates }: typeof incident extends fc.Arbitrary<infer T> ? T : never) => {
      let minute = start + late
      const list = updates.map(({ gap, status, a, b }, index) => {
        if (index > 0) minute += gap
        const isPast = status === 'RESOLVED' && updates.length > 1
        return {
          id: `${id}${index}`,
          status,
          createdAt: at(minute),
          services: isPast ? [] : named(a, b),
        } as MergedPart['updates'][number]
      })
      return part(start, list)
    }
    fc.assert(
      fc.property(incident, incident, (one, other) => {
        const [first, second] = [made('a', one), made('b', other)]
        const joint = joinTimelines(first, second)
        const times = joint.updates.map(({ createdAt }) => createdAt.getTime())
        expect(times).toEqual([...new Set(times)].sort((x, y) => x - y))
        for (const serviceId of services) {
          for (let minute = 0; minute < 130; minute++) {
            const expected = worse(statusAt(first, serviceId, minute), statusAt(second, serviceId, minute))
            expect([serviceId, minute, statusAt(joint, serviceId, minute)]).toEqual([serviceId, minute, expected])
          }
        }
        expect(deriveState(joint.updates).status).toBe(joint.status)
      }),
      { numRuns: 300 },
    )
  })
})
