// @slow
import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Report } from '../../src/blacklist/check-report.ts'
import type { CheckProgress } from '../../src/blacklist/checker.ts'
import { type GeoLookup, unknownGeo } from '../../src/blacklist/geo/geo.ts'
import { parseTarget } from '../../src/blacklist/target.ts'
import { reportVerdict } from '../../src/blacklist/verdict.ts'
import { unlessAborted } from '../../src/core/concurrency/deadline.ts'
import { SECOND } from '../../src/core/time.ts'
import {
  answer,
  type Behaviour,
  createGate,
  rcodes,
  type SeenQuery,
  silence,
  startDnsServer,
} from '../support/dns-server.ts'
import { hostZone, listZones } from '../support/lists.ts'
import { requireRbldnsd, startRbldnsd } from '../support/rbldnsd.ts'
import { runs } from '../support/runs.ts'
import { codes, listed, lists, nothing, play, startCore, startScripted } from './setup.ts'

const address = '192.0.2.7'
const caller = { owner: 'caller' }
const reversed = '7.2.0.192'
const ip = (text: string) => parseTarget(text, 'ip')
const domain = (text: string) => parseTarget(text, 'domain')
const ipNames = lists.filter(({ kind }) => kind === 'ip').map(({ name }) => name)
const domainNames = lists.filter(({ kind }) => kind === 'domain').map(({ name }) => name)

/** Returns the behaviour of a DNS server for a host with IPv4 and IPv6 addresses. */
const host =
  (...addresses: readonly string[]): Behaviour =>
  (query) => {
    const ofType = addresses.filter((each) => each.includes(':') === (query.type === 'AAAA'))
    return ofType.length > 0 ? answer(query, ofType) : {}
  }

describe('the check of an address', () => {
  test('queries the six IP lists in order and locates the address', async () => {
    const place = { country: 'Germany', city: 'Falkenstein', isp: 'Example', asn: 'AS64500' }
    const geo: GeoLookup = { locate: async () => place, load: async () => {}, close: async () => {} }
    const script = { [`${reversed}.psbl.surriel.com`]: listed('127.0.0.2', 'Trapped') }
    const { checker, clock } = await startScripted(script, { geo })
    const report = await checker.check(ip(address), caller)
    expect(report).toEqual({
      targetType: 'ip',
      target: address,
      checkedAt: clock.now(),
      totalChecked: 6,
      listedCount: 1,
      policyCount: 0,
      cleanCount: 5,
      failedCount: 0,
      verdict: `${address} is listed on 1 of 6 blacklists: PSBL.`,
      geo: place,
      results: expect.any(Array),
    })
    expect(report.results.map(({ name }) => name)).toEqual(ipNames)
    expect(report.results.map((each) => each.listed)).toEqual([false, false, false, true, false, false])
  })

  test('never calls the address clean when a list does not answer', async () => {
    const { checker } = await startScripted({ 'psbl.surriel.com': () => ({ rcode: rcodes.servfail }) })
    const report = await checker.checkIp(ip(address), caller)
    expect(report).toMatchObject({ listedCount: 0, cleanCount: 6, failedCount: 1 })
    expect(report.verdict).toBe(
      `No listing of ${address} was found: 5 of 6 blacklists gave a usable answer. Unknown: PSBL (unreachable).`,
    )
  })

  test('sends one set of queries for three concurrent checks, and none for a repeated check', async () => {
    const { checker, sentQueries } = await startScripted({ 'zen.spamhaus.org': listed('127.0.0.2', 'Spam') })
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => checker.checkIp(ip(address), caller)))
    expect(sentQueries().length).toBe(7)
    expect(second).toEqual(first)
    expect(third).toEqual(first)
    expect(await checker.checkIp(ip(address), caller)).toEqual(first)
    expect(sentQueries().length).toBe(7)
  })

  test('repeats only queries without a cached answer', async () => {
    const { checker, sentQueries, dns } = await startScripted()
    await checker.checkIp(ip(address), caller)
    dns.forget(`${reversed}.psbl.surriel.com`, 'A')
    const before = sentQueries().length
    await checker.checkIp(ip(address), caller)
    expect(sentQueries().slice(before)).toEqual([`A ${reversed}.psbl.surriel.com`])
  })

  test('reports each answer as it arrives, including cached ones', async () => {
    const { checker } = await startScripted()
    for (let time = 0; time < 2; time++) {
      const steps: CheckProgress[] = []
      const report = await checker.checkIp(ip(address), { ...caller, onProgress: (progress) => steps.push(progress) })
      expect(steps.map(({ kind }) => kind)).toEqual(ipNames.map(() => 'answer'))
      const results = steps.flatMap((each) => (each.kind === 'answer' ? [each.result] : []))
      expect(new Set(results)).toEqual(new Set(report.results))
    }
  })

  test('does not delay answers because of one slow list', async () => {
    const gate = createGate()
    onTestFinished(gate.open)
    const slow: Behaviour = async (query) => {
      await gate.opened
      return nothing(query)
    }
    const { checker } = await startScripted({ 'bl.spamcop.net': slow })
    const steps: string[] = []
    const check = checker.checkIp(ip(address), {
      ...caller,
      onProgress: (progress) => {
        if (progress.kind === 'answer') steps.push(progress.result.name)
        if (steps.length === 5) gate.open()
      },
    })
    await check
    expect(steps.length).toBe(6)
    expect(steps[5]).toBe('SpamCop')
  })

  test('of IPv6 names the lists without IPv6 data', async () => {
    const { checker } = await startScripted()
    const report = await checker.checkIp(ip('2001:db8::7'), caller)
    expect(report).toMatchObject({ totalChecked: 6, listedCount: 0, cleanCount: 6, failedCount: 5 })
    expect(report.verdict).toBe(
      'No listing of 2001:db8::7 was found: 1 of 6 blacklists gave a usable answer. Unknown: SpamCop, Barracuda, PSBL, Mailspike and DroneBL (no known IPv6 data).',
    )
  })
})

describe('the check of a domain', () => {
  const script = { 'www.example.com': host('192.0.2.1', '192.0.2.2', '2001:db8::1') }

  test('queries the domain lists for the name and the IP lists for its addresses', async () => {
    const { checker, clock } = await startScripted({
      ...script,
      '1.2.0.192.bl.spamcop.net': listed('127.0.0.2', 'Reported'),
    })
    const report = await checker.check(domain('www.example.com'), caller)
    expect(report).toMatchObject({
      targetType: 'domain',
      target: 'www.example.com',
      checkedAt: clock.now(),
      resolvedIps: ['192.0.2.1', '192.0.2.2', '2001:db8::1'],
      resolutionFailed: false,
      resolvedIpsTruncated: false,
      totalChecked: 20,
      listedCount: 1,
      cleanCount: 19,
      failedCount: 5,
    })
    if (report.targetType !== 'domain') throw new Error('Not the report on a domain')
    expect(report.results.map(({ name }) => name)).toEqual(domainNames)
    expect(report.ipReports.map(({ target }) => target)).toEqual(report.resolvedIps)
    expect(report.ipReports.map(({ totalChecked }) => totalChecked)).toEqual([6, 6, 6])
    expect(report.verdict).toBe(
      'www.example.com has a listed address: 192.0.2.1 (SpamCop). Unknown: SpamCop, Barracuda, PSBL, Mailspike and DroneBL (no known IPv6 data).',
    )
  })

  test('includes the same report as a check of its address, with policy entries', async () => {
    const { checker } = await startScripted({
      'example.com': host(address),
      [`${reversed}.zen.spamhaus.org`]: listed('127.0.0.10', 'Policy'),
    })
    const report = await checker.checkDomain(domain('example.com'), caller)
    expect(report).toMatchObject({
      totalChecked: 8,
      listedCount: 1,
      policyCount: 1,
      cleanCount: 7,
      failedCount: 0,
      verdict: `No blacklist reports abuse by example.com; its address ${address} (Spamhaus ZEN) has a policy entry. A policy entry says that an address should not send mail directly; it does not report abuse.`,
    })
    const alone = await checker.checkIp(ip(address), caller)
    expect(alone).toMatchObject({
      listedCount: 1,
      policyCount: 1,
      verdict: `${address} is listed on 1 of 6 blacklists as a policy entry only: Spamhaus ZEN. A policy entry says that an address should not send mail directly; it does not report abuse.`,
    })
    expect(report.ipReports).toEqual([{ ...alone, checkedAt: expect.any(Date) }])
  })

  test('checks at most eight addresses, and reports that there are more', async () => {
    const addresses = Array.from({ length: 12 }, (_, index) => `198.51.100.${index + 1}`)
    const { checker, sentQueries } = await startScripted({ 'example.com': host(...addresses) })
    const report = await checker.checkDomain(domain('example.com'), caller)
    expect(report).toMatchObject({ resolvedIps: addresses, resolvedIpsTruncated: true, totalChecked: 50 })
    expect(report.ipReports.map(({ target }) => target)).toEqual(addresses.slice(0, 8))
    expect(report.verdict).toBe(
      'example.com is clean: no blacklist lists it or its 8 checked addresses. Only 8 of its 12 addresses were checked.',
    )
    expect(sentQueries().length).toBe(2 + 2 + 8 * 6)
  })

  test('reports private addresses but does not check them', async () => {
    const { checker, sentQueries } = await startScripted({
      'example.com': host('10.0.0.1', '192.0.2.1', '127.0.0.1', '127.0.0.2', 'fd00::1', '169.254.1.1'),
      'inside.example.org': host('192.168.0.1'),
    })
    const report = await checker.checkDomain(domain('example.com'), caller)
    expect(report.resolvedIps).toEqual(['10.0.0.1', '192.0.2.1', '127.0.0.1', '127.0.0.2', '169.254.1.1', 'fd00::1'])
    expect(report).toMatchObject({ resolvedIpsTruncated: false, totalChecked: 8 })
    expect(report.ipReports.map(({ target }) => target)).toEqual(['192.0.2.1'])
    expect(report.verdict).toMatch(/Only 1 of its 6 addresses was checked: the others are not public\.$/)
    expect(sentQueries().filter((query) => query.includes('1.0.0.10.'))).toEqual([])
    expect((await checker.checkDomain(domain('inside.example.org'), caller)).verdict).toBe(
      'inside.example.org is clean: no blacklist lists it. None of its addresses is public.',
    )
  })

  test('converts an IPv4-mapped AAAA record to its IPv4 address, without duplicates', async () => {
    const { checker } = await startScripted({ 'example.com': host('192.0.2.1', '::ffff:192.0.2.1', '::ffff:10.0.0.1') })
    const report = await checker.checkDomain(domain('example.com'), caller)
    expect(report.resolvedIps).toEqual(['192.0.2.1', '10.0.0.1'])
    expect(report.ipReports.map(({ target }) => target)).toEqual(['192.0.2.1'])
  })

  test('follows CNAMEs', async () => {
    const alias: Behaviour = (query) => ({
      answers: [
        { name: query.name, type: 'CNAME', ttl: 60, data: 'edge.example.net' },
        ...(query.type === 'A' ? [{ name: 'edge.example.net', type: 'A', ttl: 60, data: '192.0.2.9' } as const] : []),
      ],
    })
    const { checker } = await startScripted({ 'example.com': alias })
    expect(await checker.checkDomain(domain('example.com'), caller)).toMatchObject({
      resolvedIps: ['192.0.2.9'],
      totalChecked: 8,
    })
  })

  test('of a name that does not exist still queries the domain lists', async () => {
    const { checker } = await startScripted({ 'gone.example.com.multi.surbl.org': listed('127.0.0.8', 'phishing') })
    const report = await checker.checkDomain(domain('gone.example.com'), caller)
    expect(report).toMatchObject({
      resolvedIps: [],
      resolutionFailed: false,
      ipReports: [],
      totalChecked: 2,
      listedCount: 1,
      verdict: 'gone.example.com is listed on SURBL multi. It has no addresses.',
    })
  })

  test.each<[string, Behaviour, string[], string]>([
    ['both lookups fail', () => ({ rcode: rcodes.servfail }), [], 'Its addresses could not be looked up.'],
    ['both lookups are refused', () => ({ rcode: rcodes.refused }), [], 'Its addresses could not be looked up.'],
    ['nothing answers', silence, [], 'Its addresses could not be looked up.'],
    [
      'one lookup fails',
      (query) => (query.type === 'A' ? answer(query, [address]) : { rcode: rcodes.servfail }),
      [address],
      'It may have more addresses: one of the lookups failed.',
    ],
    [
      'one lookup fails and the other finds nothing',
      (query) => (query.type === 'A' ? {} : { rcode: rcodes.servfail }),
      [],
      'Its addresses could not be looked up.',
    ],
  ])('is never clean when %s', async (_what, behaviour, addresses, ending) => {
    const { checker } = await startScripted(
      { 'example.com': behaviour },
      behaviour === silence ? { timeoutMs: 200 } : {},
    )
    const report = await checker.checkDomain(domain('example.com'), caller)
    expect(report).toMatchObject({ resolvedIps: addresses, resolutionFailed: true, listedCount: 0, failedCount: 0 })
    expect(reportVerdict(report)).toBe('incomplete')
    expect(report.verdict).not.toContain('is clean')
    expect(report.verdict.endsWith(ending)).toBe(true)
  })

  test('reports its addresses, then each answer with its target', async () => {
    const { checker } = await startScripted(script)
    const steps: CheckProgress[] = []
    const report = await checker.checkDomain(domain('www.example.com'), {
      ...caller,
      onProgress: (each) => steps.push(each),
    })
    const resolved = steps.findIndex(({ kind }) => kind === 'resolved')
    const addresses = ['192.0.2.1', '192.0.2.2', '2001:db8::1']
    expect(steps[resolved]).toEqual({ kind: 'resolved', addresses, checked: addresses })
    const subjects = steps.map((each) => (each.kind === 'answer' ? each.target : ''))
    expect(subjects.slice(0, resolved).every((subject) => subject === 'www.example.com')).toBe(true)
    for (const each of addresses) expect(subjects.filter((subject) => subject === each).length).toBe(6)
    expect(subjects.filter((subject) => subject === 'www.example.com').length).toBe(2)
    expect(steps.length).toBe(report.totalChecked + 1)
  })

  test('behind a resolver that rewrites NXDOMAIN neither lists nor clears', async () => {
    const rewriting: Behaviour = (query) =>
      query.name.startsWith('2.0.0.127.') ? codes('127.0.0.2')(query) : host('198.51.100.80')(query)
    const server = await startDnsServer(rewriting)
    onTestFinished(() => server.close())
    const { checker } = startCore(server)
    const report = await checker.checkDomain(domain('gone.example.com'), caller)
    expect(report).toMatchObject({ totalChecked: 8, listedCount: 0, failedCount: 8 })
    expect(report.verdict).toMatch(/^Nothing is known about gone\.example\.com: /)
  })
})

describe('aborting a check', () => {
  test.each([
    ['an address', address, 6],
    ['a domain', 'example.com', 4],
  ])('of %s ends it at once, with no query in flight', async (_what, text, count) => {
    const { checker, dns, server } = await startScripted({}, { timeoutMs: 60_000 })
    const gate = createGate()
    server.behave(async (query) => {
      await gate.opened
      return nothing(query)
    })
    const before = server.queries.length
    const { received, rejected } = { ...dns.statistics }
    const leaving = new AbortController()
    const check = checker.check(parseTarget(text), { ...caller, signal: leaving.signal })
    await server.seen(before + count)
    leaving.abort()
    expect((await check).failedCount).toBeGreaterThan(0)
    gate.open()
    // No caller waits for this answer.
    await vi.waitFor(() => expect(dns.statistics.rejected).toBe(rejected + count), 5 * SECOND)
    expect(dns.statistics.received).toBe(received)
    expect(server.queries.length).toBe(before + count)
    expect(getEventListeners(leaving.signal, 'abort')).toEqual([])
  })

  test('before it starts sends no query', async () => {
    const { checker, sentQueries } = await startScripted()
    const report = await checker.checkDomain(domain('example.com'), { ...caller, signal: AbortSignal.abort() })
    expect(report).toMatchObject({ totalChecked: 2, failedCount: 2, resolutionFailed: true })
    expect(sentQueries()).toEqual([])
  })

  test('does not abort other checks of the same target', async () => {
    const { checker, server } = await startScripted({}, { timeoutMs: 60_000 })
    const gate = createGate()
    server.behave(async (query) => {
      await gate.opened
      return nothing(query)
    })
    const before = server.queries.length
    const leaving = new AbortController()
    const left = checker.checkIp(ip(address), { ...caller, signal: leaving.signal })
    const stayed = checker.checkIp(ip(address), caller)
    await server.seen(before + 6)
    leaving.abort()
    expect((await left).failedCount).toBe(6)
    gate.open()
    expect((await stayed).failedCount).toBe(0)
    expect(server.queries.length).toBe(before + 6)
  })
})

test('a check ends within five seconds when neither lists nor geo data answer', async () => {
  const server = await startDnsServer((query: SeenQuery) =>
    query.name === 'example.com' && query.type === 'A' ? answer(query, [address]) : [],
  )
  onTestFinished(() => server.close())
  const never = new Promise<void>(() => {})
  const loading = { ...unknownGeo, loading: true } as const
  const geo: GeoLookup = {
    locate: async (_address, waiting = { aborted: false }) => (await unlessAborted(never, waiting)) ?? loading,
    load: async () => {},
    close: async () => {},
  }
  const { checker } = startCore(server, { timeoutMs: 4500, geo })
  const late = new Promise<'late'>((resolve) => {
    const timer = setTimeout(() => resolve('late'), 5 * SECOND)
    onTestFinished(() => clearTimeout(timer))
  })
  const report = await Promise.race([checker.checkDomain(domain('example.com'), caller), late])
  expect(report).toMatchObject({ resolvedIps: [address], resolutionFailed: true, totalChecked: 8, failedCount: 8 })
  if (report !== 'late') expect(report.ipReports[0]?.geo).toEqual(loading)
})

test('for any answers, the counts add up and the verdict matches the answers', async () => {
  const behaviours: readonly Behaviour[] = [
    nothing,
    listed('127.0.0.2', 'Reason'),
    codes('127.0.0.10'),
    codes('127.0.0.2', '127.0.0.99'),
    codes('127.0.0.77'),
    codes('203.0.113.80'),
    codes('127.0.0.1'),
    () => ({ rcode: rcodes.servfail }),
    () => ({ rcode: rcodes.refused }),
    () => ({ bytes: Buffer.from('not DNS') }),
    () => ({}),
  ]
  const choice = fc.nat(behaviours.length - 1)
  const { checker, server, dns, health } = await startScripted({}, { timeoutMs: 40 })
  let tries = 0
  await fc.assert(
    fc.asyncProperty(fc.array(choice, { minLength: lists.length, maxLength: lists.length }), async (choices) => {
      server.behave(play())
      await Promise.all(lists.map((list) => health.get(list).status === 'ok' || health.measure(list)))
      const name = `n${++tries}.example.com`
      const script = lists.map(({ zone }, index) => [zone, behaviours[choices[index] ?? 0] ?? nothing] as const)
      server.behave(play({ ...Object.fromEntries(script), [name]: host(`192.0.2.${tries}`) }))
      for (const { zone } of lists) dns.forget(`example.com.${zone}`, 'A')
      const report = await checker.checkDomain(domain(name), caller)
      for (const each of [report, ...report.ipReports]) expectHonest(each)
    }),
    runs(20, 60),
  )
})

/** Asserts that the counts add up, and that the verdict names every list with a listing or an error. */
function expectHonest({ verdict, results, ...counts }: Report) {
  expect(counts.listedCount + counts.cleanCount).toBe(counts.totalChecked)
  expect(verdict.includes('is clean')).toBe(counts.failedCount === 0 && counts.listedCount === 0)
  for (const { name, listed, error, response } of results) {
    if (listed || error !== null) expect(verdict).toContain(name)
    expect(listed && error !== null).toBe(false)
    expect(response !== null).toBe(listed)
  }
}

test('checks a whole domain against a real rbldnsd', async (context) => {
  requireRbldnsd(context)
  const daemon = await startRbldnsd([
    ...listZones({
      'zen.spamhaus.org': { '192.0.2.7': ['127.0.0.4', 'See https://lists.example/$'] },
      'black.uribl.com': { 'example.com': ['127.0.0.2', 'Black: $'] },
    }),
    hostZone('example.com', ['192.0.2.7', '192.0.2.8']),
  ])
  onTestFinished(() => daemon.stop())
  const { checker } = startCore(daemon)
  const report = await checker.checkDomain(domain('example.com'), caller)
  expect(report).toMatchObject({
    resolvedIps: ['192.0.2.7', '192.0.2.8'],
    totalChecked: 14,
    listedCount: 2,
    failedCount: 0,
  })
  expect(report.verdict).toBe(
    'example.com is listed on URIBL black, and has a listed address: 192.0.2.7 (Spamhaus ZEN).',
  )
})
