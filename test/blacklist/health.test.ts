import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { HealthStatus } from '../../src/blacklist/health.ts'
import { ANSWER_LIFETIME, judgeProbes } from '../../src/blacklist/health.ts'
import type { DnsResult } from '../../src/network/dns/client.ts'
import { MINUTE, SECOND } from '../../src/time.ts'
import { type Behaviour, createGate, rcodes, silence, startDnsServer } from '../support/dns-server.ts'
import { codes, listOf, lists, nothing, play, startCore, startScripted } from './setup.ts'

const zen = listOf('spamhaus-zen')
const surbl = listOf('surbl-multi')
const drone = listOf('dronebl')

describe('the answers to a list’s probes', () => {
  const answer = (...values: string[]): DnsResult => ({ kind: 'answer', values, ttl: 300 })
  const none: DnsResult = { kind: 'none', nxdomain: true, ttl: 300 }
  const timeout: DnsResult = { kind: 'failed', reason: 'timeout' }
  const servfail: DnsResult = { kind: 'failed', reason: 'servfail' }
  const refused: DnsResult = { kind: 'failed', reason: 'refused' }
  const hit = answer('127.0.0.2')

  test.each<[HealthStatus, DnsResult[], DnsResult[], string | null]>([
    ['ok', [hit], [none, none], null],
    ['ok', [hit], [none, timeout], null],
    ['ok', [none, timeout, hit], [none, none], null],
    ['ok', [answer('127.0.0.10')], [none, none], null],
    ['silent', [none], [none, none], 'It does not list its own test entry, so its silence says nothing.'],
    ['silent', [none, none], [timeout, timeout], 'It does not list its own test entry, so its silence says nothing.'],
    [
      'silent',
      [answer('127.0.0.99')],
      [none, none],
      'Its test entry is wrong: This list documents no meaning of 127.0.0.99.',
    ],
    [
      'silent',
      [answer('203.0.113.1')],
      [none, none],
      'Its test entry is wrong: 203.0.113.1 is not an answer that a blacklist gives.',
    ],
    ['wildcard', [hit], [hit, none], 'It answers 127.0.0.2 for names that are not listed.'],
    ['wildcard', [hit], [none, hit], 'It answers 127.0.0.2 for names that are not listed.'],
    ['wildcard', [timeout], [none, hit], 'It answers 127.0.0.2 for names that are not listed.'],
    [
      'wildcard',
      [hit],
      [answer('203.0.113.1', '203.0.113.2'), none],
      'It answers 203.0.113.1, 203.0.113.2 for names that are not listed.',
    ],
    [
      'wildcard',
      [answer('203.0.113.1')],
      [answer('203.0.113.1'), answer('203.0.113.1')],
      'It answers 203.0.113.1 for names that are not listed.',
    ],
    [
      'refusing',
      [answer('127.255.255.254')],
      [none, none],
      'The list refuses queries that come through a public or unnamed resolver.',
    ],
    ['refusing', [hit], [answer('127.255.255.255'), none], 'The list refuses this resolver for asking too much.'],
    [
      'refusing',
      [answer('127.255.255.254')],
      [answer('127.255.255.254'), answer('127.255.255.254')],
      'The list refuses queries that come through a public or unnamed resolver.',
    ],
    ['refusing', [refused], [refused, refused], 'The query was refused (DNS REFUSED).'],
    ['unreachable', [timeout], [timeout, timeout], 'It does not answer (timeout).'],
    ['unreachable', [servfail], [none, none], 'It does not answer (servfail).'],
    ['unreachable', [none, timeout], [none, none], 'It does not answer (timeout).'],
    ['unreachable', [hit], [timeout, servfail], 'It does not answer (timeout).'],
  ])('%s: %j and %j', (status, positive, others, detail) => {
    const [negative = none, random = none] = others
    expect(judgeProbes(zen, positive, { negative, random })).toEqual({ status, detail })
  })

  test('of a list with remarks or bits are read by its own codes', () => {
    expect(judgeProbes(drone, [answer('127.0.0.1')], { negative: none, random: none }).status).toBe('ok')
    expect(judgeProbes(surbl, [answer('127.0.0.254')], { negative: none, random: none }).status).toBe('ok')
    expect(judgeProbes(surbl, [answer('127.0.0.1')], { negative: none, random: none }).status).toBe('refusing')
  })
})

describe('the name that a list must not list', () => {
  const answer = (...values: string[]): DnsResult => ({ kind: 'answer', values, ttl: 300 })
  const none: DnsResult = { kind: 'none', nxdomain: true, ttl: 300 }
  const timeout: DnsResult = { kind: 'failed', reason: 'timeout' }
  const judge = (list: typeof zen, negative: DnsResult, random: DnsResult) =>
    judgeProbes(list, [answer('127.0.0.3')], { negative, random }).status

  test('may have an entry that the list tells from a listing, as DroneBL’s test class is', () => {
    expect(judge(drone, answer('127.0.0.1'), none)).toBe('ok')
    expect(judge(drone, answer('127.0.0.2'), none)).toBe('ok')
  })

  test('may not be listed, nor have an entry that nobody can read', () => {
    expect(judge(drone, answer('127.0.0.3'), none)).toBe('wildcard')
    expect(judge(drone, answer('127.0.0.4'), none)).toBe('wildcard')
    expect(judge(zen, answer('127.0.0.1'), none)).toBe('wildcard')
    expect(judge(zen, answer('127.0.0.10'), none)).toBe('wildcard')
  })

  test('tells nothing when a resolver that makes answers up may have given its entry', () => {
    expect(judge(drone, answer('127.0.0.1'), answer('127.0.0.1'))).toBe('wildcard')
    expect(judge(drone, answer('127.0.0.1'), timeout)).toBe('unreachable')
  })

  test('has an entry at a working DroneBL, which is used all the same', async () => {
    const { now } = await healthWith(play({ '1.0.0.127.dnsbl.dronebl.org': codes('127.0.0.1') }), drone)
    expect(now).toMatchObject({ status: 'ok', detail: null })
  })
})

/** What was logged of lists that have become better or worse. */
const changesIn = (logged: readonly string[]) =>
  logged.map((line): { msg: string } => JSON.parse(line)).filter(({ msg }) => msg.includes('health changed'))

/** A list's health after its probes were answered so. */
async function healthWith(behaviour: Behaviour, list = zen) {
  const server = await startDnsServer(behaviour)
  onTestFinished(() => server.close())
  const core = startCore(server, { lists: [list], ...(behaviour === silence && { probeTimeoutMs: 60 }) })
  await core.health.known(list)
  return { ...core, server, health: core.health, now: core.health.of(list) }
}

describe('a list', () => {
  test('is unknown before it was probed, and asked for three names', async () => {
    const { server, health, clock } = await startScripted({}, { probed: false })
    expect(health.of(zen)).toEqual({ status: 'unknown', detail: null, checkedAt: null, latencyMs: null })
    await health.known(zen)
    expect(health.of(zen)).toEqual({ status: 'ok', detail: null, checkedAt: clock.now(), latencyMs: 0 })
    const asked = server.queries.map(({ name }) => name)
    expect(asked.slice(0, 2)).toEqual(['2.0.0.127.zen.spamhaus.org', '1.0.0.127.zen.spamhaus.org'])
    expect(asked.slice(2)).toEqual([expect.stringMatching(/^[0-9a-v]{16}\.zen\.spamhaus\.org$/)])
    await health.known(zen)
    expect(server.queries.length).toBe(3)
  })

  test('is probed once for all who want to know at once', async () => {
    const { server, health } = await startScripted({}, { probed: false })
    await Promise.all([health.known(zen), health.known(zen), health.probe(zen)])
    expect(server.queries.length).toBe(3)
  })

  test('is asked anew at every probe, and for another random name', async () => {
    const { server, health } = await startScripted({}, { probed: false })
    await health.probe(zen)
    await health.probe(zen)
    const random = server.queries.map(({ name }) => name).filter((name) => !name.includes('.127.'))
    expect(server.queries.length).toBe(6)
    expect(new Set(random).size).toBe(2)
  })

  test('that answers one of its test entries is well', async () => {
    const only = 'test.surbl.org.multi.surbl.org'
    const { now } = await healthWith(play({ 'multi.surbl.org': nothing, [only]: codes('127.0.0.254') }), surbl)
    expect(now.status).toBe('ok')
  })

  test.each<[HealthStatus, string, Behaviour]>([
    ['silent', 'forgets its test entry', nothing],
    ['wildcard', 'lists everybody', codes('127.0.0.2')],
    ['wildcard', 'is parked', codes('91.195.240.117')],
    ['refusing', 'refuses by its code', codes('127.255.255.254')],
    ['refusing', 'is refused by the resolver', () => ({ rcode: rcodes.refused })],
    ['unreachable', 'fails', () => ({ rcode: rcodes.servfail })],
    ['unreachable', 'says nothing', silence],
  ])('is %s when it %s', async (status, _what, behaviour) => {
    const { now, logged } = await healthWith(behaviour)
    expect(now).toMatchObject({ status, checkedAt: new Date('2026-01-01') })
    expect(now.detail).toMatch(/\.$/)
    expect(changesIn(logged)).toHaveLength(1)
  })

  test('is wildcard behind a resolver that gives strangers’ addresses for names that do not exist', async () => {
    const rewriting = play({
      'zen.spamhaus.org': codes('198.51.100.80'),
      '2.0.0.127.zen.spamhaus.org': codes('127.0.0.2'),
    })
    expect((await healthWith(rewriting)).now).toMatchObject({ status: 'wildcard' })
  })

  test('is silent behind a resolver that takes loopback addresses out of answers', async () => {
    expect((await healthWith(() => ({}))).now).toMatchObject({ status: 'silent' })
  })

  test('is unreachable after two failures in a row, and not after one', async () => {
    let asked = 0
    const failingOnce: Behaviour = (query) => (asked++ < 3 ? { rcode: rcodes.servfail } : play()(query))
    const { now, server, logged } = await healthWith(failingOnce)
    expect(now.status).toBe('ok')
    expect(server.queries.length).toBe(6)
    expect(logged).toEqual([])
  })

  test('that is unreachable is probed once at a time, and is well after one success', async () => {
    const { server, health, logged } = await healthWith(() => ({ rcode: rcodes.servfail }))
    expect(server.queries.length).toBe(6)
    await health.probe(zen)
    expect(server.queries.length).toBe(9)
    server.behave(play())
    expect(await health.probe(zen)).toMatchObject({ status: 'ok', detail: null })
    expect(changesIn(logged)).toMatchObject([
      { list: 'spamhaus-zen', status: 'unreachable', detail: 'It does not answer (servfail).' },
      { list: 'spamhaus-zen', status: 'ok', detail: null },
    ])
  })

  test('that refused an ordinary query is so until it is probed again', async () => {
    const { health, clock } = await startScripted()
    clock.advance(MINUTE)
    health.refused(zen, 'Go away.')
    expect(health.of(zen)).toMatchObject({ status: 'refusing', detail: 'Go away.', checkedAt: clock.now() })
    await health.known(zen)
    expect(health.of(zen).status).toBe('refusing')
    await health.probe(zen)
    expect(health.of(zen).status).toBe('ok')
  })
})

describe('the probes', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    // In this order: what was spied upon is the fake.
    vi.restoreAllMocks()
    vi.useRealTimers()
  })

  /** A watched list that has been probed once, with the answers that `behaviour` gives. */
  async function watched(behaviour: Behaviour) {
    const server = await startDnsServer(behaviour)
    onTestFinished(() => server.close())
    const core = startCore(server, { lists: [zen] })
    core.health.start()
    await core.health.known(zen)
    return { ...core, server, before: server.queries.length }
  }

  const WELL = [10 * MINUTE, 30 * MINUTE] as const
  const REFUSING = [5 * MINUTE, 6 * MINUTE] as const
  const LYING = [ANSWER_LIFETIME, ANSWER_LIFETIME + MINUTE] as const
  const GONE = [45 * SECOND, 75 * SECOND] as const

  test.each<[string, Behaviour, readonly [number, number]]>([
    ['well', play(), WELL],
    ['refusing', codes('127.255.255.254'), REFUSING],
    ['wildcard', codes('127.0.0.2'), LYING],
    ['silent', nothing, LYING],
    ['unreachable', () => ({ rcode: rcodes.servfail }), GONE],
  ])('of a list that is %s come again within their time', async (_status, behaviour, [least, most]) => {
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

  test('do not all come at the same time', async () => {
    const waits = vi.spyOn(globalThis, 'setTimeout')
    const { health } = await watched(play())
    const seen = new Set<unknown>()
    for (let probe = 0; probe < 5; probe++) {
      await health.probe(zen)
      seen.add(waits.mock.lastCall?.[1])
    }
    expect(seen.size).toBe(5)
  })

  test('of a list that refused an ordinary query wait five minutes', async () => {
    const waits = vi.spyOn(globalThis, 'setTimeout')
    const { health } = await watched(play())
    health.refused(zen, 'Go away.')
    expect(waits.mock.lastCall?.[1]).toBeGreaterThanOrEqual(5 * MINUTE)
    expect(waits.mock.lastCall?.[1]).toBeLessThanOrEqual(6 * MINUTE)
    expect(vi.getTimerCount()).toBe(1)
  })

  test('leave no timer when they are stopped, also while one is under way', async () => {
    const { health, server } = await watched(play())
    expect(vi.getTimerCount()).toBe(1)
    const gate = createGate()
    server.behave(async (query) => {
      await gate.opened
      return play()(query)
    })
    const probe = health.probe(zen)
    health.stop()
    gate.open()
    await probe
    health.refused(zen, 'Go away.')
    expect(vi.getTimerCount()).toBe(0)
    expect(health.of(zen).status).toBe('ok')
  })
})

test('every list is probed at the start', async () => {
  const { health, server } = await startScripted({}, { probed: false })
  const names = lists.reduce((sum, list) => sum + list.probes.positive.length + 2, 0)
  health.start()
  await Promise.all(lists.map((list) => health.known(list)))
  expect(server.queries.length).toBe(names)
  expect(lists.map((list) => health.of(list).status)).toEqual(lists.map(() => 'ok'))
})

test('that no list is left is logged once, with what to do, and once that one is back', async () => {
  const server = await startDnsServer(play())
  onTestFinished(() => server.close())
  const { health, logged } = startCore(server)
  const probeAll = () => Promise.all(lists.map((list) => health.probe(list)))
  const said = (text: string) => logged.filter((line) => line.includes(text)).length
  await probeAll()
  expect(said('DNS_SERVERS')).toBe(0)
  server.behave(nothing)
  await probeAll()
  await probeAll()
  expect([said('DNS_SERVERS'), said('answers again')]).toEqual([1, 0])
  server.behave((query) => (query.name.endsWith(zen.zone) ? play() : nothing)(query))
  await probeAll()
  expect([said('DNS_SERVERS'), said('answers again')]).toEqual([1, 1])
  server.behave(nothing)
  await probeAll()
  expect(said('DNS_SERVERS')).toBe(2)
})

test('that no list is left at the start is logged', async () => {
  const server = await startDnsServer(nothing)
  onTestFinished(() => server.close())
  const { health, logged } = startCore(server)
  health.start()
  await Promise.all(lists.map((list) => health.known(list)))
  expect(logged.filter((line) => line.includes('DNS_SERVERS'))).toHaveLength(1)
})
