import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { daysOf, headline, sectionsOf } from '../../src/page/view.ts'
import { zoneOf } from '../../src/page/zone.ts'
import { pageStatus } from '../../src/status/shown-status.ts'

const statuses = ['OPERATIONAL', 'DEGRADED_PERFORMANCE', 'PARTIAL_OUTAGE', 'MAJOR_OUTAGE', 'UNDER_MAINTENANCE'] as const
type Status = (typeof statuses)[number]

const service = (name: string, status: Status = 'OPERATIONAL', groupId: string | null = null) => ({
  id: name,
  groupId,
  name,
  description: '',
  status,
})
const sentence = (of: readonly Status[], impacts: readonly ('NONE' | 'MINOR' | 'MAJOR' | 'CRITICAL')[] = []) => {
  const services = of.map((status, index) => service(['API', 'Shop', 'Mail', 'Files'][index] ?? '', status))
  return headline(pageStatus(of, impacts), services, impacts.length)
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
          const well = pageStatus(of, impacts).indicator === 'NONE'
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
    expect(sectionsOf(groups, services)[0]?.status).toBe('PARTIAL_OUTAGE')
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
