import { LRUCache } from 'lru-cache'
import type { Clock } from '../time.ts'
import { MINUTE } from '../time.ts'

/** What was made of one organization's state; null: of the absence of any. */
interface Owned {
  readonly organizationId: string | null
}

/** Things made of organizations' states, kept while the logs stand still. */
export interface LogCache<T extends Owned> {
  /** What is kept under the key, or what `make` gives; those who ask meanwhile get the same. What it throws is not kept. */
  get(key: string, make: () => Promise<T>): Promise<T>
  /** An organization's log has moved; null: any of them may have. What depends on it is made anew from now on. */
  forget(organizationId: string | null): void
}

/** How long something is kept although no log has moved: some of it depends on the time of day. */
const LONGEST = MINUTE

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
  const kept = new LRUCache<string, { readonly value: T; readonly until: number }>({
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

  function keep(key: string, value: T) {
    const previous = kept.peek(key)
    if (previous && previous.value.organizationId !== value.organizationId) kept.delete(key)
    kept.set(key, { value, until: now().getTime() + LONGEST })
    const keys = keysOf.get(value.organizationId) ?? new Set()
    keysOf.set(value.organizationId, keys.add(key))
  }

  async function run(key: string, make: () => Promise<T>, moved: Set<string | null>): Promise<T> {
    const value = await make()
    if (!moved.has(null) && !moved.has(value.organizationId)) keep(key, value)
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

  return {
    get(key, make) {
      const known = kept.get(key)
      if (known && known.until > now().getTime()) return Promise.resolve(known.value)
      return joinable.get(key)?.made ?? start(key, make)
    },
    forget(organizationId) {
      for (const { moved } of all) moved.add(organizationId)
      // Whose state is being read is not known until it is: who asks from now on must not get what is older than now.
      joinable.clear()
      if (organizationId === null) return kept.clear()
      for (const owner of [organizationId, null]) for (const key of [...(keysOf.get(owner) ?? [])]) kept.delete(key)
    },
  }
}
