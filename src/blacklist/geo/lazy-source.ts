import { waitAtMost } from '../../core/concurrency/deadline.ts'

/** A source of data about addresses. It loads once, on first use. */
export interface LazySource<T> {
  /** Whether the data is loaded. */
  readonly loaded: boolean
  /** Whether loading has ended, even with a failure. */
  readonly settled: boolean
  /** Starts loading the data if it has not started. Resolves when loading has ended, even with a failure. */
  load(): Promise<void>
  /** Loads the data, but waits at most this many milliseconds. Loading continues after that. */
  loadWithin(milliseconds: number): Promise<void>
  /** Resolves when no loading is in progress. Does not start loading. */
  idle(): Promise<void>
  /** Returns the record of an address; null: there is none, or no data is loaded. */
  lookUp(address: string): T | null
}

/**
 * Creates a source that loads its lookup function with `open`. If loading fails or a lookup finds damaged data, it
 * calls `failed` once, and every lookup returns null from then on.
 */
export function createLazySource<T>(
  open: () => Promise<(address: string) => T | null>,
  failed: (error: unknown) => void,
): LazySource<T> {
  let lookup: ((address: string) => T | null) | null = null
  let loading: Promise<void> | null = null
  let settled = false

  async function run(): Promise<void> {
    try {
      lookup = await open()
    } catch (error) {
      failed(error)
    }
    settled = true
  }

  function load(): Promise<void> {
    loading ??= run()
    return loading
  }

  return {
    get loaded() {
      return lookup !== null
    },
    get settled() {
      return settled
    },
    load,
    async loadWithin(milliseconds) {
      if (!settled) await waitAtMost(milliseconds, load())
    },
    async idle() {
      await loading
    },
    lookUp(address) {
      try {
        return lookup?.(address) ?? null
      } catch (error) {
        lookup = null
        failed(error)
        return null
      }
    },
  }
}
