import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { IncidentImpact, MonitorState, ServiceStatus } from '../../src/generated/prisma/enums.ts'
import { indicators, pageStatus, shownStatus, worstOf } from '../../src/status/shown-status.ts'

const statuses = Object.values(ServiceStatus)
const anyStatus = fc.constantFrom(...statuses)
const anyImpact = fc.constantFrom(...Object.values(IncidentImpact))

describe('the status a service shows', () => {
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
    expect(shownStatus({ override: null, incidents, monitors: [], underMaintenance })).toBe(shown)
  })

  test.each<[state: MonitorState, shown: ServiceStatus, underMaintenance: ServiceStatus]>([
    ['PENDING', 'OPERATIONAL', 'UNDER_MAINTENANCE'],
    ['UP', 'OPERATIONAL', 'UNDER_MAINTENANCE'],
    ['PAUSED', 'OPERATIONAL', 'UNDER_MAINTENANCE'],
    ['DEGRADED', 'DEGRADED_PERFORMANCE', 'DEGRADED_PERFORMANCE'],
    ['DOWN', 'MAJOR_OUTAGE', 'MAJOR_OUTAGE'],
  ])('with a monitor that is %s', (state, shown, underMaintenance) => {
    const causes = { override: null, incidents: [], monitors: [state, 'UP'] } as const
    expect(shownStatus({ ...causes, underMaintenance: false })).toBe(shown)
    expect(shownStatus({ ...causes, underMaintenance: true })).toBe(underMaintenance)
    expect(shownStatus({ ...causes, incidents: ['MAJOR_OUTAGE'], underMaintenance: true })).toBe('MAJOR_OUTAGE')
  })

  test('is the owner’s override whatever else bears on it', () => {
    const causes = fc.record({
      override: anyStatus,
      incidents: fc.array(anyStatus),
      monitors: fc.array(fc.constantFrom(...Object.values(MonitorState))),
      underMaintenance: fc.boolean(),
    })
    fc.assert(fc.property(causes, (each) => shownStatus(each) === each.override))
  })
})

describe('the worst of several statuses', () => {
  const fromGoodToBad = [
    'OPERATIONAL',
    'UNDER_MAINTENANCE',
    'DEGRADED_PERFORMANCE',
    'PARTIAL_OUTAGE',
    'MAJOR_OUTAGE',
  ] as const

  test.each(fromGoodToBad.flatMap((good, index) => fromGoodToBad.slice(index).map((bad) => [good, bad] as const)))(
    'of %s and %s is the second',
    (good, bad) => {
      expect([worstOf([good, bad]), worstOf([bad, good])]).toEqual([bad, bad])
    },
  )
})

describe('the status of a page', () => {
  test.each([
    ['OPERATIONAL', 'NONE', 'All systems operational'],
    ['UNDER_MAINTENANCE', 'MAINTENANCE', 'Service under maintenance'],
    ['DEGRADED_PERFORMANCE', 'MINOR', 'Partially degraded service'],
    ['PARTIAL_OUTAGE', 'MAJOR', 'Partial system outage'],
    ['MAJOR_OUTAGE', 'CRITICAL', 'Major system outage'],
  ] as const)('with its worst service at %s is %s', (worst, indicator, description) => {
    expect(pageStatus(['OPERATIONAL', worst], [])).toEqual({ indicator, description })
  })

  test.each([
    ['NONE', 'NONE'],
    ['MINOR', 'MINOR'],
    ['MAJOR', 'MAJOR'],
    ['CRITICAL', 'CRITICAL'],
  ] as const)('with an incident of impact %s that names no service is %s', (impact, indicator) => {
    expect(pageStatus(['OPERATIONAL'], [impact]).indicator).toBe(indicator)
  })

  const anyPage = [fc.array(anyStatus), fc.array(anyImpact)] as const
  const badness = (services: ServiceStatus[], impacts: IncidentImpact[]) =>
    ['NONE', 'MAINTENANCE', 'MINOR', 'MAJOR', 'CRITICAL'].indexOf(pageStatus(services, impacts).indicator)

  test('is one of the indicators, and good only when all is', () => {
    fc.assert(
      fc.property(...anyPage, (services, impacts) => {
        const { indicator } = pageStatus(services, impacts)
        expect(indicators).toContain(indicator)
        const allGood = services.every((each) => each === 'OPERATIONAL') && impacts.every((each) => each === 'NONE')
        expect(indicator === 'NONE').toBe(allGood)
      }),
    )
  })

  test('does not depend on the order of services and incidents', () => {
    fc.assert(
      fc.property(...anyPage, (services, impacts) => {
        expect(pageStatus(services.toReversed(), impacts.toReversed())).toEqual(pageStatus(services, impacts))
      }),
    )
  })

  test('never gets better by one more service or incident, and is as bad as the worst of two pages put together', () => {
    fc.assert(
      fc.property(...anyPage, ...anyPage, (services, impacts, moreServices, moreImpacts) => {
        const both = badness([...services, ...moreServices], [...impacts, ...moreImpacts])
        expect(both).toBe(Math.max(badness(services, impacts), badness(moreServices, moreImpacts)))
      }),
    )
  })
})
