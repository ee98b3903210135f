import { createTokenBucket, type TokenBucket } from '../core/concurrency/token-bucket.ts'
import { MINUTE } from '../core/time.ts'

/** The limits of one key, such as a destination. */
export interface DestinationLimits {
  readonly atOnce: number
  /** The maximum number of starts within any minute; absent: unlimited. */
  readonly perMinute?: number
}

/** Limits work per key: at once and per minute. Further work waits in order of arrival. */
export interface DestinationLimiter {
  /**
   * Runs `work` as soon as the limits allow it. Returns null without running it if that takes longer than `waitMs`
   * milliseconds, or if the signal aborts.
   */
  run<T>(key: string, limits: WaitLimits, work: () => Promise<T>): Promise<T | null>
  /** Admits work now. Returns the function that ends it; null: the limit is reached. */
  tryAcquire(key: string): (() => void) | null
  /** Returns the milliseconds until the limit per minute may admit work again. */
  msUntilFree(key: string): number
}

interface WaitLimits {
  readonly waitMs: number
  readonly signal: AbortSignal
}

/** Running and waiting work of one key. */
interface Destination {
  running: number
  /** Null: the rate is unlimited. */
  readonly bucket: TokenBucket | null
  readonly waiting: Set<(isTaken: boolean) => void>
  timer: NodeJS.Timeout | undefined
}

/** The number of keys above which idle ones are dropped. */
const MAX_KEYS = 1000
/** The share of the limit per minute that may start at once. The rest is spread evenly: no minute exceeds the limit. */
const BURST_SHARE = 1 / 6

/** Creates a limiter. */
export function createDestinationLimiter({ atOnce, perMinute }: DestinationLimits): DestinationLimiter {
  const destinations = new Map<string, Destination>()

  function newBucket(): TokenBucket | null {
    if (perMinute === undefined) return null
    const burst = Math.max(1, Math.floor(perMinute * BURST_SHARE))
    return createTokenBucket({ limit: perMinute, windowMs: MINUTE, burst })
  }

  function destinationOf(key: string): Destination {
    const known = destinations.get(key)
    if (known) return known
    if (destinations.size >= MAX_KEYS) forgetIdle()
    const destination: Destination = { running: 0, bucket: newBucket(), waiting: new Set(), timer: undefined }
    destinations.set(key, destination)
    return destination
  }

  function forgetIdle(): void {
    for (const [key, destination] of destinations) {
      if (destination.running === 0 && destination.waiting.size === 0 && destination.bucket?.isFull() !== false)
        destinations.delete(key)
    }
  }

  function begin(destination: Destination): boolean {
    if (destination.running >= atOnce || destination.bucket?.take() === false) return false
    destination.running += 1
    return true
  }

  /** Admits waiting callers in order, as far as the limits allow. */
  function startWaiting(destination: Destination): void {
    for (const next of destination.waiting) {
      if (!begin(destination)) break
      destination.waiting.delete(next)
      next(true)
    }
    clearTimeout(destination.timer)
    const pause = destination.bucket?.msUntilToken() ?? 0
    if (destination.waiting.size > 0 && pause > 0)
      destination.timer = setTimeout(() => startWaiting(destination), pause).unref()
  }

  function releaseOf(destination: Destination): () => void {
    let ended = false
    return () => {
      if (ended) return
      ended = true
      destination.running -= 1
      startWaiting(destination)
    }
  }

  function wait(destination: Destination, { waitMs, signal }: WaitLimits): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isTaken: boolean) => {
        destination.waiting.delete(end)
        clearTimeout(timer)
        signal.removeEventListener('abort', giveUp)
        resolve(isTaken)
      }
      const giveUp = () => end(false)
      const timer = setTimeout(giveUp, waitMs)
      signal.addEventListener('abort', giveUp)
      destination.waiting.add(end)
      if (signal.aborted) giveUp()
      else startWaiting(destination)
    })
  }

  return {
    async run(key, limits, work) {
      const destination = destinationOf(key)
      // Work that does not have to wait starts synchronously.
      const isFirst = !limits.signal.aborted && destination.waiting.size === 0 && begin(destination)
      if (!isFirst && !(await wait(destination, limits))) return null
      const end = releaseOf(destination)
      try {
        if (limits.signal.aborted) return null
        return await work()
      } finally {
        end()
      }
    },
    tryAcquire(key) {
      const destination = destinationOf(key)
      return destination.waiting.size === 0 && begin(destination) ? releaseOf(destination) : null
    },
    msUntilFree: (key) => destinationOf(key).bucket?.msUntilToken() ?? 0,
  }
}
