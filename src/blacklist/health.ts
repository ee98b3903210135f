import type { Logger } from 'pino'
import { randomText } from '../id.ts'
import type { DnsClient, DnsResult } from '../network/dns/client.ts'
import type { Clock } from '../time.ts'
import { MINUTE, SECOND } from '../time.ts'
import type { Blacklist } from './list.ts'
import { queryName } from './list.ts'
import type { ListError } from './report.ts'

/**
 * Whether a list can be believed, found out by asking it what is known beforehand (RFC 5782 §5):
 * `silent` no longer lists its own test entry, `wildcard` lists what nobody lists, `refusing` tells us that it does not
 * answer us, `unreachable` does not answer at all.
 */
export const healthStatuses = ['unknown', 'ok', 'silent', 'refusing', 'wildcard', 'unreachable'] as const

export type HealthStatus = (typeof healthStatuses)[number]

/** What is known of a list once it has been probed. */
type KnownStatus = Exclude<HealthStatus, 'unknown'>

export interface Health {
  readonly status: HealthStatus
  /** What was seen, in a sentence; null while all is well. */
  readonly detail: string | null
  /** When this was found out; null before the first time. */
  readonly checkedAt: Date | null
  /** How long the positive probe took, in milliseconds; null when it got no answer. */
  readonly latencyMs: number | null
}

type KnownHealth = Health & { readonly status: KnownStatus }

/** The health of every list, kept current by probes at start, then every 10 to 30 minutes, sooner while a list is ill. */
export interface ListHealth {
  of(list: Blacklist): Health
  /** Resolves once the list has been probed; at once when it has been. */
  known(list: Blacklist): Promise<void>
  /** Tells that the list refused an ordinary query: it is left alone until its next probe, five minutes later. */
  refused(list: Blacklist, detail: string): void
  /** Probes one list now, and gives what came of it. */
  probe(list: Blacklist): Promise<Health>
  start(): void
  stop(): void
}

/** What a list's ill health means for a check that would have asked it. */
export const errorOfHealth: Readonly<Record<HealthStatus, ListError | null>> = {
  unknown: null,
  ok: null,
  silent: 'invalid_answer',
  refusing: 'refused',
  wildcard: 'invalid_answer',
  unreachable: 'unreachable',
}

/**
 * The longest that what a list says of a target is kept, in milliseconds; the DNS client keeps the absence of a record no
 * longer either. A list found out to be lying is believed again only later, so that nothing false is left by then.
 */
export const ANSWER_LIFETIME = 15 * MINUTE

const WELL = { least: 10 * MINUTE, most: 30 * MINUTE }
// Ten seconds more, for what was under way.
const LYING = { least: ANSWER_LIFETIME + 10 * SECOND, most: ANSWER_LIFETIME + MINUTE }
const WAIT: Readonly<Record<KnownStatus, { least: number; most: number }>> = {
  ok: WELL,
  unreachable: { least: 45 * SECOND, most: 75 * SECOND },
  // A list that told us to stop is left alone for five minutes, as SpamAssassin does (dns_block_time).
  refusing: { least: 5 * MINUTE, most: 6 * MINUTE },
  silent: LYING,
  wildcard: LYING,
}

const NO_LIST =
  'blacklist: no list answers as it should. Most refuse public resolvers and those of hosting companies: run a recursive resolver of your own and set DNS_SERVERS to its address'

const unknownHealth: Health = { status: 'unknown', detail: null, checkedAt: null, latencyMs: null }

/** Watches the health of `lists`. Nothing is asked before `start()`, `known()` or `probe()`. */
export function createListHealth(options: {
  lists: readonly Blacklist[]
  dns: DnsClient
  now: Clock
  log: Logger
}): ListHealth {
  const { lists, dns, now, log } = options
  const current = new Map<string, Health>()
  const running = new Map<string, Promise<Health>>()
  const timers = new Map<string, NodeJS.Timeout>()
  let state: 'idle' | 'watching' | 'stopped' = 'idle'
  let silence = false

  const of = (list: Blacklist) => current.get(list.id) ?? unknownHealth

  function probe(list: Blacklist): Promise<Health> {
    const under = running.get(list.id)
    if (under !== undefined) return under
    const fresh = probeTwice(list).then((health) => {
      running.delete(list.id)
      record(list, health)
      return health
    })
    running.set(list.id, fresh)
    return fresh
  }

  /** A list is called unreachable only after two failures in a row: one lost packet must not silence it. */
  async function probeTwice(list: Blacklist): Promise<KnownHealth> {
    const health = await probeOnce(list, dns, now)
    const doubtful = health.status === 'unreachable' && of(list).status !== 'unreachable'
    return doubtful ? probeOnce(list, dns, now) : health
  }

  function record(list: Blacklist, health: KnownHealth): void {
    if (state === 'stopped') return
    const before = of(list)
    current.set(list.id, health)
    if (health.status !== before.status && (health.status !== 'ok' || before.status !== 'unknown')) {
      log.warn({ list: list.id, status: health.status, detail: health.detail }, 'blacklist: health changed')
    }
    noteSilence()
    schedule(list, WAIT[health.status])
  }

  /** Says once, for the operator alone can do something about it, that no list is left; and once that one is back. */
  function noteSilence(): void {
    const statuses = lists.map((list) => of(list).status)
    if (statuses.includes('unknown')) return
    const before = silence
    silence = !statuses.includes('ok')
    if (silence && !before) log.warn(NO_LIST)
    else if (before && !silence) log.info('blacklist: a list answers again')
  }

  function schedule(list: Blacklist, { least, most }: { least: number; most: number }): void {
    clearTimeout(timers.get(list.id))
    if (state !== 'watching') return
    const delay = least + Math.random() * (most - least)
    timers.set(list.id, setTimeout(() => void probe(list), delay).unref())
  }

  return {
    of,
    probe,
    async known(list) {
      if (of(list).status === 'unknown') await probe(list)
    },
    refused(list, detail) {
      record(list, { ...of(list), status: 'refusing', detail, checkedAt: now() })
    },
    start() {
      state = 'watching'
      for (const list of lists) void probe(list)
    },
    stop() {
      state = 'stopped'
      for (const timer of timers.values()) clearTimeout(timer)
    },
  }
}

/** Asks a list its test points and judges the answers. */
async function probeOnce(list: Blacklist, dns: DnsClient, now: Clock): Promise<KnownHealth> {
  const ask = (label: string) => {
    dns.forget(queryName(list, label), 'A')
    return dns.query(queryName(list, label), 'A')
  }
  const begun = now().getTime()
  let latencyMs: number | null = null
  const [positive, negative, random] = await Promise.all([
    Promise.all(list.probes.positive.map(ask)).then((results) => {
      latencyMs = now().getTime() - begun
      return results
    }),
    ask(list.probes.negative),
    ask(randomText(16)),
  ])
  const verdict = judgeProbes(list, positive, { negative, random })
  const answered = positive.some((result) => result.kind !== 'failed')
  return { ...verdict, checkedAt: now(), latencyMs: answered ? latencyMs : null }
}

/**
 * What the answers to a list's probes say about it. The name that the list must not list may have an entry that is no
 * listing (DroneBL calls 127.0.0.1 a test); the random one may have none at all, or a resolver is making answers up.
 * @param positive answers for its test entries
 */
export function judgeProbes(
  list: Blacklist,
  positive: readonly DnsResult[],
  { negative, random }: { readonly negative: DnsResult; readonly random: DnsResult },
): Pick<KnownHealth, 'status' | 'detail'> {
  const judge = (result: DnsResult) => (result.kind === 'answer' ? list.decode(result.values) : null)
  const judgements = [...positive, negative, random].map(judge)
  const refusal = judgements.find((judgement) => judgement?.kind === 'refused')
  if (refusal?.kind === 'refused') return { status: 'refusing', detail: refusal.note }

  const isExplained = judge(negative)?.kind === 'notListed'
  const stray = [isExplained ? null : negative, random].find((result) => result?.kind === 'answer')
  if (stray?.kind === 'answer') {
    return { status: 'wildcard', detail: `It answers ${stray.values.join(', ')} for names that are not listed.` }
  }
  const hit = judgements.find((judgement) => judgement?.kind === 'listed' || judgement?.kind === 'notListed')
  const clear = isExplained ? [random] : [negative, random]
  if (hit && clear.some((result) => result.kind === 'none')) return { status: 'ok', detail: null }

  const broken = judgements.find((judgement) => judgement?.kind === 'invalid')
  if (broken?.kind === 'invalid') return { status: 'silent', detail: `Its test entry is wrong: ${broken.note}` }

  // A list that lists its test entry may still list everything else, as long as nothing is heard of the other names.
  const failure = (hit ? clear : positive).find((result) => result.kind === 'failed')
  if (failure?.kind !== 'failed')
    return { status: 'silent', detail: 'It does not list its own test entry, so its silence says nothing.' }
  return failure.reason === 'refused'
    ? { status: 'refusing', detail: 'The query was refused (DNS REFUSED).' }
    : { status: 'unreachable', detail: `It does not answer (${failure.reason}).` }
}
