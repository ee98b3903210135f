// @slow
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { MINUTE, SECOND } from '../../src/core/time.ts'
import { kindRules } from '../../src/monitoring/monitor/probe-kinds.ts'
import { runProbe } from '../../src/monitoring/monitor/run-probe.ts'
import { http } from '../../src/monitoring/probe/http.ts'
import { ping } from '../../src/monitoring/probe/ping.ts'
import type { ProbeTools } from '../../src/monitoring/probe/probe.ts'
import type { AddressRateLimiter } from '../../src/network/address-rate.ts'
import { CONNECTIONS_PER_MINUTE, createAddressRateLimiter } from '../../src/network/address-rate.ts'
import { createOutbound } from '../../src/network/outbound/outbound.ts'
import { runWith, startTools } from '../monitoring/probe/run.ts'
import { freePort } from '../support/free-port.ts'
import { startReceiver } from '../support/receiver.ts'
import { ample, startOutbound, zone } from './outbound/setup.ts'

const signal = new AbortController().signal
const names = Array.from({ length: 50 }, (_, index) => `www.shop-${index}.com`)
/** Resolves all names, whose registrable domains differ, to this machine. */
const everyName = zone(Object.fromEntries(names.map((name) => [name, ['127.0.0.1']])))

/** Creates a limiter that admits this many connections during the test. */
function granting(count: number, keyOf: (address: string) => string | null = (address) => address): AddressRateLimiter {
  let left = count
  return {
    tryAcquire: (address) => keyOf(address) === null || left-- > 0,
    acquire: async () => false,
  }
}

async function receiverOf() {
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  return receiver
}

/** Creates the tools of probes with this limit. */
async function toolsWith(rate: AddressRateLimiter): Promise<ProbeTools> {
  const { tools } = await startTools(everyName)
  return { ...tools, outbound: createOutbound({ dns: tools.dns, allowPrivate: true, rate }) }
}

afterEach(() => {
  vi.useRealTimers()
})

describe('the rate of an address', () => {
  test('admits a sixth of the limit at once and the rest evenly; other addresses do not wait', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const rate = createAddressRateLimiter()
    const taken = (address: string) => {
      let count = 0
      while (rate.tryAcquire(address)) count += 1
      return count
    }
    expect(taken('192.0.9.1')).toBe(CONNECTIONS_PER_MINUTE / 6)
    expect(rate.tryAcquire('192.0.9.2')).toBe(true)
    await vi.advanceTimersByTimeAsync(10 * SECOND)
    expect(taken('192.0.9.1')).toBeGreaterThan(990)
    expect(taken('192.0.9.1')).toBe(0)
    let waited = false
    void rate.acquire('192.0.9.1', { waitMs: MINUTE, signal }).then((isTaken) => {
      waited = isTaken
    })
    await vi.advanceTimersByTimeAsync(50)
    expect(waited).toBe(true)
  })

  test('covers an IPv6 /64, and does not apply to private networks', () => {
    const rate = createAddressRateLimiter(6)
    expect(rate.tryAcquire('2600:1:2:3::1')).toBe(true)
    expect(rate.tryAcquire('2600:1:2:3:ffff::9')).toBe(false)
    expect(rate.tryAcquire('2600:1:2:4::1')).toBe(true)
    expect(Array.from({ length: 9 }, () => rate.tryAcquire('127.0.0.1'))).not.toContain(false)
    expect(Array.from({ length: 9 }, () => rate.tryAcquire('10.0.0.7'))).not.toContain(false)
  })

  test('waits for a limited time', async () => {
    const rate = createAddressRateLimiter(6)
    expect(rate.tryAcquire('192.0.9.1')).toBe(true)
    expect(await rate.acquire('192.0.9.1', { waitMs: 1, signal })).toBe(false)
    expect(await rate.acquire('192.0.9.1', { waitMs: MINUTE, signal: AbortSignal.abort() })).toBe(false)
  })
})

describe('fifty names of one address', () => {
  test('share the limit of the address; the others are UNKNOWN, never DOWN', async () => {
    const receiver = await receiverOf()
    // The organization has half of the limit, of which a sixth is admitted at once, then one every six seconds. On a busy
    // machine, one or two of the latter may be admitted during the test.
    const tools = await toolsWith(createAddressRateLimiter(24, (address) => address))
    const wait = vi.spyOn(tools.outbound, 'request')
    const findings = await Promise.all(
      names.map((name) => {
        const options = http.options.parse({ url: `http://${name}:${receiver.port}/` })
        return http.run(options, { ...runWith(tools), waitMs: 0 })
      }),
    )
    expect(wait).toHaveBeenCalledTimes(50)
    const up = findings.filter(({ outcome }) => outcome === 'UP')
    expect(up.length).toBeGreaterThanOrEqual(2)
    expect(up.length).toBeLessThan(10)
    expect(receiver.received.length).toBe(up.length)
    const others = findings.filter(({ outcome }) => outcome !== 'UP')
    expect(new Set(others.map(({ outcome, suspect }) => `${outcome} ${suspect}`))).toEqual(new Set(['UNKNOWN null']))
    expect(others[0]?.message).toMatch(
      /^Not connected: too many connections to the addresses of www\.shop-\d+\.com at once$/,
    )
  })

  test('are all served in time within the limit', async () => {
    const receiver = await receiverOf()
    const tools = await toolsWith(createAddressRateLimiter(CONNECTIONS_PER_MINUTE, (address) => address))
    const findings = await Promise.all(
      names.map((name) =>
        runProbe('HTTP', http.options.parse({ url: `http://${name}:${receiver.port}/` }), runWith(tools)),
      ),
    )
    expect(new Set(findings.map(({ outcome }) => outcome))).toEqual(new Set(['UP']))
  })

  test.each(['TCP', 'PING', 'DNS'] as const)('is limited for %s too', async (kind) => {
    const port = await freePort()
    const receiver = await receiverOf()
    const given = {
      TCP: { host: names[0], port: receiver.port },
      PING: { host: names[0] },
      DNS: { name: 'example.com', resolver: `127.0.0.1:${port}` },
    }[kind]
    const options = kindRules[kind].options.parse(given) as never
    const finding = await runProbe(kind, options, runWith(await toolsWith(granting(0))))
    expect(finding).toMatchObject({ outcome: 'UNKNOWN', suspect: null, latencyMs: null })
    expect(finding.message).toMatch(/too many/i)
  })

  test('count for each hop of a redirect', async () => {
    const receiver = await receiverOf()
    receiver.answer = ({ path }) => ({ status: 302, headers: { location: `/${Number(path.slice(1)) + 1}` } })
    const tools = await toolsWith(granting(3))
    const options = http.options.parse({ url: `http://${names[0]}:${receiver.port}/0`, maxRedirects: 10 })
    expect(await runProbe('HTTP', options, runWith(tools))).toMatchObject({ outcome: 'UNKNOWN' })
    expect(receiver.received.map(({ path }) => path)).toEqual(['/0', '/1', '/2'])
  })

  test('count for a redirect from one public address to another', async () => {
    const receiver = await receiverOf()
    receiver.answer = () => ({ status: 302, headers: { location: `http://127.0.0.2:${receiver.port}/` } })
    const only = granting(0, (address) => (address === '127.0.0.2' ? address : null))
    const options = http.options.parse({ url: `http://${names[0]}:${receiver.port}/` })
    expect(await runProbe('HTTP', options, runWith(await toolsWith(only)))).toMatchObject({ outcome: 'UNKNOWN' })
  })
})

describe('an address at its limit', () => {
  test('is awaited without using up the timeout', async () => {
    const receiver = await receiverOf()
    const patient: AddressRateLimiter = { tryAcquire: () => false, acquire: () => sleep(1100, true) }
    const tools = await toolsWith(patient)
    const options = http.options.parse({ url: `http://${names[0]}:${receiver.port}/` })
    const finding = await runProbe('HTTP', options, runWith(tools, { timeoutMs: 1000 }))
    expect(finding).toMatchObject({ outcome: 'UP' })
    expect(finding.latencyMs).toBeLessThan(1000)
    const tcp = kindRules.TCP.options.parse({ host: names[0], port: receiver.port }) as never
    const connected = await runProbe('TCP', tcp, runWith(tools, { timeoutMs: 1000 }))
    expect(connected).toMatchObject({ outcome: 'UP' })
    expect(connected.latencyMs).toBeLessThan(1000)
    const pinged = await runProbe('PING', ping.options.parse({ host: names[0], count: 1 }), runWith(tools))
    expect(['UP', 'UNKNOWN']).toContain(pinged.outcome)
  })

  test('is skipped for another address of the host', async () => {
    const receiver = await receiverOf()
    const { client } = await startOutbound(zone({ 'a.example.com': ['127.0.0.2', '127.0.0.1'] }))
    const asked: string[] = []
    const rate: AddressRateLimiter = {
      tryAcquire: (address) => asked.push(address) > 1,
      acquire: () => Promise.reject(new Error('The limiter was awaited.')),
    }
    const outbound = createOutbound({ dns: client, allowPrivate: true, rate })
    const answer = await outbound.request(
      { url: `http://a.example.com:${receiver.port}/`, maxBodyBytes: 10 },
      { ...ample },
    )
    expect(answer).toMatchObject({ kind: 'answer', address: '127.0.0.1' })
    expect(asked).toEqual(['127.0.0.2', '127.0.0.1'])
  })

  test('makes the host UNKNOWN although its other addresses refuse', async () => {
    const port = await freePort()
    const { client } = await startOutbound(zone({ 'a.example.com': ['127.0.0.1', '127.0.0.2'] }))
    const outbound = createOutbound({ dns: client, allowPrivate: true, rate: granting(1) })
    const limits = { timeoutMs: 10_000 }
    expect(await outbound.connect({ host: 'a.example.com', port }, limits)).toMatchObject({
      kind: 'failed',
      reason: 'rate-limited',
      fault: 'ours',
    })
    const free = createOutbound({ dns: client, allowPrivate: true })
    expect(await free.connect({ host: 'a.example.com', port }, limits)).toMatchObject({ reason: 'refused' })
  })

  test('is no longer awaited when the caller aborts', async () => {
    const { client } = await startOutbound(zone({}))
    const caller = new AbortController()
    const rate = createAddressRateLimiter(6, (address) => address)
    rate.tryAcquire('127.0.0.1')
    const outbound = createOutbound({ dns: client, allowPrivate: true, rate })
    const waiting = outbound.connect({ host: '127.0.0.1', port: 3 }, { ...ample, signal: caller.signal })
    caller.abort()
    expect(await waiting).toMatchObject({ reason: 'aborted' })
  })
})
