/** Runs work, with a limited number of pieces at once. The rest waits, in the order of the calls. */
export type Limiter = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Creates a limiter. A piece that fails doesn't affect the others.
 * @param atOnce how many pieces run at once. @param maxWaiting how many wait; unlimited if absent.
 * @param refusal the error of the calls beyond that.
 */
export function createLimiter({
  atOnce,
  maxWaiting = Number.POSITIVE_INFINITY,
  refusal = () => new Error('Too much work is waiting.'),
}: {
  readonly atOnce: number
  readonly maxWaiting?: number
  readonly refusal?: () => Error
}): Limiter {
  let running = 0
  const waiting: (() => void)[] = []

  return async function run<T>(work: () => Promise<T>): Promise<T> {
    if (running < atOnce) running += 1
    else if (waiting.length >= maxWaiting) throw refusal()
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      // Passes its slot on, so that no later call overtakes a waiting one.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
