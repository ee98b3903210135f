import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { translateOpenStatus } from '../../src/import/open-status.ts'
import { Unreadable } from '../../src/import/translation.ts'
import { plainOf } from './setup.ts'

const translated = (more: object, request: object = {}) =>
  plainOf(
    translateOpenStatus(
      stringify({
        'api-health': {
          ...{ name: 'API', frequency: '30s', regions: ['fra'], active: true, kind: 'http', retry: 2, timeout: 10_000 },
          request: { url: 'https://a.example', method: 'GET', ...request },
          ...more,
        },
      }),
    ),
  )
const http = { url: 'https://a.example' }
const KEY = 'openstatus-api-health'

describe('monitors of OpenStatus', () => {
  test('become services and monitors, with keys made from their ids', () => {
    const { services, monitors, notes } = translated({ description: 'For apps' })
    const [key = ''] = Object.keys(monitors ?? {})
    expect(key).toMatch(new RegExp(`^${KEY}`))
    expect([services?.[key], notes]).toEqual([{ name: 'API', description: 'For apps' }, []])
    const settings = { intervalSeconds: 30, timeoutMs: 10_000, failureThreshold: 3 }
    expect(monitors?.[key]).toEqual({ name: 'API', service: key, ...settings, http })
  })

  test.each([
    [{ kind: 'tcp', request: { host: 'db.example.com', port: 5432 } }, { tcp: { host: 'db.example.com', port: 5432 } }],
    [
      { request: { ...http, method: 'POST', headers: { 'X-A': 'b' }, body: '{}', followRedirects: false } },
      { http: { ...http, method: 'POST', headers: [{ name: 'X-A', value: 'b' }], body: '{}', maxRedirects: 0 } },
    ],
    [{ degradedAfter: 500 }, { http: { ...http, degradedAboveMs: 500 } }],
    [
      { assertions: [{ kind: 'statusCode', compare: 'eq', target: 204 }] },
      { http: { ...http, expectedStatus: ['204'] } },
    ],
    [
      { assertions: [{ kind: 'textBody', compare: 'contains', target: 'ok' }] },
      { http: { ...http, keyword: { text: 'ok' } } },
    ],
    [
      { assertions: [{ kind: 'textBody', compare: 'not_contains', target: 'no' }] },
      { http: { ...http, keyword: { text: 'no', absent: true } } },
    ],
    [{ frequency: '1m' }, { intervalSeconds: 60 }],
    [{ frequency: '5m' }, { intervalSeconds: 300 }],
    [{ frequency: '10m' }, { intervalSeconds: 600 }],
    [{ frequency: '30m' }, { intervalSeconds: 1800 }],
    [{ frequency: '1h' }, { intervalSeconds: 3600 }],
  ])('%j becomes %j', (given, expected) => {
    expect(Object.values(translated(given).monitors ?? {})[0]).toMatchObject(expected)
  })

  test('private monitors do not become services', () => {
    expect(translated({ public: false }).services).toBeUndefined()
  })

  test.each([
    [{ active: false }, 'PARTLY monitors API: It is paused there, and will be paused here.'],
    [{ kind: 'icmp' }, 'SKIPPED monitors API: Allclear has no monitors of kind icmp.'],
    [
      { regions: ['fra', 'iad'] },
      'PARTLY monitors API: Its regions are not imported. It is probed from the regions here.',
    ],
    [
      { openTelemetry: { endpoint: 'https://a.example' } },
      'PARTLY monitors monitors.openTelemetry: OpenTelemetry is not supported. Its keys: endpoint. In API.',
    ],
    [{ frequency: '3h' }, 'PARTLY monitors monitors.frequency: This key is not imported: a text. In API.'],
    [
      { assertions: [{ kind: 'header', compare: 'eq', key: 'x', target: 'y' }] },
      'PARTLY monitors API: It is probed without the assertion header eq y.',
    ],
  ])('%j is noted', (given, note) => {
    expect(translated(given).notes).toEqual([note])
  })

  test.each(['', '[]', 'a: {b: c}', '{'])('%j is refused', (text) => {
    expect(() => translateOpenStatus(text)).toThrow(Unreadable)
  })
})
