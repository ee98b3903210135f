import { describe, expect, test } from 'vitest'
import { translateBetterStack } from '../../src/import/better-stack.ts'
import { Unreadable } from '../../src/import/translation.ts'
import { plainOf } from './setup.ts'

const translated = (attributes: object, more: object = {}) => {
  const own = { url: 'https://a.example', pronounceable_name: 'Site', monitor_type: 'status', check_frequency: 180 }
  const data = [
    { id: '258338', type: 'monitor', attributes: { ...own, request_timeout: 15, verify_ssl: true, ...attributes } },
  ]
  return plainOf(translateBetterStack(JSON.stringify({ data, pagination: { next: null }, ...more })))
}
const http = { url: 'https://a.example' }

describe('monitors of Better Stack', () => {
  test('become services and monitors with keys of their ids', () => {
    const own = { name: 'Site', service: 'betterstack-258338', intervalSeconds: 180, timeoutMs: 15_000, http }
    expect(translated({ http_method: 'get' })).toEqual({
      services: { 'betterstack-258338': { name: 'Site' } },
      monitors: { 'betterstack-258338': own },
      notes: [],
    })
  })

  test.each([
    [
      { monitor_type: 'expected_status_code', expected_status_codes: [200, 204] },
      { http: { ...http, expectedStatus: ['200', '204'] } },
    ],
    [{ monitor_type: 'keyword', required_keyword: 'ok' }, { http: { ...http, keyword: { text: 'ok' } } }],
    [
      { monitor_type: 'keyword_absence', required_keyword: 'Error' },
      { http: { ...http, keyword: { text: 'Error', absent: true } } },
    ],
    [{ monitor_type: 'ping', url: '203.0.113.7' }, { ping: { host: '203.0.113.7' } }],
    [
      { monitor_type: 'tcp', url: 'db.example.com', port: '5432', request_timeout: 5000 },
      { tcp: { host: 'db.example.com', port: 5432 }, timeoutMs: 5000 },
    ],
    [{ monitor_type: 'smtp', url: 'mail.example.com', port: '25' }, { tcp: { host: 'mail.example.com', port: 25 } }],
    [
      {
        http_method: 'post',
        request_body: 'a=b',
        request_headers: [{ id: '1', name: 'X-A', value: 'b' }],
        auth_username: 'ana',
        auth_password: 'pass',
        verify_ssl: false,
        follow_redirects: false,
        ssl_expiration: 14,
      },
      {
        http: {
          ...{ ...http, method: 'POST', body: 'a=b', verifyCertificate: false, maxRedirects: 0, certificateDays: 14 },
          headers: [
            { name: 'X-A', value: 'b' },
            { name: 'Authorization', value: 'Basic YW5hOnBhc3M=' },
          ],
        },
      },
    ],
  ])('%j is %j', (given, expected) => {
    expect(translated(given).monitors?.['betterstack-258338']).toMatchObject(expected)
  })

  test.each([
    [{ paused_at: '2026-01-01T00:00:00Z' }, 'SKIPPED monitors Site: It is paused. Resume it first.'],
    [{ monitor_type: 'playwright' }, 'SKIPPED monitors Site: Allclear has no monitors of kind playwright.'],
    [{ monitor_type: 'imap', port: '993' }, 'PARTLY monitors Site: Only its port is checked.'],
    [{ proxy_host: 'p.example' }, 'PARTLY monitors Site: It is checked directly, not by its proxy.'],
  ])('%j is said', (given, note) => {
    expect(translated(given).notes).toEqual([note])
  })

  test('further pages of the list are said', () => {
    const more = { pagination: { next: 'https://uptime.betterstack.com/api/v2/monitors?page=2' } }
    expect(translated({}, more).notes[0]).toContain('The list has more pages')
  })

  test.each(['', '[]', '{"errors":"Invalid token"}'])('%j is refused', (text) => {
    expect(() => translateBetterStack(text)).toThrow(Unreadable)
  })
})
