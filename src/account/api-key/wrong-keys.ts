import { createAttemptWindow } from '../../core/concurrency/attempt-window.ts'
import { nextTimeSlice } from '../../core/concurrency/time-slice.ts'
import { RateLimited } from '../../core/errors.ts'
import { clientSubject } from '../../core/ip-address.ts'
import { createLruMap } from '../../core/lru-map.ts'
import { MINUTE } from '../../core/time.ts'

/** Protects against key guessing: known wrong keys, and too many wrong keys from one address, cost no database query. */
export interface WrongKeys {
  /**
   * Looks up a key, unless it was wrong recently. For one address, at most as many lookups run at once as it may send wrong keys;
   * the others wait. Keys that have worked before neither wait nor count.
   * @param hash the hash of the key.
   * @param lookup returns the key's data; null: the key is wrong.
   * @returns null when the key is wrong.
   * @throws RateLimited after too many wrong keys from the address.
   */
  check<T>(clientAddress: string | null, hash: string, lookup: () => Promise<T | null>): Promise<T | null>
}

/** The number of distinct wrong keys per address (IPv6: /64) and window. A repeated key counts once. */
const MAX_WRONG_KEYS = 20
const WINDOW = 1 * MINUTE
/** The maximum number of cached wrong keys. */
const CACHE_SIZE = 10_000

/** The lookups of one address: those running and those waiting. */
interface Lookups {
  present: number
  running: number
  readonly waiting: (() => void)[]
}

/** Caches wrong keys by hash in this process. The database decides which keys are wrong. */
export function createWrongKeys(now: () => Date): WrongKeys {
  const wrongUntil = createLruMap<number>(CACHE_SIZE)
  const held = createLruMap<true>(CACHE_SIZE)
  const attempts = createAttemptWindow({ max: MAX_WRONG_KEYS, windowMs: WINDOW })
  const lookupsByAddress = new Map<string, Lookups>()
  const isWrong = (hash: string) => now().getTime() < (wrongUntil.get(hash) ?? 0)

  /** Records the result of a lookup, and returns it. */
  function recorded<T>(subject: string, hash: string, found: T | null): T | null {
    if (found !== null) {
      held.set(hash, true)
      return found
    }
    held.delete(hash)
    if (!isWrong(hash)) attempts.count(subject, now())
    wrongUntil.set(hash, now().getTime() + WINDOW)
    return null
  }

  /** Waits until a lookup may start, and counts it as running. Returns whether the key still needs a lookup. */
  async function admit(subject: string, hash: string, lookups: Lookups): Promise<boolean> {
    for (;;) {
      if (isWrong(hash)) return false
      const left = attempts.left(subject, now())
      if (left === 0 && !held.has(hash)) throw tooManyWrongKeys(attempts.endsAt(subject, now()))
      if (lookups.running < left || held.has(hash)) {
        lookups.running += 1
        return true
      }
      await new Promise<void>((resolve) => lookups.waiting.push(resolve))
      // The work after resuming, usually a refusal, takes longer than resuming, so addresses take turns.
      await nextTimeSlice(subject)
    }
  }

  /** Resumes as many waiting lookups as may run, and at least one, which resumes the next if it does not have to run. */
  function resume(subject: string, { running, waiting }: Lookups): void {
    const free = Math.max(1, attempts.left(subject, now()) - running)
    for (const next of waiting.splice(0, free)) next()
  }

  return {
    async check(clientAddress, hash, lookup) {
      if (held.has(hash)) return recorded(clientSubject(clientAddress), hash, await lookup())
      const subject = clientSubject(clientAddress)
      const lookups = lookupsByAddress.get(subject) ?? { present: 0, running: 0, waiting: [] }
      lookupsByAddress.set(subject, lookups)
      lookups.present += 1
      let isRunning = false
      try {
        if (!(await admit(subject, hash, lookups))) return null
        isRunning = true
        return recorded(subject, hash, await lookup())
      } finally {
        if (isRunning) lookups.running -= 1
        lookups.present -= 1
        if (lookups.present === 0) lookupsByAddress.delete(subject)
        resume(subject, lookups)
      }
    },
  }
}

function tooManyWrongKeys(retryAt: Date): RateLimited {
  return new RateLimited('Too many wrong API keys came from your address. Try again in a minute.', retryAt)
}
