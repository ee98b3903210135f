// @slow
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { IntegrationKind } from '../../src/generated/prisma/enums.ts'
import { genericPaths } from '../../src/integration/kind/generic.ts'
import { readIncoming } from '../../src/integration/kinds.ts'
import { isSigned, secretProblem } from '../../src/integration/signature.ts'
import { noon } from '../support/context.ts'
import { runs } from '../support/runs.ts'
import {
  alertmanager,
  cloudwatch,
  datadog,
  event,
  kuma,
  pagerduty,
  samples,
  sentryEvent,
  sentryIssue,
} from './samples.ts'

const read = (kind: IntegrationKind, body: unknown, paths = {}) => readIncoming(kind, JSON.stringify(body), paths)
const alertOf = (kind: IntegrationKind, body: unknown, paths = {}) => {
  const reading = read(kind, body, paths)
  if (reading.kind !== 'ALERTS') throw new Error(`${reading.kind}: ${reading.reason}`)
  expect(reading.alerts).toHaveLength(1)
  const [alert] = reading.alerts
  // The first member of a group.
  return alert && { ...alert, severity: null, labels: {}, ...alert.members[0] }
}

/** A text of limited length, without control, format and surrogate characters. */
const shown = (max: number) => z.string().regex(new RegExp(`^[^\\p{Cc}\\p{Cf}\\p{Cs}]{0,${max}}$`, 'u'))
const reason = z.string().regex(/^[A-Z].{5,200}\.$/u)
const members = z.array(
  z.strictObject({
    severity: z.enum(['CRITICAL', 'ERROR', 'WARNING', 'INFO']).nullable(),
    labels: z.record(shown(100), shown(300)).refine((labels) => Object.keys(labels).length <= 50),
  }),
)
/** The valid readings of any body. */
const bounded = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['NOTHING', 'UNREADABLE']), reason }),
  z.strictObject({
    kind: z.literal('ALERTS'),
    alerts: z
      .array(
        z.strictObject({
          key: shown(512).min(1),
          state: z.enum(['FIRING', 'RESOLVED']),
          title: shown(200).min(1),
          text: z.string().refine((text) => [...text].length <= 2000),
          members: members.max(1000),
          resolved: members.max(1000),
          isTruncated: z.boolean(),
          at: z.date().nullable(),
          link: z
            .string()
            .regex(/^https?:\/\/[^\s<>"]+$/i)
            .nullable(),
        }),
      )
      .min(1)
      .max(100),
  }),
])

/** Replaces one value of a body, at any depth: a leaf or a whole part. */
function withLeaf(value: unknown, at: number, by: unknown): object {
  const paths: (readonly string[])[] = []
  const walk = (part: unknown, path: readonly string[]) => {
    if (path.length > 0) paths.push(path)
    if (typeof part !== 'object' || part === null) return
    for (const [name, inner] of Object.entries(part)) walk(inner, [...path, name])
  }
  walk(value, [])
  const path = paths[at % paths.length] ?? []
  const replaced = (part: unknown, [step, ...rest]: readonly string[]): unknown => {
    if (step === undefined || typeof part !== 'object' || part === null) return by
    const copy: Record<string, unknown> = { ...part }
    copy[step] = replaced(copy[step], rest)
    return Array.isArray(part) ? Object.values(copy) : copy
  }
  return replaced(value, path) as object
}

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
        data: { event: sentryEvent, triggered_rule: 'Many errors' },
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

  test('get a reason if they are not alerts', () => {
    const reasonOf = (kind: IntegrationKind, body: unknown) => read(kind, body).kind
    expect(readIncoming('GENERIC', '{"a":', {})).toMatchObject({
      kind: 'UNREADABLE',
      reason: 'This is not valid JSON.',
    })
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

  test('are bounded, without characters that hide or reverse text', () => {
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

  test.each(Object.values(IntegrationKind))(
    '%s are read or refused, and bounded, regardless of the values of their fields',
    (kind) => {
      expect(readIncoming(kind, JSON.stringify(samples[kind]), {}).kind).toBe('ALERTS')
      const strange = fc.oneof(
        ...[fc.jsonValue({ maxDepth: 4 }), fc.string({ unit: 'binary', maxLength: 600 }), fc.double()],
        fc.constantFrom(
          ...[{ toString: 1, valueOf: 1 }, { __proto__: null, length: 5 }, JSON.parse('{"__proto__":{"a":{}}}')],
          ...[
            -1,
            1e308,
            2 ** 53,
            '',
            ' ',
            '0',
            'null',
            '__proto__',
            'constructor',
            'toString',
            '9'.repeat(400),
            '\u202e\u0000\ud800',
            '2026-13-45T99:99:99Z',
          ],
          ...['javascript:alert(1)', 'https://a.example/"onload="', Array(60).fill([]), Array(60).fill({})],
        ),
      )
      fc.assert(
        fc.property(fc.array(fc.tuple(fc.nat(), strange), { minLength: 1, maxLength: 6 }), (changes) => {
          const body = changes.reduce((value, [at, by]) => withLeaf(value, at, by), samples[kind])
          bounded.parse(readIncoming(kind, JSON.stringify(body), {}))
          expect(({} as Record<string, unknown>)['a']).toBeUndefined()
        }),
        runs(100, 1000),
      )
    },
  )

  test('in a group have their own labels and those of the group, which take precedence', () => {
    const alerts = [
      { status: 'firing', labels: { alertname: 'Slow', instance: 'a', service: 'old', severity: 'info' } },
      { status: 'firing', labels: { instance: 'b' }, startsAt: ['2026-11-20T11:00:00Z'] },
      { status: 'firing', labels: 5, startsAt: '2026-11-20T11:30:00Z' },
    ]
    const group = { ...alertmanager, commonAnnotations: {}, groupLabels: {}, alerts }
    const reading = read('ALERTMANAGER', { ...group, commonLabels: { service: 'shop', severity: 'critical' } })
    const common = { service: 'shop', severity: 'critical' }
    expect(reading).toMatchObject({
      alerts: [
        {
          ...{ title: 'Slow', at: new Date('2026-11-20T11:30:00Z') },
          members: [
            { severity: 'CRITICAL', labels: { ...common, alertname: 'Slow', instance: 'a' } },
            { severity: 'CRITICAL', labels: { ...common, instance: 'b' } },
            { severity: 'CRITICAL', labels: common },
          ],
        },
      ],
    })
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`l${index}`, 'v']))
    const crowded = read('ALERTMANAGER', { ...group, commonLabels: many, alerts: Array(1000).fill({}) })
    const [alert] = crowded.kind === 'ALERTS' ? crowded.alerts : []
    expect(alert?.members).toHaveLength(1000)
    expect(Object.keys(alert?.members[999]?.labels ?? {})).toHaveLength(50)
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
    expect(isSigned(kind, 'right', given(name, value), noon)).toBe(expected)
  })

  test('of GRAFANA covers its timestamp if it sends one', () => {
    const signature = createHmac('sha256', 'right').update(`1795000000:${body}`).digest('hex')
    const signed = (time: string) => ({
      body,
      header: (asked: string) =>
        ({ 'x-grafana-alerting-signature': signature, 'x-grafana-alerting-signature-timestamp': time })[asked],
    })
    expect(isSigned('GRAFANA', 'right', signed('1795000000'), noon)).toBe(true)
    expect(isSigned('GRAFANA', 'right', signed('1795000001'), noon)).toBe(false)
  })

  test('of GENERIC follows Standard Webhooks, as signed by its library, within five minutes', () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
    const signed = (by: string, at: Date, changes: Readonly<Record<string, string>> = {}) => {
      const headers: Readonly<Record<string, string>> = {
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(at.getTime() / 1000),
        'webhook-signature': new Webhook(by).sign('msg_1', at, body.toString()),
        ...changes,
      }
      return { body, header: (name: string) => headers[name] }
    }
    const isValid = (request: ReturnType<typeof signed>) => isSigned('GENERIC', secret, request, noon)
    const minutes = (count: number) => new Date(noon.getTime() + count * 60_000)
    expect(isValid(signed(secret, noon))).toBe(true)
    expect(isValid(signed(secret, minutes(-5)))).toBe(true)
    const both = new Webhook(other).sign('msg_1', noon, body.toString())
    const own = new Webhook(secret).sign('msg_1', noon, body.toString())
    expect(isValid(signed(secret, noon, { 'webhook-signature': `${both} ${own}` }))).toBe(true)
    for (const wrong of [
      signed(other, noon),
      signed(secret, minutes(-6)),
      signed(secret, minutes(6)),
      signed(secret, noon, { 'webhook-id': 'msg_2' }),
      signed(secret, noon, { 'webhook-id': '' }),
      signed(secret, noon, { 'webhook-timestamp': 'now' }),
      signed(secret, noon, { 'webhook-signature': '' }),
      signed(secret, noon, { 'webhook-signature': own.replace('v1,', 'v1a,') }),
      signed(secret, noon, { 'webhook-signature': 'v1,' }),
    ])
      expect(isValid(wrong)).toBe(false)
    expect(secretProblem('GENERIC', secret)).toBeNull()
    for (const text of ['a secret of mine', 'whsec_', 'whsec_c2hvcnQ=', `whsec_${'A'.repeat(200)}`])
      expect(secretProblem('GENERIC', text)).toMatch(/Standard Webhooks/)
    expect(secretProblem('DATADOG', secret)).toMatch(/^is only for/)
  })
})
