import { describe, expect, test } from 'vitest'
import { Unreadable } from '../../src/import/translation.ts'
import { translateUpptime } from '../../src/import/upptime.ts'
import { plainOf } from './setup.ts'

const translated = (text: string) => plainOf(translateUpptime(text))

describe('a configuration of Upptime', () => {
  test('becomes services, monitors and a page', () => {
    const { services, monitors, pages, notes } = translated(`
owner: acme
repo: upptime
sites:
  - name: Google
    url: https://www.google.com
  - name: API
    slug: api
    url: https://api.example.com/get?key=$MY_API_KEY
    method: POST
    headers: ["Authorization: Bearer $SECRET_2", "Content-Type: application/json", "broken"]
    body: '{ "password": "hello" }'
    expectedStatusCodes: [200, 404]
    maxResponseTime: 5000
    maxRedirects: 3
    __dangerous__disable_verify_peer: true
    __dangerous__body_down_if_text_missing: '"status":"UP"'
    __dangerous__body_down: "File not found"
    icon: https://example.com/favicon.ico
    assignees: [ana]
  - { name: Secret, url: $SECRET_SITE, __dangerous__body_down: "File not found" }
  - { name: Database, url: db.example.com, port: 5432, check: tcp-ping }
  - { name: Gate, url: gate.example.com, check: icmp-ping, ipv6: true }
  - { name: Socket, url: "wss://socket.example.com/live", check: ws }
  - { name: Certificate, url: example.com, check: ssl }
status-website:
  cname: status.example.com
  logoUrl: https://example.com/logo.svg
  name: Acme
  introTitle: "**Acme**"
  introMessage: Hello
workflowSchedule: { uptime: "*/10 * * * *", graphs: "0 0 * * *" }
notifications: [{ type: slack, webhook-url: $SLACK }]
`)
    expect(Object.values(monitors ?? {})).toMatchObject([
      {
        ...{ name: 'Google', intervalSeconds: 300, failureThreshold: 3 },
        http: { url: 'https://www.google.com', expectedStatus: ['200-208', '226', '300-308'] },
      },
      {
        http: {
          url: 'https://api.example.com/get?key=$' + '{MY_API_KEY}',
          method: 'POST',
          headers: [
            { name: 'Authorization', value: 'Bearer $' + '{SECRET_2}' },
            { name: 'Content-Type', value: 'application/json' },
          ],
          body: '{ "password": "hello" }',
          expectedStatus: ['200', '404'],
          degradedAboveMs: 5000,
          maxRedirects: 3,
          verifyCertificate: false,
          keyword: { text: '"status":"UP"' },
        },
      },
      { http: { url: '$' + '{SECRET_SITE}', keyword: { text: 'File not found', absent: true } } },
      { tcp: { host: 'db.example.com', port: 5432 } },
      { ping: { host: 'gate.example.com', ipVersion: 6 } },
      { websocket: { host: 'socket.example.com', port: 443, path: '/live' } },
    ])
    expect(Object.keys(services ?? {})).toHaveLength(6)
    expect(Object.keys(monitors ?? {})[1]).toBe('upptime-api')
    expect(Object.values(pages ?? {})).toMatchObject([{ slug: 'acme', name: 'Acme', description: '**Acme**\n\nHello' }])
    expect(notes).toEqual([
      'PARTLY monitors API: One of its headers is not “name: value” and is not imported.',
      'SKIPPED monitors Certificate: Allclear has no monitors for the check ssl.',
      'PARTLY monitors sites.__dangerous__body_down: It is not down by this text, because another one decides already. In API.',
      'PARTLY monitors sites.icon: The look of pages is not imported. In API.',
      'PARTLY monitors sites.assignees: Its assignees are not imported. In API.',
      'PARTLY pages status-website.cname: Set up its domain here. In Acme.',
      'PARTLY pages status-website.logoUrl: The look of pages is not imported. In Acme.',
      'PARTLY settings workflowSchedule.uptime: Its schedule is not imported: monitors here have an interval of five minutes.',
      'PARTLY settings workflowSchedule.graphs: This is a setting of Upptime’s repository.',
      'PARTLY channels notifications: Its notifications are not imported. Choose channels here. Its keys: type, webhook-url.',
    ])
  })

  test.each(['', 'sites: []', 'sites: 3', '[]', 'a: ['])('%j is refused', (text) => {
    expect(() => translateUpptime(text)).toThrow(Unreadable)
  })
})
