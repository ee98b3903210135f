import type { DatabaseHandle } from '../../database/client.ts'
import type { ApiKey, Organization } from '../../generated/prisma/client.ts'
import type { CredentialCache } from './credential-cache.ts'
import { createCredentialCache } from './credential-cache.ts'

/** A key, and what its organization lets it do. */
export interface KnownKey
  extends Readonly<Pick<ApiKey, 'id' | 'organizationId' | 'scope' | 'expiresAt' | 'revokedAt'>>,
    Readonly<Pick<Organization, 'checkPlan' | 'checkPlanUntil' | 'deletedAt'>> {
  /** When its use was last recorded; null: never. */
  lastUsedAt: Date | null
}

/** A cache of keys that worked. */
export type KnownKeys = CredentialCache<KnownKey>

declare module '../../core/context.ts' {
  interface Context {
    /** The cache of keys; absent: this process has none. */
    readonly knownKeys?: KnownKeys | undefined
  }
}

/** Creates the cache. Notifications of revoked keys empty it. @throws when `LISTEN` fails. */
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
