import { LRUCache } from 'lru-cache'
import { addressFamily, parseAddress } from '../network/address.ts'
import type { DnsResult, Signal } from '../network/dns/client.ts'
import type { Clock } from '../time.ts'
import { SECOND } from '../time.ts'
import type { GeoLookup } from './geo.ts'
import { unknownGeo } from './geo.ts'
import type { Blacklist } from './list.ts'
import type { Lookup, Question } from './lookup.ts'
import { ask, askCache, unlessAborted } from './lookup.ts'
import type { BlacklistResult, DomainReport, IpReport, Report } from './report.ts'
import type { DomainTarget, IpTarget, Target } from './target.ts'
import { isCheckable } from './target.ts'
import { count, domainVerdict, ipVerdict, sum } from './verdict.ts'

/** What happens during a check, in the order it happens; the report comes last. */
export type CheckProgress =
  | { readonly kind: 'answer'; readonly target: string; readonly result: BlacklistResult }
  | { readonly kind: 'resolved'; readonly addresses: readonly string[]; readonly checked: readonly string[] }
  | { readonly kind: 'report'; readonly report: Report }

/** Who watches a check: `signal` ends it early, `onProgress` is told of everything but the report. */
export interface Watcher {
  readonly signal?: Signal | undefined
  readonly onProgress?: ((progress: CheckProgress) => void) | undefined
}

/** Checks targets against the blacklists. Never rejects because of a list or a resolver: what fails is in the report. */
export interface Checker {
  readonly lists: readonly Blacklist[]
  readonly lookup: Lookup
  checkIp(target: IpTarget, watcher?: Watcher): Promise<IpReport>
  checkDomain(target: DomainTarget, watcher?: Watcher): Promise<DomainReport>
  check(target: Target, watcher?: Watcher): Promise<Report>
  /** Ends the checks of those watchers who have left by now, which otherwise takes some ten milliseconds. */
  dismiss(): void
}

/** A whole check ends within five seconds (contract §1); what has not answered by then has failed. */
const CHECK_TIMEOUT = 4.7 * SECOND
/** Contract §2: at most so many addresses of a domain are checked. */
const MOST_ADDRESSES = 8
/** For how long a report that was made of cached answers is given again as it is. */
const REUSE = 1 * SECOND

/** A checker that asks `lists` through `lookup`. */
export function createChecker(parts: {
  readonly lists: readonly Blacklist[]
  readonly lookup: Lookup
  readonly geo: GeoLookup
  readonly now: Clock
}): Checker {
  const { lists, lookup, geo, now } = parts
  const ipLists = lists.filter((list) => list.kind === 'ip')
  const domainLists = lists.filter((list) => list.kind === 'domain')

  async function askIpLists(target: IpTarget, watched: Watched): Promise<IpReport> {
    const question = { target, signal: watched.signal }
    const place = geo.locate(target.address)
    const results = await askAll(ipLists, target.address, question, watched)
    return { ...ipReport(target, results, now()), geo: (await unlessAborted(place, watched.signal)) ?? unknownGeo }
  }

  function askAll(
    asked: readonly Blacklist[],
    name: string,
    question: Question,
    { onProgress }: Watched,
  ): Promise<BlacklistResult[]> {
    return Promise.all(
      asked.map(async (list) => {
        const result = await ask(lookup, list, question)
        onProgress?.({ kind: 'answer', target: name, result })
        return result
      }),
    )
  }

  /** The reports on a domain's addresses, as many as are checked. */
  async function askForAddresses(target: DomainTarget, watched: Watched) {
    const { addresses, failed } = await resolve(target.name, watched.signal)
    const checkable = addresses.filter(isCheckable)
    const checked = checkable.slice(0, MOST_ADDRESSES)
    watched.onProgress?.({ kind: 'resolved', addresses, checked })
    const ipReports = await Promise.all(checked.map((address) => askIpLists(ipTarget(address), watched)))
    return {
      resolvedIps: addresses,
      resolutionFailed: failed,
      resolvedIpsTruncated: checkable.length > checked.length,
      ipReports,
    }
  }

  /** The addresses of a domain, IPv4 first; `failed` when one of the two questions got no answer. */
  async function resolve(name: string, signal: Signal): Promise<{ addresses: string[]; failed: boolean }> {
    const results = await Promise.all([
      lookup.dns.query(name, 'A', { signal }),
      lookup.dns.query(name, 'AAAA', { signal }),
    ])
    const addresses = [...new Set(results.flatMap(addressesIn))]
    return { addresses, failed: results.some((result) => result.kind === 'failed') }
  }

  /** What every list has answered lately, when that is known of all of them. */
  function cachedResults(target: IpTarget): BlacklistResult[] | null {
    const results: BlacklistResult[] = []
    for (const list of ipLists) {
      const result = askCache(lookup, list, target)
      if (result === null) return null
      results.push(result)
    }
    return results
  }

  /** Reports made of cached answers alone, for callers that ask again at once. */
  const lately = new LRUCache<string, IpReport>({ max: 1000 })

  async function checkIp(target: IpTarget, watcher: Watcher = {}): Promise<IpReport> {
    const recent = watcher.onProgress ? undefined : lately.get(target.address)
    if (recent && Math.abs(now().getTime() - recent.checkedAt.getTime()) < REUSE) return recent
    const cached = watcher.onProgress ? null : cachedResults(target)
    if (cached) {
      const report = { ...ipReport(target, cached, now()), geo: await geo.locate(target.address) }
      lately.set(target.address, report)
      return report
    }
    return askIpLists(target, withDeadline(watcher))
  }

  async function checkDomain(target: DomainTarget, watcher: Watcher = {}): Promise<DomainReport> {
    const watched = withDeadline(watcher)
    const question = { target, signal: watched.signal }
    const [results, resolved] = await Promise.all([
      askAll(domainLists, target.name, question, watched),
      askForAddresses(target, watched),
    ])
    const counts = sum([count(results), ...resolved.ipReports])
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
    dismiss: lookup.dns.dismiss,
  }
}

type Watched = Watcher & { readonly signal: Signal }

/** A watcher who leaves when this one does, or at the deadline. */
function withDeadline({ signal, onProgress }: Watcher): Watched {
  const deadline = performance.now() + CHECK_TIMEOUT
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
  return { targetType: 'ip', target: address, checkedAt, ...count(results), verdict, results }
}

function addressesIn(result: DnsResult): string[] {
  return result.kind === 'answer' ? result.values.flatMap((value) => parseAddress(value) ?? []) : []
}
