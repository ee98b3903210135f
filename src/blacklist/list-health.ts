import type { Logger } from 'pino'
import { randomText } from '../core/id.ts'
import type { Clock } from '../core/time.ts'
import { MINUTE, SECOND } from '../core/time.ts'
import type { DnsClient, DnsResult } from '../network/dns/client.ts'
import type { ListError } from './check-report.ts'
import type { Blacklist } from './list.ts'
import { queryName } from './list.ts'
import { BLOCK_ADDRESS, BLOCKED } from './return-code.ts'

/**
 * The health of a list, measured with its test points (RFC 5782 §5). A `silent` list no longer lists its own test
 * entry, a `wildcard` list lists names that it must not list, a `refusing` list refuses our queries, and an
 * `unreachable` list does not answer.
 */
const healthStatuses = ['unknown', 'ok', 'silent', 'refusing', 'wildcard', 'unreachable'] as const

export type HealthStatus = (typeof healthStatuses)[number]

/** The status of a list after its first health check. */
type MeasuredStatus = Exclude<HealthStatus, 'unknown'>

export interface Health {
  readonly status: HealthStatus
  /** One sentence about the problem; null for a healthy list. */
  readonly detail: string | null
  /** When the health was last measured; null before the first time. */
  readonly checkedAt: Date | null
  /** How long the list took to answer for its test entries, in milliseconds; null: it did not answer. */
  readonly latencyMs: number | null
}

type MeasuredHealth = Health & { readonly status: MeasuredStatus }

/** The health of every list, measured at the start and every 10 to 30 minutes; sooner after a list was unreachable. */
export interface ListHealth {
  get(list: Blacklist): Health
  /** Resolves after the list's first health check. */
  whenMeasured(list: Blacklist): Promise<void>
  /** Records that the list refused a query. It gets no more queries until its next health check, five minutes later. */
  recordRefusal(list: Blacklist, detail: string): void
  /** Measures one list now and returns its health. */
  measure(list: Blacklist): Promise<Health>
  start(): void
  stop(): void
}

/** The error that a check reports for a list with each status; null: the check queries the list. */
export const errorByStatus: Readonly<Record<HealthStatus, ListError | null>> = {
  unknown: null,
  ok: null,
  silent: 'invalid_answer',
  refusing: 'refused',
  wildcard: 'invalid_answer',
  unreachable: 'unreachable',
}

/**
 * The maximum time to cache a list's answer, in milliseconds. It is also the maximum time for which the DNS client
 * caches the absence of a record. An unreliable list is not used again before this time is over, so that the cache no
 * longer contains a false answer.
 */
export const ANSWER_TTL_MS = 15 * MINUTE

const HEALTHY_INTERVAL = { min: 10 * MINUTE, max: 30 * MINUTE }
// Ten seconds longer, because of queries in flight.
const UNRELIABLE_INTERVAL = { min: ANSWER_TTL_MS + 10 * SECOND, max: ANSWER_TTL_MS + MINUTE }
const MEASURE_INTERVALS: Readonly<Record<MeasuredStatus, { min: number; max: number }>> = {
  ok: HEALTHY_INTERVAL,
  unreachable: { min: 45 * SECOND, max: 75 * SECOND },
  // Five minutes after a refusal, like SpamAssassin (dns_block_time).
  refusing: { min: 5 * MINUTE, max: 6 * MINUTE },
  silent: UNRELIABLE_INTERVAL,
  wildcard: UNRELIABLE_INTERVAL,
}

const NO_LIST_USABLE =
  'blacklist: no list is usable. Most lists refuse public resolvers and those of hosting companies. Run your own recursive resolver and set DNS_SERVERS to its address'

const unknownHealth: Health = { status: 'unknown', detail: null, checkedAt: null, latencyMs: null }

/** Creates the health checks of `lists`. Sends no query before `start()`, `whenMeasured()` or `measure()`. */
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
  let noListUsable = false

  const healthOf = (list: Blacklist) => current.get(list.id) ?? unknownHealth

  function measure(list: Blacklist): Promise<Health> {
    const inFlight = running.get(list.id)
    if (inFlight !== undefined) return inFlight
    const fresh = measureWithRetry(list, dns, now, healthOf(list).status).then((health) => {
      running.delete(list.id)
      record(list, health)
      return health
    })
    running.set(list.id, fresh)
    return fresh
  }

  function record(list: Blacklist, health: MeasuredHealth): void {
    if (state === 'stopped') return
    const before = healthOf(list)
    current.set(list.id, health)
    if (health.status !== before.status && (health.status !== 'ok' || before.status !== 'unknown')) {
      log.warn({ list: list.id, status: health.status, detail: health.detail }, 'blacklist: health changed')
    }
    logAvailability()
    schedule(list, MEASURE_INTERVALS[health.status])
  }

  /** Warns the operator once when no list is usable, and logs once when a list is usable again. */
  function logAvailability(): void {
    const statuses = lists.map((list) => healthOf(list).status)
    if (statuses.includes('unknown')) return
    const before = noListUsable
    noListUsable = !statuses.includes('ok')
    if (noListUsable && !before) log.warn(NO_LIST_USABLE)
    else if (before && !noListUsable) log.info('blacklist: a list is usable again')
  }

  function schedule(list: Blacklist, { min, max }: { min: number; max: number }): void {
    clearTimeout(timers.get(list.id))
    if (state !== 'watching') return
    const delay = min + Math.random() * (max - min)
    timers.set(list.id, setTimeout(() => void measure(list), delay).unref())
  }

  return {
    get: healthOf,
    measure,
    async whenMeasured(list) {
      if (healthOf(list).status === 'unknown') await measure(list)
    },
    recordRefusal(list, detail) {
      record(list, { ...healthOf(list), status: 'refusing', detail, checkedAt: now() })
    },
    start() {
      state = 'watching'
      for (const list of lists) void measure(list)
    },
    stop() {
      state = 'stopped'
      for (const timer of timers.values()) clearTimeout(timer)
    },
  }
}

/**
 * Measures a list, and again if it does not answer, so that one lost packet does not disable it.
 * @param before the last status. A list that was already unreachable is not measured again.
 */
async function measureWithRetry(
  list: Blacklist,
  dns: DnsClient,
  now: Clock,
  before: HealthStatus,
): Promise<MeasuredHealth> {
  const health = await measureOnce(list, dns, now)
  const needsRetry = health.status === 'unreachable' && before !== 'unreachable'
  return needsRetry ? measureOnce(list, dns, now) : health
}

/** Queries a list's test points and evaluates the answers. */
async function measureOnce(list: Blacklist, dns: DnsClient, now: Clock): Promise<MeasuredHealth> {
  const ask = (label: string) => {
    dns.forget(queryName(list, label), 'A')
    return dns.query(queryName(list, label), 'A')
  }
  const begun = now().getTime()
  let latencyMs: number | null = null
  const [positive, negative, random] = await Promise.all([
    Promise.all(list.testPoints.positive.map(ask)).then((results) => {
      latencyMs = now().getTime() - begun
      return results
    }),
    ask(list.testPoints.negative),
    ask(randomText(16)),
  ])
  const verdict = evaluateTestPoints(list, positive, { negative, random })
  const answered = positive.some((result) => result.kind !== 'failed')
  return { ...verdict, checkedAt: now(), latencyMs: answered ? latencyMs : null }
}

/**
 * Derives a list's health from the answers for its test points. The negative test point may have an informational entry
 * (DroneBL has a test entry for 127.0.0.1). The random name must have none: if it does, a resolver invents answers.
 * @param positive the answers for the test entries.
 */
export function evaluateTestPoints(
  list: Blacklist,
  positive: readonly DnsResult[],
  { negative, random }: { readonly negative: DnsResult; readonly random: DnsResult },
): Pick<MeasuredHealth, 'status' | 'detail'> {
  const decode = (result: DnsResult) => (result.kind === 'answer' ? list.decode(result.values) : null)
  const answers = [...positive, negative, random].map(decode)
  const refusal = answers.find((answer) => answer?.kind === 'refused')
  if (refusal?.kind === 'refused') return { status: 'refusing', detail: refusal.note }

  const isExplained = decode(negative)?.kind === 'notListed'
  const stray = [isExplained ? null : negative, random].find((result) => result?.kind === 'answer')
  if (stray?.kind === 'answer' && stray.values.includes(BLOCK_ADDRESS)) return { status: 'wildcard', detail: BLOCKED }
  if (stray?.kind === 'answer') {
    return { status: 'wildcard', detail: `It answers ${stray.values.join(', ')} for names that it does not list.` }
  }
  const hit = positive.map(decode).some((answer) => answer?.kind === 'listed' || answer?.kind === 'notListed')
  const clear = isExplained ? [random] : [negative, random]
  if (hit && clear.some((result) => result.kind === 'none')) return { status: 'ok', detail: null }

  const broken = answers.find((answer) => answer?.kind === 'invalid')
  if (broken?.kind === 'invalid') return { status: 'silent', detail: `Wrong answer for its test entry: ${broken.note}` }

  // A list that lists its test entry may list everything, if there is no answer for the other names.
  const failure = (hit ? clear : positive).find((result) => result.kind === 'failed')
  if (failure?.kind !== 'failed')
    return { status: 'silent', detail: 'It does not list its own test entry, so an empty answer proves nothing.' }
  return failure.reason === 'refused'
    ? { status: 'refusing', detail: 'The server refused the query (DNS REFUSED).' }
    : { status: 'unreachable', detail: `It does not answer (${failure.reason}).` }
}
