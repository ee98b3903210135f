import type { Context, Database } from '../context.ts'
import type { ApiKey, Organization, Prisma } from '../generated/prisma/client.ts'
import type { Memory } from '../idempotency.ts'
import { rowById } from '../idempotency.ts'
import type { Seal } from '../seal.ts'
import type { CreatedApiKey } from './api-key.ts'

type Parts = Pick<Context, 'db'> & { readonly seal: Seal }

/** Keeps a key that was made; its secret sealed, as long as the answer is kept. */
export function keyMemory({ db, seal }: Parts): Memory<CreatedApiKey> {
  return {
    write: (created) => keptKey(seal, created),
    read: async (kept) => ({ value: await keyAgain(db, seal, kept) }),
  }
}

/** Keeps an organization that was made, and its first key. */
export function organizationMemory({ db, seal }: Parts): Memory<{ organization: Organization; apiKey: CreatedApiKey }> {
  return {
    write: ({ apiKey }) => keptKey(seal, apiKey),
    async read(kept) {
      const apiKey = await keyAgain(db, seal, kept)
      return { value: { organization: await rowById(db, apiKey.apiKey.organizationId), apiKey } }
    },
  }
}

function keptKey(seal: Seal, { secret, apiKey: { id } }: CreatedApiKey): Prisma.InputJsonObject {
  return { id, secret: seal.seal(secret, about(id)) }
}

async function keyAgain(db: Database, seal: Seal, kept: Prisma.JsonValue): Promise<CreatedApiKey> {
  // Only `keptKey` has written it.
  const { id, secret } = kept as { readonly id: string; readonly secret: string }
  return { secret: seal.open(secret, about(id)), apiKey: await rowById<ApiKey>(db, id) }
}

const about = (id: string) => `${id} answer`
