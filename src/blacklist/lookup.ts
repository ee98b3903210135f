import type { DnsClient, DnsResult, QueryOptions, RecordType, Signal } from '../network/dns/client.ts'
import { MINUTE, SECOND } from '../time.ts'
import type { Budget } from './budget.ts'
import type { Judgement } from './code.ts'
import type { ListHealth } from './health.ts'
import { ANSWER_LIFETIME, errorOfHealth } from './health.ts'
import type { Blacklist } from './list.ts'
import { queryName } from './list.ts'
import type { BlacklistResult, ListError } from './report.ts'
import type { Target } from './target.ts'

/** What asking the lists takes. */
export interface Lookup {
  readonly dns: DnsClient
  readonly health: ListHealth
  readonly budgets: ReadonlyMap<string, Budget>
}

/** What one list is asked: about whom, and until when the asker waits. */
export interface Question {
  readonly target: Target
  readonly signal: Signal
}

/** What asking came to, before it is put into words for the report. */
type Finding = Judgement | { readonly kind: 'clear' } | { readonly kind: 'failed'; error: ListError; note: string }

interface Found {
  readonly finding: Finding
  readonly codes: readonly string[]
}

/** How long a reason (TXT) may keep a listing waiting: it only explains what is known already. */
const REASON_TIMEOUT = 1 * SECOND
/** How often it is looked whether an asker has left, in milliseconds. */
const LOOK_INTERVAL = 10
/** A reason comes from outside: longer ones are cut. */
const REASON_LENGTH = 500
/** How long a refusal is remembered in place of an answer: until the list is probed again. */
const REFUSAL_LIFETIME = 5 * MINUTE

/** Asks one list about one target. Never rejects: a list that fails is a result with an `error`. */
export async function ask(lookup: Lookup, list: Blacklist, question: Question): Promise<BlacklistResult> {
  const { target, signal } = question
  if (isUnsupported(list, target)) return resultOf(list, target, UNSUPPORTED, null)
  if (lookup.health.of(list).status === 'unknown') await unlessAborted(lookup.health.known(list), signal)
  const ill = illnessOf(lookup, list)
  if (ill) return resultOf(list, target, ill, null)
  const ttlOf = (codes: readonly string[]) => lifetimeOf(list.decode(codes)) / SECOND
  const found = judge(list, await queryAll(lookup, list, 'A', target, { signal, ttlOf }), target)
  if (found.finding.kind === 'refused') lookup.health.refused(list, found.finding.note)
  if (found.finding.kind !== 'listed') return resultOf(list, target, found, null)
  const reasons = await queryAll(lookup, list, 'TXT', target, { signal, timeoutMs: REASON_TIMEOUT })
  return resultOf(list, target, found, firstReason(list, reasons))
}

/** The same answer without waiting, when it can be given from what is known and cached; else null. */
export function askCache(lookup: Lookup, list: Blacklist, target: Target): BlacklistResult | null {
  if (isUnsupported(list, target)) return resultOf(list, target, UNSUPPORTED, null)
  if (lookup.health.of(list).status === 'unknown') return null
  const ill = illnessOf(lookup, list)
  if (ill) return resultOf(list, target, ill, null)
  const results: DnsResult[] = []
  for (const label of list.labels(target)) {
    const cached = lookup.dns.peek(queryName(list, label), 'A')
    if (cached === undefined) return null
    results.push(cached)
  }
  const found = judge(list, results, target)
  if (found.finding.kind === 'listed') {
    const reasons = list.labels(target).map((label) => lookup.dns.peek(queryName(list, label), 'TXT'))
    return reasons.includes(undefined) ? null : resultOf(list, target, found, firstReason(list, reasons))
  }
  return found.finding.kind === 'refused' ? null : resultOf(list, target, found, null)
}

/** Why a list is not asked, because it is not to be believed at present. */
function illnessOf({ health }: Lookup, list: Blacklist): Found | null {
  const { status, detail } = health.of(list)
  const error = errorOfHealth[status]
  return error === null ? null : failed(error, detail ?? 'The list is not working at present.')
}

/** Every query to a list goes through here: what is cached costs nothing, the rest is taken from the list's budget. */
async function queryAll(
  { dns, budgets }: Lookup,
  list: Blacklist,
  type: RecordType,
  target: Target,
  options: QueryOptions,
): Promise<DnsResult[]> {
  const admit = () => budgets.get(list.id)?.take() ?? false
  const asked = list.labels(target).map((label) => dns.query(queryName(list, label), type, { ...options, admit }))
  const results: DnsResult[] = []
  for (const each of asked) results.push(await each)
  return results
}

const lifetimeOf = ({ kind }: Judgement) => (kind === 'refused' ? REFUSAL_LIFETIME : ANSWER_LIFETIME)

const isIpv6 = (target: Target) => target.kind === 'ip' && target.family === 6
const isUnsupported = (list: Blacklist, target: Target) => isIpv6(target) && list.ipv6 === 'no'

/** Judges the answers for every label that was asked: one listing is enough, and clear needs all of them. */
function judge(list: Blacklist, results: readonly DnsResult[], target: Target): Found {
  const found = results
    .map((result) => judgeOne(list, result))
    .reduce((first, next) => (weight[next.finding.kind] > weight[first.finding.kind] ? next : first), CLEAR)
  return found === CLEAR && isIpv6(target) && list.ipv6 === 'unstated' ? UNSTATED : found
}

/** Which finding counts of several. */
const weight: Readonly<Record<Finding['kind'], number>> = {
  clear: 0,
  notListed: 1,
  refused: 2,
  invalid: 2,
  failed: 2,
  listed: 3,
}

function judgeOne(list: Blacklist, result: DnsResult): Found {
  if (result.kind === 'answer') return { finding: list.decode(result.values), codes: result.values }
  return result.kind === 'none' ? CLEAR : failureOf[result.reason]
}

const CLEAR: Found = { finding: { kind: 'clear' }, codes: [] }

const failed = (error: ListError, note: string): Found => ({ finding: { kind: 'failed', error, note }, codes: [] })

const UNSUPPORTED = failed('unsupported', 'This list is not known to hold IPv6 addresses.')
const UNSTATED = failed('unsupported', 'Not listed, but this list does not say whether it holds IPv6 addresses.')

const failureOf = {
  timeout: failed('timeout', 'The list did not answer in time.'),
  aborted: failed('timeout', 'The list did not answer before the check had to end.'),
  refused: { finding: { kind: 'refused', note: 'The query was refused (DNS REFUSED).' }, codes: [] },
  servfail: failed('unreachable', 'The resolver could not reach the list (SERVFAIL).'),
  unreachable: failed('unreachable', 'The resolver cannot be reached.'),
  malformed: failed('invalid_answer', 'The answer could not be read.'),
  withheld: failed('refused', 'Not asked: today’s share of queries that this list allows is used up.'),
} as const satisfies Record<Extract<DnsResult, { kind: 'failed' }>['reason'], Found>

/** The first reason that was given: one line, free of characters that control how it is shown. */
function firstReason({ zone, publicZone }: Blacklist, results: readonly (DnsResult | undefined)[]): string | null {
  const answered = results.find((result) => result?.kind === 'answer')
  const words = answered?.kind === 'answer' ? answered.values.join(' ') : ''
  // A list may repeat the name it was asked for, which holds the operator's key.
  const text = words.replaceAll(zone, publicZone).replace(/[\s\p{C}]+/gu, ' ')
  return [...text.trim()].slice(0, REASON_LENGTH).join('') || null
}

function resultOf(list: Blacklist, target: Target, { finding, codes }: Found, reason: string | null): BlacklistResult {
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

/** What `work` comes to, or null when the asker leaves before. */
export async function unlessAborted<T>(work: Promise<T>, signal: Signal): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const left = new Promise<null>((resolve) => {
    timer = setInterval(() => signal.aborted && resolve(null), LOOK_INTERVAL)
  })
  try {
    return await Promise.race([work, left])
  } finally {
    clearInterval(timer)
  }
}
