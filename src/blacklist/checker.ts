import { LRUCache } from 'lru-cache'
import { addressFamily, parseAddress } from '../core/ip-address.ts'
import type { Clock } from '../core/time.ts'
import { SECOND } from '../core/time.ts'
import type { DnsResult, Signal } from '../network/dns/client.ts'
import type { GeoLookup } from './geo.ts'
import { unknownGeo } from './geo.ts'
import type { Blacklist } from './list.ts'
import type { Lookup, LookupRequest } from './lookup.ts'
import { queryList, queryListCache, unlessAborted } from './lookup.ts'
import type { BlacklistResult, DomainReport, IpReport, Report } from './report.ts'
import type { DomainTarget, IpTarget, Target } from './target.ts'
import { isCheckable } from './target.ts'
import { countResults, domainVerdict, ipVerdict, sumCounts } from './verdict.ts'

/** A step of a running check, in order of occurrence; the report comes last. */
export type CheckProgress =
  | { readonly kind: 'answer'; readonly target: string; readonly result: BlacklistResult }
  | { readonly kind: 'resolved'; readonly addresses: readonly string[]; readonly checked: readonly string[] }
  | { readonly kind: 'report'; readonly report: Report }

/** Options of a check: `signal` ends it early; `onProgress` receives every step except the report. */
interface CheckOptions {
  readonly signal?: Signal | undefined
  readonly onProgress?: ((progress: CheckProgress) => void) | undefined
}

/**
 * Checks targets against the blacklists. Never rejects because of a list or a resolver: the report contains failures.
 */
export interface Checker {
  readonly lists: readonly Blacklist[]
  readonly lookup: Lookup
  checkIp(target: IpTarget, watcher?: CheckOptions): Promise<IpReport>
  checkDomain(target: DomainTarget, watcher?: CheckOptions): Promise<DomainReport>
  check(target: Target, watcher?: CheckOptions): Promise<Report>
  /** Ends aborted checks at once; without this call they end within some ten milliseconds. */
  releaseAborted(): void
}

/** A whole check ends within five seconds (contract §1); a list that has not answered by then has failed. */
const CHECK_TIMEOUT_MS = 4.7 * SECOND
/** Maximum addresses of a domain to check (contract §2). */
const MAX_ADDRESSES = 8
/** How long to reuse a report made of cached answers, in milliseconds. */
const REPORT_REUSE_MS = 1 * SECOND

/** Creates a checker that queries `lists` through `lookup`. */
export function createChecker(parts: {
  readonly lists: readonly Blacklist[]
  readonly lookup: Lookup
  readonly geo: GeoLookup
  readonly now: Clock
}): Checker {
  const { lists, lookup, geo, now } = parts
  const ipLists = lists.filter((list) => list.kind === 'ip')
  const domainLists = lists.filter((list) => list.kind === 'domain')

  async function checkAddress(target: IpTarget, watched: BoundedCheckOptions): Promise<IpReport> {
    const question = { target, signal: watched.signal }
    const place = geo.locate(target.address)
    const results = await queryLists(ipLists, target.address, question, watched)
    return { ...ipReport(target, results, now()), geo: (await unlessAborted(place, watched.signal)) ?? unknownGeo }
  }

  function queryLists(
    asked: readonly Blacklist[],
    name: string,
    question: LookupRequest,
    { onProgress }: BoundedCheckOptions,
  ): Promise<BlacklistResult[]> {
    return Promise.all(
      asked.map(async (list) => {
        const result = await queryList(lookup, list, question)
        onProgress?.({ kind: 'answer', target: name, result })
        return result
      }),
    )
  }

  /** Resolves a domain and checks its addresses, up to the maximum. */
  async function checkResolvedAddresses(target: DomainTarget, watched: BoundedCheckOptions) {
    const { addresses, failed } = await resolveAddresses(target.name, watched.signal)
    const checkable = addresses.filter(isCheckable)
    const checked = checkable.slice(0, MAX_ADDRESSES)
    watched.onProgress?.({ kind: 'resolved', addresses, checked })
    const ipReports = await Promise.all(checked.map((address) => checkAddress(ipTarget(address), watched)))
    return {
      resolvedIps: addresses,
      resolutionFailed: failed,
      resolvedIpsTruncated: checkable.length > checked.length,
      ipReports,
    }
  }

  /** Returns the addresses of a domain, IPv4 first; `failed` when the A or the AAAA query got no answer. */
  async function resolveAddresses(name: string, signal: Signal): Promise<{ addresses: string[]; failed: boolean }> {
    const results = await Promise.all([
      lookup.dns.query(name, 'A', { signal }),
      lookup.dns.query(name, 'AAAA', { signal }),
    ])
    const addresses = [...new Set(results.flatMap(addressesIn))]
    return { addresses, failed: results.some((result) => result.kind === 'failed') }
  }

  /** Returns the cached answers of all lists, or null when one is missing. */
  function cachedResults(target: IpTarget): BlacklistResult[] | null {
    const results: BlacklistResult[] = []
    for (const list of ipLists) {
      const result = queryListCache(lookup, list, target)
      if (result === null) return null
      results.push(result)
    }
    return results
  }

  /** Reports made of cached answers only, for callers that repeat a check at once. */
  const recentReports = new LRUCache<string, IpReport>({ max: 1000 })

  async function checkIp(target: IpTarget, watcher: CheckOptions = {}): Promise<IpReport> {
    const recent = watcher.onProgress ? undefined : recentReports.get(target.address)
    if (recent && Math.abs(now().getTime() - recent.checkedAt.getTime()) < REPORT_REUSE_MS) return recent
    const cached = watcher.onProgress ? null : cachedResults(target)
    if (cached) {
      const report = { ...ipReport(target, cached, now()), geo: await geo.locate(target.address) }
      recentReports.set(target.address, report)
      return report
    }
    return checkAddress(target, withDeadline(watcher))
  }

  async function checkDomain(target: DomainTarget, watcher: CheckOptions = {}): Promise<DomainReport> {
    const watched = withDeadline(watcher)
    const question = { target, signal: watched.signal }
    const [results, resolved] = await Promise.all([
      queryLists(domainLists, target.name, question, watched),
      checkResolvedAddresses(target, watched),
    ])
    const counts = sumCounts([countResults(results), ...resolved.ipReports])
    const base = { targetType: 'domain', target: target.name, checkedAt: now() } as const
    const report = { ...base, ...counts, results, ...resolved }
    return { ...report, verdict: domainVerdict(report) }
  }

  return {
    lists,
    lookup,
    checkIp,
    checkDomain,
    check: (target, watcher) => (target.kind === 'ip' ? checkIp(target, watcher) : checkDomain(target, watcher)),
    releaseAborted: lookup.dns.dismiss,
  }
}

type BoundedCheckOptions = CheckOptions & { readonly signal: Signal }

/** Adds the deadline of a check to the caller's signal. */
function withDeadline({ signal, onProgress }: CheckOptions): BoundedCheckOptions {
  const deadline = performance.now() + CHECK_TIMEOUT_MS
  const ending = {
    get aborted() {
      return signal?.aborted === true || performance.now() >= deadline
    },
  }
  return { onProgress, signal: ending }
}

function ipTarget(address: string): IpTarget {
  return { kind: 'ip', address, family: addressFamily(address) }
}

function ipReport({ address }: IpTarget, results: readonly BlacklistResult[], checkedAt: Date): Omit<IpReport, 'geo'> {
  const verdict = ipVerdict(address, results)
  return { targetType: 'ip', target: address, checkedAt, ...countResults(results), verdict, results }
}

function addressesIn(result: DnsResult): string[] {
  return result.kind === 'answer' ? result.values.flatMap((value) => parseAddress(value) ?? []) : []
}
