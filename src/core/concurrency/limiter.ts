/** Limits how many pieces of work run at once. The rest waits, in the order of the calls. */
export type Limiter = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Creates a limiter. A piece that fails doesn't affect the others.
 * @param atOnce the maximum number of running pieces.
 * @param maxWaiting the maximum number of waiting pieces; unlimited if absent.
 * @param refusal the error of further calls.
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
