import { describe, expect, test } from 'vitest'
import { translateCachet } from '../../src/import/cachet.ts'
import { translateHetrixTools } from '../../src/import/hetrix-tools.ts'
import { translateInstatus } from '../../src/import/instatus.ts'
import { Unreadable } from '../../src/import/translation.ts'
import { plainOf } from './setup.ts'

const read = <T>(translate: (text: string) => T, value: unknown) => translate(JSON.stringify(value))

describe('components of Cachet', () => {
  test('version 2: an API response, and several in one file', () => {
    const data = [
      { id: 1, name: 'API', description: 'For apps', link: '', status: 1, order: 0, group_id: 2, enabled: true },
      { id: 3, name: 'Old', status: 1, group_id: 0, enabled: false },
      { id: 4, name: 'Site', status: '3', group_id: 0, enabled: 1, link: 'https://a.example' },
    ]
    const notes = ['SKIPPED services Old: It is not enabled.', 'PARTLY services Site: Its link is not imported.']
    const services = {
      'cachet-1': { name: 'API', description: 'For apps', status: 'OPERATIONAL' },
      'cachet-4': { name: 'Site', status: 'PARTIAL_OUTAGE' },
    }
    expect(plainOf(read(translateCachet, { meta: {}, data }))).toEqual({ services, notes })
    const file = {
      components: { data },
      groups: { data: [{ id: 2, name: 'Core' }] },
      incidents: [{ id: 1, name: 'Slow' }],
    }
    expect(plainOf(read(translateCachet, file))).toEqual({
      groups: { 'cachet-2': { name: 'Core' } },
      services: { ...services, 'cachet-1': { ...services['cachet-1'], group: 'cachet-2' } },
      notes: [...notes, 'SKIPPED incidents Slow: It has no id or time.'],
    })
  })

  test('version 3: JSON:API with its groups', () => {
    const data = [
      {
        id: '1',
        type: 'components',
        attributes: { name: 'API', description: null, status: { human: 'Operational', value: 1 }, enabled: true },
        relationships: { group: { data: { type: 'componentGroups', id: '2' } } },
      },
    ]
    const included = [{ id: '2', type: 'componentGroups', attributes: { name: 'Core' } }]
    expect(plainOf(read(translateCachet, { data, included }))).toEqual({
      groups: { 'cachet-2': { name: 'Core' } },
      services: { 'cachet-1': { name: 'API', group: 'cachet-2', status: 'OPERATIONAL' } },
      notes: [],
    })
  })
})

test('components of Instatus become services, with their groups', () => {
  const components = [
    { id: 'ck1', name: 'Core', status: 'OPERATIONAL', isParent: true },
    {
      id: 'ck2',
      name: { default: 'API' },
      description: { default: 'For apps' },
      status: 'OPERATIONAL',
      group: { id: 'ck1', name: 'Core' },
    },
    { id: 'ck3', name: 'Site', status: 'PARTIALOUTAGE' },
    { name: 'Nothing' },
  ]
  const expected = {
    groups: { 'instatus-ck1': { name: 'Core' } },
    services: {
      'instatus-ck2': { name: 'API', description: 'For apps', group: 'instatus-ck1', status: 'OPERATIONAL' },
      'instatus-ck3': { name: 'Site', status: 'PARTIAL_OUTAGE' },
    },
    notes: ['SKIPPED services Nothing: It has no id.'],
  }
  expect(plainOf(read(translateInstatus, components))).toEqual(expected)
  expect(plainOf(read(translateInstatus, { components }))).toEqual(expected)
})

test('incidents, maintenance, subscribers and the page of Instatus', () => {
  const { objects, records, notes } = read(translateInstatus, {
    page_id: 'p1',
    pages: [
      { id: 'p0', name: 'Other', subdomain: 'other' },
      { id: 'p1', name: { default: 'Acme' }, subdomain: 'acme' },
    ],
    components: [{ id: 'c1', name: 'API' }],
    incidents: [
      {
        ...{ id: 'i1', name: 'Slow', status: 'RESOLVED', impact: 'PARTIALOUTAGE', components: [{ id: 'c1' }] },
        ...{ started: '2026-11-01T10:00:00.000Z', resolved: '2026-11-01T11:00:00.000Z' },
        updates: [
          { status: 'INVESTIGATING', message: 'We look', started: '2026-11-01T10:00:00.000Z' },
          { status: 'RESOLVED', messageHtml: '<p>Fixed</p>', started: '2026-11-01T11:00:00.000Z' },
        ],
      },
    ],
    maintenances: [
      {
        id: 'm1',
        name: 'Upgrade',
        status: 'NOTSTARTEDYET',
        start: '2026-12-01T10:00:00.000Z',
        duration: 30,
        components: ['c1'],
      },
    ],
    subscribers: [
      { id: 's1', email: 'ana@a.example', confirmed: true, all: true },
      { id: 's2', email: 'bob@a.example', confirmed: true, all: false, components: ['c1'] },
      { id: 's3', email: 'eve@a.example', confirmed: false, all: true },
      { id: 's4', phone: '+1', confirmed: true },
      { id: 's5', webhook: 'https://a.example', confirmed: true },
    ],
  })
  expect([...objects.pages.values()]).toEqual([{ slug: 'acme', name: 'Acme', services: ['instatus-c1'] }])
  expect(records.incidents).toMatchObject([
    {
      ...{ id: 'i1', impact: 'MAJOR', resolvedAt: '2026-11-01T11:00:00.000Z' },
      updates: [
        { status: 'INVESTIGATING', services: [{ key: 'instatus-c1', status: 'PARTIAL_OUTAGE' }] },
        { status: 'RESOLVED', message: 'Fixed', services: [] },
      ],
    },
  ])
  expect(records.maintenances).toMatchObject([
    { id: 'm1', status: 'SCHEDULED', services: ['instatus-c1'], endsAt: '2026-12-01T10:30:00.000Z' },
  ])
  expect(records.subscribers.map(({ address }) => address)).toEqual(['ana@a.example', 'bob@a.example'])
  expect(notes.map(({ reason }) => reason.slice(0, 20))).toEqual([
    'The components are n',
    'It has not confirmed',
    'SMS is not supported',
    'Webhooks are not imp',
  ])
})

test('targets of HetrixTools become blacklist monitors without services', () => {
  const monitors = [
    { id: 'a1', name: 'Mail', type: 'ipv4', target: '203.0.113.7', status: 'active', listed: [] },
    { id: 'b2', name: '', type: 'domain', target: 'example.com' },
    { id: 'c3', name: 'Net', type: 'ipv4', target: '203.0.113.0/24' },
    { id: 'd4', name: 'Empty' },
  ]
  const expected = {
    monitors: {
      'hetrixtools-a1': { name: 'Mail', blacklist: { target: '203.0.113.7' } },
      'hetrixtools-b2': { name: 'example.com', blacklist: { target: 'example.com' } },
    },
    notes: [
      'SKIPPED monitors Net: It is a network, but a monitor here watches one address.',
      'SKIPPED monitors Empty: It has no target.',
    ],
  }
  expect(plainOf(read(translateHetrixTools, { monitors, meta: {} }))).toEqual(expected)
  expect(plainOf(read(translateHetrixTools, monitors))).toEqual(expected)
})

test.each([[translateCachet], [translateInstatus], [translateHetrixTools]])('%o refuses anything else', (translate) => {
  for (const text of ['', '[]', '{}', '{"data":[]}', '{"components":1}', '[{}]', 'null']) {
    expect(() => translate(text)).toThrow(Unreadable)
  }
})
