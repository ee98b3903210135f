import { unlessAborted } from '../core/concurrency/deadline.ts'
import { MINUTE, SECOND } from '../core/time.ts'
import type { DnsClient, DnsResult, QueryOptions, RecordType, Signal } from '../network/dns/client.ts'
import type { BlacklistResult, ListError } from './check-report.ts'
import type { Blacklist } from './list.ts'
import { queryName } from './list.ts'
import type { ListHealth } from './list-health.ts'
import { ANSWER_TTL_MS, errorByStatus } from './list-health.ts'
import type { QueryBudget } from './query-budget.ts'
import type { DecodedAnswer } from './return-code.ts'
import type { Target } from './target.ts'

/** The DNS client, the health of lists, and the budgets that a lookup uses. */
export interface Lookup {
  readonly dns: DnsClient
  readonly health: ListHealth
  readonly budgets: ReadonlyMap<string, QueryBudget>
}

/** A request to one list: the target, who asks, and the signal that ends waiting. */
export interface LookupRequest {
  readonly target: Target
  readonly owner: string
  readonly signal: Signal
}

/** The outcome of a lookup, before conversion to a result of the report. */
type LookupOutcome =
  | DecodedAnswer
  | { readonly kind: 'clear' }
  | { readonly kind: 'failed'; error: ListError; note: string }

interface ListAnswer {
  readonly outcome: LookupOutcome
  readonly codes: readonly string[]
}

/** How long a listing waits for its reason (TXT), in milliseconds. The reason only explains the listing. */
const REASON_TIMEOUT_MS = 1 * SECOND
/** The maximum number of characters of a reason. Longer ones are truncated. */
const MAX_REASON_LENGTH = 500
/** How long to cache a refusal, in milliseconds: until the list's next health check. */
const REFUSAL_TTL_MS = 5 * MINUTE

/** Queries one list about one target. Never rejects: the result of a failed list has an `error`. */
export async function queryList(lookup: Lookup, list: Blacklist, question: LookupRequest): Promise<BlacklistResult> {
  const { target, owner, signal } = question
  if (isUnsupported(list, target)) return toResult(list, target, UNSUPPORTED, null)
  if (lookup.health.get(list).status === 'unknown') await unlessAborted(lookup.health.whenMeasured(list), signal)
  const unusable = healthFailure(lookup, list)
  if (unusable) return toResult(list, target, unusable, null)
  const ttlOf = (codes: readonly string[]) => ttlMsOf(list.decode(codes)) / SECOND
  const found = combineAnswers(list, await queryLabels(lookup, list, 'A', target, { owner, signal, ttlOf }), target)
  if (found.outcome.kind === 'refused') lookup.health.recordRefusal(list, found.outcome.note)
  if (found.outcome.kind !== 'listed') return toResult(list, target, found, null)
  const reasons = await queryLabels(lookup, list, 'TXT', target, { owner, signal, timeoutMs: REASON_TIMEOUT_MS })
  return toResult(list, target, found, readReason(list, reasons))
}

/** Returns the result of `queryList` from the cache, without waiting; null: an answer is not cached. */
export function queryListCache(lookup: Lookup, list: Blacklist, target: Target): BlacklistResult | null {
  if (isUnsupported(list, target)) return toResult(list, target, UNSUPPORTED, null)
  if (lookup.health.get(list).status === 'unknown') return null
  const unusable = healthFailure(lookup, list)
  if (unusable) return toResult(list, target, unusable, null)
  const results: DnsResult[] = []
  for (const label of list.labels(target)) {
    const cached = lookup.dns.peek(queryName(list, label), 'A')
    if (cached === undefined) return null
    results.push(cached)
  }
  const found = combineAnswers(list, results, target)
  if (found.outcome.kind === 'listed') {
    const reasons = list.labels(target).map((label) => lookup.dns.peek(queryName(list, label), 'TXT'))
    return reasons.includes(undefined) ? null : toResult(list, target, found, readReason(list, reasons))
  }
  return found.outcome.kind === 'refused' ? null : toResult(list, target, found, null)
}

/** Returns the failure of an unhealthy list, which must not be queried; null: the list is usable. */
function healthFailure({ health }: Lookup, list: Blacklist): ListAnswer | null {
  const { status, detail } = health.get(list)
  const error = errorByStatus[status]
  return error === null ? null : failure(error, detail ?? 'The list is currently not working.')
}

/** Queries a list for all labels of a target. A query consumes the list's budget, unless its answer is cached. */
async function queryLabels(
  { dns, budgets }: Lookup,
  list: Blacklist,
  type: RecordType,
  target: Target,
  options: QueryOptions & { readonly owner: string },
): Promise<DnsResult[]> {
  const admit = () => budgets.get(list.id)?.consume(options.owner) ?? false
  const asked = list.labels(target).map((label) => dns.query(queryName(list, label), type, { ...options, admit }))
  const results: DnsResult[] = []
  for (const each of asked) results.push(await each)
  return results
}

const ttlMsOf = ({ kind }: DecodedAnswer) => (kind === 'refused' ? REFUSAL_TTL_MS : ANSWER_TTL_MS)

const isIpv6 = (target: Target) => target.kind === 'ip' && target.family === 6
const isUnsupported = (list: Blacklist, target: Target) => isIpv6(target) && list.ipv6 === 'no'

/** Combines the answers for all labels. One listing lists the target; only empty answers for all labels clear it. */
function combineAnswers(list: Blacklist, results: readonly DnsResult[], target: Target): ListAnswer {
  const found = results
    .map((result) => interpretResult(list, result))
    .reduce(
      (first, next) => (precedence[next.outcome.kind] > precedence[first.outcome.kind] ? next : first),
      NOT_LISTED,
    )
  return found === NOT_LISTED && isIpv6(target) && list.ipv6 === 'unstated' ? UNSTATED_IPV6 : found
}

/** The precedence of outcomes when a target has several labels. The highest wins. */
const precedence: Readonly<Record<LookupOutcome['kind'], number>> = {
  clear: 0,
  notListed: 1,
  refused: 2,
  invalid: 2,
  failed: 2,
  listed: 3,
}

function interpretResult(list: Blacklist, result: DnsResult): ListAnswer {
  if (result.kind === 'answer') return { outcome: list.decode(result.values), codes: result.values }
  return result.kind === 'none' ? NOT_LISTED : failures[result.reason]
}

const NOT_LISTED: ListAnswer = { outcome: { kind: 'clear' }, codes: [] }

const failure = (error: ListError, note: string): ListAnswer => ({
  outcome: { kind: 'failed', error, note },
  codes: [],
})

const UNSUPPORTED = failure('unsupported', 'This list is not known to cover IPv6.')
const UNSTATED_IPV6 = failure('unsupported', 'Not listed, but this list does not say whether it covers IPv6.')

const failures = {
  timeout: failure('timeout', 'The list did not answer in time.'),
  aborted: failure('timeout', 'The list did not answer before the check ended.'),
  refused: { outcome: { kind: 'refused', note: 'The server refused the query (DNS REFUSED).' }, codes: [] },
  servfail: failure('unreachable', 'The resolver could not reach the list (SERVFAIL).'),
  unreachable: failure('unreachable', 'The resolver is unreachable.'),
  formerr: failure('unreachable', 'The resolver does not understand the query (FORMERR), also without EDNS.'),
  notimp: failure('unreachable', 'The resolver does not implement the query (NOTIMP), also without EDNS.'),
  'invalid-name': failure(
    'unreachable',
    'Not queried: with the zone of this list, the name is longer than DNS allows.',
  ),
  malformed: failure('invalid_answer', 'The answer was malformed.'),
  withheld: failure('refused', 'Not queried: today’s query budget for this list is used up.'),
} as const satisfies Record<Extract<DnsResult, { kind: 'failed' }>['reason'], ListAnswer>

/** Returns the first reason as one line without control characters; null: there is none. */
function readReason({ zone, publicZone }: Blacklist, results: readonly (DnsResult | undefined)[]): string | null {
  const answered = results.find((result) => result?.kind === 'answer')
  const words = answered?.kind === 'answer' ? answered.values.join(' ') : ''
  // A list may repeat the queried name, which contains the operator's key.
  const text = words.replaceAll(zone, publicZone).replace(/[\s\p{C}]+/gu, ' ')
  return [...text.trim()].slice(0, MAX_REASON_LENGTH).join('') || null
}

function toResult(
  list: Blacklist,
  target: Target,
  { outcome: finding, codes }: ListAnswer,
  reason: string | null,
): BlacklistResult {
  const { name, description } = list
  const delistUrl = list.delistUrl(target.kind === 'ip' ? target.address : target.name)
  const base = {
    name,
    listed: false,
    policy: false,
    response: null,
    description,
    delistUrl,
    error: null,
    codes,
    note: null,
  }
  switch (finding.kind) {
    case 'clear':
      return base
    case 'listed':
      return {
        ...base,
        listed: true,
        policy: finding.policy,
        response: reason ?? finding.meaning,
        note: reason === null || reason === finding.meaning ? null : finding.meaning,
      }
    case 'notListed':
      return { ...base, note: finding.note }
    case 'refused':
      return { ...base, error: 'refused', note: finding.note }
    case 'invalid':
      return { ...base, error: 'invalid_answer', note: finding.note }
    case 'failed':
      return { ...base, error: finding.error, note: finding.note }
  }
}
