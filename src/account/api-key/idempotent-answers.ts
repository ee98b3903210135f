import type { Context, Database } from '../../core/context.ts'
import type { AnswerSerializer } from '../../core/idempotency.ts'
import { requireRow } from '../../core/idempotency.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import type { ApiKey, Organization, Prisma } from '../../generated/prisma/client.ts'
import type { CreatedApiKey } from './api-key.ts'

type Dependencies = Pick<Context, 'db'> & { readonly seal: SecretBox }

/** Stores a created key for repeated requests. Its secret is sealed. */
export function keySerializer({ db, seal }: Dependencies): AnswerSerializer<CreatedApiKey> {
  return {
    serialize: (created) => storedKey(seal, created),
    restore: async (kept) => ({ value: await restoreKey(db, seal, kept) }),
  }
}

/** Stores a created organization and its first key for repeated requests. */
export function organizationSerializer({
  db,
  seal,
}: Dependencies): AnswerSerializer<{ organization: Organization; apiKey: CreatedApiKey }> {
  return {
    serialize: ({ apiKey }) => storedKey(seal, apiKey),
    async restore(kept) {
      const apiKey = await restoreKey(db, seal, kept)
      return { value: { organization: await requireRow(db, apiKey.apiKey.organizationId), apiKey } }
    },
  }
}

function storedKey(seal: SecretBox, { secret, apiKey: { id } }: CreatedApiKey): Prisma.InputJsonObject {
  return { id, secret: seal.seal(secret, sealContext(id)) }
}

async function restoreKey(db: Database, seal: SecretBox, kept: Prisma.JsonValue): Promise<CreatedApiKey> {
  // Only `keptKey` writes it.
  const { id, secret } = kept as { readonly id: string; readonly secret: string }
  return { secret: seal.open(secret, sealContext(id)), apiKey: await requireRow<ApiKey>(db, id) }
}

const sealContext = (id: string) => `${id} answer`
