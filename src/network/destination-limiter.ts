import { createTokenBucket, type TokenBucket } from '../core/concurrency/token-bucket.ts'
import { MINUTE } from '../core/time.ts'

/** The limits of one key, such as a destination. */
export interface DestinationLimits {
  readonly atOnce: number
  /** The maximum number of starts within any minute; absent: unlimited. */
  readonly perMinute?: number
}

/**
 * Limits work per key: at once and per minute. An owner, such as an organization, has at most half of both. Further work
 * waits in order of arrival, but not behind that of an owner who has his half.
 */
export interface DestinationLimiter {
  /**
   * Runs `work` as soon as the limits allow it. Returns null without running it if that takes longer than `waitMs`
   * milliseconds, or if the signal aborts.
   */
  run<T>(key: string, limits: WaitLimits, work: () => Promise<T>): Promise<T | null>
  /** Admits work now. Returns the function that ends it; null: the limit is reached. @param owner absent: we. */
  tryAcquire(key: string, owner?: string): (() => void) | null
  /** Returns the milliseconds until the limit per minute may admit work of an owner again. */
  msUntilFree(key: string, owner?: string): number
}

interface WaitLimits {
  readonly waitMs: number
  readonly signal: AbortSignal
  /** Whose work it is; absent: ours, which has no share. */
  readonly owner?: string | undefined
}

/** What is used of a limit. */
interface Use {
  running: number
  /** Null: the rate is unlimited. */
  readonly bucket: TokenBucket | null
}

/** Running and waiting work of one key. */
interface Destination extends Use {
  readonly owners: Map<string, Use>
  readonly waiting: Set<Waiting>
  timer: NodeJS.Timeout | undefined
}

interface Waiting {
  readonly owner: string | undefined
  end(isTaken: boolean): void
}

/** The number of keys, and of owners of a key, above which idle ones are dropped. */
const MAX_KEYS = 1000
/** The share of the limit per minute that may start at once. The rest is spread evenly: no minute exceeds the limit. */
const BURST_SHARE = 1 / 6

/** Creates a limiter. */
export function createDestinationLimiter({ atOnce, perMinute }: DestinationLimits): DestinationLimiter {
  const destinations = new Map<string, Destination>()

  const half = Math.max(1, Math.floor(atOnce / 2))

  /** @param share the part of the limit per minute. */
  function newBucket(share: number): TokenBucket | null {
    if (perMinute === undefined) return null
    const limit = perMinute * share
    const burst = Math.max(1, Math.floor(limit * BURST_SHARE))
    return createTokenBucket({ limit, windowMs: MINUTE, burst })
  }

  function destinationOf(key: string): Destination {
    const known = destinations.get(key)
    if (known) return known
    if (destinations.size >= MAX_KEYS) forgetIdle(destinations, ({ waiting }) => waiting.size === 0)
    const destination: Destination = {
      running: 0,
      bucket: newBucket(1),
      owners: new Map(),
      waiting: new Set(),
      timer: undefined,
    }
    destinations.set(key, destination)
    return destination
  }

  function useOf({ owners }: Destination, owner: string): Use {
    const known = owners.get(owner)
    if (known) return known
    if (owners.size >= MAX_KEYS) forgetIdle(owners)
    const use: Use = { running: 0, bucket: newBucket(0.5) }
    owners.set(owner, use)
    return use
  }

  function msUntilToken(destination: Destination, owner: string | undefined): number {
    const own = owner === undefined ? null : useOf(destination, owner)
    return Math.max(destination.bucket?.msUntilToken() ?? 0, own?.bucket?.msUntilToken() ?? 0)
  }

  function begin(destination: Destination, owner: string | undefined): boolean {
    const own = owner === undefined ? null : useOf(destination, owner)
    if (destination.running >= atOnce || (own !== null && own.running >= half)) return false
    if (msUntilToken(destination, owner) > 0) return false
    for (const use of own === null ? [destination] : [destination, own]) {
      use.bucket?.take()
      use.running += 1
    }
    return true
  }

  /** Admits waiting callers in order, as far as the limits and their shares allow. */
  function startWaiting(destination: Destination): void {
    for (const next of destination.waiting) {
      if (destination.running >= atOnce) break
      if (begin(destination, next.owner)) next.end(true)
    }
    clearTimeout(destination.timer)
    const pauses = Array.from(destination.waiting, ({ owner }) => msUntilToken(destination, owner)).filter(
      (ms) => ms > 0,
    )
    if (pauses.length > 0) destination.timer = setTimeout(() => startWaiting(destination), Math.min(...pauses)).unref()
  }

  function releaseOf(destination: Destination, owner: string | undefined): () => void {
    let ended = false
    return () => {
      if (ended) return
      ended = true
      destination.running -= 1
      if (owner !== undefined) useOf(destination, owner).running -= 1
      startWaiting(destination)
    }
  }

  function wait(destination: Destination, { waitMs, signal, owner }: WaitLimits): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isTaken: boolean) => {
        destination.waiting.delete(waiting)
        clearTimeout(timer)
        signal.removeEventListener('abort', giveUp)
        resolve(isTaken)
      }
      const waiting: Waiting = { owner, end }
      const giveUp = () => end(false)
      const timer = setTimeout(giveUp, waitMs)
      signal.addEventListener('abort', giveUp)
      destination.waiting.add(waiting)
      if (signal.aborted) giveUp()
      else startWaiting(destination)
    })
  }

  return {
    async run(key, limits, work) {
      const destination = destinationOf(key)
      // Work that does not have to wait starts synchronously.
      const isFirst = !limits.signal.aborted && destination.waiting.size === 0 && begin(destination, limits.owner)
      if (!isFirst && !(await wait(destination, limits))) return null
      const end = releaseOf(destination, limits.owner)
      try {
        if (limits.signal.aborted) return null
        return await work()
      } finally {
        end()
      }
    },
    tryAcquire(key, owner) {
      const destination = destinationOf(key)
      if (destination.waiting.size > 0) startWaiting(destination)
      return begin(destination, owner) ? releaseOf(destination, owner) : null
    },
    msUntilFree: (key, owner) => msUntilToken(destinationOf(key), owner),
  }
}

/** Forgets what has used up nothing of its limits. */
function forgetIdle<U extends Use>(uses: Map<string, U>, mayForget: (use: U) => boolean = () => true): void {
  for (const [key, use] of uses)
    if (use.running === 0 && use.bucket?.isFull() !== false && mayForget(use)) uses.delete(key)
}
