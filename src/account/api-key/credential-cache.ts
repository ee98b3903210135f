import { createLruMap } from '../../core/lru-map.ts'
import { SECOND } from '../../core/time.ts'
import type { DatabaseHandle } from '../../database/client.ts'
import { REVOKED_KEY_NOTIFICATION } from './api-key.ts'

/** A cache of valid credentials: API keys or sessions. */
export interface CredentialCache<T> {
  /** Returns the credential with this hash from the cache, or loads it; null: there is none. Caches only usable credentials. */
  get(hash: string, load: () => Promise<T | null>): Promise<T | null>
  /** Forgets credentials immediately, even while they are loaded: the one with this id, or all of the organization with it. */
  forget(id: string): void
  close(): Promise<void>
}

/** How long a credential is cached: without notifications, an instance accepts a revoked credential for this long. */
const MAX_AGE_MS = 2 * SECOND
/** The maximum number of cached credentials. */
const CACHE_SIZE = 10_000

/** Creates a cache that forgets revoked credentials when it is notified of them. @throws when `LISTEN` fails. */
export async function createCredentialCache<T>({
  database,
  clock = () => performance.now(),
  belongsTo,
  isUsable,
}: {
  readonly database: Pick<DatabaseHandle, 'listen'>
  /** Monotonic milliseconds. */
  readonly clock?: () => number
  /** Returns whether a credential has this id, or belongs to the organization with this id. */
  readonly belongsTo: (credential: T, id: string) => boolean
  /** Returns whether a credential may be used. */
  readonly isUsable: (credential: T) => boolean
}): Promise<CredentialCache<T>> {
  const known = createLruMap<{ readonly credential: T; readonly until: number }>(CACHE_SIZE)
  let changes = 0

  function forget(id: string): void {
    changes += 1
    for (const [hash, { credential }] of known) if (belongsTo(credential, id)) known.delete(hash)
  }

  const stopListening = await database.listen(REVOKED_KEY_NOTIFICATION, (id) => {
    if (id !== null) return forget(id)
    changes += 1
    known.clear()
  })
  return {
    async get(hash, load) {
      const found = known.get(hash)
      if (found && clock() < found.until) return found.credential
      const before = changes
      const until = clock() + MAX_AGE_MS
      const credential = await load()
      // A credential that was revoked in the meantime may have been read before its revocation.
      if (credential !== null && isUsable(credential) && changes === before) known.set(hash, { credential, until })
      else known.delete(hash)
      return credential
    },
    forget,
    close: stopListening,
  }
}
