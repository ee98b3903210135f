/** Limits how many pieces of work run at once per key, and in total. The rest is refused. */
export interface KeyLimiter {
  /**
   * Admits a piece of work now, for all of the keys to which it counts, such as those of an organization and of a
   * client. Returns a function that ends it; null: too many are running.
   */
  tryAcquire(...keys: readonly string[]): (() => void) | null
  /** The number of running pieces by key. */
  readonly running: ReadonlyMap<string, number>
}

type KeyLimits =
  | { readonly atOnce: number | ((key: string) => number); readonly inTotal?: number }
  | { readonly atOnce?: number; readonly inTotal: number }

/**
 * Creates a limiter. With a total, a key has at most half of it, so that nobody takes all of it from the others.
 * @param atOnce the maximum number of running pieces of a key; absent: half of the total.
 * @param inTotal the maximum number of running pieces of all keys; absent: unlimited.
 */
export function createKeyLimiter({
  atOnce = Number.POSITIVE_INFINITY,
  inTotal = Number.POSITIVE_INFINITY,
}: KeyLimits): KeyLimiter {
  const half = Math.max(1, Math.floor(inTotal / 2))
  const running = new Map<string, number>()
  let total = 0
  const limitOf = (key: string) => Math.min(half, typeof atOnce === 'number' ? atOnce : atOnce(key))

  function count(key: string, by: 1 | -1): void {
    const left = (running.get(key) ?? 0) + by
    if (left === 0) running.delete(key)
    else running.set(key, left)
  }

  return {
    tryAcquire(...keys) {
      if (total >= inTotal || keys.some((key) => (running.get(key) ?? 0) >= limitOf(key))) return null
      total += 1
      for (const key of keys) count(key, 1)
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        total -= 1
        for (const key of keys) count(key, -1)
      }
    },
    running,
  }
}
