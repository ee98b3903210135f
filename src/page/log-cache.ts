import { LRUCache } from 'lru-cache'
import { unavailability } from '../database/unavailable.ts'
import { Overdue, within } from '../deadline.ts'
import { NotFound } from '../errors.ts'
import type { Clock } from '../time.ts'
import { MINUTE, SECOND } from '../time.ts'

/** What was made of one organization's state; null: of the absence of any. */
interface Owned {
  readonly organizationId: string | null
}

/** Something as it is now; or, while the database is away, as it was last known. */
export interface Known<T> {
  readonly value: T
  /** As of when it is; null: now. */
  readonly asOf: Date | null
}

/** Things made of organizations' states, kept while the logs stand still. */
export interface LogCache<T extends Owned> {
  /** What is kept under the key, or what `make` gives; those who ask meanwhile get the same. What it throws is not kept. */
  get(key: string, make: () => Promise<T>): Promise<T>
  /** The same; but what was last known when the database is away, or does not answer soon. What is not known is thrown. */
  getOrLast(key: string, make: () => Promise<T>): Promise<Known<T>>
  /** An organization's log has moved; null: any of them may have. What depends on it is made anew from now on. */
  forget(organizationId: string | null): void
}

/** How long something is kept although no log has moved: some of it depends on the time of day. */
const LONGEST = MINUTE

/** How long somebody waits, in milliseconds, who could be given what was last known. */
const PATIENCE = 3 * SECOND

interface Kept<T> {
  readonly value: T
  readonly at: Date
  /** Until when it is given as it is; after that it is only what was last known. */
  until: number
}

interface Making<T> {
  readonly made: Promise<T>
  /** The logs that have moved since it began; null: all. */
  readonly moved: Set<string | null>
}

/** Keeps at most `maxSize`, measured by `sizeOf`; the longest unused goes first. */
export function createLogCache<T extends Owned>(options: {
  readonly maxSize: number
  readonly sizeOf: (value: T) => number
  readonly now: Clock
}): LogCache<T> {
  const { now } = options
  const keysOf = new Map<string | null, Set<string>>()
  const kept = new LRUCache<string, Kept<T>>({
    maxSize: options.maxSize,
    sizeCalculation: ({ value }) => options.sizeOf(value),
    dispose({ value: { organizationId } }, key, reason) {
      if (reason === 'set') return
      const keys = keysOf.get(organizationId)
      keys?.delete(key)
      if (keys?.size === 0) keysOf.delete(organizationId)
    },
  })
  const joinable = new Map<string, Making<T>>()
  const all = new Set<Making<T>>()

  /** @param hasMoved whether its log has moved since it began to be made: then it is only what was last known. */
  function keep(key: string, value: T, at: Date, hasMoved: boolean) {
    const previous = kept.peek(key)
    if (hasMoved && previous && previous.at >= at) return
    if (previous && previous.value.organizationId !== value.organizationId) kept.delete(key)
    kept.set(key, { value, at, until: hasMoved ? 0 : now().getTime() + LONGEST })
    const keys = keysOf.get(value.organizationId) ?? new Set()
    keysOf.set(value.organizationId, keys.add(key))
  }

  async function run(key: string, make: () => Promise<T>, moved: Set<string | null>): Promise<T> {
    const begun = now()
    const value = await make().catch((error: unknown) => {
      // Nobody is to be shown later what is no more.
      if (error instanceof NotFound) kept.delete(key)
      throw error
    })
    keep(key, value, begun, moved.has(null) || moved.has(value.organizationId))
    return value
  }

  function start(key: string, make: () => Promise<T>): Promise<T> {
    const moved = new Set<string | null>()
    const making = { moved, made: run(key, make, moved) }
    all.add(making)
    joinable.set(key, making)
    return making.made.finally(() => {
      all.delete(making)
      if (joinable.get(key) === making) joinable.delete(key)
    })
  }

  function get(key: string, make: () => Promise<T>): Promise<T> {
    const known = kept.get(key)
    if (known && known.until > now().getTime()) return Promise.resolve(known.value)
    return joinable.get(key)?.made ?? start(key, make)
  }

  const keysAbout = (organizationId: string | null) =>
    organizationId === null
      ? [...kept.keys()]
      : [organizationId, null].flatMap((owner) => [...(keysOf.get(owner) ?? [])])
  const outdate = (key: string) => {
    const known = kept.peek(key)
    if (known) known.until = 0
  }

  return {
    get,
    async getOrLast(key, make) {
      const last = kept.peek(key)
      const making = get(key, make)
      if (!last) return { value: await making, asOf: null }
      try {
        return { value: await within(PATIENCE, 'A page', making), asOf: null }
      } catch (error) {
        if (!(error instanceof Overdue) && !unavailability(error)) throw error
        return { value: last.value, asOf: last.at }
      }
    },
    forget(organizationId) {
      for (const { moved } of all) moved.add(organizationId)
      // Whose state is being read is not known until it is: who asks from now on must not get what is older than now.
      joinable.clear()
      for (const key of keysAbout(organizationId)) outdate(key)
    },
  }
}
