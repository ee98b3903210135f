import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ServiceStatus } from '../../../src/generated/prisma/enums.ts'
import { deriveState } from '../../../src/status/incident/incident-corrections.ts'
import { effectsOf, worstEffect } from '../../../src/status/incident/incident-effects.ts'
import type { JointUpdate, MergedPart } from '../../../src/status/incident/merged-timeline.ts'
import { moveService } from '../../../src/status/incident/moved-service.ts'
import { runs } from '../../support/runs.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 10, 23) + minute * 60_000)
const services = ['svc_a', 'svc_b']
const statuses = ['OPERATIONAL', 'DEGRADED_PERFORMANCE', 'PARTIAL_OUTAGE', 'MAJOR_OUTAGE'] as const
const END = 60
const NOW = at(END)

interface Statuses extends Pick<MergedPart, 'startedAt' | 'current'> {
  readonly updates: readonly JointUpdate[]
}

/** The status that an open incident gives a service in a minute, as an index of `statuses`. */
function statusAt({ startedAt, current, updates }: Statuses, serviceId: string, minute: number): number {
  const cause = { startedAt, resolvedAt: null, current: current.get(serviceId) ?? null }
  const items = updates.map((update) => ({
    at: update.createdAt,
    isResolved: update.status === 'RESOLVED',
    status: update.services.find((each) => each.serviceId === serviceId)?.status ?? null,
  }))
  const span = { from: new Date(at(minute).getTime() + 20_000), to: new Date(at(minute).getTime() + 40_000) }
  return statuses.indexOf((worstEffect(effectsOf(cause, items, NOW), span) ?? 'OPERATIONAL') as 'MAJOR_OUTAGE')
}

/** The incident with the update that moves the service. */
function moving(
  of: MergedPart,
  updates: readonly JointUpdate[],
  serviceId: string,
  status: ServiceStatus,
  minute: number,
): Statuses {
  const update = {
    id: null,
    status: 'INVESTIGATING' as const,
    createdAt: at(minute),
    services: [{ serviceId, status }],
  }
  return { ...of, updates: [...updates, update], current: new Map([...of.current, [serviceId, status]]) }
}

const status = fc.constantFrom(...statuses)
const named = fc
  .tuple(fc.option(status), fc.option(status))
  .map((both) => both.flatMap((each, nth) => (each === null ? [] : [{ serviceId: services[nth] ?? '', status: each }])))

/**
 * An open incident: updates at whole minutes before the fortieth, some of which resolve it, and statuses that people
 * set after them.
 */
const open = fc
  .record({
    start: fc.integer({ min: 0, max: 10 }),
    posts: fc.uniqueArray(fc.record({ minute: fc.integer({ min: 10, max: 39 }), resolves: fc.boolean(), named }), {
      selector: ({ minute }) => minute,
      minLength: 1,
      maxLength: 6,
    }),
    byHand: named,
  })
  .map(({ start, posts, byHand }): MergedPart => {
    const ordered = posts.toSorted((one, other) => one.minute - other.minute)
    const updates = ordered.map(({ minute, resolves, named }, nth) => {
      const isResolved = resolves && nth < ordered.length - 1
      return {
        id: `u${minute}`,
        status: isResolved ? ('RESOLVED' as const) : ('INVESTIGATING' as const),
        createdAt: at(minute),
        services: isResolved ? [] : named,
      }
    })
    const current = new Map<string, ServiceStatus>()
    for (const { status, services } of updates) {
      for (const each of services) current.set(each.serviceId, each.status)
      if (status === 'RESOLVED') for (const id of current.keys()) current.set(id, 'OPERATIONAL')
    }
    for (const each of byHand) current.set(each.serviceId, each.status)
    return { startedAt: at(start), resolvedAt: null, current, updates }
  })

describe('a service that moves', () => {
  test('is in the source until then, and in the target from then on with the worse status', () => {
    const first = { status: 'INVESTIGATING', createdAt: at(0) } as const
    const updates = [{ ...first, id: 'a', services: [{ serviceId: 'svc_a', status: 'MAJOR_OUTAGE' as const }] }]
    const from: MergedPart = { startedAt: at(0), resolvedAt: null, current: deriveState(updates).services, updates }
    const into: MergedPart = { ...from, current: new Map(), updates: [{ ...first, id: 'b', services: [] }] }
    const moved = moveService(from, into, 'svc_a')
    expect(moved).toEqual({ from: from.updates, into: into.updates, status: 'MAJOR_OUTAGE' })
  })

  test('does not change the joint status in any minute of any history', () => {
    const minutes = Array.from({ length: END }, (_, minute) => minute)
    fc.assert(
      fc.property(open, open, fc.integer({ min: 41, max: END - 1 }), (from, into, minute) => {
        const moved = moveService(from, into, 'svc_a')
        const one = moving(from, moved.from, 'svc_a', 'OPERATIONAL', minute)
        const other = moving(into, moved.into, 'svc_a', moved.status, minute)
        for (const serviceId of services) {
          const isMoved = serviceId === 'svc_a'
          // The naive reference, minute by minute: both statuses before the move, and the worse of both in the target
          // after it.
          const reference = minutes.map((each) => {
            const [here, there] = [statusAt(from, serviceId, each), statusAt(into, serviceId, each)]
            return isMoved && each >= minute ? [0, Math.max(here, there)] : [here, there]
          })
          const now = minutes.map((each) => [statusAt(one, serviceId, each), statusAt(other, serviceId, each)])
          expect(now).toEqual(reference)
        }
      }),
      runs(200, 5000),
    )
  })
})
