import { OURS, onBehalfOf } from './owner.ts'

/**
 * Gathers items and writes them in batches, one at a time, because a statement costs as much as many rows. Items that
 * arrive during a write go into the next batch.
 */
export interface BatchWriter<T> {
  add(item: T): void
  /** The number of waiting items, excluding those being written. */
  readonly waiting: number
  /** Removes the item that has waited longest, and returns it; an empty list: none is waiting. */
  removeOldest(): T[]
  /** Removes the waiting items that match, and returns them. */
  remove(matches: (item: T) => boolean): T[]
  /** When the current batch began, on the monotonic clock; null: none is being written. */
  readonly writingSince: number | null
  /** Resolves when nothing is waiting or being written. Until then, batches are written at once. */
  idle(): Promise<void>
}

export interface BatchWriterOptions<T> {
  /**
   * Writes a batch, and resolves to the items to retry, which go first; undefined: none. Must not reject: it handles
   * its errors itself, with a pause if necessary.
   */
  readonly write: (batch: readonly T[]) => Promise<readonly T[] | undefined>
  /** The number of items with which a batch is written at once. */
  readonly full: number
  /** How long items gather, in milliseconds, unless the batch is full before. */
  readonly gatherMs: number
  /**
   * How long items gather if nothing was being written; null: for the rest of this turn of the event loop. Default
   * `gatherMs`.
   */
  readonly firstGatherMs?: number | null
  /** Whether a batch with this item is written at once. */
  readonly isUrgent?: (item: T) => boolean
  /** Removes the items of the next batch from the waiting ones; default: the first `full`. */
  readonly take?: (waiting: T[]) => T[]
}

/** Creates a batch writer. */
export function createBatchWriter<T>(options: BatchWriterOptions<T>): BatchWriter<T> {
  const { write, full, gatherMs, firstGatherMs = gatherMs, isUrgent = () => false } = options
  const { take = (items: T[]) => items.splice(0, full) } = options
  const waiting: T[] = []
  const idlers = new Set<() => void>()
  let isRunning = false
  let hasUrgent = false
  let writingSince: number | null = null
  let endGathering = () => {}
  let timer: NodeJS.Timeout | undefined

  async function run(): Promise<void> {
    isRunning = true
    await gather(firstGatherMs)
    while (waiting.length > 0) {
      await writeNext()
      resolveIdle()
      // Also if nothing is waiting: items that arrive just after a batch share the next one.
      await gather(gatherMs)
    }
    isRunning = false
  }

  /** Waits until a batch is due; null: for the rest of this turn of the event loop. */
  async function gather(milliseconds: number | null): Promise<void> {
    if (isReady()) return
    await new Promise<void>((resolve) => {
      endGathering = resolve
      if (milliseconds === null) setImmediate(resolve)
      else timer = setTimeout(resolve, milliseconds)
    })
    clearTimeout(timer)
  }

  async function writeNext(): Promise<void> {
    const batch = take(waiting)
    hasUrgent &&= waiting.some(isUrgent)
    writingSince = performance.now()
    const left = (await write(batch)) ?? []
    writingSince = null
    waiting.unshift(...left)
  }

  const isReady = () => waiting.length >= full || hasUrgent || idlers.size > 0
  const isIdle = () => waiting.length === 0 && writingSince === null

  function resolveIdle(): void {
    if (!isIdle()) return
    for (const resolve of idlers) resolve()
    idlers.clear()
  }

  return {
    add(item) {
      waiting.push(item)
      hasUrgent ||= isUrgent(item)
      if (!isRunning) void onBehalfOf(() => OURS, run)
      else if (isReady()) endGathering()
    },
    get waiting() {
      return waiting.length
    },
    get writingSince() {
      return writingSince
    },
    removeOldest: () => waiting.splice(0, 1),
    remove: (matches) => removeWhere(waiting, matches),
    async idle() {
      if (isIdle()) return
      await new Promise<void>((resolve) => {
        idlers.add(resolve)
        endGathering()
      })
    },
  }
}

/** Removes the matching items from a list, and returns them. */
export function removeWhere<T>(list: T[], matches: (item: T) => boolean): T[] {
  const removed: T[] = []
  const left = list.filter((item) => !matches(item) || removed.push(item) === 0)
  list.splice(0, list.length, ...left)
  return removed
}
