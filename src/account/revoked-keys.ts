import type { Logger } from 'pino'
import type { DatabaseHandle } from '../database/client.ts'
import { REVOKED_KEY_CHANNEL } from './api-key.ts'

/** Tells those who hold a key that it was revoked, on whichever instance. */
export interface RevokedKeys {
  /** Calls `end` once, as soon as the key is revoked. Gives what makes it not be called any more. */
  hold(keyId: string, end: () => void): () => void
  close(): Promise<void>
}

/** @throws when the database cannot be asked to listen. */
export async function watchRevokedKeys(parts: {
  readonly database: Pick<DatabaseHandle, 'prisma' | 'listen'>
  readonly log: Logger
}): Promise<RevokedKeys> {
  const { database, log } = parts
  const holders = new Map<string, Set<() => void>>()

  const stopListening = await database.listen(REVOKED_KEY_CHANNEL, (keyId) => {
    if (keyId !== null) return revoked(keyId)
    findRevoked().catch((error: unknown) => log.error({ err: error }, 'account: could not look for revoked keys'))
  })

  function revoked(keyId: string): void {
    const ends = holders.get(keyId)
    holders.delete(keyId)
    for (const end of ends ?? []) end()
  }

  /** Asks of every key that is held, for the word that it was revoked may have been missed. */
  async function findRevoked(): Promise<void> {
    const where = { id: { in: [...holders.keys()] }, revokedAt: { not: null } }
    const keys = await database.prisma.apiKey.findMany({ where, select: { id: true } })
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
    close: stopListening,
  }
}
