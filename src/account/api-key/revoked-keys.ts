import type { Logger } from 'pino'
import { startPollLoop } from '../../core/concurrency/poll-loop.ts'
import { SECOND } from '../../core/time.ts'
import type { DatabaseHandle } from '../../database/client.ts'
import { REVOKED_KEY_NOTIFICATION } from './api-key.ts'

/**
 * Ends connections, on every instance, when their key or session is revoked, when their organization is deleted, or when their
 * reader loses access to a page.
 */
export interface RevokedKeys {
  /** Calls `end` once, when the key or session is revoked or its roles change. Returns a function that cancels this. */
  hold(keyId: string, end: () => void): () => void
  close(): Promise<void>
}

/** How often held keys are checked in case a notification is lost: connections end at most two seconds after a revocation. */
const POLL_INTERVAL = 1.5 * SECOND

/** Watches for revoked keys. @throws when `LISTEN` fails. */
export async function watchRevokedKeys(parts: {
  readonly database: Pick<DatabaseHandle, 'prisma' | 'listen'>
  readonly log: Logger
  /** The interval of checks of held keys, in milliseconds. */
  readonly pollMs?: number
}): Promise<RevokedKeys> {
  const { database, log, pollMs = POLL_INTERVAL } = parts
  const holders = new Map<string, Set<() => void>>()

  const loop = startPollLoop(
    async () => {
      if (holders.size > 0) await findRevoked()
      return pollMs
    },
    { retryMs: pollMs, log, failureMessage: 'account: could not check for revoked keys' },
  )
  const listening = database.listen(REVOKED_KEY_NOTIFICATION, (keyId) => {
    if (keyId === null) loop.wake()
    else revoked(keyId)
  })
  const stopListening = await listening.catch(async (error: unknown) => {
    await loop.stop()
    throw error
  })

  function revoked(keyId: string): void {
    const ends = holders.get(keyId)
    holders.delete(keyId)
    for (const end of ends ?? []) end()
  }

  /** Checks all held keys, in case a notification was missed. */
  async function findRevoked(): Promise<void> {
    const held = [...holders.keys()]
    const keys = await database.prisma.$queryRaw<{ id: string }[]>`
      SELECT key.id FROM "ApiKey" AS key JOIN "Organization" AS owner ON owner.id = key."organizationId"
      WHERE key.id = ANY (${held}::text[]) AND (key."revokedAt" IS NOT NULL OR owner."deletedAt" IS NOT NULL)
      UNION ALL SELECT held.id FROM unnest(${held}::text[]) AS held (id)
      WHERE held.id LIKE 'ses!_%' ESCAPE '!' AND NOT EXISTS (SELECT FROM "Session" WHERE "Session".id = held.id)
      UNION ALL SELECT held.id FROM unnest(${held}::text[]) AS held (id)
      WHERE held.id LIKE 'ptk!_%' ESCAPE '!' AND NOT EXISTS (SELECT FROM "PageToken" AS token WHERE token.id = held.id)
      UNION ALL SELECT held.id FROM unnest(${held}::text[]) AS held (id)
      JOIN "PageAccess" AS access ON access."pageId" = split_part(held.id, '#', 1)
      WHERE held.id <> access."pageId" || '#' || access.generation`
    for (const { id } of keys) revoked(id)
  }

  return {
    hold(keyId, end) {
      const ends = holders.get(keyId) ?? new Set()
      holders.set(keyId, ends.add(end))
      return () => {
        ends.delete(end)
        if (ends.size === 0 && holders.get(keyId) === ends) holders.delete(keyId)
      }
    },
    async close() {
      await loop.stop()
      await stopListening()
    },
  }
}
