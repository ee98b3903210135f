import { LRUCache } from 'lru-cache'
import { DeadlineExceeded, withDeadline } from '../core/concurrency/deadline.ts'
import { NotFound } from '../core/errors.ts'
import type { Clock } from '../core/time.ts'
import { MINUTE, SECOND } from '../core/time.ts'
import { unavailability } from '../database/connection/unavailable.ts'

/** A value derived from one organization's state; null: the organization does not exist. */
interface OrganizationValue {
  readonly organizationId: string | null
}

/** A current value, or a stale one while the database is unavailable. */
interface CachedValue<T> {
  readonly value: T
  /** When a stale value was loaded; null: the value is current. */
  readonly asOf: Date | null
}

/** Loads a value. May return the previous one (null: none) if it has not changed; the value then keeps its age. */
type Loader<T> = (previous: T | null) => Promise<T>

/** Caches values derived from organizations' states. A value is current until its organization's event log grows. */
export interface LogCache<T extends OrganizationValue> {
  /** Returns the cached value, or loads it. Concurrent callers share one load; errors are not cached. */
  get(key: string, load: Loader<T>): Promise<T>
  /** Like `get`, but returns the stale value if the database is unavailable or slow. Throws if there is none. */
  getOrStale(key: string, load: Loader<T>): Promise<CachedValue<T>>
  /** Returns the cached value if it is current; null: `get` would load it. */
  current(key: string): T | null
  /** Marks the values of an organization as stale after its log has grown; null: those of every organization. */
  invalidate(organizationId: string | null): void
}

/** The maximum age of a value whose log does not grow. Limited, because some values depend on the time of day. */
export const MAX_AGE_MS = MINUTE

/** How long a caller waits for a load before it gets the stale value. */
const STALE_AFTER_MS = 3 * SECOND

interface CacheEntry<T> {
  readonly value: T
  readonly at: Date
  /** When the entry becomes stale. */
  until: number
}

interface Load<T> {
  readonly result: Promise<T>
  /** The organizations whose logs grew during the load; null: any may have. */
  readonly invalidated: Set<string | null>
}

/** Creates a cache of at most `maxSize`, measured by `sizeOf`. It evicts the least recently used entry first. */
export function createLogCache<T extends OrganizationValue>(options: {
  readonly maxSize: number
  readonly sizeOf: (value: T, key: string) => number
  readonly now: Clock
  /** Returns whether a loaded value may be cached; absent: all may. */
  readonly isCacheable?: (value: T) => boolean
}): LogCache<T> {
  const { now, isCacheable = () => true } = options
  const keysOf = new Map<string | null, Set<string>>()
  const entries = new LRUCache<string, CacheEntry<T>>({
    maxSize: options.maxSize,
    sizeCalculation: ({ value }, key) => options.sizeOf(value, key),
    dispose({ value: { organizationId } }, key, reason) {
      if (reason === 'set') return
      const keys = keysOf.get(organizationId)
      keys?.delete(key)
      if (keys?.size === 0) keysOf.delete(organizationId)
    },
  })
  const shareable = new Map<string, Load<T>>()
  const running = new Set<Load<T>>()

  /** Stores a loaded value. @param isStale whether the log grew during the load. */
  function store(key: string, value: T, at: Date, isStale: boolean) {
    const previous = entries.peek(key)
    if (isStale && previous && previous.at >= at) return
    if (previous && previous.value.organizationId !== value.organizationId) entries.delete(key)
    entries.set(key, { value, at, until: isStale ? 0 : at.getTime() + MAX_AGE_MS })
    const keys = keysOf.get(value.organizationId) ?? new Set()
    keysOf.set(value.organizationId, keys.add(key))
  }

  async function run(key: string, load: Loader<T>, invalidated: Set<string | null>): Promise<T> {
    const startedAt = now()
    const previous = entries.peek(key)
    const value = await load(previous?.value ?? null).catch((error: unknown) => {
      // A deleted page must not be served as a stale value.
      if (error instanceof NotFound) entries.delete(key)
      throw error
    })
    const isStale = invalidated.has(null) || invalidated.has(value.organizationId)
    const at = previous && value === previous.value ? previous.at : startedAt
    if (isCacheable(value)) store(key, value, at, isStale)
    else entries.delete(key)
    return value
  }

  function start(key: string, load: Loader<T>): Promise<T> {
    const invalidated = new Set<string | null>()
    const started = { invalidated, result: run(key, load, invalidated) }
    running.add(started)
    shareable.set(key, started)
    return started.result.finally(() => {
      running.delete(started)
      if (shareable.get(key) === started) shareable.delete(key)
    })
  }

  function current(key: string): T | null {
    const entry = entries.get(key)
    if (entry === undefined) return null
    const leftMs = entry.until - now().getTime()
    // More than that is left if the clock was set back.
    return leftMs > 0 && leftMs <= MAX_AGE_MS ? entry.value : null
  }

  function get(key: string, load: Loader<T>): Promise<T> {
    const value = current(key)
    if (value !== null) return Promise.resolve(value)
    return shareable.get(key)?.result ?? start(key, load)
  }

  const keysAbout = (organizationId: string | null) =>
    organizationId === null
      ? [...entries.keys()]
      : [organizationId, null].flatMap((owner) => [...(keysOf.get(owner) ?? [])])
  const expire = (key: string) => {
    const entry = entries.peek(key)
    if (entry) entry.until = 0
  }

  return {
    get,
    current,
    async getOrStale(key, load) {
      const stale = entries.peek(key)
      const loading = get(key, load)
      if (!stale) return { value: await loading, asOf: null }
      try {
        return { value: await withDeadline(STALE_AFTER_MS, 'A page', loading), asOf: null }
      } catch (error) {
        if (!(error instanceof DeadlineExceeded) && !unavailability(error)) throw error
        return { value: stale.value, asOf: stale.at }
      }
    },
    invalidate(organizationId) {
      for (const { invalidated } of running) invalidated.add(organizationId)
      // The organization of a running load is unknown until it ends, so later callers do not share it.
      shareable.clear()
      for (const key of keysAbout(organizationId)) expire(key)
    },
  }
}
