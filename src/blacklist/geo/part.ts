import { setTimeout as sleep } from 'node:timers/promises'

/** A source of data on addresses that is loaded once, when it is first needed. */
export interface Part<T> {
  /** True when there is data to look in. */
  readonly loaded: boolean
  /** True when loading has ended, also when it failed: there is nothing to wait for. */
  readonly settled: boolean
  /** Loads the data, unless that has begun already. Resolves when it has ended, also when it failed. */
  load(): Promise<void>
  /** The same, but waits no longer than this many milliseconds; the loading goes on. */
  loadWithin(milliseconds: number): Promise<void>
  /** Resolves when no loading is under way; begins none. */
  idle(): Promise<void>
  /** What is known of an address: null when nothing is, or no data is loaded. */
  find(address: string): T | null
}

/**
 * A part whose data `open` gives, as a function of an address. When that fails, or the data turns out to be damaged in
 * a lookup, `failed` is told, once, and nothing is known from then on.
 */
export function part<T>(open: () => Promise<(address: string) => T | null>, failed: (error: unknown) => void): Part<T> {
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
      if (!settled) await Promise.race([load(), sleep(milliseconds, undefined, { ref: false })])
    },
    async idle() {
      await loading
    },
    find(address) {
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
