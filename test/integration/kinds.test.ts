import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { IntegrationKind } from '../../src/generated/prisma/enums.ts'
import { DATADOG_TEMPLATE } from '../../src/integration/kind/datadog.ts'
import { genericPaths } from '../../src/integration/kind/generic.ts'
import { readIncoming } from '../../src/integration/kinds.ts'
import { isSigned } from '../../src/integration/signature.ts'

const read = (kind: IntegrationKind, body: unknown, paths = {}) => readIncoming(kind, JSON.stringify(body), paths)
const alertOf = (kind: IntegrationKind, body: unknown, paths = {}) => {
  const reading = read(kind, body, paths)
  if (reading.kind !== 'ALERTS') throw new Error(`${reading.kind}: ${reading.reason}`)
  expect(reading.alerts).toHaveLength(1)
  return reading.alerts[0]
}

const alertmanager = {
  version: '4',
  groupKey: '{}:{alertname="HighLatency"}',
  truncatedAlerts: 0,
  status: 'firing',
  receiver: 'allclear',
  groupLabels: { alertname: 'HighLatency' },
  commonLabels: { alertname: 'HighLatency', service: 'shop', severity: 'critical' },
  commonAnnotations: { summary: 'Checkout is slow', description: 'p99 over 2 s' },
  externalURL: 'http://alertmanager.example:9093',
  alerts: [
    {
      status: 'firing',
      labels: { alertname: 'HighLatency', instance: 'a', service: 'shop', severity: 'critical' },
      annotations: { summary: 'Checkout is slow' },
      startsAt: '2026-11-20T11:58:00.000Z',
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: 'http://prometheus.example/graph',
      fingerprint: 'c1',
    },
  ],
}
const pagerduty = (type: string) => ({
  event: {
    id: '01D',
    event_type: type,
    resource_type: 'incident',
    occurred_at: '2026-11-20T12:00:00.000Z',
    agent: null,
    client: null,
    data: {
      id: 'PGR0VU2',
      type: 'incident',
      self: 'https://api.pagerduty.com/incidents/PGR0VU2',
      html_url: 'https://acme.pagerduty.com/incidents/PGR0VU2',
      number: 2,
      status: 'triggered',
      incident_key: 'd3640fbd',
      created_at: '2026-11-20T11:59:00Z',
      title: 'A little bump in the road',
      service: {
        id: 'PF9KMXH',
        summary: 'API Service',
        html_url: 'https://acme.pagerduty.com',
        type: 'service_reference',
      },
      assignees: [],
      priority: { summary: 'P1' },
      urgency: 'high',
    },
  },
})
const event = (action: string, payload?: object) => ({ event_action: action, dedup_key: 'srv01/HTTP', payload })
const datadog = (transition: string) =>
  JSON.parse(
    Object.entries({
      $ALERT_CYCLE_KEY: '4711',
      $ALERT_ID: '12',
      $ALERT_TRANSITION: transition,
      $EVENT_TITLE: '[Triggered] CPU is high',
      $EVENT_MSG: '%%% over 90 %%%',
      $ALERT_PRIORITY: 'P2',
      $ALERT_SCOPE: 'host:a',
      $HOSTNAME: 'a',
      $TAGS: 'env:prod,team:shop',
      $LINK: 'https://app.datadoghq.eu/event/1',
    }).reduce((text, [name, value]) => text.replace(name, value), DATADOG_TEMPLATE),
  )
const sentryIssue = {
  id: '42',
  title: 'TypeError',
  level: 'error',
  web_url: 'https://sentry.example/42',
  project: { slug: 'shop' },
}
const kuma = (status: number) => ({
  heartbeat: { monitorID: 1, status, time: '2026-11-20 11:59:00.000', msg: 'connect ECONNREFUSED', ping: null },
  monitor: { id: 1, name: 'Shop', url: 'https://shop.example', type: 'http', hostname: null },
  msg: '[Shop] [Down] connect ECONNREFUSED',
})
const cloudwatch = (state: string) => ({
  AlarmName: 'CPU',
  AlarmDescription: 'CPU over 90',
  AWSAccountId: '123456789012',
  NewStateValue: state,
  NewStateReason: 'Threshold crossed',
  StateChangeTime: '2026-11-20T11:59:00.000+0000',
  Region: 'EU (Frankfurt)',
  AlarmArn: 'arn:aws:cloudwatch:eu-central-1:123456789012:alarm:CPU',
  Trigger: { MetricName: 'CPUUtilization', Namespace: 'AWS/EC2', Dimensions: [{ name: 'InstanceId', value: 'i-1' }] },
})

describe('alerts of', () => {
  test.each([
    [
      'ALERTMANAGER',
      alertmanager,
      {
        key: '{}:{alertname="HighLatency"}',
        state: 'FIRING',
        title: 'Checkout is slow',
        text: 'p99 over 2 s',
        severity: 'CRITICAL',
        labels: { service: 'shop' },
        link: 'http://prometheus.example/graph',
      },
    ],
    ['ALERTMANAGER', { ...alertmanager, status: 'resolved' }, { state: 'RESOLVED' }],
    [
      'GRAFANA',
      { ...alertmanager, version: '1', orgId: 1, title: '[FIRING:1]', state: 'alerting', message: 'Hi' },
      { state: 'FIRING', title: 'Checkout is slow' },
    ],
    ['GRAFANA', { ...alertmanager, status: undefined, state: 'ok' }, { state: 'RESOLVED' }],
    [
      'PAGERDUTY',
      pagerduty('incident.triggered'),
      {
        key: 'PGR0VU2',
        state: 'FIRING',
        title: 'A little bump in the road',
        severity: 'CRITICAL',
        labels: { service: 'API Service', urgency: 'high', priority: 'P1' },
      },
    ],
    ['PAGERDUTY', pagerduty('incident.reopened'), { state: 'FIRING' }],
    ['PAGERDUTY', pagerduty('incident.resolved'), { state: 'RESOLVED' }],
    [
      'PAGERDUTY_EVENTS',
      event('trigger', { summary: 'DB down', source: 'db1', severity: 'error', custom_details: { team: 'shop' } }),
      {
        key: 'srv01/HTTP',
        state: 'FIRING',
        title: 'DB down',
        severity: 'ERROR',
        labels: { source: 'db1', team: 'shop' },
      },
    ],
    ['PAGERDUTY_EVENTS', event('resolve'), { key: 'srv01/HTTP', state: 'RESOLVED' }],
    [
      'DATADOG',
      datadog('Triggered'),
      {
        key: '4711',
        state: 'FIRING',
        title: 'CPU is high',
        text: 'over 90',
        severity: 'ERROR',
        labels: { env: 'prod', team: 'shop', host: 'a' },
      },
    ],
    ['DATADOG', datadog('Recovered'), { key: '4711', state: 'RESOLVED' }],
    [
      'SENTRY',
      {
        action: 'triggered',
        data: {
          event: {
            title: 'TypeError',
            issue_id: '42',
            web_url: 'https://sentry.example/42',
            level: 'error',
            tags: [['environment', 'prod']],
          },
          triggered_rule: 'Many errors',
        },
      },
      { key: 'issue 42', state: 'FIRING', title: 'TypeError', severity: 'ERROR', labels: { rule: 'Many errors' } },
    ],
    [
      'SENTRY',
      { action: 'resolved', data: { issue: sentryIssue } },
      { key: 'issue 42', state: 'RESOLVED', labels: { project: 'shop' } },
    ],
    [
      'SENTRY',
      {
        action: 'critical',
        data: {
          metric_alert: { id: '7', alert_rule: { name: 'Latency' } },
          description_title: 'Critical: Latency',
          description_text: '900 ms',
          web_url: 'https://sentry.example/7',
        },
      },
      { key: 'metric 7', state: 'FIRING', title: 'Critical: Latency', severity: 'CRITICAL' },
    ],
    [
      'SNS',
      cloudwatch('ALARM'),
      {
        key: expect.stringContaining('alarm:CPU'),
        state: 'FIRING',
        title: 'CPU',
        text: 'CPU over 90',
        labels: { InstanceId: 'i-1', namespace: 'AWS/EC2' },
        at: new Date('2026-11-20T11:59:00Z'),
      },
    ],
    ['SNS', cloudwatch('OK'), { state: 'RESOLVED' }],
    [
      'UPTIME_KUMA',
      kuma(0),
      {
        key: 'monitor 1',
        state: 'FIRING',
        title: 'Shop is down',
        text: 'connect ECONNREFUSED',
        at: new Date('2026-11-20T11:59:00Z'),
      },
    ],
    ['UPTIME_KUMA', kuma(1), { key: 'monitor 1', state: 'RESOLVED' }],
    [
      'GENERIC',
      { title: 'Disk full', state: 'firing', severity: 'warn', labels: { host: 'a' } },
      { key: 'Disk full', state: 'FIRING', severity: 'WARNING', labels: { host: 'a' } },
    ],
    ['GENERIC', { title: 'Disk full', state: 'OK' }, { state: 'RESOLVED' }],
  ] as const)('%s', (kind, body, expected) => {
    expect(alertOf(kind, body)).toMatchObject(expected)
  })

  test('GENERIC, by paths', () => {
    const paths = genericPaths.parse({
      title: '$.a[0].name',
      key: 'id',
      state: 'a[0].on',
      resolvedValues: ['no'],
      labels: 'a[0]',
    })
    const body = (on: string) => ({ id: 5, a: [{ name: 'Fan', on }] })
    expect(alertOf('GENERIC', body('yes'), paths)).toMatchObject({
      key: '5',
      title: 'Fan',
      state: 'FIRING',
      labels: { name: 'Fan' },
    })
    expect(alertOf('GENERIC', body('No'), paths)).toMatchObject({ state: 'RESOLVED' })
    for (const bad of ['a b', 'a[', '', 'a..b', `a${'.a'.repeat(200)}`])
      expect(genericPaths.safeParse({ title: bad }).success).toBe(false)
    expect(read('GENERIC', {}, { title: 'constructor.name', key: '__proto__' }).kind).toBe('NOTHING')
  })

  test('that are none say why', () => {
    const reasonOf = (kind: IntegrationKind, body: unknown) => read(kind, body).kind
    expect(readIncoming('GENERIC', '{"a":', {})).toMatchObject({ kind: 'UNREADABLE', reason: 'It is not valid JSON.' })
    for (const kind of [
      'ALERTMANAGER',
      'GRAFANA',
      'PAGERDUTY',
      'PAGERDUTY_EVENTS',
      'DATADOG',
      'SENTRY',
      'SNS',
      'UPTIME_KUMA',
    ] as const)
      for (const body of [{}, [], null, 5, 'x', { alerts: 5, event: [], data: 1, heartbeat: 2, version: '4' }])
        expect(reasonOf(kind, body), `${kind} ${JSON.stringify(body)}`).toBe('UNREADABLE')
    expect(reasonOf('PAGERDUTY', pagerduty('incident.acknowledged'))).toBe('NOTHING')
    expect(reasonOf('PAGERDUTY_EVENTS', event('acknowledge'))).toBe('NOTHING')
    expect(reasonOf('SNS', cloudwatch('INSUFFICIENT_DATA'))).toBe('NOTHING')
    expect(reasonOf('UPTIME_KUMA', kuma(2))).toBe('NOTHING')
  })

  test('are bounded, and lose what hides or turns text', () => {
    const labels = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`l${index}`, 'v'.repeat(1000)]))
    const alert = alertOf('GENERIC', {
      title: `a\u202e\n\u0000b${'x'.repeat(500)}`,
      text: 'y'.repeat(9000),
      link: 'javascript:alert(1)',
      labels,
    })
    expect(alert?.title).toMatch(/^a bx+…$/)
    expect(alert?.title).toHaveLength(200)
    expect(alert?.text).toHaveLength(2000)
    expect(alert?.link).toBeNull()
    expect(Object.values(alert?.labels ?? {})).toHaveLength(50)
    expect(alert?.labels['l0']).toHaveLength(300)
    expect(readIncoming('GENERIC', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, {}).kind).not.toBe('ALERTS')
  })
})

describe('a signature', () => {
  const body = Buffer.from('{"event":{}}')
  const hmac = (secret: string) => createHmac('sha256', secret).update(body).digest('hex')
  const given = (name: string, value: string) => ({
    body,
    header: (asked: string) => (asked === name ? value : undefined),
  })

  test.each([
    ['PAGERDUTY', 'x-pagerduty-signature', `v1=${hmac('right')}`, true],
    ['PAGERDUTY', 'x-pagerduty-signature', `v1=${hmac('old')},v1=${hmac('right')}`, true],
    ['PAGERDUTY', 'x-pagerduty-signature', `v1=${hmac('wrong')}`, false],
    ['PAGERDUTY', 'x-pagerduty-signature', `v0=${hmac('right')}`, false],
    ['PAGERDUTY', 'x-other', `v1=${hmac('right')}`, false],
    ['SENTRY', 'sentry-hook-signature', hmac('right'), true],
    ['SENTRY', 'sentry-hook-signature', hmac('wrong'), false],
    ['SENTRY', 'sentry-hook-signature', '', false],
    ['GRAFANA', 'x-grafana-alerting-signature', hmac('right'), true],
    ['GRAFANA', 'x-grafana-alerting-signature', 'zz', false],
    ['DATADOG', 'x-none', '', true],
  ] as const)('of %s in %s: %s', (kind, name, value, expected) => {
    expect(isSigned(kind, 'right', given(name, value))).toBe(expected)
  })

  test('of GRAFANA covers its timestamp where it sends one', () => {
    const signature = createHmac('sha256', 'right').update(`1795000000:${body}`).digest('hex')
    const signed = (time: string) => ({
      body,
      header: (asked: string) =>
        ({ 'x-grafana-alerting-signature': signature, 'x-grafana-alerting-signature-timestamp': time })[asked],
    })
    expect(isSigned('GRAFANA', 'right', signed('1795000000'))).toBe(true)
    expect(isSigned('GRAFANA', 'right', signed('1795000001'))).toBe(false)
  })
})
