import { LRUCache } from 'lru-cache'
import { addressFamily, parseAddress } from '../core/ip-address.ts'
import type { Clock } from '../core/time.ts'
import { SECOND } from '../core/time.ts'
import type { DnsResult, Signal } from '../network/dns/client.ts'
import type { BlacklistResult, DomainReport, IpReport, Report } from './check-report.ts'
import type { GeoLookup } from './geo/geo.ts'
import type { Blacklist } from './list.ts'
import type { Lookup, LookupRequest } from './lookup.ts'
import { queryList, queryListCache } from './lookup.ts'
import type { DomainTarget, IpTarget, Target } from './target.ts'
import { isCheckable } from './target.ts'
import { countResults, domainVerdictText, ipVerdictText, sumCounts } from './verdict.ts'

/** A step of a running check. The report is the last one. */
export type CheckProgress =
  | { readonly kind: 'answer'; readonly target: string; readonly result: BlacklistResult }
  | { readonly kind: 'resolved'; readonly addresses: readonly string[]; readonly checked: readonly string[] }
  | { readonly kind: 'report'; readonly report: Report }

/** Options of a check. `signal` ends it early; `onProgress` receives every step except the report. */
interface CheckOptions {
  /** Whose share of our resolvers and of the lists' budgets it takes: an organization or a client's network. */
  readonly owner: string
  readonly signal?: Signal | undefined
  readonly onProgress?: ((progress: CheckProgress) => void) | undefined
}

/**
 * Checks targets against the blacklists. Never rejects because of a list or a resolver: the report has their failures.
 */
export interface Checker {
  readonly lists: readonly Blacklist[]
  readonly lookup: Lookup
  checkIp(target: IpTarget, options: CheckOptions): Promise<IpReport>
  checkDomain(target: DomainTarget, options: CheckOptions): Promise<DomainReport>
  check(target: Target, options: CheckOptions): Promise<Report>
  /** Ends aborted checks at once. Without this call, they end within about ten milliseconds. */
  releaseAborted(): void
}

/** How long lists may take to answer; later ones have failed. A check must end within five seconds (contract §1). */
const CHECK_TIMEOUT_MS = 4.7 * SECOND
/** The maximum number of addresses of a domain to check (contract §2). */
const MAX_ADDRESSES = 8
/** How long to reuse a report that consists of cached answers, in milliseconds. */
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

  async function checkAddress(target: IpTarget, options: BoundedCheckOptions): Promise<IpReport> {
    const question = { target, owner: options.owner, signal: options.signal }
    const place = geo.locate(target.address, options.signal)
    const results = await queryLists(lookup, ipLists, target.address, question, options)
    return { ...ipReport(target, results, now()), geo: await place }
  }

  /** Resolves a domain and checks its addresses, up to the maximum. */
  async function checkResolvedAddresses(target: DomainTarget, options: BoundedCheckOptions) {
    const { addresses, failed } = await resolveAddresses(lookup, target.name, options)
    const checkable = addresses.filter(isCheckable)
    const checked = checkable.slice(0, MAX_ADDRESSES)
    options.onProgress?.({ kind: 'resolved', addresses, checked })
    const ipReports = await Promise.all(checked.map((address) => checkAddress(ipTarget(address), options)))
    return {
      resolvedIps: addresses,
      resolutionFailed: failed,
      resolvedIpsTruncated: checkable.length > checked.length,
      ipReports,
    }
  }

  /** Reports that consist of cached answers, for callers that repeat a check immediately. */
  const recentReports = new LRUCache<string, IpReport>({ max: 1000 })

  async function checkIp(target: IpTarget, options: CheckOptions): Promise<IpReport> {
    const recent = options.onProgress ? undefined : recentReports.get(target.address)
    if (recent && Math.abs(now().getTime() - recent.checkedAt.getTime()) < REPORT_REUSE_MS) return recent
    const cached = options.onProgress ? null : cachedResults(lookup, ipLists, target)
    if (cached) {
      const report = { ...ipReport(target, cached, now()), geo: await geo.locate(target.address) }
      recentReports.set(target.address, report)
      return report
    }
    return checkAddress(target, withCheckDeadline(options))
  }

  async function checkDomain(target: DomainTarget, given: CheckOptions): Promise<DomainReport> {
    const options = withCheckDeadline(given)
    const question = { target, owner: options.owner, signal: options.signal }
    const [results, resolved] = await Promise.all([
      queryLists(lookup, domainLists, target.name, question, options),
      checkResolvedAddresses(target, options),
    ])
    const counts = sumCounts([countResults(results), ...resolved.ipReports])
    const base = { targetType: 'domain', target: target.name, checkedAt: now() } as const
    const report = { ...base, ...counts, results, ...resolved }
    return { ...report, verdict: domainVerdictText(report) }
  }

  return {
    lists,
    lookup,
    checkIp,
    checkDomain,
    check: (target, options) => (target.kind === 'ip' ? checkIp(target, options) : checkDomain(target, options)),
    releaseAborted: lookup.dns.dismiss,
  }
}

/** Queries lists in parallel. Calls `onProgress` with each answer as it arrives. */
function queryLists(
  lookup: Lookup,
  lists: readonly Blacklist[],
  name: string,
  question: LookupRequest,
  { onProgress }: BoundedCheckOptions,
): Promise<BlacklistResult[]> {
  return Promise.all(
    lists.map(async (list) => {
      const result = await queryList(lookup, list, question)
      onProgress?.({ kind: 'answer', target: name, result })
      return result
    }),
  )
}

/** Returns the cached answers of all lists; null: an answer is not cached. */
function cachedResults(lookup: Lookup, lists: readonly Blacklist[], target: IpTarget): BlacklistResult[] | null {
  const results: BlacklistResult[] = []
  for (const list of lists) {
    const result = queryListCache(lookup, list, target)
    if (result === null) return null
    results.push(result)
  }
  return results
}

/** Returns the addresses of a domain, IPv4 first. `failed`: the A or the AAAA query got no answer. */
async function resolveAddresses(
  { dns }: Lookup,
  name: string,
  { owner, signal }: BoundedCheckOptions,
): Promise<{ addresses: string[]; failed: boolean }> {
  const ask = (type: 'A' | 'AAAA') => dns.query(name, type, { owner, signal })
  const results = await Promise.all([ask('A'), ask('AAAA')])
  const addresses = [...new Set(results.flatMap(addressesIn))]
  return { addresses, failed: results.some((result) => result.kind === 'failed') }
}

type BoundedCheckOptions = CheckOptions & { readonly signal: Signal }

/** Adds the deadline of a check to the caller's signal. */
function withCheckDeadline({ owner, signal, onProgress }: CheckOptions): BoundedCheckOptions {
  const deadline = performance.now() + CHECK_TIMEOUT_MS
  const ending = {
    get aborted() {
      return signal?.aborted === true || performance.now() >= deadline
    },
  }
  return { owner, onProgress, signal: ending }
}

function ipTarget(address: string): IpTarget {
  return { kind: 'ip', address, family: addressFamily(address) }
}

function ipReport({ address }: IpTarget, results: readonly BlacklistResult[], checkedAt: Date): Omit<IpReport, 'geo'> {
  const verdict = ipVerdictText(address, results)
  return { targetType: 'ip', target: address, checkedAt, ...countResults(results), verdict, results }
}

function addressesIn(result: DnsResult): string[] {
  return result.kind === 'answer' ? result.values.flatMap((value) => parseAddress(value) ?? []) : []
}
