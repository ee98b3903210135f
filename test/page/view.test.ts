import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { daysOf, headline, sectionsOf } from '../../src/page/view.ts'
import { zoneOf } from '../../src/page/zone.ts'
import type { ShownAs } from '../../src/status/shown-status.ts'
import { pageStatus } from '../../src/status/shown-status.ts'

const statuses = [
  'OPERATIONAL',
  'DEGRADED_PERFORMANCE',
  'PARTIAL_OUTAGE',
  'MAJOR_OUTAGE',
  'UNDER_MAINTENANCE',
  'UNKNOWN',
] as const

const service = (name: string, status: ShownAs = 'OPERATIONAL', groupId: string | null = null) => ({
  id: name,
  groupId,
  name,
  description: '',
  ...shows(status),
})
/** Silent services have been so since five past twelve and a minute later each. */
const shows = (shown: ShownAs, index = 0) => {
  const unknownSince = shown === 'UNKNOWN' ? new Date(Date.UTC(2026, 10, 20, 12, 5 + index)) : null
  return { shown, unknownSince, watched: shown === 'UNKNOWN' }
}
const sentence = (of: readonly ShownAs[], impacts: readonly ('NONE' | 'MINOR' | 'MAJOR' | 'CRITICAL')[] = []) => {
  const services = of.map((shown, index) => ({
    ...service(['API', 'Shop', 'Mail', 'Files'][index] ?? ''),
    ...shows(shown, index),
  }))
  return headline(pageStatus(services, impacts), services, impacts.length, zoneOf('UTC'))
}

describe('the headline', () => {
  test('says that all is well, and what is open all the same', () => {
    expect(sentence(['OPERATIONAL'])).toBe('All services are operational.')
    expect(sentence(['OPERATIONAL'], ['NONE'])).toBe('All services are operational, and one incident is open.')
    expect(sentence(['OPERATIONAL'], ['NONE', 'NONE'])).toBe('All services are operational, and 2 incidents are open.')
  })

  test('claims nothing of services where there are none', () => {
    expect(sentence([])).toBe('No incidents are open.')
    expect(sentence([], ['NONE'])).toBe('One incident is open.')
    expect(sentence([], ['NONE', 'NONE'])).toBe('2 incidents are open.')
    expect(sentence([], ['CRITICAL'])).toBe('Major system outage.')
  })

  test('names the services that are worst off while they are few', () => {
    expect(sentence(['MAJOR_OUTAGE', 'DEGRADED_PERFORMANCE'])).toBe('There is a major outage of API.')
    expect(sentence(['PARTIAL_OUTAGE', 'PARTIAL_OUTAGE', 'OPERATIONAL'])).toBe(
      'There is a partial outage of API and Shop.',
    )
    expect(sentence(['UNDER_MAINTENANCE', 'OPERATIONAL'])).toBe('Maintenance of API is under way.')
    expect(sentence(['DEGRADED_PERFORMANCE'])).toBe('Performance of API is degraded.')
  })

  test('counts them when they are many', () => {
    expect(sentence(['MAJOR_OUTAGE', 'MAJOR_OUTAGE', 'MAJOR_OUTAGE', 'OPERATIONAL'])).toBe(
      'There is a major outage of 3 of 4 services.',
    )
    expect(sentence(['MAJOR_OUTAGE', 'MAJOR_OUTAGE', 'MAJOR_OUTAGE'])).toBe(
      'There is a major outage of all 3 services.',
    )
  })

  test('says since when monitoring has been silent, in place of that all is well, and rather what is worse', () => {
    expect(sentence(['UNKNOWN', 'UNKNOWN'])).toBe('Monitoring has been silent since 20 Nov 2026, 12:06 UTC.')
    // Nobody watches the other.
    expect(sentence(['UNKNOWN', 'OPERATIONAL'])).toBe('Monitoring has been silent since 20 Nov 2026, 12:05 UTC.')
    expect(sentence(['UNKNOWN', 'MAJOR_OUTAGE'])).toBe('There is a major outage of Shop.')
    expect(sentence(['UNKNOWN'], ['MAJOR'])).toBe('Partial system outage.')
    const services = [service('API', 'UNKNOWN'), { ...service('Shop'), watched: true }]
    expect(headline(pageStatus(services, []), services, 0, zoneOf('Europe/Berlin'))).toBe(
      'Monitoring of API has been silent since 20 Nov 2026, 13:05 CET.',
    )
  })

  test('says what an incident says that names no service', () => {
    expect(sentence(['OPERATIONAL'], ['MAJOR'])).toBe('Partial system outage.')
  })

  test('is one sentence, and never says that all is well when it is not', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...statuses), { maxLength: 4 }),
        fc.array(fc.constantFrom('NONE', 'MINOR', 'MAJOR', 'CRITICAL'), { maxLength: 3 }),
        (of, impacts) => {
          const said = sentence(of, impacts)
          expect(said).toMatch(/^[^.]+\.$/)
          const services = of.map((shown, index) => shows(shown, index))
          const well = pageStatus(services, impacts).indicator === 'NONE'
          expect(/operational|No incidents|incidents? (is|are) open/.test(said)).toBe(well)
        },
      ),
    )
  })
})

describe('services', () => {
  const groups = ['a', 'b', 'empty'].map((id) => ({ id, name: id, description: '' }))

  test('stand under their groups in the owner’s order, those without one first, and empty groups are left out', () => {
    const services = [
      service('1', undefined, 'b'),
      service('2'),
      service('3', undefined, 'a'),
      service('4', undefined, 'b'),
    ]
    const shown = sectionsOf(groups, services).map((section) => [
      section.group?.id ?? null,
      section.services.map(({ id }) => id),
    ])
    expect(shown).toEqual([
      [null, ['2']],
      ['a', ['3']],
      ['b', ['1', '4']],
    ])
  })

  test('give their group the worst of their statuses', () => {
    const services = [service('1', 'DEGRADED_PERFORMANCE', 'a'), service('2', 'PARTIAL_OUTAGE', 'a')]
    expect(sectionsOf(groups, services)[0]?.shown).toBe('PARTIAL_OUTAGE')
  })
})

test('things stand under the day on which they began in the page’s time zone', () => {
  const times = ['2026-11-20T23:30:00Z', '2026-11-20T22:30:00Z', '2026-11-19T12:00:00Z'].map((at) => new Date(at))
  const keys = (zone: string) => daysOf(times, zoneOf(zone), (at) => at).map((day) => [day.key, day.begun.length])
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
