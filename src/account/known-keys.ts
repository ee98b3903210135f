import { LRUCache } from 'lru-cache'
import { SECOND } from '../core/time.ts'
import type { DatabaseHandle } from '../database/client.ts'
import type { ApiKey, Organization } from '../generated/prisma/client.ts'
import { REVOKED_KEY_CHANNEL } from './api-key.ts'

/** A key, and what its organization lets it do. */
export interface KnownKey
  extends Readonly<Pick<ApiKey, 'id' | 'organizationId' | 'scope' | 'expiresAt' | 'revokedAt'>>,
    Readonly<Pick<Organization, 'checkPlan' | 'checkPlanUntil' | 'deletedAt'>> {
  /** When its use was last recorded; null: never. */
  lastUsedAt: Date | null
}

/** A cache of keys that worked. */
export interface KnownKeys {
  /** Returns the key with this hash, cached or loaded; null: there is none. Only keys that may be used are cached. */
  get(hash: string, load: () => Promise<KnownKey | null>): Promise<KnownKey | null>
  /** Forgets keys at once, and those that are being loaded: a key by its id, or all of an organization. */
  forget(id: string): void
  close(): Promise<void>
}

declare module '../core/context.ts' {
  interface Context {
    /** The cache of keys; absent: this process has none. */
    readonly knownKeys?: KnownKeys | undefined
  }
}

/** How long a key is cached: an instance whose connection for notifications is silent accepts a revoked key that long. */
const MAX_AGE_MS = 2 * SECOND
/** The number of cached keys. */
const CACHE_SIZE = 10_000

/** Creates the cache. Notifications of revoked keys empty it. @throws when `LISTEN` fails. */
export async function createKnownKeys({
  database,
  clock = () => performance.now(),
}: {
  readonly database: Pick<DatabaseHandle, 'listen'>
  /** Monotonic milliseconds. */
  readonly clock?: () => number
}): Promise<KnownKeys> {
  const known = new LRUCache<string, { readonly key: KnownKey; readonly until: number }>({ max: CACHE_SIZE })
  let changes = 0

  function forget(id: string): void {
    changes += 1
    for (const [hash, { key }] of known) if (key.id === id || key.organizationId === id) known.delete(hash)
  }

  const stopListening = await database.listen(REVOKED_KEY_CHANNEL, (id) => {
    if (id !== null) return forget(id)
    changes += 1
    known.clear()
  })
  return {
    async get(hash, load) {
      const found = known.get(hash)
      if (found && clock() < found.until) return found.key
      const before = changes
      const until = clock() + MAX_AGE_MS
      const key = await load()
      const isUsable = key !== null && key.revokedAt === null && key.deletedAt === null
      // A key that was revoked meanwhile may have been read before that.
      if (isUsable && changes === before) known.set(hash, { key, until })
      else known.delete(hash)
      return key
    },
    forget,
    close: stopListening,
  }
}
