import { createTokenBucket, type TokenBucket } from '../core/concurrency/token-bucket.ts'
import { MINUTE } from '../core/time.ts'

/** The limits of one key, such as a destination. */
export interface DestinationLimits {
  readonly atOnce: number
  /** The maximum number of starts within any minute; absent: unlimited. */
  readonly perMinute?: number
}

/** Limits work per key, in concurrency and per minute; further work waits in order of arrival. */
export interface DestinationLimiter {
  /**
   * Runs `work` as soon as the limits allow it. Returns null, without running it, when that takes longer than `waitMs`
   * milliseconds or the signal aborts.
   */
  run<T>(key: string, limits: WaitLimits, work: () => Promise<T>): Promise<T | null>
  /** Admits work now; returns the function that releases it. Null: the limit is reached. */
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

/** Above this number of keys, idle ones are dropped. */
const MAX_KEYS = 1000
/** A sixth of the limit per minute may start at once; the rest is spread evenly, so that no minute exceeds the limit. */
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
    const line: Destination = { running: 0, bucket: newBucket(), waiting: new Set(), timer: undefined }
    destinations.set(key, line)
    return line
  }

  function forgetIdle(): void {
    for (const [key, line] of destinations) {
      if (line.running === 0 && line.waiting.size === 0 && line.bucket?.isFull() !== false) destinations.delete(key)
    }
  }

  function begin(line: Destination): boolean {
    if (line.running >= atOnce || line.bucket?.take() === false) return false
    line.running += 1
    return true
  }

  /** Admits the caller that has waited longest. */
  function startWaiting(line: Destination): void {
    for (const next of line.waiting) {
      if (!begin(line)) break
      line.waiting.delete(next)
      next(true)
    }
    clearTimeout(line.timer)
    const pause = line.bucket?.msUntilToken() ?? 0
    if (line.waiting.size > 0 && pause > 0) line.timer = setTimeout(() => startWaiting(line), pause).unref()
  }

  function releaseOf(line: Destination): () => void {
    let ended = false
    return () => {
      if (ended) return
      ended = true
      line.running -= 1
      startWaiting(line)
    }
  }

  function wait(line: Destination, { waitMs, signal }: WaitLimits): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isTaken: boolean) => {
        line.waiting.delete(end)
        clearTimeout(timer)
        signal.removeEventListener('abort', giveUp)
        resolve(isTaken)
      }
      const giveUp = () => end(false)
      const timer = setTimeout(giveUp, waitMs)
      signal.addEventListener('abort', giveUp)
      line.waiting.add(end)
      if (signal.aborted) giveUp()
      else startWaiting(line)
    })
  }

  return {
    async run(key, limits, work) {
      const line = destinationOf(key)
      // Work that does not have to wait starts synchronously.
      const isFirst = !limits.signal.aborted && line.waiting.size === 0 && begin(line)
      if (!isFirst && !(await wait(line, limits))) return null
      const end = releaseOf(line)
      try {
        if (limits.signal.aborted) return null
        return await work()
      } finally {
        end()
      }
    },
    tryAcquire(key) {
      const line = destinationOf(key)
      return line.waiting.size === 0 && begin(line) ? releaseOf(line) : null
    },
    msUntilFree: (key) => destinationOf(key).bucket?.msUntilToken() ?? 0,
  }
}
