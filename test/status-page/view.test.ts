import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY } from '../../src/core/time.ts'
import { type Language, wordsOf } from '../../src/language/catalogue.ts'
import type { ShownStatus, StatusBasis } from '../../src/status/service/service-status.ts'
import { pageStatus } from '../../src/status/service/shown-status.ts'
import { zoneOf } from '../../src/status-page/time-format.ts'
import {
  daysWithoutIncident,
  groupByDay,
  groupLabel,
  groupServices,
  headline,
  nextOfEach,
  pageLabel,
  serviceLabel,
  shortLabel,
} from '../../src/status-page/view.ts'

const statuses = [
  'OPERATIONAL',
  'DEGRADED_PERFORMANCE',
  'PARTIAL_OUTAGE',
  'MAJOR_OUTAGE',
  'UNDER_MAINTENANCE',
  'UNKNOWN',
] as const

const service = (name: string, status: ShownStatus = 'OPERATIONAL', groupId: string | null = null) => ({
  id: name,
  groupId,
  name,
  description: '',
  ...shows(status),
})
/** The first silent service has no data since 12:05, each following one since a minute later. */
const shows = (shown: ShownStatus, index = 0) => {
  const unknownSince = shown === 'UNKNOWN' ? new Date(Date.UTC(2026, 10, 20, 12, 5 + index)) : null
  return {
    shown,
    unknownSince,
    watched: shown === 'UNKNOWN',
    basis: unknownSince ? ('SILENT' as const) : ('OWNER' as const),
  }
}
const words = wordsOf('EN')
const sentence = (of: readonly ShownStatus[], impacts: readonly ('NONE' | 'MINOR' | 'MAJOR' | 'CRITICAL')[] = []) => {
  const services = of.map((shown, index) => ({
    ...service(['API', 'Shop', 'Mail', 'Files'][index] ?? ''),
    ...shows(shown, index),
  }))
  return headline({ status: pageStatus(services, impacts), services, incidents: impacts }, zoneOf('UTC'), words)
}

const basis = (basis: StatusBasis) =>
  ({ ...service('API'), shown: 'UNKNOWN', basis, watched: basis !== 'UNSTATED' }) as const
const unstated = basis('UNSTATED')
const pending = { ...basis('PENDING'), name: 'Shop' }
const silent = { ...basis('SILENT'), name: 'Mail', unknownSince: new Date(Date.UTC(2026, 10, 20, 12, 5)) }

describe('a service whose status nobody has stated', () => {
  type Services = readonly Parameters<typeof pageStatus>[0][number][]
  const all = [unstated, pending, silent, service('Files')] as const

  test.each<[Language, label: string, headline: string]>([
    ['EN', 'No status yet', 'No status yet: API'],
    ['DE', 'Noch kein Status', 'Noch kein Status: API'],
    ['FR', 'État pas encore communiqué', 'État pas encore communiqué : API'],
    ['JA', 'ステータス未公表', 'ステータス未公表：API'],
  ])('says so in %s, and waits for no result', (language, label, sentence) => {
    const own = wordsOf(language)
    const zone = zoneOf('UTC', own)
    expect([serviceLabel(unstated, zone, own), shortLabel(unstated, own)]).toEqual([label, label])
    expect(groupLabel([unstated, service('Files')], own)).toBe(label)
    const facts = { status: pageStatus([unstated], []), services: [unstated], incidents: [] }
    expect([pageLabel(facts, own), headline(facts, zone, own)]).toEqual([label, sentence])
  })

  test.each<[services: Services, label: string, headline: string]>([
    [[all[0], all[3]], 'No status yet', 'No status yet: API'],
    [[all[0], all[1], all[3]], 'Waiting for first result', 'Waiting for first result: Shop'],
    [[all[0], all[2], all[3]], 'No data', 'No monitoring data since 20 Nov 2026, 12:05 UTC'],
    [all, 'No data', 'No data since 20 Nov 2026, 12:05 UTC: Mail'],
    [[all[0], { ...all[3], ...shows('MAJOR_OUTAGE') }], 'Major outage', 'Major outage: Files'],
  ])('counts less than a service that is watched (case %#)', (services, label, sentence) => {
    const facts = { status: pageStatus(services, []), services: services as typeof all, incidents: [] }
    expect([pageLabel(facts, words), headline(facts, zoneOf('UTC'), words)]).toEqual([label, sentence])
  })
})

test.each<[Language, none: string, one: string]>([
  ['EN', 'No open incidents', 'One incident is open'],
  ['DE', 'Keine offenen Störungen', 'Eine Störung ist offen'],
])('a page without services says the same in its headline and its label in %s', (language, none, one) => {
  const own = wordsOf(language)
  for (const [incidents, said] of [[[], none] as const, [['NONE'], one] as const]) {
    const facts = { status: pageStatus([], incidents), services: [], incidents }
    expect([pageLabel(facts, own), headline(facts, zoneOf('UTC', own), own)]).toEqual([said, said])
  }
})

describe('the headline', () => {
  test('says that all services are operational, and counts open incidents', () => {
    expect(sentence(['OPERATIONAL'])).toBe('All services are operational')
    expect(sentence(['OPERATIONAL'], ['NONE'])).toBe('All services are operational, one incident is open')
    expect(sentence(['OPERATIONAL'], ['NONE', 'NONE'])).toBe('All services are operational, 2 incidents are open')
  })

  test('mentions no services when there are none', () => {
    expect(sentence([])).toBe('No open incidents')
    expect(sentence([], ['NONE'])).toBe('One incident is open')
    expect(sentence([], ['NONE', 'NONE'])).toBe('2 incidents are open')
    expect(sentence([], ['CRITICAL'])).toBe('Major outage')
  })

  test('names up to two services with the worst status', () => {
    expect(sentence(['MAJOR_OUTAGE', 'DEGRADED_PERFORMANCE'])).toBe('Major outage: API')
    expect(sentence(['PARTIAL_OUTAGE', 'PARTIAL_OUTAGE', 'OPERATIONAL'])).toBe('Partial outage: API and Shop')
    expect(sentence(['UNDER_MAINTENANCE', 'OPERATIONAL'])).toBe('Under maintenance: API')
    expect(sentence(['DEGRADED_PERFORMANCE'])).toBe('Degraded performance: API')
  })

  test('counts more than two services', () => {
    expect(sentence(['MAJOR_OUTAGE', 'MAJOR_OUTAGE', 'MAJOR_OUTAGE', 'OPERATIONAL'])).toBe(
      'Major outage: 3 of 4 services',
    )
    expect(sentence(['MAJOR_OUTAGE', 'MAJOR_OUTAGE', 'MAJOR_OUTAGE'])).toBe('Major outage: all 3 services')
  })

  test('says since when there is no monitoring data, unless a worse status is known', () => {
    expect(sentence(['UNKNOWN', 'UNKNOWN'])).toBe('No monitoring data since 20 Nov 2026, 12:06 UTC')
    // The other service has no monitor.
    expect(sentence(['UNKNOWN', 'OPERATIONAL'])).toBe('No monitoring data since 20 Nov 2026, 12:05 UTC')
    expect(sentence(['UNKNOWN', 'MAJOR_OUTAGE'])).toBe('Major outage: Shop')
    expect(sentence(['UNKNOWN'], ['MAJOR'])).toBe('Partial outage')
    const services = [service('API', 'UNKNOWN'), { ...service('Shop'), watched: true }]
    expect(
      headline({ status: pageStatus(services, []), services, incidents: [] }, zoneOf('Europe/Berlin'), words),
    ).toBe('No data since 20 Nov 2026, 13:05 CET: API')
  })

  test('shows the impact of an incident that affects no service', () => {
    expect(sentence(['OPERATIONAL'], ['MAJOR'])).toBe('Partial outage')
  })

  test('never says that all services are operational when they are not', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...statuses), { maxLength: 4 }),
        fc.array(fc.constantFrom('NONE', 'MINOR', 'MAJOR', 'CRITICAL'), { maxLength: 3 }),
        (of, impacts) => {
          const text = sentence(of, impacts)
          expect(text).toMatch(/^[^.]+$/)
          const services = of.map((shown, index) => shows(shown, index))
          const well = pageStatus(services, impacts).indicator === 'NONE'
          expect(/operational|No open incidents|incidents? (is|are) open/.test(text)).toBe(well)
        },
      ),
    )
  })
})

describe('services', () => {
  const groups = ['a', 'b', 'empty'].map((id) => ({ id, name: id, description: '' }))

  test('are grouped in the owner’s order, services without a group first, without empty groups', () => {
    const services = [
      service('1', undefined, 'b'),
      service('2'),
      service('3', undefined, 'a'),
      service('4', undefined, 'b'),
    ]
    const shown = groupServices(groups, services).map((section) => [
      section.group?.id ?? null,
      section.services.map(({ id }) => id),
    ])
    expect(shown).toEqual([
      [null, ['2']],
      ['a', ['3']],
      ['b', ['1', '4']],
    ])
  })

  test('give their group their worst status', () => {
    const services = [service('1', 'DEGRADED_PERFORMANCE', 'a'), service('2', 'PARTIAL_OUTAGE', 'a')]
    expect(groupServices(groups, services)[0]?.shown).toBe('PARTIAL_OUTAGE')
  })
})

test('items are grouped by the day on which they started in the page’s time zone', () => {
  const times = ['2026-11-20T23:30:00Z', '2026-11-20T22:30:00Z', '2026-11-19T12:00:00Z'].map((at) => new Date(at))
  const keys = (zone: string) => groupByDay(times, zoneOf(zone), (at) => at).map((day) => [day.key, day.items.length])
  expect(keys('UTC')).toEqual([
    ['2026-11-20', 2],
    ['2026-11-19', 1],
  ])
  expect(keys('Europe/Berlin')).toEqual([
    ['2026-11-21', 1],
    ['2026-11-20', 1],
    ['2026-11-19', 1],
  ])
})

test.each([
  ['just created', {}, 0, null],
  ['almost a day', {}, 0.999, null],
  ['a day', {}, 1, 1],
  ['whole days only', {}, 12.9, 12],
  ['an open incident', { incidents: [{}] }, 12, null],
  ['no services', { services: [] }, 12, null],
  ['a service in trouble', { status: { shown: 'DEGRADED_PERFORMANCE' } }, 12, null],
  ['silent monitors', { status: { shown: 'UNKNOWN' } }, 12, null],
] as const)('days without an incident: %s', (_, facts, days, expected) => {
  const now = new Date('2026-11-20T12:00:00Z')
  const withoutIncidentSince = new Date(now.getTime() - days * DAY)
  const calm = { status: { shown: 'OPERATIONAL' }, services: [{}], incidents: [], withoutIncidentSince } as const
  expect(daysWithoutIncident({ ...calm, ...facts }, now)).toBe(expected)
})

test('of each repeating maintenance, only the next date is upcoming', () => {
  const dates = [
    ['1', 'weekly'],
    ['2', null],
    ['3', 'daily'],
    ['4', 'weekly'],
    ['5', null],
    ['6', 'daily'],
  ] as const
  const upcoming = dates.map(([id, seriesId]) => ({ id, seriesId }))
  expect(nextOfEach(upcoming).map(({ id }) => id)).toEqual(['1', '2', '3', '5'])
  expect(nextOfEach([])).toEqual([])
})
