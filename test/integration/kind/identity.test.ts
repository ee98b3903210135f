import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { IntegrationKind } from '../../../src/generated/prisma/enums.ts'
import { identityOf, MAX_IDENTITY } from '../../../src/integration/kind/identity.ts'
import { readIncoming } from '../../../src/integration/kinds.ts'
import { datadog, event, samples } from '../samples.ts'

/** Each kind with the place of its key, as the sender writes it. */
const keyed: Readonly<Record<IntegrationKind, (key: string) => object>> = {
  ALERTMANAGER: (groupKey) => ({ ...samples.ALERTMANAGER, groupKey }),
  GRAFANA: (groupKey) => ({ ...samples.GRAFANA, groupKey }),
  PAGERDUTY: (id) => {
    const { event } = samples.PAGERDUTY as { event: { data: object } }
    return { event: { ...event, data: { ...event.data, id } } }
  },
  PAGERDUTY_EVENTS: (dedup_key) => ({ ...event('trigger', { summary: 'DB down' }), dedup_key }),
  DATADOG: (key) => ({ ...datadog('Triggered'), key }),
  SENTRY: (id) => ({ action: 'created', data: { issue: { id, title: 'TypeError' } } }),
  SNS: (AlarmArn) => ({ ...samples.SNS, AlarmArn }),
  UPTIME_KUMA: (id) => ({ ...samples.UPTIME_KUMA, monitor: { id, name: 'Shop' } }),
  GENERIC: (key) => ({ title: 'Disk full', key }),
}

function keyOf(kind: IntegrationKind, body: object): string {
  const reading = readIncoming(kind, JSON.stringify(body), {})
  if (reading.kind !== 'ALERTS') throw new Error(reading.reason)
  return reading.alerts[0]?.key ?? ''
}

describe.each(Object.values(IntegrationKind))('%s', (kind) => {
  test.each([
    ['at their end', 'k'.repeat(600)],
    ['after 255 characters', 'k'.repeat(255)],
    ['after 512 characters', 'k'.repeat(512)],
    ['after 100,000 characters', 'k'.repeat(100_000)],
    ['after 2,000 emoji', '🙂'.repeat(2000)],
  ])('tells keys apart that differ %s', (_, beginning) => {
    const [one, other] = [keyOf(kind, keyed[kind](`${beginning}1`)), keyOf(kind, keyed[kind](`${beginning}2`))]
    expect(one).not.toBe(other)
    expect([...one].length).toBeLessThanOrEqual(MAX_IDENTITY + 'monitor '.length)
    expect(keyOf(kind, keyed[kind](`${beginning}1`))).toBe(one)
  })

  test('tells keys apart that look alike', () => {
    const keys = ['a b', 'a  b', 'a\nb', 'a\u200bb', 'ab', ' ab', 'a\ud800b', 'a\ud801b']
    expect(new Set(keys.map((key) => keyOf(kind, keyed[kind](key)))).size).toBe(keys.length)
  })
})

test('an alert without a key has its whole title as identity', () => {
  const bodyOf = (end: string) => ({ title: `${'Disk full on '.repeat(50)}${end}` })
  expect(keyOf('GENERIC', bodyOf('a'))).not.toBe(keyOf('GENERIC', bodyOf('b')))
  const eventOf = (end: string) => ({ event_action: 'trigger', payload: { summary: bodyOf(end).title } })
  expect(keyOf('PAGERDUTY_EVENTS', eventOf('a'))).not.toBe(keyOf('PAGERDUTY_EVENTS', eventOf('b')))
})

test('a long identity is its beginning and the SHA-256 of the whole', () => {
  const whole = `${'k'.repeat(600)}é`
  expect(identityOf(whole)).toBe(`${'k'.repeat(400)}… ${createHash('sha256').update(whole).digest('hex')}`)
  expect([identityOf('short'), identityOf(7), identityOf({}), identityOf(' \u200b')]).toEqual(['short', '7', '', ''])
  expect(identityOf(`x${'🙂'.repeat(600)}`).isWellFormed()).toBe(true)
})

test('alerts without an id that ends them are refused', () => {
  for (const [kind, body] of [
    ['SENTRY', { action: 'created', data: { issue: { title: 'TypeError' } } }],
    ['SENTRY', { action: 'triggered', data: { event: { title: 'TypeError', issue_id: {} } } }],
    ['SENTRY', { action: 'critical', data: { metric_alert: {} } }],
    ['UPTIME_KUMA', { heartbeat: { status: 0 }, monitor: { id: {}, name: 'Shop' } }],
  ] as const)
    expect(readIncoming(kind, JSON.stringify(body), {}).kind).toBe('UNREADABLE')
})
