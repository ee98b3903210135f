import { describe, expect, test } from 'vitest'
import { translateStatuspage } from '../../src/import/statuspage.ts'
import { Unreadable } from '../../src/import/translation.ts'

describe('the summary of a Statuspage', () => {
  test('becomes groups, services and a page with those services', () => {
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
      'statuspage-b13yz5g2cw10': {
        ...{ name: 'API', group: 'statuspage-8kbf7d35c070', description: 'For apps' },
        status: 'PARTIAL_OUTAGE',
      },
      'statuspage-gz71k9r9tp4k': { name: 'Site', status: 'OPERATIONAL' },
    })
    expect(Object.fromEntries(objects.pages)).toEqual({
      'statuspage-kctbh9vrtdwd': {
        slug: 'umlaut-inc',
        name: 'Ümlaut Inc.',
        services: ['statuspage-b13yz5g2cw10', 'statuspage-gz71k9r9tp4k'],
      },
    })
    expect(notes.map(({ name, reason }) => `${name}: ${reason}`)).toEqual(['Slow: It has no time.'])
  })

  const component = (id: string, status: string) => ({
    code: id,
    name: id,
    old_status: 'operational',
    new_status: status,
  })
  const incident = {
    ...{ id: 'i1', name: 'Slow', impact: 'major', status: 'postmortem', page_id: 'p' },
    ...{ created_at: '2026-11-01T10:00:00.000-08:00', started_at: '2026-11-01T09:50:00.000-08:00' },
    resolved_at: '2026-11-01T11:00:00.000-08:00',
    components: [{ id: 'a', name: 'API', status: 'operational' }],
    incident_updates: [
      { status: 'postmortem', body: 'Old why', display_at: '2026-11-03T10:00:00Z' },
      {
        status: 'resolved',
        body: 'Fixed',
        display_at: '2026-11-01T11:00:00.000-08:00',
        affected_components: [component('a', 'operational')],
      },
      {
        ...{
          status: 'investigating',
          body: '<p>We <b>look</b>. <a href="https://a.example/x?a=1&amp;b=2">More</a></p>',
        },
        ...{ display_at: '2026-11-01T10:00:00.000-08:00', created_at: '2026-11-01T12:00:00.000-08:00' },
        affected_components: [component('a', 'partial_outage'), component('b', 'under_maintenance')],
      },
    ],
  }

  test('has incidents with their timeline, and maintenance', () => {
    const maintenance = {
      ...{ id: 'm1', name: 'Upgrade', impact: 'maintenance', status: 'completed', components: [{ id: 'a' }] },
      ...{ scheduled_for: '2026-11-02T01:00:00Z', scheduled_until: '2026-11-02T02:00:00Z' },
      incident_updates: [
        { status: 'completed', body: 'Done', display_at: '2026-11-02T01:50:00Z' },
        { status: 'scheduled', body: 'Soon', display_at: '2026-11-01T01:00:00Z' },
      ],
    }
    const { records, notes } = translateStatuspage(
      JSON.stringify({
        incidents: [incident],
        scheduled_maintenances: [maintenance, { id: 'm2', name: 'No end', scheduled_for: '2026-11-02T01:00:00Z' }],
      }),
    )
    expect(records.incidents).toEqual([
      {
        ...{ id: 'i1', title: 'Slow', impact: 'MAJOR' },
        ...{ startedAt: '2026-11-01T17:50:00.000Z', resolvedAt: '2026-11-01T19:00:00.000Z' },
        updates: [
          {
            ...{ at: '2026-11-01T18:00:00.000Z', status: 'INVESTIGATING' },
            message: 'We **look**. [More](https://a.example/x?a=1&b=2)',
            services: [{ key: 'statuspage-a', status: 'PARTIAL_OUTAGE' }],
          },
          {
            ...{ at: '2026-11-01T19:00:00.000Z', status: 'RESOLVED', message: 'Fixed' },
            services: [{ key: 'statuspage-a', status: 'OPERATIONAL' }],
          },
        ],
        postmortem: { message: 'Old why', publishedAt: '2026-11-03T10:00:00.000Z' },
      },
    ])
    expect(records.maintenances).toMatchObject([
      {
        ...{ id: 'm1', title: 'Upgrade', status: 'COMPLETED', services: ['statuspage-a'] },
        ...{ startsAt: '2026-11-02T01:00:00.000Z', endsAt: '2026-11-02T02:00:00.000Z' },
        updates: [
          { status: 'COMPLETED', message: 'Done' },
          { status: 'SCHEDULED', message: 'Soon' },
        ],
      },
    ])
    expect(notes.map(({ name, reason }) => `${name}: ${reason}`)).toEqual(['No end: It has no id or times.'])
  })

  test.each([
    // No update names services, so the first one affects those of the incident, with a status derived from its impact.
    [
      { incident_updates: incident.incident_updates.map(({ affected_components: _, ...update }) => update) },
      'PARTIAL_OUTAGE',
    ],
    [{ incident_updates: [], impact: 'critical' }, 'MAJOR_OUTAGE'],
    [{ incident_updates: [], impact: 'none' }, 'OPERATIONAL'],
  ])('with %j gives the services the status %s', (more, status) => {
    const { records } = translateStatuspage(JSON.stringify({ incidents: [{ ...incident, ...more }] }))
    expect(records.incidents[0]?.updates[0]?.services).toEqual([{ key: 'statuspage-a', status }])
  })

  test('has open incidents and the confirmed email subscribers', () => {
    const open = { ...incident, status: 'monitoring', resolved_at: null }
    const subscribers = [
      { id: 's1', mode: 'email', email: 'ana@a.example', components: null, quarantined_at: null },
      { id: 's2', mode: 'email', email: 'bob@a.example', components: ['a'] },
      { id: 's3', mode: 'email', email: 'eve@a.example', quarantined_at: '2026-01-01T00:00:00Z' },
      { id: 's4', mode: 'sms', phone_number: '555' },
      { id: 's5', mode: 'webhook', endpoint: 'https://a.example', email: 'ops@a.example' },
      { id: 's6', mode: 'pager', email: 'x@a.example' },
    ]
    const { records, notes } = translateStatuspage(
      JSON.stringify({ incidents: [open], subscribers, not_read: ['incidents'] }),
    )
    expect(records.incidents[0]?.resolvedAt).toBeNull()
    expect(records.subscribers).toEqual([
      { address: 'ana@a.example', services: [] },
      { address: 'bob@a.example', services: ['statuspage-a'] },
    ])
    expect(notes.map(({ section, name }) => `${section} ${name}`)).toEqual([
      'subscribers eve@a.example',
      'subscribers sms',
      'subscribers ops@a.example',
      'subscribers x@a.example',
      'incidents Older items',
    ])
  })

  test('can be the exported list of subscribers', () => {
    const { records, notes } = translateStatuspage(
      'type,email,quarantined_at,API\nemail,ana@a.example,,yes\nemail,eve@a.example,2026-01-01,\n',
    )
    expect(records.subscribers).toEqual([{ address: 'ana@a.example', services: ['API'] }])
    expect(notes).toMatchObject([{ section: 'subscribers' }])
  })

  test.each(['<html>', '{}', '{"components":{}}'])('refuses %s', (text) => {
    expect(() => translateStatuspage(text)).toThrow(Unreadable)
  })

  test('ignores hostile members', () => {
    const { objects } = translateStatuspage(
      '{"page":[],"components":[null,{"id":["x"],"name":3},{"__proto__":{"id":"a"}}]}',
    )
    expect(Object.values(objects).map(({ size }) => size)).toEqual([0, 0, 0, 0, 0, 0, 0])
  })
})
