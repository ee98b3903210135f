import { LRUCache } from 'lru-cache'
import { type Clock, SECOND } from '../../core/time.ts'
import type { DnsFailure, DnsResult } from './message.ts'

/** A cache of results. It evicts the least recently used ones first. */
export interface DnsCache {
  /** Returns the result of a key, with its remaining `ttl` in whole seconds. */
  get(key: string): DnsResult | undefined
  /** Stores a result for its `ttl`, or a failure for the time set for its reason. */
  set(key: string, result: DnsResult): void
  delete(key: string): void
}

interface Entry {
  readonly result: DnsResult
  readonly since: number
  readonly lifetime: number
}

/**
 * How long a failure is cached, in seconds (RFC 2308 §7 allows at most 5 minutes). A failure that an upstream reports
 * is cached longer than silence.
 */
const failureTtl: Record<DnsFailure['reason'], number> = {
  refused: 10,
  servfail: 10,
  formerr: 10,
  notimp: 10,
  timeout: 5,
  unreachable: 5,
  malformed: 5,
  aborted: 0,
  withheld: 0,
  'invalid-name': 0,
}

/** The length of values that counts as one more result, in characters: an answer can have 64 KiB. */
const VALUES_LENGTH = 64

function sizeOf({ result }: Entry): number {
  const values = result.kind === 'answer' ? result.values : []
  return 1 + Math.floor(values.reduce((length, value) => length + value.length, 0) / VALUES_LENGTH)
}

/** Creates a cache of at most `size` results; a long answer counts as several. If the clock is set back, results stored after the new time expire. */
export function createCache(size: number, now: Clock): DnsCache {
  const entries = new LRUCache<string, Entry>({ maxSize: size, sizeCalculation: sizeOf })
  return {
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      const age = now().getTime() - entry.since
      if (age < 0 || age >= entry.lifetime) {
        entries.delete(key)
        return undefined
      }
      const { result } = entry
      return result.kind === 'failed' ? result : { ...result, ttl: result.ttl - Math.floor(age / SECOND) }
    },
    set(key, result) {
      const ttl = result.kind === 'failed' ? failureTtl[result.reason] : result.ttl
      if (ttl > 0) entries.set(key, { result, since: now().getTime(), lifetime: ttl * SECOND })
    },
    delete(key) {
      entries.delete(key)
    },
  }
}
