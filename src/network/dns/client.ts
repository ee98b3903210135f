import { setMaxListeners } from 'node:events'
import type { DnsServer } from '../../config.ts'
import type { Clock } from '../../time.ts'
import { createCache } from './cache.ts'
import { type DnsFailure, type DnsResult, isQueryable, type Question, type RecordType } from './message.ts'
import { abandon, type Pursuit, pursue } from './pursuit.ts'
import type { DnsStatistics } from './transport.ts'
import { createUpstream, type Upstream } from './upstream.ts'

export type { DnsResult, RecordType } from './message.ts'

export interface QueryOptions {
  /** Ends the wait of this caller, with `aborted`. */
  readonly signal?: AbortSignal
  /** The deadline of this caller instead of the client's, in milliseconds. */
  readonly timeoutMs?: number
  /** Shortens how long an answer is kept, in seconds, such as a list's refusal code; undefined leaves it. Must not throw. */
  readonly ttlOf?: (values: readonly string[]) => number | undefined
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
  /** Drops what the cache holds, so that the next query asks anew. */
  forget(name: string, type: RecordType): void
  /** Ends every query with `aborted` and closes every socket; later queries are aborted at once. */
  close(): Promise<void>
  readonly statistics: Readonly<DnsStatistics>
}

/** A query that callers are waiting for. */
interface Flight {
  readonly key: string
  readonly pursuit: Pursuit
  readonly waiters: Set<Waiter>
}

interface Waiter {
  readonly resolve: (result: DnsResult) => void
  readonly ttlOf: QueryOptions['ttlOf']
  readonly timer: NodeJS.Timeout
  readonly signal: AbortSignal | undefined
  onAbort(): void
}

/** When an unanswered query is repeated first, in milliseconds; sooner when the deadline is short. */
const retransmitDelay = 800

const failed = (reason: DnsFailure['reason']): DnsFailure => Object.freeze({ kind: 'failed', reason })
const aborted = failed('aborted')
const malformed = failed('malformed')
const timeout = failed('timeout')

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
    const known = recall(key)
    if (known !== undefined) return Promise.resolve(known)
    if (closed || options.signal?.aborted) return Promise.resolve(aborted)
    if (!isQueryable(name)) return Promise.resolve(malformed)

    const timeoutMs = options.timeoutMs ?? settings.timeoutMs
    const underway = flights.get(key)
    if (underway !== undefined) statistics.coalesced++
    const flight = underway ?? depart(key, { name: name.toLowerCase(), type }, timeoutMs)
    return wait(flight, timeoutMs, options)
  }

  function depart(key: string, question: Question, timeoutMs: number): Flight {
    const delay = Math.min(retransmitDelay, timeoutMs / 3)
    const pursuit = pursue(question, inOrder(upstreams), delay, (result) => land(flight, result))
    const flight: Flight = { key, pursuit, waiters: new Set() }
    flights.set(key, flight)
    return flight
  }

  function wait(flight: Flight, timeoutMs: number, { signal, ttlOf }: QueryOptions): Promise<DnsResult> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        resolve,
        ttlOf,
        timer: setTimeout(() => expire(flight, waiter), timeoutMs),
        signal,
        onAbort() {
          leave(flight, waiter, aborted)
        },
      }
      flight.waiters.add(waiter)
      if (signal === undefined) return
      // One signal serves all the queries of a check; Node 20 takes more than ten listeners for a leak.
      setMaxListeners(0, signal)
      signal.addEventListener('abort', waiter.onAbort)
    })
  }

  function expire(flight: Flight, waiter: Waiter) {
    statistics.timeouts++
    leave(flight, waiter, flight.pursuit.failure ?? timeout)
  }

  /** One caller goes; with the last one, the query. */
  function leave(flight: Flight, waiter: Waiter, result: DnsResult) {
    flight.waiters.delete(waiter)
    settle(waiter, result)
    if (flight.waiters.size > 0) return
    abandon(flight.pursuit)
    end(flight, result)
  }

  /** Every upstream failed, or one knew. */
  function land(flight: Flight, result: DnsResult) {
    let kept = result
    for (const waiter of flight.waiters) kept = shorten(kept, waiter.ttlOf)
    end(flight, kept)
    for (const waiter of flight.waiters) settle(waiter, kept)
  }

  function end(flight: Flight, result: DnsResult) {
    flights.delete(flight.key)
    cache.set(flight.key, result)
  }

  return {
    peek,
    query,
    forget: (name, type) => cache.delete(keyOf(name, type)),
    async close() {
      closed = true
      for (const flight of flights.values()) {
        abandon(flight.pursuit)
        land(flight, aborted)
      }
      await Promise.all(upstreams.map((upstream) => upstream.close()))
    },
    statistics,
  }
}

function settle(waiter: Waiter, result: DnsResult): void {
  clearTimeout(waiter.timer)
  waiter.signal?.removeEventListener('abort', waiter.onAbort)
  waiter.resolve(result)
}

/** Names are the same in either case (RFC 4343). */
function keyOf(name: string, type: RecordType): string {
  return `${type} ${name.toLowerCase()}`
}

/** Silent upstreams last. */
function inOrder(upstreams: readonly Upstream[]): readonly Upstream[] {
  const silent = upstreams.filter((upstream) => upstream.isSilent())
  return silent.length === 0 ? upstreams : [...upstreams.filter((upstream) => !silent.includes(upstream)), ...silent]
}

function shorten(result: DnsResult, ttlOf: QueryOptions['ttlOf']): DnsResult {
  if (result.kind !== 'answer') return result
  const ttl = ttlOf?.(result.values) ?? result.ttl
  return ttl < result.ttl ? { ...result, ttl } : result
}
