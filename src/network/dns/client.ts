import type { DnsServer } from '../../core/config.ts'
import type { Clock } from '../../core/time.ts'
import { createCache } from './cache.ts'
import { createEdnsMemory, type EdnsMemory } from './edns-memory.ts'
import { cancelFailover, type Failover, retransmitWhenDue, startFailover } from './failover.ts'
import { type DnsFailure, type DnsResult, isQueryable, type Question, type RecordType } from './message.ts'
import type { DnsStatistics } from './transport.ts'
import { createUpstream, type Upstream } from './upstream.ts'

export type { DnsResult, RecordType } from './message.ts'

/** Whether a caller has left. It is polled, so it need not be an `AbortSignal`, which is expensive. */
export type Signal = Pick<AbortSignal, 'aborted'>

export interface QueryOptions {
  /** Resolves this caller with `aborted`: within about ten milliseconds, or at once when `dismiss` is called. */
  readonly signal?: Signal
  /** Replaces the client's timeout for this caller, in milliseconds. */
  readonly timeoutMs?: number
  /**
   * Returns a shorter cache time for an answer, in seconds, such as for a blacklist's refusal code; undefined: keeps
   * its own. Must not throw.
   */
  readonly ttlOf?: (values: readonly string[]) => number | undefined
  /** Who asks, such as an organization: owners take turns, each with at most half of the queries in flight. Absent: we. */
  readonly owner?: string | undefined
  /** Sends a query even when the cache has a result. */
  readonly fresh?: boolean
  /** Called before a query is sent. If it returns false, the query is not sent but `withheld`. Must not throw. */
  readonly admit?: () => boolean
}

/** A caching stub resolver. */
export interface DnsClient {
  /** Returns a result from the cache; undefined: there is none. Fast enough for every list of every check. */
  peek(name: string, type: RecordType): DnsResult | undefined
  /**
   * Returns the result from the cache, or sends a query. Never rejects, and always resolves by the deadline. Concurrent
   * callers with the same question share one query, each with its own deadline. The query is cancelled when the last
   * caller leaves.
   */
  query(name: string, type: RecordType, options?: QueryOptions): Promise<DnsResult>
  /** Resolves callers that have left, without waiting for the next tick. */
  dismiss(): void
  /** Removes a result from the cache, so that the next query is sent. */
  forget(name: string, type: RecordType): void
  /** Ends every query with `aborted` and closes every socket. Later queries are aborted at once. */
  close(): Promise<void>
  readonly statistics: Readonly<DnsStatistics>
}

/** A query in flight and its callers. */
interface Flight {
  readonly key: string
  /** Null once the query has ended. */
  failover: Failover | null
  waiters: readonly Waiter[]
}

interface Waiter {
  readonly resolve: (result: DnsResult) => void
  readonly ttlOf: QueryOptions['ttlOf']
  /** On the clock of `performance.now()`. */
  readonly deadline: number
  readonly signal: Signal | undefined
}

/** When an unanswered query is first repeated, in milliseconds. Sooner if the timeout is short. */
const retransmitDelay = 800
/** How often all flights are checked for deadlines, signals and retransmissions, in milliseconds. */
const tickInterval = 10

const failed = (reason: DnsFailure['reason']): DnsFailure => Object.freeze({ kind: 'failed', reason })
const aborted = failed('aborted')
const invalidName = failed('invalid-name')
const timeout = failed('timeout')
const withheld = failed('withheld')

/**
 * Creates a client of recursive resolvers, which it tries in the given order.
 * @param settings `timeoutMs`: the timeout of a query; `cacheSize`: the maximum number of cached results.
 */
export function createDnsClient(settings: {
  readonly servers: readonly DnsServer[]
  readonly timeoutMs: number
  readonly now: Clock
  readonly cacheSize?: number
  /** Shared by clients that live for one query; absent: its own. */
  readonly noEdns?: EdnsMemory
}): DnsClient {
  const { servers, now, cacheSize = 100_000, noEdns = createEdnsMemory() } = settings
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
  const upstreams = servers.map((server) => createUpstream(server, now, statistics, noEdns))
  const flights = createFlights(upstreams, statistics, (key, result) => cache.set(key, result))
  let closed = false

  function readCache(key: string): DnsResult | undefined {
    const known = cache.get(key)
    if (known !== undefined) statistics.cacheHits++
    return known
  }

  return {
    peek: (name, type) => readCache(keyOf(name, type)),
    query(name, type, options = {}) {
      const key = keyOf(name, type)
      const known = options.fresh ? undefined : readCache(key)
      if (known !== undefined) return Promise.resolve(known)
      if (closed || options.signal?.aborted) return Promise.resolve(aborted)
      if (!isQueryable(name)) return Promise.resolve(invalidName)

      const { timeoutMs = settings.timeoutMs, signal, ttlOf, admit, owner = '' } = options
      const at = performance.now()
      let flight = flights.get(key)
      if (flight !== undefined) statistics.coalesced++
      else if (admit?.() === false) return Promise.resolve(withheld)
      else flight = flights.start(key, { name: name.toLowerCase(), type }, { owner, timeoutMs, at })
      return flights.join(flight, { ttlOf, deadline: at + timeoutMs, signal })
    },
    dismiss: flights.dismiss,
    forget: (name, type) => cache.delete(keyOf(name, type)),
    async close() {
      closed = true
      flights.abort()
      await Promise.all(upstreams.map((upstream) => upstream.close()))
    },
    statistics,
  }
}

/** Who asks, for how long, and since when, on the clock of `performance.now()`. */
interface Asking {
  readonly owner: string
  readonly timeoutMs: number
  readonly at: number
}

/** The queries in flight. */
interface Flights {
  get(key: string): Flight | undefined
  start(key: string, question: Question, asking: Asking): Flight
  /** Waits for the result of a flight, until the waiter’s deadline or signal. */
  join(flight: Flight, waiter: Omit<Waiter, 'resolve'>): Promise<DnsResult>
  /** Resolves callers that have left or reached their deadline. Ends a query with its last caller. */
  dismiss(): void
  /** Ends all flights. */
  abort(): void
}

/** Creates an empty set of flights. @param onEnd called with the result of each flight. */
function createFlights(
  upstreams: readonly Upstream[],
  statistics: DnsStatistics,
  onEnd: (key: string, result: DnsResult) => void,
): Flights {
  const flights = new Map<string, Flight>()
  let timer: NodeJS.Timeout | null = null

  function start(key: string, question: Question, { owner, timeoutMs, at }: Asking): Flight {
    const delay = Math.min(retransmitDelay, timeoutMs / 3)
    const failover = startFailover(question, owner, inOrder(upstreams), at, delay, (result) => finish(flight, result))
    const flight: Flight = { key, failover, waiters: [] }
    flights.set(key, flight)
    timer ??= setTimeout(tick, tickInterval)
    return flight
  }

  /**
   * Checks all flights with one timer. A timer and a listener per query would take a fifth of the time of a check's
   * queries (measured). Answers that came while the process was busy are read first: timers run before sockets.
   */
  function tick() {
    const own = timer
    setImmediate(() => {
      if (timer === own) check()
    })
  }

  function check() {
    timer = null
    dismiss()
    const at = performance.now()
    for (const { failover } of flights.values()) if (failover !== null) retransmitWhenDue(failover, at)
    if (flights.size > 0) timer = setTimeout(tick, tickInterval)
  }

  function dismiss() {
    const at = performance.now()
    for (const flight of flights.values()) {
      for (const waiter of flight.waiters) {
        if (waiter.signal?.aborted) resolveWaiter(flight, waiter, aborted)
        else if (at >= waiter.deadline) expire(flight, waiter)
      }
    }
  }

  function expire(flight: Flight, waiter: Waiter) {
    statistics.timeouts++
    resolveWaiter(flight, waiter, flight.failover?.failure ?? timeout)
  }

  function resolveWaiter(flight: Flight, waiter: Waiter, result: DnsResult) {
    flight.waiters = flight.waiters.filter((other) => other !== waiter)
    waiter.resolve(result)
    if (flight.waiters.length === 0) end(flight, result)
  }

  /** Ends a flight with its result. */
  function finish(flight: Flight, result: DnsResult) {
    const { waiters } = flight
    const kept = waiters.reduce((so, { ttlOf }) => shortenTtl(so, ttlOf), result)
    end(flight, kept)
    for (const { resolve } of waiters) resolve(kept)
  }

  /**
   * Ends a flight and clears its references. A Map that is constantly filled and emptied leaves old tables behind in
   * V8. Their contents would stay in memory until the next full garbage collection (a quarter of the time of a query,
   * measured).
   */
  function end(flight: Flight, result: DnsResult) {
    if (flight.failover !== null) cancelFailover(flight.failover)
    flight.failover = null
    flight.waiters = []
    flights.delete(flight.key)
    if (flights.size === 0 && timer !== null) {
      clearTimeout(timer)
      timer = null
    }
    onEnd(flight.key, result)
  }

  return {
    get: (key) => flights.get(key),
    start,
    join: (flight, { ttlOf, deadline, signal }) =>
      new Promise((resolve) => {
        flight.waiters = [...flight.waiters, { resolve, ttlOf, deadline, signal }]
      }),
    dismiss,
    abort() {
      for (const flight of flights.values()) finish(flight, aborted)
    },
  }
}

/** Returns the key of a question. Names are case-insensitive (RFC 4343). */
function keyOf(name: string, type: RecordType): string {
  return `${type} ${name.toLowerCase()}`
}

/** Returns the upstreams with silent ones at the end. */
function inOrder(upstreams: readonly Upstream[]): readonly Upstream[] {
  if (!upstreams.some((upstream) => upstream.isSilent())) return upstreams
  const silent = upstreams.filter((upstream) => upstream.isSilent())
  return [...upstreams.filter((upstream) => !silent.includes(upstream)), ...silent]
}

function shortenTtl(result: DnsResult, ttlOf: QueryOptions['ttlOf']): DnsResult {
  if (result.kind !== 'answer') return result
  const ttl = ttlOf?.(result.values) ?? result.ttl
  return ttl < result.ttl ? { ...result, ttl } : result
}
