import { LRUCache } from 'lru-cache'
import { type Clock, SECOND } from '../../time.ts'
import type { DnsFailure, DnsResult } from './message.ts'

/** What was learned, least recently used out first. */
export interface DnsCache {
  /** What is kept under the key, its `ttl` being what remains of it, in whole seconds. */
  get(key: string): DnsResult | undefined
  /** Keeps a result for its `ttl`, a failure for as long as its reason says. */
  set(key: string, result: DnsResult): void
  delete(key: string): void
}

interface Entry {
  readonly result: DnsResult
  readonly since: number
  readonly lifetime: number
}

/** Seconds a failure is kept: an upstream's word holds longer than its silence (RFC 2308 §7 allows 5 minutes at most). */
const failureTtl: Record<DnsFailure['reason'], number> = {
  refused: 10,
  servfail: 10,
  timeout: 5,
  unreachable: 5,
  malformed: 5,
  aborted: 0,
  withheld: 0,
}

/** A cache of at most `size` results. A clock that is set back ends what was kept in its future. */
export function createCache(size: number, now: Clock): DnsCache {
  const entries = new LRUCache<string, Entry>({ max: size })
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
