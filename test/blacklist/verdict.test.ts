import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BlacklistResult, Counts, DomainReport, IpReport } from '../../src/blacklist/check-report.ts'
import { listErrors } from '../../src/blacklist/check-report.ts'
import {
  countResults,
  domainVerdictText,
  ipVerdictText,
  reportVerdict,
  sumCounts,
  verdictOf,
} from '../../src/blacklist/verdict.ts'
import { answer, answers, domainReport, ipReport, listing, policy } from '../support/reports.ts'

describe('the counts', () => {
  test('of no results are zero', () => {
    expect(countResults([])).toEqual({ totalChecked: 0, listedCount: 0, policyCount: 0, cleanCount: 0, failedCount: 0 })
    expect(sumCounts([])).toEqual(countResults([]))
  })

  test('count a list that failed as clean and as failed', () => {
    const results = answers({ SpamCop: listing, PSBL: { error: 'timeout' }, DroneBL: { error: 'refused' } })
    expect(countResults(results)).toEqual({
      totalChecked: 6,
      listedCount: 1,
      policyCount: 0,
      cleanCount: 5,
      failedCount: 2,
    })
  })

  test.each<[Counts['listedCount'], Counts['policyCount'], Counts['failedCount'], string]>([
    [0, 0, 0, 'clean'],
    [0, 0, 1, 'incomplete'],
    [1, 0, 0, 'listed'],
    [1, 0, 5, 'listed'],
    [2, 1, 0, 'listed'],
    [1, 1, 0, 'policy'],
    [2, 2, 4, 'policy'],
  ])('%i listed, %i of them by policy, and %i failed give %s', (listedCount, policyCount, failedCount, verdict) => {
    expect(verdictOf({ listedCount, policyCount, failedCount })).toBe(verdict)
  })
})

describe('the verdict on an address', () => {
  const say = (changes: Parameters<typeof answers>[0] = {}) => ipVerdictText('192.0.2.7', answers(changes))
  const all = (change: Partial<BlacklistResult>) => answers().map((result) => ({ ...result, ...change }))

  test('is clean when no list lists it', () => {
    expect(say()).toBe('192.0.2.7 is clean: none of the 6 blacklists lists it.')
  })

  test('names the lists with a listing', () => {
    expect(say({ PSBL: listing })).toBe('192.0.2.7 is listed on 1 of 6 blacklists: PSBL.')
    expect(say({ 'Spamhaus ZEN': listing, PSBL: listing, DroneBL: listing })).toBe(
      '192.0.2.7 is listed on 3 of 6 blacklists: Spamhaus ZEN, PSBL and DroneBL.',
    )
  })

  test('names policy entries, with and without listings', () => {
    const explained = 'A policy entry says that an address should not send mail directly; it does not report abuse.'
    expect(say({ 'Spamhaus ZEN': policy })).toBe(
      `192.0.2.7 is listed on 1 of 6 blacklists as a policy entry only: Spamhaus ZEN. ${explained}`,
    )
    expect(say({ 'Spamhaus ZEN': policy, PSBL: { error: 'timeout' } })).toBe(
      `192.0.2.7 is listed on 1 of 6 blacklists as a policy entry only: Spamhaus ZEN. ${explained} Unknown: PSBL (no answer in time).`,
    )
    expect(say({ 'Spamhaus ZEN': policy, PSBL: listing })).toBe(
      '192.0.2.7 is listed on 2 of 6 blacklists: PSBL; policy entry: Spamhaus ZEN.',
    )
  })

  test('names the lists that did not answer after a listing', () => {
    expect(say({ PSBL: listing, Mailspike: { error: 'timeout' } })).toBe(
      '192.0.2.7 is listed on 1 of 6 blacklists: PSBL. Unknown: Mailspike (no answer in time).',
    )
  })

  test('is incomplete when some lists did not answer', () => {
    expect(say({ Barracuda: { error: 'refused' } })).toBe(
      'No listing of 192.0.2.7 was found: 5 of 6 blacklists gave a usable answer. Unknown: Barracuda (query refused).',
    )
    const changes = {
      SpamCop: { error: 'timeout' },
      Barracuda: { error: 'refused' },
      PSBL: { error: 'unreachable' },
      Mailspike: { error: 'timeout' },
      DroneBL: { error: 'invalid_answer' },
    } as const
    expect(say(changes)).toBe(
      'No listing of 192.0.2.7 was found: 1 of 6 blacklists gave a usable answer. Unknown: SpamCop and Mailspike (no answer in time); Barracuda (query refused); PSBL (unreachable); DroneBL (answer not usable).',
    )
  })

  test('is unknown when no list answered', () => {
    expect(ipVerdictText('192.0.2.7', all({ error: 'timeout' }))).toBe(
      'Nothing is known about 192.0.2.7: no blacklist gave a usable answer. Unknown: Spamhaus ZEN, SpamCop, Barracuda, PSBL, Mailspike and DroneBL (no answer in time).',
    )
  })

  test('of IPv6 names the lists without IPv6 data', () => {
    const results = all({ error: 'unsupported' }).with(0, answer('Spamhaus ZEN'))
    expect(ipVerdictText('2001:db8::7', results)).toBe(
      'No listing of 2001:db8::7 was found: 1 of 6 blacklists gave a usable answer. Unknown: SpamCop, Barracuda, PSBL, Mailspike and DroneBL (no known IPv6 data).',
    )
  })
})

describe('the verdict on a domain', () => {
  const say = (addresses: readonly IpReport[], changes: Partial<DomainReport> = {}) =>
    domainReport('example.com', addresses, changes).verdict
  const clean = ipReport('192.0.2.1')
  const bad = ipReport('192.0.2.2', answers({ 'Spamhaus ZEN': listing, PSBL: listing }))
  const worse = ipReport('192.0.2.3', answers({ DroneBL: listing }))
  const atHome = ipReport('192.0.2.4', answers({ 'Spamhaus ZEN': policy }))
  const POLICY = 'A policy entry says that an address should not send mail directly; it does not report abuse.'
  const domainListing = { results: [answer('SURBL', listing), answer('URIBL')] }

  test.each<[string, string, readonly IpReport[], Partial<DomainReport>]>([
    ['is clean', 'example.com is clean: no blacklist lists it or its checked address.', [clean], {}],
    [
      'is clean, as are its addresses',
      'example.com is clean: no blacklist lists it or its 2 checked addresses.',
      [clean, ipReport('2001:db8::1')],
      {},
    ],
    ['has no addresses', 'example.com is clean: no blacklist lists it. It has no addresses.', [], {}],
    [
      'only has private addresses',
      'example.com is clean: no blacklist lists it. None of its addresses is public.',
      [],
      { resolvedIps: ['10.0.0.1'] },
    ],
    [
      'has a private address too',
      'example.com is clean: no blacklist lists it or its checked address. Only 1 of its 2 addresses was checked: the other is not public.',
      [clean],
      { resolvedIps: ['192.0.2.1', '10.0.0.1'] },
    ],
    [
      'has more addresses than are checked',
      'example.com is clean: no blacklist lists it or its 2 checked addresses. Only 2 of its 3 addresses were checked.',
      [clean, clean],
      { resolvedIps: ['192.0.2.1', '192.0.2.4', '192.0.2.5'], resolvedIpsTruncated: true },
    ],
    ['is listed', 'example.com is listed on SURBL.', [clean], domainListing],
    ['is listed and has no addresses', 'example.com is listed on SURBL. It has no addresses.', [], domainListing],
    ['has a listed address', 'example.com has a listed address: 192.0.2.2 (Spamhaus ZEN and PSBL).', [clean, bad], {}],
    [
      'has listed addresses',
      'example.com has 2 listed addresses: 192.0.2.2 (Spamhaus ZEN and PSBL) and 192.0.2.3 (DroneBL).',
      [bad, worse],
      {},
    ],
    [
      'is listed, as is an address',
      'example.com is listed on SURBL, and has a listed address: 192.0.2.3 (DroneBL).',
      [worse],
      domainListing,
    ],
    [
      'has an address with a policy entry',
      `No blacklist reports abuse by example.com; its address 192.0.2.4 (Spamhaus ZEN) has a policy entry. ${POLICY}`,
      [clean, atHome],
      {},
    ],
    [
      'has a listed address and one with a policy entry',
      `example.com has a listed address: 192.0.2.3 (DroneBL). Its address 192.0.2.4 (Spamhaus ZEN) has a policy entry. ${POLICY}`,
      [worse, atHome],
      {},
    ],
    [
      'has addresses with policy entries',
      `No blacklist reports abuse by example.com; its addresses 192.0.2.4 (Spamhaus ZEN) and 192.0.2.5 (Spamhaus ZEN) have policy entries. ${POLICY}`,
      [atHome, ipReport('192.0.2.5', answers({ 'Spamhaus ZEN': policy }))],
      {},
    ],
    [
      'could not be resolved',
      'No listing of example.com was found: 2 of 2 blacklist checks gave a usable answer. Its addresses could not be looked up.',
      [],
      { resolutionFailed: true },
    ],
    [
      'could be partly resolved',
      'No listing of example.com was found: 8 of 8 blacklist checks gave a usable answer. It may have more addresses: one of the lookups failed.',
      [clean],
      { resolutionFailed: true },
    ],
    [
      'could be partly resolved, to private addresses',
      'No listing of example.com was found: 2 of 2 blacklist checks gave a usable answer. None of its addresses is public. It may have more addresses: one of the lookups failed.',
      [],
      { resolutionFailed: true, resolvedIps: ['10.0.0.1'] },
    ],
    [
      'one list did not answer for',
      'No listing of example.com was found: 7 of 8 blacklist checks gave a usable answer. Unknown: URIBL (query refused).',
      [clean],
      { results: [answer('SURBL'), answer('URIBL', { error: 'refused' })] },
    ],
    [
      'one list did not answer for, for two addresses',
      'No listing of example.com was found: 12 of 14 blacklist checks gave a usable answer. Unknown: PSBL (unreachable).',
      ['192.0.2.1', '192.0.2.2'].map((each) => ipReport(each, answers({ PSBL: { error: 'unreachable' } }))),
      {},
    ],
    [
      'no list answered for',
      'Nothing is known about example.com: no blacklist gave a usable answer. Unknown: SURBL and URIBL (no answer in time). Its addresses could not be looked up.',
      [],
      {
        results: [answer('SURBL', { error: 'timeout' }), answer('URIBL', { error: 'timeout' })],
        resolutionFailed: true,
      },
    ],
  ])('that %s', (_what, verdict, addresses, changes) => {
    expect(say(addresses, changes)).toBe(verdict)
  })
})

describe('for any results', () => {
  const arbitrary = fc
    .tuple(
      fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom('A', 'B', 'C') }),
      fc.nat(listErrors.length + 2),
    )
    .map(([name, choice]): BlacklistResult => {
      if (choice === 0) return answer(name)
      if (choice <= 2) return answer(name, choice === 1 ? listing : policy)
      return answer(name, { error: listErrors[choice - 3] ?? null })
    })
  const results = fc.array(arbitrary, { minLength: 1, maxLength: 6 })
  const domain = fc
    .record({
      results,
      addresses: fc.array(results, { maxLength: 4 }),
      others: fc.nat(3),
      resolutionFailed: fc.boolean(),
    })
    .map(({ addresses, others, ...changes }) => {
      const reports = addresses.map((each, index) => ipReport(`192.0.2.${index}`, each))
      const hidden = Array.from({ length: others }, (_, index) => `10.0.0.${index}`)
      return domainReport('example.com', reports, {
        ...changes,
        // No domain list has policy entries.
        results: changes.results.map((each) => (each.policy ? { ...each, policy: false } : each)),
        resolvedIps: [...reports.map(({ target }) => target), ...hidden],
      })
    })

  /** Asserts that the verdict has all that it must say, and nothing that it must not say. */
  function expectTrue(verdict: string, all: readonly BlacklistResult[], counts: Counts, complete: boolean) {
    expect(counts.listedCount + counts.cleanCount).toBe(counts.totalChecked)
    expect(verdict.includes('is clean')).toBe(counts.listedCount === 0 && counts.failedCount === 0 && complete)
    for (const { name, listed, error } of all) if (listed || error !== null) expect(verdict).toContain(name)
    if (counts.listedCount > 0) expect(verdict).not.toMatch(/none of|no blacklist lists|No listing/)
    expect(verdict).toMatch(/^[^ ].*[^ ]\.$/)
    expect(verdict).not.toMatch(/ {2}|\.\.|undefined|null|\(\)/)
  }

  test('the verdict on an address is true', () => {
    fc.assert(
      fc.property(results, (each) => expectTrue(ipVerdictText('192.0.2.7', each), each, countResults(each), true)),
    )
  })

  test('the sentences about a domain are true, and agree with its verdict', () => {
    fc.assert(
      fc.property(domain, (report) => {
        const all = [...report.results, ...report.ipReports.flatMap((each) => each.results)]
        expectTrue(domainVerdictText(report), all, report, !report.resolutionFailed)
        expect(report.verdict.includes('is clean')).toBe(reportVerdict(report) === 'clean')
        expect(/ listed (on|address)/.test(report.verdict)).toBe(reportVerdict(report) === 'listed')
        expect(/abuse by example/.test(report.verdict)).toBe(reportVerdict(report) === 'policy')
        expect(sumCounts([countResults(report.results), ...report.ipReports])).toEqual(countResults(all))
      }),
    )
  })
})
