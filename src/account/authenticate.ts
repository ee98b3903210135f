import type { Actor, Context } from '../context.ts'
import { Unauthenticated } from '../errors.ts'
import { MINUTE } from '../time.ts'
import { isOperatorToken } from './operator.ts'
import { planAt } from './plan.ts'
import { hashSecret, KEY_PREFIX } from './secret.ts'
import type { WrongKeys } from './wrong-keys.ts'

/** No credential of ours is longer; a longer text is refused without being hashed. */
const LONGEST = 256
/** `lastUsedAt` is kept to the minute: a busy key costs one write a minute. */
const LAST_USE_RESOLUTION = 1 * MINUTE

/** What is read to know who calls, and what keeps keys from being tried. */
type Reading = Pick<Context, 'db' | 'now' | 'config' | 'log'> & { readonly wrongKeys?: WrongKeys }

/**
 * Who holds a credential: the text of a bearer token or key header. Read from the database each time, so that a
 * revoked key is worthless at once on every instance.
 * @throws Unauthenticated `INVALID_API_KEY` when it is unknown, revoked or expired, or of a deleted organization.
 * @throws RateLimited when too many wrong ones came from the address.
 */
export async function authenticate(
  ctx: Reading,
  credential: string,
  clientAddress: string | null = null,
): Promise<Actor> {
  const wrong = new Unauthenticated('INVALID_API_KEY', 'This API key is unknown, revoked or expired.')
  if (credential.length > LONGEST) throw wrong
  const hash = hashSecret(credential)
  if (ctx.wrongKeys?.isKnown(clientAddress, hash)) throw wrong
  const actor = await holderOf(ctx, credential, hash)
  // A key that holds again once its organization is restored: it is not remembered as wrong.
  if (actor === 'deleted') throw wrong
  ctx.wrongKeys?.note(clientAddress, hash, actor !== null)
  if (actor === null) throw wrong
  return actor
}

/** Who holds a credential; null: nobody. `deleted`: an organization that is deleted. */
async function holderOf(ctx: Reading, credential: string, hash: string): Promise<Actor | 'deleted' | null> {
  if (credential.startsWith(KEY_PREFIX)) return keyHolder(ctx, hash)
  return (await isOperatorToken(ctx, credential)) ? { kind: 'operator' } : null
}

async function keyHolder(ctx: Pick<Context, 'db' | 'now' | 'log'>, hash: string): Promise<Actor | 'deleted' | null> {
  const now = ctx.now()
  const key = await ctx.db.apiKey.findUnique({ where: { hash }, include: { organization: true } })
  if (!key || key.revokedAt || (key.expiresAt && key.expiresAt <= now)) return null
  const { id, organizationId, scope, organization } = key
  if (organization.deletedAt !== null) return 'deleted'
  if (!key.lastUsedAt || now.getTime() - key.lastUsedAt.getTime() >= LAST_USE_RESOLUTION) noteUse(ctx, id, now)
  return { kind: 'apiKey', keyId: id, organizationId, scope, checkPlan: planAt(organization, now) }
}

/** Not awaited: a caller need not wait for what only tells the owner which keys are in use. */
function noteUse(ctx: Pick<Context, 'db' | 'log'>, id: string, now: Date): void {
  ctx.db.apiKey
    .updateMany({ where: { id }, data: { lastUsedAt: now } })
    .catch((error: unknown) => ctx.log.warn({ err: error, key: id }, 'account: could not note the use of a key'))
}
