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
  test('become services and monitors with keys of their ids', () => {
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
  ])('of version 2, %j is %j', (given, expected) => {
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
  ])('of version 3, %j is %j', (given, expected) => {
    expect(v3(given).monitors?.['uptimerobot-9']).toMatchObject(expected)
  })

  test.each([
    [{ status: 0 }, 'SKIPPED monitors Site: It is paused. Resume it first.'],
    [{ type: 6 }, 'SKIPPED monitors Site: Allclear has no monitors of kind 6.'],
    [{ id: '' }, 'SKIPPED monitors Site: It has no id.'],
    [{ type: 5 }, 'PARTLY monitors Site: It gets a new address: have the job report there.'],
    [{ http_username: 'ana' }, 'PARTLY monitors Site: It comes without its sign-in: the password is not there.'],
    [{ post_value: 'a=b' }, 'PARTLY monitors Site: It comes without the body that it sends.'],
  ])('%j is said', (given, note) => {
    expect(v2(given).notes).toEqual([note])
  })

  test.each(['', '[]', '{}', '{"stat":"fail","error":{"type":"invalid_parameter"}}'])('%j is refused', (text) => {
    expect(() => translateUptimeRobot(text)).toThrow(Unreadable)
  })
})
