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
  test('become services and monitors, with keys made from their ids', () => {
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
    [{ proxy_host: 'p.example', proxy_port: 3128 }, { http: { proxy: { url: 'http://p.example:3128' } } }],
  ])('%j becomes %j', (given, expected) => {
    expect(translated(given).monitors?.['betterstack-258338']).toMatchObject(expected)
  })

  test.each([
    [{ paused_at: '2026-01-01T00:00:00Z' }, 'PARTLY monitors Site: It is paused there, and will be paused here.'],
    [{ monitor_type: 'playwright' }, 'SKIPPED monitors Site: Allclear has no monitors of kind playwright.'],
    [{ monitor_type: 'imap', port: '993' }, 'PARTLY monitors Site: Only its port is probed.'],
  ])('%j is noted', (given, note) => {
    expect(translated(given).notes).toEqual([note])
  })

  test('notes that the list has more pages', () => {
    const more = { pagination: { next: 'https://uptime.betterstack.com/api/v2/monitors?page=2' } }
    expect(translated({}, more).notes[0]).toContain('The list has more pages')
  })

  test.each(['', '[]', '{"errors":"Invalid token"}'])('%j is refused', (text) => {
    expect(() => translateBetterStack(text)).toThrow(Unreadable)
  })
})

test('pages, reports and subscribers of Better Stack', () => {
  const item = (id: string | number, attributes: object) => ({ id: String(id), attributes })
  const { objects, records, notes } = translateBetterStack(
    JSON.stringify({
      data: [item(1, { url: 'https://a.example', pronounceable_name: 'API', monitor_type: 'status' })],
      status_pages: [
        item(10, { company_name: 'Acme', subdomain: 'acme', custom_domain: 'status.a.example' }),
        item(11, { company_name: 'Empty', subdomain: 'empty' }),
      ],
      sections: [item(20, { name: 'Core', position: 0, status_page_id: 10 })],
      resources: [
        item(30, { status_page_section_id: 20, resource_id: 1, resource_type: 'Monitor', public_name: 'Public API' }),
        item(31, { status_page_section_id: 20, resource_id: 5, resource_type: 'Heartbeat', public_name: 'Jobs' }),
      ],
      status_reports: [
        item(40, {
          ...{ title: 'Slow', report_type: 'manual', status_page_id: 10, starts_at: '2026-11-01T10:00:00Z' },
          ...{
            ends_at: '2026-11-01T11:00:00Z',
            affected_resources: [{ status_page_resource_id: '30', status: 'resolved' }],
          },
        }),
        item(41, {
          ...{
            title: 'Upgrade',
            report_type: 'maintenance',
            starts_at: '2026-12-01T10:00:00Z',
            ends_at: '2026-12-01T11:00:00Z',
          },
          affected_resources: [{ status_page_resource_id: '31', status: 'maintenance' }],
        }),
        item(42, {
          title: 'Now',
          report_type: 'manual',
          starts_at: '2026-11-02T10:00:00Z',
          affected_resources: [{ status_page_resource_id: '30', status: 'downtime' }],
        }),
      ],
      status_updates: [
        item(51, {
          ...{ message: 'Fixed', published_at: '2026-11-01T11:00:00Z', status_report_id: 40 },
          affected_resources: [{ status_page_resource_id: '30', status: 'resolved' }],
        }),
        item(50, {
          ...{ message: 'We look', published_at: '2026-11-01T10:00:00Z', status_report_id: 40 },
          affected_resources: [{ status_page_resource_id: '30', status: 'degraded' }],
        }),
      ],
      subscribers: [
        item(60, { email: 'ana@a.example', confirmed_at: '2026-01-01T00:00:00Z', status_page_resource_ids: [31] }),
        item(61, { email: 'eve@a.example', confirmed_at: null }),
      ],
    }),
  )
  const [api = '', jobs = ''] = [...objects.services.keys()]
  expect([...objects.services.values()]).toMatchObject([{ name: 'Public API' }, { name: 'Jobs' }])
  expect([...objects.groups.values()]).toEqual([{ name: 'Core' }])
  expect([...objects.pages.values()]).toEqual([{ slug: 'acme', name: 'Acme', services: [api, jobs] }])
  expect(records.incidents).toMatchObject([
    {
      ...{ id: '40', impact: 'MINOR', resolvedAt: '2026-11-01T11:00:00.000Z' },
      updates: [
        { status: 'INVESTIGATING', message: 'We look', services: [{ key: api, status: 'DEGRADED_PERFORMANCE' }] },
        { status: 'RESOLVED', message: 'Fixed', services: [] },
      ],
    },
    { id: '42', impact: 'CRITICAL', resolvedAt: null, updates: [{ services: [{ key: api, status: 'MAJOR_OUTAGE' }] }] },
  ])
  expect(records.maintenances).toMatchObject([{ id: '41', services: [jobs], endsAt: '2026-12-01T11:00:00.000Z' }])
  expect(records.subscribers).toEqual([{ address: 'ana@a.example', services: [jobs] }])
  expect(notes.map(({ section, name, reason }) => `${section} ${name}: ${reason}`)).toEqual([
    'pages Acme: Set up its domain here.',
    'pages Empty: None of its resources is imported.',
    'subscribers eve@a.example: It has not confirmed its subscription there.',
  ])
})
