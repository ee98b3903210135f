import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MINUTE } from '../../../src/core/time.ts'
import { IncidentImpact, MonitorState, ServiceStatus } from '../../../src/generated/prisma/enums.ts'
import type { ShownStatus, StatusBasis } from '../../../src/status/service/service-status.ts'
import { worstStatus } from '../../../src/status/service/service-status.ts'
import type { MonitorCause } from '../../../src/status/service/shown-status.ts'
import {
  indicators,
  pageStatus,
  shownServiceOf,
  shownStatus,
  toServiceStatus,
  unknownSinceOf,
} from '../../../src/status/service/shown-status.ts'
import { noon } from '../../support/context.ts'

const statuses = Object.values(ServiceStatus)
const anyStatus = fc.constantFrom(...statuses)
const found = (state: MonitorState, unknownSince: Date | null = null) => ({ state, stateSince: noon, unknownSince })
const anyMonitor = fc.record({
  state: fc.constantFrom(...Object.values(MonitorState)),
  stateSince: fc.constant(noon),
  unknownSince: fc.option(fc.constant(noon)),
})
const anyImpact = fc.constantFrom(...Object.values(IncidentImpact))

const nothing = { override: null, incidents: [], monitors: [], underMaintenance: false, isStated: true } as const
const causesOf = { statusOverride: null, statedAt: noon, incidents: [], monitors: [], maintenances: [] }

describe('the shown status of a service', () => {
  test.each<[what: string, incidents: ServiceStatus[], underMaintenance: boolean, shown: ServiceStatus]>([
    ['nothing', [], false, 'OPERATIONAL'],
    ['maintenance', [], true, 'UNDER_MAINTENANCE'],
    ['an incident it has recovered from', ['OPERATIONAL'], false, 'OPERATIONAL'],
    ['an incident it has recovered from, and maintenance', ['OPERATIONAL'], true, 'UNDER_MAINTENANCE'],
    ['a degradation', ['DEGRADED_PERFORMANCE'], false, 'DEGRADED_PERFORMANCE'],
    ['a partial outage', ['PARTIAL_OUTAGE'], false, 'PARTIAL_OUTAGE'],
    ['a major outage', ['MAJOR_OUTAGE'], false, 'MAJOR_OUTAGE'],
    ['a degradation during maintenance', ['DEGRADED_PERFORMANCE'], true, 'DEGRADED_PERFORMANCE'],
    ['a partial outage during maintenance', ['PARTIAL_OUTAGE'], true, 'PARTIAL_OUTAGE'],
    ['a major outage during maintenance', ['MAJOR_OUTAGE'], true, 'MAJOR_OUTAGE'],
    ['several incidents', ['OPERATIONAL', 'PARTIAL_OUTAGE', 'DEGRADED_PERFORMANCE'], false, 'PARTIAL_OUTAGE'],
    ['several incidents, the worst last', ['DEGRADED_PERFORMANCE', 'MAJOR_OUTAGE'], true, 'MAJOR_OUTAGE'],
  ])('with %s', (_, incidents, underMaintenance, shown) => {
    expect(shownStatus({ ...nothing, incidents, underMaintenance })).toBe(shown)
  })

  test.each<[state: MonitorState, shown: ServiceStatus, underMaintenance: ServiceStatus]>([
    ['PENDING', 'OPERATIONAL', 'UNDER_MAINTENANCE'],
    ['UP', 'OPERATIONAL', 'UNDER_MAINTENANCE'],
    ['PAUSED', 'OPERATIONAL', 'UNDER_MAINTENANCE'],
    ['DEGRADED', 'DEGRADED_PERFORMANCE', 'UNDER_MAINTENANCE'],
    ['DOWN', 'MAJOR_OUTAGE', 'UNDER_MAINTENANCE'],
  ])('with a monitor in state %s', (state, shown, underMaintenance) => {
    const causes = { ...nothing, monitors: [found(state), found('UP')] }
    expect(shownStatus({ ...causes, underMaintenance: false })).toBe(shown)
    expect(shownStatus({ ...causes, underMaintenance: true })).toBe(underMaintenance)
    expect(shownStatus({ ...causes, incidents: ['MAJOR_OUTAGE'], underMaintenance: true })).toBe('MAJOR_OUTAGE')
  })

  test('ignores its monitors during maintenance', () => {
    fc.assert(
      fc.property(fc.array(anyStatus), fc.array(anyMonitor), (incidents, monitors) => {
        const shown = shownStatus({ ...nothing, incidents, monitors, underMaintenance: true })
        expect(shown).toBe(worstStatus([...incidents, 'UNDER_MAINTENANCE']))
      }),
    )
  })

  test('is the owner’s override, whatever else happens', () => {
    const causes = fc.record({
      override: anyStatus,
      incidents: fc.array(anyStatus),
      monitors: fc.array(anyMonitor),
      underMaintenance: fc.boolean(),
      isStated: fc.boolean(),
    })
    fc.assert(fc.property(causes, (each) => shownStatus(each) === each.override))
  })
})

describe('the worst of several statuses', () => {
  const fromGoodToBad = [
    'OPERATIONAL',
    'UNDER_MAINTENANCE',
    'UNKNOWN',
    'DEGRADED_PERFORMANCE',
    'PARTIAL_OUTAGE',
    'MAJOR_OUTAGE',
  ] as const

  test.each(fromGoodToBad.flatMap((good, index) => fromGoodToBad.slice(index).map((bad) => [good, bad] as const)))(
    'of %s and %s is the second',
    (good, bad) => {
      expect([worstStatus([good, bad]), worstStatus([bad, good])]).toEqual([bad, bad])
    },
  )
})

describe('an unknown status', () => {
  const since = (minute: number) => new Date(noon.getTime() + minute * MINUTE)

  test.each<[MonitorState, ServiceStatus | 'UNKNOWN']>([
    ['PENDING', 'UNKNOWN'],
    ['UP', 'UNKNOWN'],
    ['DEGRADED', 'DEGRADED_PERFORMANCE'],
    ['DOWN', 'MAJOR_OUTAGE'],
  ])('of the only monitor, last %s, is shown as %s', (state, expected) => {
    const causes = { ...nothing, monitors: [found(state, noon)] }
    expect(shownStatus(causes)).toBe(expected)
  })

  test('begins when the last of its monitors becomes silent', () => {
    expect(unknownSinceOf([])).toBeNull()
    expect(unknownSinceOf([found('UP', since(1)), found('UP')])).toBeNull()
    expect(unknownSinceOf([found('UP', since(1)), found('UP', since(3))])).toEqual(since(3))
  })

  const [up, down, slow, pending] = [found('UP'), found('DOWN'), found('DEGRADED'), found('PENDING')]
  const [silent, paused] = [found('UP', since(1)), { ...found('PAUSED'), stateSince: since(3) }]

  test.each<[what: string, MonitorCause[], StatusBasis, ShownStatus, unknownSince: Date | null]>([
    ['no monitor', [], 'OWNER', 'OPERATIONAL', null],
    ['a monitor that is up', [up], 'MONITORS', 'OPERATIONAL', null],
    ['a monitor that is slow', [slow], 'MONITORS', 'DEGRADED_PERFORMANCE', null],
    ['a monitor that is down', [down], 'MONITORS', 'MAJOR_OUTAGE', null],
    ['a new monitor', [pending], 'PENDING', 'UNKNOWN', null],
    ['two new monitors', [pending, pending], 'PENDING', 'UNKNOWN', null],
    ['a new monitor that was not probed for long', [found('PENDING', since(2))], 'SILENT', 'UNKNOWN', since(2)],
    ['a silent monitor', [silent], 'SILENT', 'UNKNOWN', since(1)],
    ['a silent monitor that was down', [found('DOWN', since(1))], 'SILENT', 'MAJOR_OUTAGE', since(1)],
    ['a paused monitor', [paused], 'SILENT', 'UNKNOWN', since(3)],
    ['up and new', [up, pending], 'MONITORS', 'OPERATIONAL', null],
    ['up and silent', [up, silent], 'MONITORS', 'OPERATIONAL', null],
    ['up and paused', [up, paused], 'MONITORS', 'OPERATIONAL', null],
    ['down and new', [down, pending], 'MONITORS', 'MAJOR_OUTAGE', null],
    ['new and silent', [pending, silent], 'SILENT', 'UNKNOWN', since(1)],
    ['new and paused', [pending, paused], 'PENDING', 'UNKNOWN', null],
    ['silent and paused', [silent, paused], 'SILENT', 'UNKNOWN', since(3)],
  ])('and its basis: %s', (_, monitors, basis, shown, unknownSince) => {
    const none = causesOf
    const status = shown === 'UNKNOWN' ? 'DEGRADED_PERFORMANCE' : shown
    const watched = monitors.length > 0
    expect(shownServiceOf({ ...none, monitors })).toEqual({ shown, status, unknownSince, watched, basis })
    const byHand = shownServiceOf({ ...none, monitors, statusOverride: 'OPERATIONAL' })
    expect(byHand).toMatchObject({ shown: 'OPERATIONAL', basis: 'OWNER' })
    const maintained = shownServiceOf({ ...none, monitors, maintenances: [{ maintenanceId: 'mnt_1' }] })
    expect(maintained.shown).toBe('UNDER_MAINTENANCE')
  })

  test('is never operational without data or a statement', () => {
    const anyStatement = fc.constantFrom(null, noon)
    fc.assert(
      fc.property(fc.array(anyMonitor), fc.array(anyStatus), anyStatement, (monitors, incidents, statedAt) => {
        const service = { ...causesOf, statedAt, monitors, incidents: incidents.map((status) => ({ status })) }
        const { shown, basis } = shownServiceOf(service)
        if (shown === 'OPERATIONAL') expect(['OWNER', 'MONITORS']).toContain(basis)
        if (monitors.length + incidents.length === 0) expect(basis).toBe(statedAt === null ? 'UNSTATED' : 'OWNER')
      }),
    )
  })

  const unstated = { ...causesOf, statedAt: null }
  const open = (status: ServiceStatus) => ({ incidents: [{ status }] })
  const working = { maintenances: [{ maintenanceId: 'mnt_1' }] }

  test.each<[what: string, Partial<Parameters<typeof shownServiceOf>[0]>, StatusBasis, ShownStatus]>([
    ['nothing', {}, 'UNSTATED', 'UNKNOWN'],
    ['a former statement', { statedAt: noon }, 'OWNER', 'OPERATIONAL'],
    ['an override', { statusOverride: 'OPERATIONAL' }, 'OWNER', 'OPERATIONAL'],
    ['an incident', open('PARTIAL_OUTAGE'), 'OWNER', 'PARTIAL_OUTAGE'],
    ['an incident that left it alone', open('OPERATIONAL'), 'OWNER', 'OPERATIONAL'],
    ['a maintenance', working, 'OWNER', 'UNDER_MAINTENANCE'],
    ['a new monitor', { monitors: [pending] }, 'PENDING', 'UNKNOWN'],
    ['a silent monitor', { monitors: [silent] }, 'SILENT', 'UNKNOWN'],
    ['a monitor that is up', { monitors: [up] }, 'MONITORS', 'OPERATIONAL'],
  ])('of a service that nobody created with a status: %s', (_, causes, basis, shown) => {
    const found = shownServiceOf({ ...unstated, ...causes })
    expect(found).toMatchObject({ basis, shown, unknownSince: basis === 'SILENT' ? since(1) : null })
    if (shown === 'UNKNOWN') expect(found.status).toBe('DEGRADED_PERFORMANCE')
  })

  test('yields to overrides, manual incidents and maintenance', () => {
    const causes = { ...nothing, monitors: [found('UP', noon)] }
    expect(shownStatus({ ...causes, override: 'OPERATIONAL' })).toBe('OPERATIONAL')
    expect(shownStatus({ ...causes, incidents: ['PARTIAL_OUTAGE'] })).toBe('PARTIAL_OUTAGE')
    expect(shownStatus({ ...causes, underMaintenance: true })).toBe('UNDER_MAINTENANCE')
  })

  test('is never reported as OPERATIONAL to callers without UNKNOWN', () => {
    expect(toServiceStatus('UNKNOWN')).toBe('DEGRADED_PERFORMANCE')
    for (const status of statuses) expect(toServiceStatus(status)).toBe(status)
  })

  test('of a page names the time and the number of services', () => {
    const watched = true
    const silent = (minute: number) =>
      ({ shown: 'UNKNOWN', unknownSince: since(minute), watched, basis: 'SILENT' }) as const
    const known = { shown: 'OPERATIONAL', unknownSince: null, watched, basis: 'MONITORS' } as const
    const unwatched = { ...known, watched: false, basis: 'OWNER' } as const
    expect(pageStatus([silent(2), unwatched, silent(1)], ['NONE'])).toEqual({
      kind: 'NO_DATA',
      indicator: 'MINOR',
      description: 'No monitoring data since 2026-11-20 12:02 UTC',
      shown: 'UNKNOWN',
      unknownSince: since(2),
    })
    const descriptionOf = (...services: Parameters<typeof pageStatus>[0]) => pageStatus(services, []).description
    expect(descriptionOf(silent(1), known)).toBe('No monitoring data for one service since 2026-11-20 12:01 UTC')
    expect(descriptionOf(silent(1), known, silent(1))).toMatch(/^No monitoring data for 2 services since/)
    expect(pageStatus([silent(1)], ['MAJOR'])).toMatchObject({ indicator: 'MAJOR', unknownSince: null })
    const pending = { shown: 'UNKNOWN', unknownSince: null, watched, basis: 'PENDING' } as const
    expect(pageStatus([pending, known], [])).toEqual({
      kind: 'WAITING',
      indicator: 'MINOR',
      description: 'Waiting for first result',
      shown: 'UNKNOWN',
      unknownSince: null,
    })
    expect(descriptionOf(silent(1), pending)).toBe('No monitoring data for one service since 2026-11-20 12:01 UTC')
    const unstated = { ...pending, watched: false, basis: 'UNSTATED' } as const
    expect(pageStatus([unstated, known], [])).toEqual({
      kind: 'UNSTATED',
      indicator: 'MINOR',
      description: 'No status yet',
      shown: 'UNKNOWN',
      unknownSince: null,
    })
    expect(descriptionOf(pending, unstated)).toBe('Waiting for first result')
    expect(descriptionOf(silent(1), unstated)).toMatch(/^No monitoring data since/)
  })
})

describe('the status of a page', () => {
  const shown = (...each: readonly ServiceStatus[]) =>
    each.map((status) => ({ shown: status, unknownSince: null, watched: true, basis: 'MONITORS' }) as const)

  test.each([
    ['OPERATIONAL', 'NONE', 'All systems operational'],
    ['UNDER_MAINTENANCE', 'MAINTENANCE', 'Service under maintenance'],
    ['DEGRADED_PERFORMANCE', 'MINOR', 'Partially degraded service'],
    ['PARTIAL_OUTAGE', 'MAJOR', 'Partial system outage'],
    ['MAJOR_OUTAGE', 'CRITICAL', 'Major system outage'],
  ] as const)('with its worst service at %s is %s', (worst, indicator, description) => {
    const expected = { indicator, description, shown: worst, unknownSince: null }
    expect(pageStatus(shown('OPERATIONAL', worst), [])).toMatchObject(expected)
  })

  test.each([
    [[], 'No open incidents'],
    [['NONE'], 'One incident is open'],
    [['NONE', 'NONE'], '2 incidents are open'],
  ] as const)('without services, and with incidents %j, claims nothing about services', (impacts, description) => {
    const nothing = { kind: 'NOTHING', indicator: 'NONE', description, shown: 'OPERATIONAL', unknownSince: null }
    expect(pageStatus([], impacts)).toEqual(nothing)
  })

  test.each([
    ['NONE', 'NONE'],
    ['MINOR', 'MINOR'],
    ['MAJOR', 'MAJOR'],
    ['CRITICAL', 'CRITICAL'],
  ] as const)('with an incident of impact %s that names no service is %s', (impact, indicator) => {
    expect(pageStatus(shown('OPERATIONAL'), [impact]).indicator).toBe(indicator)
  })

  const anyPage = [fc.array(anyStatus), fc.array(anyImpact)] as const
  const badness = (services: ServiceStatus[], impacts: IncidentImpact[]) =>
    ['NONE', 'MAINTENANCE', 'MINOR', 'MAJOR', 'CRITICAL'].indexOf(pageStatus(shown(...services), impacts).indicator)

  test('is NONE only when everything is operational', () => {
    fc.assert(
      fc.property(...anyPage, (services, impacts) => {
        const { indicator } = pageStatus(shown(...services), impacts)
        expect(indicators).toContain(indicator)
        const allGood = services.every((each) => each === 'OPERATIONAL') && impacts.every((each) => each === 'NONE')
        expect(indicator === 'NONE').toBe(allGood)
      }),
    )
  })

  test('ignores the order of services and incidents', () => {
    fc.assert(
      fc.property(...anyPage, (services, impacts) => {
        const [one, other] = [shown(...services), shown(...services.toReversed())]
        expect(pageStatus(other, impacts.toReversed())).toEqual(pageStatus(one, impacts))
      }),
    )
  })

  test('never improves with more services or incidents, and combines as the worst', () => {
    fc.assert(
      fc.property(...anyPage, ...anyPage, (services, impacts, moreServices, moreImpacts) => {
        const both = badness([...services, ...moreServices], [...impacts, ...moreImpacts])
        expect(both).toBe(Math.max(badness(services, impacts), badness(moreServices, moreImpacts)))
      }),
    )
  })
})
