import { LRUCache } from 'lru-cache'
import { RateLimited } from '../core/errors.ts'
import { clientSubject } from '../core/ip-address.ts'
import { MINUTE } from '../core/time.ts'

/** Protects against guessing keys: known wrong keys, and too many from one address, cost no database query. */
export interface WrongKeys {
  /**
   * Returns whether a key, by its hash, was recently wrong.
   * @throws RateLimited after too many wrong keys from the address; keys that worked before pass.
   */
  isKnown(clientAddress: string | null, hash: string): boolean
  /** Records the result of a database lookup. */
  record(clientAddress: string | null, hash: string, holds: boolean): void
}

/** Distinct wrong keys per address (IPv6: /64) and window. A repeated key counts once. */
const MAX_WRONG_KEYS = 20
const WINDOW = 1 * MINUTE
/** The number of cached keys and addresses. */
const CACHE_SIZE = 10_000

/** Caches wrong keys by hash in this process. The database decides which are wrong. */
export function createWrongKeys(now: () => Date): WrongKeys {
  const wrong = new LRUCache<string, { readonly until: number }>({ max: CACHE_SIZE })
  const held = new LRUCache<string, true>({ max: CACHE_SIZE })
  const windows = new LRUCache<string, { readonly until: number; readonly count: number }>({ max: CACHE_SIZE })
  const current = <T extends { readonly until: number }>(entry: T | undefined) =>
    entry !== undefined && now().getTime() < entry.until ? entry : null

  return {
    isKnown(clientAddress, hash) {
      if (held.has(hash)) return false
      if (current(wrong.get(hash)) !== null) return true
      const window = current(windows.get(clientSubject(clientAddress)))
      if (window === null || window.count < MAX_WRONG_KEYS) return false
      throw new RateLimited(
        'Too many wrong API keys came from your address. Try again in a minute.',
        new Date(window.until),
      )
    },
    record(clientAddress, hash, holds) {
      if (holds) return void held.set(hash, true)
      const subject = clientSubject(clientAddress)
      const { until, count } = current(windows.get(subject)) ?? { until: now().getTime() + WINDOW, count: 0 }
      held.delete(hash)
      wrong.set(hash, { until: now().getTime() + WINDOW })
      windows.set(subject, { until, count: count + 1 })
    },
  }
}
