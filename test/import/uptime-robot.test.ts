import { describe, expect, test } from 'vitest'
import { Unreadable } from '../../src/import/translation.ts'
import { translateUptimeRobot } from '../../src/import/uptime-robot.ts'
import { plainOf } from './setup.ts'

const v2 = (more: object) => {
  const monitor = { id: 777, friendly_name: 'Site', url: 'https://a.example/', type: 1, sub_type: '', port: '' }
  const monitors = [{ ...monitor, interval: 300, timeout: 30, status: 2, ...more }]
  return plainOf(translateUptimeRobot(JSON.stringify({ stat: 'ok', pagination: { total: 1 }, monitors })))
}
const v3 = (more: object) => {
  const monitor = { id: 9, friendlyName: 'Site', url: 'https://a.example/', type: 'HTTP', interval: 60, status: 'UP' }
  return plainOf(translateUptimeRobot(JSON.stringify({ data: [{ ...monitor, timeout: 10, ...more }] })))
}
const http = { url: 'https://a.example/' }

describe('monitors of UptimeRobot', () => {
  test('become services and monitors, with keys made from their ids', () => {
    const own = { name: 'Site', service: 'uptimerobot-777', intervalSeconds: 300, timeoutMs: 30_000, http }
    expect(v2({})).toEqual({
      services: { 'uptimerobot-777': { name: 'Site' } },
      monitors: { 'uptimerobot-777': own },
      notes: [],
    })
  })

  test.each([
    [
      { type: 2, keyword_type: 1, keyword_value: 'Error' },
      { http: { ...http, keyword: { text: 'Error', absent: true } } },
    ],
    [{ type: '2', keyword_type: '2', keyword_value: 'ok' }, { http: { ...http, keyword: { text: 'ok' } } }],
    [{ type: 3, url: '203.0.113.7' }, { ping: { host: '203.0.113.7' } }],
    [{ type: 4, sub_type: 99, port: 5432, url: 'db.example.com' }, { tcp: { host: 'db.example.com', port: 5432 } }],
    [{ type: 4, sub_type: 4, url: 'mail.example.com' }, { tcp: { host: 'mail.example.com', port: 25 } }],
    [{ type: 5 }, { heartbeat: {} }],
    [{ http_method: 1 }, { http: { ...http, method: 'HEAD' } }],
    [
      { http_method: 3, post_type: 1, post_value: { a: 'b c', d: 1 } },
      {
        http: {
          ...{ ...http, method: 'POST', body: 'a=b+c&d=1' },
          headers: [{ name: 'Content-Type', value: 'application/x-www-form-urlencoded' }],
        },
      },
    ],
    [
      {
        http_method: 3,
        post_type: 2,
        post_content_type: 1,
        post_value: '{"a":1}',
        custom_http_headers: { 'content-type': 'text/x' },
      },
      { http: { ...http, method: 'POST', body: '{"a":1}', headers: [{ name: 'content-type', value: 'text/x' }] } },
    ],
    [{ http_method: 1, post_value: 'a' }, { http: { ...http, method: 'HEAD' } }],
    [
      { http_username: 'ana', http_password: 'pass', custom_http_headers: { 'X-A': 'b' } },
      {
        http: {
          ...http,
          headers: [
            { name: 'X-A', value: 'b' },
            { name: 'Authorization', value: 'Basic YW5hOnBhc3M=' },
          ],
        },
      },
    ],
  ])('of version 2: %j becomes %j', (given, expected) => {
    expect(v2(given).monitors?.['uptimerobot-777']).toMatchObject(expected)
  })

  test.each([
    [
      { type: 'KEYWORD', keywordType: 'ALERT_NOT_EXISTS', keywordValue: 'ok' },
      { http: { ...http, keyword: { text: 'ok' } } },
    ],
    [
      { type: 'KEYWORD', keywordType: 'ALERT_EXISTS', keywordValue: 'no' },
      { http: { ...http, keyword: { text: 'no', absent: true } } },
    ],
    [{ type: 'PING', url: 'a.example' }, { ping: { host: 'a.example' } }],
    [{ type: 'PORT', url: 'a.example', port: 22 }, { tcp: { host: 'a.example', port: 22 } }],
    [{ type: 'HEARTBEAT' }, { heartbeat: {} }],
    [
      { successHttpResponseCodes: ['2xx', '3xx'], httpMethodType: 'POST' },
      { http: { ...http, method: 'POST', expectedStatus: ['2xx', '3xx'] } },
    ],
  ])('of version 3: %j becomes %j', (given, expected) => {
    expect(v3(given).monitors?.['uptimerobot-9']).toMatchObject(expected)
  })

  test.each([
    [{ status: 0 }, 'PARTLY monitors Site: It is paused there, and will be paused here.'],
    [{ type: 6 }, 'SKIPPED monitors Site: Allclear has no monitors of kind 6.'],
    [{ id: '' }, 'SKIPPED monitors Site: It has no id.'],
    [{ type: 5 }, 'PARTLY monitors Site: It gets a new address. Change the job to report there.'],
    [{ http_username: 'ana' }, 'PARTLY monitors Site: Its sign-in is not imported, because the password is missing.'],
  ])('%j is noted', (given, note) => {
    expect(v2(given).notes).toEqual([note])
  })

  test.each(['', '[]', '{}', '{"stat":"fail","error":{"type":"invalid_parameter"}}'])('%j is refused', (text) => {
    expect(() => translateUptimeRobot(text)).toThrow(Unreadable)
  })
})

describe('pages, windows and contacts of UptimeRobot', () => {
  const monitor = (id: number, more: object = {}) => ({
    ...{ id, friendly_name: `M${id}`, url: 'https://a.example/', type: 1, status: 2, interval: 300 },
    ...more,
  })
  const read = (file: object) => translateUptimeRobot(JSON.stringify(file))

  test('of version 2 become pages, maintenance, and channels for the monitors that use them', () => {
    const { objects, records, notes } = read({
      monitors: [
        monitor(1, { mwindows: [{ id: 5 }, { id: 6 }, { id: 7 }], alert_contacts: [{ id: '8' }, { id: '9' }] }),
        monitor(2),
      ],
      psps: [
        { id: 3, friendly_name: 'Our status', monitors: 0 },
        { id: 4, friendly_name: 'Some', monitors: [2, 99], custom_url: 'status.a.example' },
        { id: 5, friendly_name: 'Secret', monitors: [1], password: 'x' },
      ],
      mwindows: [
        { id: 5, type: 1, friendly_name: 'Once', start_time: 1_800_000_000, duration: 30, status: 1 },
        { id: 6, type: 3, friendly_name: 'Weekly', value: '1-7', start_time: '02:30', duration: 60, status: 1 },
        { id: 7, type: 4, friendly_name: 'Monthly', value: '1-15', start_time: '03:00', duration: 60, status: 0 },
        { id: 8, type: 2, friendly_name: 'Unused', start_time: '03:00', duration: 60, status: 1 },
      ],
      alert_contacts: [
        { id: '8', type: 2, friendly_name: 'Ops', value: 'ops@a.example' },
        { id: '9', type: 8, friendly_name: 'Phone', value: '+1' },
        { id: '10', type: 2, value: 'idle@a.example' },
      ],
    })
    expect([...objects.pages.values()]).toEqual([
      { slug: 'our-status', name: 'Our status', services: ['uptimerobot-1', 'uptimerobot-2'] },
      { slug: 'some', name: 'Some', services: ['uptimerobot-2'] },
    ])
    expect(records.maintenances).toMatchObject([
      {
        id: '5',
        title: 'Once',
        startsAt: '2027-01-15T08:00:00.000Z',
        endsAt: '2027-01-15T08:30:00.000Z',
        services: ['uptimerobot-1'],
      },
    ])
    expect(records.series).toMatchObject([
      {
        id: '6',
        rule: 'FREQ=WEEKLY;BYDAY=MO,SU',
        startsAt: '2024-01-01T02:30:00.000Z',
        durationMinutes: 60,
        timeZone: 'UTC',
      },
    ])
    expect([...objects.channels.values()]).toEqual([
      { name: 'Ops', monitors: ['uptimerobot-1'], when: ['DOWN', 'UP'], mail: { address: 'ops@a.example' } },
    ])
    expect(notes.map(({ section, name, reason }) => `${section} ${name}: ${reason}`)).toEqual([
      'pages Some: Set up its domain here.',
      'pages Secret: It has a password. Create the page here and set its access.',
      'maintenance Monthly: It is paused.',
      'maintenance Unused: None of its monitors is imported.',
      'channels Phone: Contacts of this kind are not imported.',
      'channels idle@a.example: None of the imported monitors uses it.',
    ])
  })

  test('of version 3 are read as well', () => {
    const { objects, records } = read({
      data: [
        {
          id: 1,
          friendlyName: 'M1',
          url: 'https://a.example/',
          type: 'HTTP',
          status: 'UP',
          maintenanceWindows: [{ id: 5 }],
        },
      ],
      psps: { data: [{ id: 3, friendlyName: 'Page', monitorIds: [1] }] },
      maintenance_windows: {
        data: [
          {
            id: 5,
            name: 'Monthly',
            interval: 'monthly',
            days: [1, -1],
            time: '03:00:00',
            duration: 15,
            status: 'ACTIVE',
          },
          {
            id: 6,
            name: 'Once',
            interval: 'once',
            date: '2026-12-01',
            time: '04:00:00',
            duration: 15,
            monitorIds: [1],
          },
        ],
      },
    })
    expect([...objects.pages.values()]).toMatchObject([{ services: ['uptimerobot-1'] }])
    expect(records.series).toMatchObject([{ rule: 'FREQ=MONTHLY;BYMONTHDAY=1,-1' }])
    expect(records.maintenances).toMatchObject([{ startsAt: '2026-12-01T04:00:00.000Z' }])
  })
})
