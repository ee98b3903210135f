import type { DnsServer } from '../../config.ts'
import type { Clock } from '../../time.ts'
import { createCache } from './cache.ts'
import { type DnsFailure, type DnsResult, isQueryable, type Question, type RecordType } from './message.ts'
import { abandon, type Pursuit, pursue, retransmitWhenDue } from './pursuit.ts'
import type { DnsStatistics } from './transport.ts'
import { createUpstream, type Upstream } from './upstream.ts'

export type { DnsResult, RecordType } from './message.ts'

/** Whether a caller has left. It is looked at, not listened to, so that it need not be an `AbortSignal`, which is costly. */
export type Signal = Pick<AbortSignal, 'aborted'>

export interface QueryOptions {
  /** Ends the wait of this caller, with `aborted`: within some ten milliseconds, or at once by `dismiss`. */
  readonly signal?: Signal
  /** The deadline of this caller instead of the client's, in milliseconds. */
  readonly timeoutMs?: number
  /** Shortens how long an answer is kept, in seconds, such as a list's refusal code; undefined leaves it. Must not throw. */
  readonly ttlOf?: (values: readonly string[]) => number | undefined
  /** Asks even when the cache holds a result. */
  readonly fresh?: boolean
  /** Asked when a query would have to be sent: false keeps it back, with `withheld`. Must not throw. */
  readonly admit?: () => boolean
}

/** A caching stub resolver. */
export interface DnsClient {
  /** What is known without asking: what the cache holds. Cheap enough to be called for every list of every check. */
  peek(name: string, type: RecordType): DnsResult | undefined
  /**
   * Asks, from the cache if it can. Never rejects, and always resolves by the deadline. Callers that ask the same at the same
   * time share one query, each with its own deadline; it is given up when the last of them has left.
   */
  query(name: string, type: RecordType, options?: QueryOptions): Promise<DnsResult>
  /** Lets those callers go at once who have left by now. */
  dismiss(): void
  /** Drops what the cache holds, so that the next query asks anew. */
  forget(name: string, type: RecordType): void
  /** Ends every query with `aborted` and closes every socket; later queries are aborted at once. */
  close(): Promise<void>
  readonly statistics: Readonly<DnsStatistics>
}

/** A query that callers are waiting for. */
interface Flight {
  readonly key: string
  /** Null when it has ended. */
  pursuit: Pursuit | null
  waiters: readonly Waiter[]
}

interface Waiter {
  readonly resolve: (result: DnsResult) => void
  readonly ttlOf: QueryOptions['ttlOf']
  /** By `performance.now()`. */
  readonly deadline: number
  readonly signal: Signal | undefined
}

/** When an unanswered query is repeated first, in milliseconds; sooner when the deadline is short. */
const retransmitDelay = 800
/** How often all flights are looked over for deadlines, signals and retransmissions, in milliseconds. */
const lookInterval = 10

const failed = (reason: DnsFailure['reason']): DnsFailure => Object.freeze({ kind: 'failed', reason })
const aborted = failed('aborted')
const malformed = failed('malformed')
const timeout = failed('timeout')
const withheld = failed('withheld')

/**
 * Makes a client of recursive resolvers, asked in the order given.
 * @param settings `timeoutMs` is the deadline of a query; `cacheSize` how many results are kept at most.
 */
export function createDnsClient(settings: {
  readonly servers: readonly DnsServer[]
  readonly timeoutMs: number
  readonly now: Clock
  readonly cacheSize?: number
}): DnsClient {
  const { servers, now, cacheSize = 100_000 } = settings
  const statistics: DnsStatistics = {
    sent: 0,
    retransmitted: 0,
    received: 0,
    rejected: 0,
    cacheHits: 0,
    coalesced: 0,
    timeouts: 0,
    tcp: 0,
  }
  const cache = createCache(cacheSize, now)
  const upstreams = servers.map((server) => createUpstream(server, now, statistics))
  const flights = new Map<string, Flight>()
  let closed = false
  let looking: NodeJS.Timeout | null = null

  function peek(name: string, type: RecordType): DnsResult | undefined {
    return recall(keyOf(name, type))
  }

  function recall(key: string): DnsResult | undefined {
    const known = cache.get(key)
    if (known !== undefined) statistics.cacheHits++
    return known
  }

  function query(name: string, type: RecordType, options: QueryOptions = {}): Promise<DnsResult> {
    const key = keyOf(name, type)
    const known = options.fresh ? undefined : recall(key)
    if (known !== undefined) return Promise.resolve(known)
    if (closed || options.signal?.aborted) return Promise.resolve(aborted)
    if (!isQueryable(name)) return Promise.resolve(malformed)

    const { timeoutMs = settings.timeoutMs, signal, ttlOf, admit } = options
    const at = performance.now()
    let flight = flights.get(key)
    if (flight !== undefined) statistics.coalesced++
    else if (admit?.() === false) return Promise.resolve(withheld)
    else flight = depart(key, { name: name.toLowerCase(), type }, timeoutMs, at)
    const { waiters } = flight
    return new Promise((resolve) => {
      flight.waiters = [...waiters, { resolve, ttlOf, deadline: at + timeoutMs, signal }]
    })
  }

  function depart(key: string, question: Question, timeoutMs: number, at: number): Flight {
    const delay = Math.min(retransmitDelay, timeoutMs / 3)
    const pursuit = pursue(question, inOrder(upstreams), at, delay, (result) => land(flight, result))
    const flight: Flight = { key, pursuit, waiters: [] }
    flights.set(key, flight)
    looking ??= setTimeout(look, lookInterval)
    return flight
  }

  /** One timer for all: timers and listeners of their own cost the queries of a check a fifth of their time (measured). */
  function look() {
    looking = null
    dismiss()
    const at = performance.now()
    for (const { pursuit } of flights.values()) if (pursuit !== null) retransmitWhenDue(pursuit, at)
    if (flights.size > 0) looking = setTimeout(look, lookInterval)
  }

  function stopLooking() {
    if (looking !== null) clearTimeout(looking)
    looking = null
  }

  /** Lets those go who have left or waited long enough; with the last one, the query. */
  function dismiss() {
    const at = performance.now()
    for (const flight of flights.values()) {
      for (const waiter of flight.waiters) {
        if (waiter.signal?.aborted) leave(flight, waiter, aborted)
        else if (at >= waiter.deadline) expire(flight, waiter)
      }
    }
  }

  function expire(flight: Flight, waiter: Waiter) {
    statistics.timeouts++
    leave(flight, waiter, flight.pursuit?.failure ?? timeout)
  }

  function leave(flight: Flight, waiter: Waiter, result: DnsResult) {
    flight.waiters = flight.waiters.filter((other) => other !== waiter)
    waiter.resolve(result)
    if (flight.waiters.length === 0) end(flight, result)
  }

  /** Every upstream failed, or one knew. */
  function land(flight: Flight, result: DnsResult) {
    const { waiters } = flight
    const kept = waiters.reduce((so, { ttlOf }) => shorten(so, ttlOf), result)
    end(flight, kept)
    for (const { resolve } of waiters) resolve(kept)
  }

  /**
   * Ends a flight, and has it hold nothing any more: in V8, a Map that is filled and emptied all the time leaves old tables
   * behind, and what was in them stays in memory until the next full collection (a quarter of the time of a query, measured).
   */
  function end(flight: Flight, result: DnsResult) {
    if (flight.pursuit !== null) abandon(flight.pursuit)
    flight.pursuit = null
    flight.waiters = []
    flights.delete(flight.key)
    if (flights.size === 0) stopLooking()
    cache.set(flight.key, result)
  }

  return {
    peek,
    query,
    dismiss,
    forget: (name, type) => cache.delete(keyOf(name, type)),
    async close() {
      closed = true
      for (const flight of flights.values()) land(flight, aborted)
      await Promise.all(upstreams.map((upstream) => upstream.close()))
    },
    statistics,
  }
}

/** Names are the same in either case (RFC 4343). */
function keyOf(name: string, type: RecordType): string {
  return `${type} ${name.toLowerCase()}`
}

/** Silent upstreams last. */
function inOrder(upstreams: readonly Upstream[]): readonly Upstream[] {
  if (!upstreams.some((upstream) => upstream.isSilent())) return upstreams
  const silent = upstreams.filter((upstream) => upstream.isSilent())
  return [...upstreams.filter((upstream) => !silent.includes(upstream)), ...silent]
}

function shorten(result: DnsResult, ttlOf: QueryOptions['ttlOf']): DnsResult {
  if (result.kind !== 'answer') return result
  const ttl = ttlOf?.(result.values) ?? result.ttl
  return ttl < result.ttl ? { ...result, ttl } : result
}
