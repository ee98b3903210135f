import { expect, test } from 'vitest'
import type { IntegrationKind } from '../../../src/generated/prisma/enums.ts'
import { readIncoming } from '../../../src/integration/kinds.ts'
import { alertmanager, datadog, sentryEvent } from '../samples.ts'

/** The alert that Grafana sends with "Test" at a contact point. */
function grafanaTest(labels: object, groupKey: string) {
  const alert = {
    status: 'firing',
    labels,
    annotations: { summary: 'Notification test' },
    startsAt: '2026-11-20T12:00:00Z',
    endsAt: '0001-01-01T00:00:00Z',
    fingerprint: '57c6d9296de2ad39',
  }
  const receiver = 'status page'
  return { receiver, status: 'firing', orgId: 1, groupKey, version: '1', alerts: [alert], commonLabels: labels }
}
const named = { alertname: 'TestAlert', instance: 'Grafana' }
const builtKey = 'status page-57c6d9296de2ad39-1790000000'
const watchdog = { alertname: 'Watchdog', severity: 'none' }

const tests: readonly (readonly [string, IntegrationKind, object, RegExp])[] = [
  ['of a contact point of Grafana', 'GRAFANA', grafanaTest(named, builtKey), /test from Grafana/],
  [
    'of an older Grafana',
    'GRAFANA',
    grafanaTest(named, '{alertname="TestAlert", instance="Grafana"}2026'),
    /test from Grafana/,
  ],
  ['of Grafana with labels of its own', 'GRAFANA', grafanaTest({ ...named, team: 'shop' }, '{}:{}'), /test/],
  ['of Grafana with another name', 'GRAFANA', grafanaTest({ alertname: 'Mine' }, builtKey), /test from Grafana/],
  ['of Grafana that ends', 'GRAFANA', { ...grafanaTest(named, builtKey), status: 'resolved' }, /test from Grafana/],
  [
    'of Grafana’s old alerting',
    'GRAFANA',
    { ruleId: 0, ruleName: 'Test notification', state: 'alerting', title: '[Alerting] Test notification' },
    /test from Grafana/,
  ],
  [
    'of a contact point of Mimir',
    'ALERTMANAGER',
    { ...grafanaTest(named, '{}:{}'), version: '4' },
    /test from Grafana/,
  ],
  [
    'of the pipeline of Prometheus',
    'ALERTMANAGER',
    { ...alertmanager, commonLabels: watchdog, alerts: [{ status: 'firing', labels: watchdog }] },
    /watchdog/,
  ],
  ['of Datadog', 'DATADOG', { ...datadog('Triggered'), title: '[TEST] [Triggered] CPU is high' }, /test from Datadog/],
  [
    'of Datadog that ends',
    'DATADOG',
    { ...datadog('Recovered'), title: '[TEST] [Recovered] CPU' },
    /test from Datadog/,
  ],
  [
    'of PagerDuty’s webhooks',
    'PAGERDUTY',
    { event: { event_type: 'pagey.ping', resource_type: 'pagey', data: { message: 'Hello', type: 'ping' } } },
    /test from PagerDuty/,
  ],
  [
    'of an issue alert of Sentry',
    'SENTRY',
    { action: 'triggered', data: { event: { ...sentryEvent, tags: [['sample_event', 'yes']] } } },
    /test from Sentry/,
  ],
  [
    'of Sentry about an issue',
    'SENTRY',
    { action: 'created', data: { issue: { id: '1', title: 'x', tags: [{ key: 'sample_event' }] } } },
    /test from Sentry/,
  ],
  ['of Sentry about itself', 'SENTRY', { action: 'created', data: { installation: { uuid: 'a' } } }, /installed/],
  ['of Uptime Kuma', 'UPTIME_KUMA', { heartbeat: null, monitor: null, msg: 'Page Testing' }, /test from Uptime Kuma/],
  [
    'of Uptime Kuma about a certificate',
    'UPTIME_KUMA',
    { heartbeat: null, monitor: null, msg: '[Shop][https://a.example] certificate expires in 7 days' },
    /notice/,
  ],
]

test.each(tests)('a test or notice %s neither opens nor ends an incident', (_, kind, body, reason) => {
  expect(readIncoming(kind, JSON.stringify(body), {})).toMatchObject({
    kind: 'NOTHING',
    reason: expect.stringMatching(reason),
  })
})

test('alerts that only resemble tests are alerts', () => {
  for (const [kind, body] of [
    ['GRAFANA', grafanaTest({ ...named, grafana_folder: 'Shop' }, '{}:{alertname="TestAlert"}')],
    ['GRAFANA', grafanaTest({ alertname: 'TestAlert', instance: 'web-1' }, '{}:{alertname="TestAlert"}')],
    ['GRAFANA', { ...grafanaTest({ alertname: 'A' }, 'other-57c6d9296de2ad39-1790000000') }],
    ['ALERTMANAGER', { ...alertmanager, alerts: [...alertmanager.alerts, { status: 'firing', labels: watchdog }] }],
    ['ALERTMANAGER', { ...alertmanager, alerts: [{ status: 'firing', labels: { alertname: 'Watchdog' } }] }],
    ['DATADOG', { ...datadog('Triggered'), title: '[Triggered] [TEST] environment is down' }],
    ['SENTRY', { action: 'triggered', data: { event: { ...sentryEvent, tags: [['sample', 'yes']] } } }],
  ] as const)
    expect(readIncoming(kind, JSON.stringify(body), {}).kind).toBe('ALERTS')
})
