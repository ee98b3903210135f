/** Limits how many pieces of work run at once per key, and in total. The rest is refused. */
export interface KeyLimiter {
  /** Admits a piece of work now. Returns a function that ends it; null: too many are running. */
  tryAcquire(key: string): (() => void) | null
  /** The number of running pieces by key. */
  readonly running: ReadonlyMap<string, number>
}

/**
 * Creates a limiter.
 * @param atOnce the maximum number of running pieces of a key.
 * @param inTotal the maximum number of running pieces of all keys; unlimited if absent.
 */
export function createKeyLimiter({
  atOnce,
  inTotal = Number.POSITIVE_INFINITY,
}: {
  readonly atOnce: number | ((key: string) => number)
  readonly inTotal?: number
}): KeyLimiter {
  const running = new Map<string, number>()
  let total = 0
  const limitOf = typeof atOnce === 'number' ? () => atOnce : atOnce

  function count(key: string, by: 1 | -1): void {
    total += by
    const left = (running.get(key) ?? 0) + by
    if (left === 0) running.delete(key)
    else running.set(key, left)
  }

  return {
    tryAcquire(key) {
      if (total >= inTotal || (running.get(key) ?? 0) >= limitOf(key)) return null
      count(key, 1)
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        count(key, -1)
      }
    },
    running,
  }
}
