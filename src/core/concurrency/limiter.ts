import { createFairQueue } from './fair-queue.ts'

/**
 * Limits how many pieces of work run at once. The rest waits: owners take turns, each with its pieces in the order of
 * the calls. Without an owner, a piece belongs to one that all such pieces share.
 */
export type Limiter = <T>(work: () => Promise<T>, owner?: string) => Promise<T>

/**
 * Creates a limiter. An owner runs at most half of the pieces, and waits with at most half of those that may wait, so
 * that nobody takes all from the others. A piece that fails doesn't affect the others.
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
  const running = new Map<string, number>()
  let total = 0
  const waiting = createFairQueue<string, () => void>()
  const share = (limit: number, owner: string) => (owner === SHARED ? limit : Math.max(1, Math.floor(limit / 2)))

  const hasRoom = (owner: string) => total < atOnce && (running.get(owner) ?? 0) < share(atOnce, owner)
  const mayWait = (owner: string) => waiting.size < maxWaiting && waiting.sizeOf(owner) < share(maxWaiting, owner)

  function count(owner: string, by: 1 | -1): void {
    total += by
    const left = (running.get(owner) ?? 0) + by
    if (left === 0) running.delete(owner)
    else running.set(owner, left)
  }

  return async function run<T>(work: () => Promise<T>, owner = SHARED): Promise<T> {
    if (hasRoom(owner)) count(owner, 1)
    else if (!mayWait(owner)) throw refusal()
    else await new Promise<void>((resolve) => waiting.add(owner, resolve))
    try {
      return await work()
    } finally {
      count(owner, -1)
      start()
    }
  }

  /** Gives a free slot to the next waiting piece at once, so that no later call overtakes it. */
  function start(): void {
    const next = waiting.next((owner) => {
      if (!hasRoom(owner)) return false
      count(owner, 1)
      return true
    })
    next?.()
  }
}

/** The owner of pieces without one, such as the statements of one connection, which has no share. */
const SHARED = ''
