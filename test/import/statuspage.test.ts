import { describe, expect, test } from 'vitest'
import { translateStatuspage } from '../../src/import/statuspage.ts'
import { Unreadable } from '../../src/import/translation.ts'

describe('the summary of a Statuspage', () => {
  test('becomes groups, services and a page with these services', () => {
    const { objects, notes } = translateStatuspage(
      JSON.stringify({
        page: { id: 'kctbh9vrtdwd', name: 'Ümlaut Inc.', url: 'https://status.example.com', time_zone: 'Etc/UTC' },
        components: [
          {
            id: 'b13yz5g2cw10',
            name: 'API',
            status: 'partial_outage',
            group: false,
            group_id: '8kbf7d35c070',
            description: 'For apps',
          },
          {
            id: '8kbf7d35c070',
            name: 'Core',
            status: 'partial_outage',
            group: true,
            group_id: null,
            description: null,
            components: ['b13yz5g2cw10'],
          },
          { id: 'gz71k9r9tp4k', name: 'Site', status: 'operational', group: false, group_id: null },
        ],
        incidents: [{ id: 'x', name: 'Slow' }],
        scheduled_maintenances: [],
        status: { indicator: 'minor' },
      }),
    )
    expect(Object.fromEntries(objects.groups)).toEqual({ 'statuspage-8kbf7d35c070': { name: 'Core' } })
    expect(Object.fromEntries(objects.services)).toEqual({
      'statuspage-b13yz5g2cw10': { name: 'API', group: 'statuspage-8kbf7d35c070', description: 'For apps' },
      'statuspage-gz71k9r9tp4k': { name: 'Site' },
    })
    expect(Object.fromEntries(objects.pages)).toEqual({
      'statuspage-kctbh9vrtdwd': {
        slug: 'umlaut-inc',
        name: 'Ümlaut Inc.',
        services: ['statuspage-b13yz5g2cw10', 'statuspage-gz71k9r9tp4k'],
      },
    })
    expect(notes.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([
      'API: Its status there (partial outage) does not come along.',
      'Slow: It does not come along.',
    ])
  })

  test.each(['<html>', '{}', '{"components":{}}'])('refuses %s', (text) => {
    expect(() => translateStatuspage(text)).toThrow(Unreadable)
  })

  test('reads hostile members as absent', () => {
    const { objects } = translateStatuspage(
      '{"page":[],"components":[null,{"id":["x"],"name":3},{"__proto__":{"id":"a"}}]}',
    )
    expect(Object.values(objects).map(({ size }) => size)).toEqual([0, 0, 0, 0, 0, 0, 0])
  })
})
