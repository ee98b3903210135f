import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { HealthStatus } from '../../src/blacklist/list-health.ts'
import { ANSWER_TTL_MS, evaluateTestPoints } from '../../src/blacklist/list-health.ts'
import { MINUTE, SECOND } from '../../src/core/time.ts'
import type { DnsResult } from '../../src/network/dns/client.ts'
import { type Behaviour, createGate, rcodes, silence, startDnsServer } from '../support/dns-server.ts'
import { codes, listOf, lists, nothing, play, startCore, startScripted } from './setup.ts'

const zen = listOf('spamhaus-zen')
const surbl = listOf('surbl-multi')
const drone = listOf('dronebl')

describe('the answers for a list’s test points', () => {
  const answer = (...values: string[]): DnsResult => ({ kind: 'answer', values, ttl: 300 })
  const none: DnsResult = { kind: 'none', nxdomain: true, ttl: 300 }
  const timeout: DnsResult = { kind: 'failed', reason: 'timeout' }
  const servfail: DnsResult = { kind: 'failed', reason: 'servfail' }
  const refused: DnsResult = { kind: 'failed', reason: 'refused' }
  const hit = answer('127.0.0.2')
  const blocked = 'The resolver blocks the names of this list: it answers 0.0.0.0.'

  test.each<[HealthStatus, DnsResult[], DnsResult[], string | null]>([
    ['ok', [hit], [none, none], null],
    ['ok', [hit], [none, timeout], null],
    ['ok', [none, timeout, hit], [none, none], null],
    ['ok', [answer('127.0.0.10')], [none, none], null],
    ['silent', [none], [none, none], 'It does not list its own test entry, so an empty answer proves nothing.'],
    [
      'silent',
      [none, none],
      [timeout, timeout],
      'It does not list its own test entry, so an empty answer proves nothing.',
    ],
    [
      'silent',
      [answer('127.0.0.99')],
      [none, none],
      'Wrong answer for its test entry: This list does not document 127.0.0.99.',
    ],
    [
      'silent',
      [answer('203.0.113.1')],
      [none, none],
      'Wrong answer for its test entry: 203.0.113.1 is not a valid blacklist answer.',
    ],
    ['silent', [answer('0.0.0.0')], [none, none], `Wrong answer for its test entry: ${blocked}`],
    ['wildcard', [answer('0.0.0.0')], [answer('0.0.0.0'), answer('0.0.0.0')], blocked],
    ['wildcard', [none], [none, answer('0.0.0.0')], blocked],
    ['wildcard', [hit], [hit, none], 'It answers 127.0.0.2 for names that it does not list.'],
    ['wildcard', [hit], [none, hit], 'It answers 127.0.0.2 for names that it does not list.'],
    ['wildcard', [timeout], [none, hit], 'It answers 127.0.0.2 for names that it does not list.'],
    [
      'wildcard',
      [hit],
      [answer('203.0.113.1', '203.0.113.2'), none],
      'It answers 203.0.113.1, 203.0.113.2 for names that it does not list.',
    ],
    [
      'wildcard',
      [answer('203.0.113.1')],
      [answer('203.0.113.1'), answer('203.0.113.1')],
      'It answers 203.0.113.1 for names that it does not list.',
    ],
    [
      'refusing',
      [answer('127.255.255.254')],
      [none, none],
      'The list refuses queries from public or unnamed resolvers.',
    ],
    [
      'refusing',
      [hit],
      [answer('127.255.255.255'), none],
      'The list refuses this resolver because it sends too many queries.',
    ],
    [
      'refusing',
      [answer('127.255.255.254')],
      [answer('127.255.255.254'), answer('127.255.255.254')],
      'The list refuses queries from public or unnamed resolvers.',
    ],
    ['refusing', [refused], [refused, refused], 'The server refused the query (DNS REFUSED).'],
    ['unreachable', [timeout], [timeout, timeout], 'It does not answer (timeout).'],
    ['unreachable', [servfail], [none, none], 'It does not answer (servfail).'],
    ['unreachable', [none, timeout], [none, none], 'It does not answer (timeout).'],
    ['unreachable', [hit], [timeout, servfail], 'It does not answer (timeout).'],
  ])('%s: %j and %j', (status, positive, others, detail) => {
    const [negative = none, random = none] = others
    expect(evaluateTestPoints(zen, positive, { negative, random })).toEqual({ status, detail })
  })

  test('are decoded with the list’s own codes or bits', () => {
    expect(evaluateTestPoints(drone, [answer('127.0.0.1')], { negative: none, random: none }).status).toBe('ok')
    expect(evaluateTestPoints(surbl, [answer('127.0.0.254')], { negative: none, random: none }).status).toBe('ok')
    expect(evaluateTestPoints(surbl, [answer('127.0.0.1')], { negative: none, random: none }).status).toBe('refusing')
  })
})

describe('the negative test point', () => {
  const answer = (...values: string[]): DnsResult => ({ kind: 'answer', values, ttl: 300 })
  const none: DnsResult = { kind: 'none', nxdomain: true, ttl: 300 }
  const timeout: DnsResult = { kind: 'failed', reason: 'timeout' }
  const statusOf = (list: typeof zen, negative: DnsResult, random: DnsResult) =>
    evaluateTestPoints(list, [answer('127.0.0.3')], { negative, random }).status

  test('may have an informational entry, such as DroneBL’s test class', () => {
    expect(statusOf(drone, answer('127.0.0.1'), none)).toBe('ok')
    expect(statusOf(drone, answer('127.0.0.2'), none)).toBe('ok')
  })

  test('must have neither a listing nor an undocumented code', () => {
    expect(statusOf(drone, answer('127.0.0.3'), none)).toBe('wildcard')
    expect(statusOf(drone, answer('127.0.0.4'), none)).toBe('wildcard')
    expect(statusOf(zen, answer('127.0.0.1'), none)).toBe('wildcard')
    expect(statusOf(zen, answer('127.0.0.10'), none)).toBe('wildcard')
  })

  test('proves nothing when a resolver may have invented its entry', () => {
    expect(statusOf(drone, answer('127.0.0.1'), answer('127.0.0.1'))).toBe('wildcard')
    expect(statusOf(drone, answer('127.0.0.1'), timeout)).toBe('unreachable')
  })

  test('is not the test entry: its answer proves nothing about an empty list', () => {
    const negative = answer('127.0.0.1')
    expect(evaluateTestPoints(drone, [none], { negative, random: none }).status).toBe('silent')
    expect(evaluateTestPoints(drone, [timeout], { negative, random: none }).status).toBe('unreachable')
  })

  test('has an entry on a working DroneBL, which stays usable', async () => {
    const { now } = await healthWith(play({ '1.0.0.127.dnsbl.dronebl.org': codes('127.0.0.1') }), drone)
    expect(now).toMatchObject({ status: 'ok', detail: null })
  })
})

/** Returns the logged changes of health. */
const changesIn = (logged: readonly string[]) =>
  logged.map((line): { msg: string } => JSON.parse(line)).filter(({ msg }) => msg.includes('health changed'))

/** Returns a list's health after its test points were answered with `behaviour`. */
async function healthWith(behaviour: Behaviour, list = zen) {
  const server = await startDnsServer(behaviour)
  onTestFinished(() => server.close())
  const core = startCore(server, { lists: [list], ...(behaviour === silence && { probeTimeoutMs: 60 }) })
  await core.health.whenMeasured(list)
  return { ...core, server, health: core.health, now: core.health.get(list) }
}

describe('a list', () => {
  test('has unknown health before the first measurement, which queries three names', async () => {
    const { server, health, clock } = await startScripted({}, { measured: false })
    expect(health.get(zen)).toEqual({ status: 'unknown', detail: null, checkedAt: null, latencyMs: null })
    await health.whenMeasured(zen)
    expect(health.get(zen)).toEqual({ status: 'ok', detail: null, checkedAt: clock.now(), latencyMs: 0 })
    const asked = server.queries.map(({ name }) => name)
    expect(asked.slice(0, 2)).toEqual(['2.0.0.127.zen.spamhaus.org', '1.0.0.127.zen.spamhaus.org'])
    expect(asked.slice(2)).toEqual([expect.stringMatching(/^[0-9a-v]{16}\.zen\.spamhaus\.org$/)])
    await health.whenMeasured(zen)
    expect(server.queries.length).toBe(3)
  })

  test('is measured once for concurrent callers', async () => {
    const { server, health } = await startScripted({}, { measured: false })
    await Promise.all([health.whenMeasured(zen), health.whenMeasured(zen), health.measure(zen)])
    expect(server.queries.length).toBe(3)
  })

  test('is queried again at every measurement, with another random name', async () => {
    const { server, health } = await startScripted({}, { measured: false })
    await health.measure(zen)
    await health.measure(zen)
    const random = server.queries.map(({ name }) => name).filter((name) => !name.includes('.127.'))
    expect(server.queries.length).toBe(6)
    expect(new Set(random).size).toBe(2)
  })

  test('that lists one of its test entries is ok', async () => {
    const only = 'test.surbl.org.multi.surbl.org'
    const { now } = await healthWith(play({ 'multi.surbl.org': nothing, [only]: codes('127.0.0.254') }), surbl)
    expect(now.status).toBe('ok')
  })

  test.each<[HealthStatus, string, Behaviour]>([
    ['silent', 'does not list its test entry', nothing],
    ['wildcard', 'lists every name', codes('127.0.0.2')],
    ['wildcard', 'is parked', codes('91.195.240.117')],
    ['refusing', 'refuses with its code', codes('127.255.255.254')],
    ['refusing', 'is refused by the resolver', () => ({ rcode: rcodes.refused })],
    ['unreachable', 'fails', () => ({ rcode: rcodes.servfail })],
    ['unreachable', 'does not answer', silence],
  ])('is %s when it %s', async (status, _what, behaviour) => {
    const { now, logged } = await healthWith(behaviour)
    expect(now).toMatchObject({ status, checkedAt: new Date('2026-01-01') })
    expect(now.detail).toMatch(/\.$/)
    expect(changesIn(logged)).toHaveLength(1)
  })

  test('is wildcard behind a resolver that rewrites NXDOMAIN', async () => {
    const rewriting = play({
      'zen.spamhaus.org': codes('198.51.100.80'),
      '2.0.0.127.zen.spamhaus.org': codes('127.0.0.2'),
    })
    expect((await healthWith(rewriting)).now).toMatchObject({ status: 'wildcard' })
  })

  test('is silent behind a resolver that strips loopback addresses', async () => {
    expect((await healthWith(() => ({}))).now).toMatchObject({ status: 'silent' })
  })

  test('is unreachable after two failures in a row, not after one', async () => {
    let asked = 0
    const failingOnce: Behaviour = (query) => (asked++ < 3 ? { rcode: rcodes.servfail } : play()(query))
    const { now, server, logged } = await healthWith(failingOnce)
    expect(now.status).toBe('ok')
    expect(server.queries.length).toBe(6)
    expect(logged).toEqual([])
  })

  test('that is unreachable is measured once at a time, and is ok after one success', async () => {
    const { server, health, logged } = await healthWith(() => ({ rcode: rcodes.servfail }))
    // The first measurement is repeated, and so is each query that ends with SERVFAIL.
    expect(server.queries.length).toBe(2 * 3 * 2)
    await health.measure(zen)
    expect(server.queries.length).toBe(3 * 3 * 2)
    server.behave(play())
    expect(await health.measure(zen)).toMatchObject({ status: 'ok', detail: null })
    expect(changesIn(logged)).toMatchObject([
      { list: 'spamhaus-zen', status: 'unreachable', detail: 'It does not answer (servfail).' },
      { list: 'spamhaus-zen', status: 'ok', detail: null },
    ])
  })

  test('that refused a query of a check is refusing until the next measurement', async () => {
    const { health, clock } = await startScripted()
    clock.advance(MINUTE)
    health.recordRefusal(zen, 'Go away.')
    expect(health.get(zen)).toMatchObject({ status: 'refusing', detail: 'Go away.', checkedAt: clock.now() })
    await health.whenMeasured(zen)
    expect(health.get(zen).status).toBe('refusing')
    await health.measure(zen)
    expect(health.get(zen).status).toBe('ok')
  })
})

describe('the health checks', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    // Keep this order: the spy must wrap the fake timers.
    vi.restoreAllMocks()
    vi.useRealTimers()
  })

  /** Starts the health checks of a list and runs the first one, answered by `behaviour`. */
  async function watched(behaviour: Behaviour) {
    const server = await startDnsServer(behaviour)
    onTestFinished(() => server.close())
    const core = startCore(server, { lists: [zen] })
    core.health.start()
    await core.health.whenMeasured(zen)
    return { ...core, server, before: server.queries.length }
  }

  const WELL = [10 * MINUTE, 30 * MINUTE] as const
  const REFUSING = [5 * MINUTE, 6 * MINUTE] as const
  const LYING = [ANSWER_TTL_MS, ANSWER_TTL_MS + MINUTE] as const
  const GONE = [45 * SECOND, 75 * SECOND] as const

  test.each<[string, Behaviour, readonly [number, number]]>([
    ['well', play(), WELL],
    ['refusing', codes('127.255.255.254'), REFUSING],
    ['wildcard', codes('127.0.0.2'), LYING],
    ['silent', nothing, LYING],
    ['unreachable', () => ({ rcode: rcodes.servfail }), GONE],
  ])('of a list that is %s repeat within their interval', async (_status, behaviour, [least, most]) => {
    const waits = vi.spyOn(globalThis, 'setTimeout')
    const { server, before } = await watched(behaviour)
    const wait = Number(waits.mock.lastCall?.[1])
    expect(wait).toBeGreaterThanOrEqual(least)
    expect(wait).toBeLessThanOrEqual(most)
    vi.advanceTimersByTime(wait - 1)
    const asked = server.seen(before + 3)
    vi.advanceTimersByTime(1)
    await asked
  })

  test('do not all run at the same time', async () => {
    const waits = vi.spyOn(globalThis, 'setTimeout')
    const { health } = await watched(play())
    const seen = new Set<unknown>()
    for (let round = 0; round < 5; round++) {
      await health.measure(zen)
      seen.add(waits.mock.lastCall?.[1])
    }
    expect(seen.size).toBe(5)
  })

  test('of a list that refused a query of a check wait five minutes', async () => {
    const waits = vi.spyOn(globalThis, 'setTimeout')
    const { health } = await watched(play())
    health.recordRefusal(zen, 'Go away.')
    expect(waits.mock.lastCall?.[1]).toBeGreaterThanOrEqual(5 * MINUTE)
    expect(waits.mock.lastCall?.[1]).toBeLessThanOrEqual(6 * MINUTE)
    expect(vi.getTimerCount()).toBe(1)
  })

  test('leave no timer when stopped, even while one is running', async () => {
    const { health, server } = await watched(play())
    expect(vi.getTimerCount()).toBe(1)
    const gate = createGate()
    server.behave(async (query) => {
      await gate.opened
      return play()(query)
    })
    const measurement = health.measure(zen)
    health.stop()
    gate.open()
    await measurement
    health.recordRefusal(zen, 'Go away.')
    expect(vi.getTimerCount()).toBe(0)
    expect(health.get(zen).status).toBe('ok')
  })
})

test('start() measures every list', async () => {
  const { health, server } = await startScripted({}, { measured: false })
  const names = lists.reduce((sum, list) => sum + list.testPoints.positive.length + 2, 0)
  health.start()
  await Promise.all(lists.map((list) => health.whenMeasured(list)))
  expect(server.queries.length).toBe(names)
  expect(lists.map((list) => health.get(list).status)).toEqual(lists.map(() => 'ok'))
})

test('logs advice once when no list is usable, and once when one is usable again', async () => {
  const server = await startDnsServer(play())
  onTestFinished(() => server.close())
  const { health, logged } = startCore(server)
  const probeAll = () => Promise.all(lists.map((list) => health.measure(list)))
  const count = (text: string) => logged.filter((line) => line.includes(text)).length
  await probeAll()
  expect(count('DNS_SERVERS')).toBe(0)
  server.behave(nothing)
  await probeAll()
  await probeAll()
  expect([count('DNS_SERVERS'), count('usable again')]).toEqual([1, 0])
  server.behave((query) => (query.name.endsWith(zen.zone) ? play() : nothing)(query))
  await probeAll()
  expect([count('DNS_SERVERS'), count('usable again')]).toEqual([1, 1])
  server.behave(nothing)
  await probeAll()
  expect(count('DNS_SERVERS')).toBe(2)
})

test('logs that no list is usable at the start', async () => {
  const server = await startDnsServer(nothing)
  onTestFinished(() => server.close())
  const { health, logged } = startCore(server)
  health.start()
  await Promise.all(lists.map((list) => health.whenMeasured(list)))
  expect(logged.filter((line) => line.includes('DNS_SERVERS'))).toHaveLength(1)
})
