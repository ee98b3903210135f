import type { Logger } from 'pino'
import type { DatabaseHandle } from '../database/client.ts'
import { SECOND } from '../time.ts'
import { REVOKED_KEY_CHANNEL } from './api-key.ts'

/** Tells those who hold a key that it was revoked, or its organization deleted, on whichever instance. */
export interface RevokedKeys {
  /** Calls `end` once, as soon as the key is revoked. Gives what makes it not be called any more. */
  hold(keyId: string, end: () => void): () => void
  close(): Promise<void>
}

/** How often keys that are held are asked about, in case the word got lost: two seconds after it at most they are let go. */
const POLL = 1.5 * SECOND

/** @throws when the database cannot be asked to listen. */
export async function watchRevokedKeys(parts: {
  readonly database: Pick<DatabaseHandle, 'prisma' | 'listen'>
  readonly log: Logger
  /** How often to ask of the keys that are held, in milliseconds. */
  readonly pollMs?: number
}): Promise<RevokedKeys> {
  const { database, log, pollMs = POLL } = parts
  const holders = new Map<string, Set<() => void>>()

  const stopListening = await database.listen(REVOKED_KEY_CHANNEL, (keyId) => {
    if (keyId === null) void look()
    else revoked(keyId)
  })
  let looking = false
  const poll = setInterval(() => void look(), pollMs).unref()

  async function look(): Promise<void> {
    if (looking || holders.size === 0) return
    looking = true
    await findRevoked()
      .catch((error: unknown) => log.error({ err: error }, 'account: could not look for revoked keys'))
      .finally(() => {
        looking = false
      })
  }

  function revoked(keyId: string): void {
    const ends = holders.get(keyId)
    holders.delete(keyId)
    for (const end of ends ?? []) end()
  }

  /** Asks of every key that is held, for the word that it was revoked may have been missed. */
  async function findRevoked(): Promise<void> {
    const keys = await database.prisma.$queryRaw<{ id: string }[]>`
      SELECT key.id FROM "ApiKey" AS key JOIN "Organization" AS owner ON owner.id = key."organizationId"
      WHERE key.id = ANY (${[...holders.keys()]}::text[]) AND (key."revokedAt" IS NOT NULL OR owner."deletedAt" IS NOT NULL)`
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
    close() {
      clearInterval(poll)
      return stopListening()
    },
  }
}
