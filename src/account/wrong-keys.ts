import { LRUCache } from 'lru-cache'
import { RateLimited } from '../errors.ts'
import { MINUTE } from '../time.ts'
import { clientSubject } from './usage.ts'

/** Keeps callers from trying keys: what is known to be wrong, and too much from one address, costs no look into the database. */
export interface WrongKeys {
  /**
   * Whether a key, by its hash, was found wrong a moment ago.
   * @throws RateLimited when too many wrong ones came from the address; keys that have held before are let through.
   */
  isKnown(clientAddress: string | null, hash: string): boolean
  /** Notes what came of a look into the database. */
  note(clientAddress: string | null, hash: string, holds: boolean): void
}

/** Different wrong keys that one address (IPv6: one /64) may send in a window. One key sent again and again counts once. */
const MOST = 20
const WINDOW = 1 * MINUTE
/** How many keys and addresses are remembered. */
const REMEMBERED = 10_000

/** Remembers wrong keys in this process, by hash; the database decides what is wrong. */
export function createWrongKeys(now: () => Date): WrongKeys {
  const wrong = new LRUCache<string, { readonly until: number }>({ max: REMEMBERED })
  const held = new LRUCache<string, true>({ max: REMEMBERED })
  const windows = new LRUCache<string, { readonly until: number; readonly count: number }>({ max: REMEMBERED })
  const current = <T extends { readonly until: number }>(entry: T | undefined) =>
    entry !== undefined && now().getTime() < entry.until ? entry : null

  return {
    isKnown(clientAddress, hash) {
      if (held.has(hash)) return false
      if (current(wrong.get(hash)) !== null) return true
      const window = current(windows.get(clientSubject(clientAddress)))
      if (window === null || window.count < MOST) return false
      throw new RateLimited(
        'Too many wrong API keys came from your address. Try again in a minute.',
        new Date(window.until),
      )
    },
    note(clientAddress, hash, holds) {
      if (holds) return void held.set(hash, true)
      const subject = clientSubject(clientAddress)
      const { until, count } = current(windows.get(subject)) ?? { until: now().getTime() + WINDOW, count: 0 }
      held.delete(hash)
      wrong.set(hash, { until: now().getTime() + WINDOW })
      windows.set(subject, { until, count: count + 1 })
    },
  }
}
