import type { Actor, Context } from '../../core/context.ts'
import { Unauthenticated } from '../../core/errors.ts'
import { hashSecret } from '../../core/hash-secret.ts'
import { MINUTE } from '../../core/time.ts'
import { planAt } from '../limits.ts'
import { isOperatorToken } from '../operator.ts'
import { KEY_PREFIX } from './api-key.ts'
import type { KnownKey, KnownKeys } from './known-keys.ts'
import type { WrongKeys } from './wrong-keys.ts'

/** The maximum length of a credential. A longer text is refused without being hashed. */
const MAX_CREDENTIAL_LENGTH = 256
/** `lastUsedAt` has a resolution of a minute, so that a busy key costs one write per minute. */
const LAST_USE_RESOLUTION = 1 * MINUTE

/** The context of authentication, with the caches of keys that worked and of wrong ones. */
type AuthenticationContext = Pick<Context, 'db' | 'now' | 'config' | 'log'> & {
  readonly knownKeys?: KnownKeys | undefined
  readonly wrongKeys?: WrongKeys
}

/**
 * Returns the actor of a credential, the text of a bearer token or key header. Valid keys are cached for two seconds, and every
 * instance forgets them when they are revoked.
 * @throws Unauthenticated `INVALID_API_KEY` for a key that is unknown, revoked or expired, or whose organization is deleted.
 * @throws RateLimited after too many wrong keys from the client's address.
 */
export async function authenticate(
  ctx: AuthenticationContext,
  credential: string,
  clientAddress: string | null = null,
): Promise<Actor> {
  if (credential.length > MAX_CREDENTIAL_LENGTH) throw wrongKey()
  const hash = hashSecret(credential)
  const lookup = () => actorOf(ctx, credential, hash)
  const actor = ctx.wrongKeys ? await ctx.wrongKeys.check(clientAddress, hash, lookup) : await lookup()
  // The key of a deleted organization is not cached as wrong, because it works again once the organization is restored.
  if (actor === null || actor === 'deleted') throw wrongKey()
  return actor
}

const wrongKey = () => new Unauthenticated('INVALID_API_KEY', 'This API key is unknown, revoked or expired.')

/** Returns the actor of a credential; null: unknown credential; `deleted`: its organization is deleted. */
async function actorOf(
  ctx: AuthenticationContext,
  credential: string,
  hash: string,
): Promise<Actor | 'deleted' | null> {
  if (credential.startsWith(KEY_PREFIX)) return keyActor(ctx, hash)
  return (await isOperatorToken(ctx, credential)) ? { kind: 'operator' } : null
}

async function keyActor(ctx: AuthenticationContext, hash: string): Promise<Actor | 'deleted' | null> {
  const now = ctx.now()
  const load = () => readKey(ctx, hash)
  const key = await (ctx.knownKeys?.get(hash, load) ?? load())
  if (!key || key.revokedAt || (key.expiresAt && key.expiresAt <= now)) return null
  if (key.deletedAt !== null) return 'deleted'
  const { id, organizationId, scope } = key
  if (!key.lastUsedAt || now.getTime() - key.lastUsedAt.getTime() >= LAST_USE_RESOLUTION) {
    key.lastUsedAt = now
    recordUse(ctx, id, now)
  }
  return { kind: 'apiKey', keyId: id, organizationId, scope, checkPlan: planAt(key, now) }
}

async function readKey({ db }: Pick<Context, 'db'>, hash: string): Promise<KnownKey | null> {
  const [key] = await db.$queryRaw<KnownKey[]>`
    SELECT key.id, key."organizationId", key.scope, key."expiresAt", key."revokedAt", key."lastUsedAt",
      owner."checkPlan", owner."checkPlanUntil", owner."deletedAt"
    FROM "ApiKey" AS key JOIN "Organization" AS owner ON owner.id = key."organizationId" WHERE key.hash = ${hash}`
  return key ?? null
}

/** Records the use of a key. Nobody waits for it. */
function recordUse(ctx: Pick<Context, 'db' | 'log'>, id: string, now: Date): void {
  ctx.db.apiKey
    .updateMany({ where: { id }, data: { lastUsedAt: now } })
    .catch((error: unknown) => ctx.log.warn({ err: error, key: id }, 'account: could not record the use of a key'))
}
