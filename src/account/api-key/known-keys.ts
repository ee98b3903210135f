import type { DatabaseHandle } from '../../database/client.ts'
import type { ApiKey, Organization } from '../../generated/prisma/client.ts'
import type { CredentialCache } from './credential-cache.ts'
import { createCredentialCache } from './credential-cache.ts'

/** An API key with its organization's plan. */
export interface KnownKey
  extends Readonly<Pick<ApiKey, 'id' | 'organizationId' | 'scope' | 'expiresAt' | 'revokedAt'>>,
    Readonly<Pick<Organization, 'checkPlan' | 'checkPlanUntil' | 'deletedAt'>> {
  /** When its use was last recorded; null: never. */
  lastUsedAt: Date | null
}

/** A cache of valid API keys. */
export type KnownKeys = CredentialCache<KnownKey>

/** What revokes keys in this process at once. */
export interface KeyCache {
  /** The cache of keys; absent: this process does not cache keys. */
  readonly knownKeys?: KnownKeys | undefined
}

/** Creates a cache that forgets revoked keys when it is notified of them. @throws when `LISTEN` fails. */
export function createKnownKeys(options: {
  readonly database: Pick<DatabaseHandle, 'listen'>
  /** Monotonic milliseconds. */
  readonly clock?: () => number
}): Promise<KnownKeys> {
  return createCredentialCache({
    ...options,
    belongsTo: (key, id) => key.id === id || key.organizationId === id,
    isUsable: ({ revokedAt, deletedAt }) => revokedAt === null && deletedAt === null,
  })
}
