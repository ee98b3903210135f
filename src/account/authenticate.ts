import type { Actor, Context } from '../context.ts'
import { Unauthenticated } from '../errors.ts'
import { MINUTE } from '../time.ts'
import { isOperatorToken } from './operator.ts'
import { planAt } from './plan.ts'
import { hashSecret, KEY_PREFIX } from './secret.ts'

/** No credential of ours is longer; a longer text is refused without being hashed. */
const LONGEST = 256
/** `lastUsedAt` is kept to the minute: a busy key costs one write a minute. */
const LAST_USE_RESOLUTION = 1 * MINUTE

/**
 * Who holds a credential: the text of a bearer token or key header. Read from the database each time, so that a
 * revoked key is worthless at once on every instance.
 * @throws Unauthenticated `INVALID_API_KEY` when it is unknown, revoked or expired.
 */
export async function authenticate(
  ctx: Pick<Context, 'db' | 'now' | 'config' | 'log'>,
  credential: string,
): Promise<Actor> {
  const actor =
    credential.length > LONGEST
      ? null
      : credential.startsWith(KEY_PREFIX)
        ? await keyHolder(ctx, credential)
        : (await isOperatorToken(ctx, credential))
          ? ({ kind: 'operator' } as const)
          : null
  if (actor) return actor
  throw new Unauthenticated('INVALID_API_KEY', 'This API key is unknown, revoked or expired.')
}

async function keyHolder(ctx: Pick<Context, 'db' | 'now' | 'log'>, secret: string): Promise<Actor | null> {
  const now = ctx.now()
  const key = await ctx.db.apiKey.findUnique({ where: { hash: hashSecret(secret) }, include: { organization: true } })
  if (!key || key.revokedAt || (key.expiresAt && key.expiresAt <= now)) return null
  const { id, organizationId, scope, organization } = key
  if (!key.lastUsedAt || now.getTime() - key.lastUsedAt.getTime() >= LAST_USE_RESOLUTION) noteUse(ctx, id, now)
  return { kind: 'apiKey', keyId: id, organizationId, scope, checkPlan: planAt(organization, now) }
}

/** Not awaited: a caller need not wait for what only tells the owner which keys are in use. */
function noteUse(ctx: Pick<Context, 'db' | 'log'>, id: string, now: Date): void {
  ctx.db.apiKey
    .updateMany({ where: { id }, data: { lastUsedAt: now } })
    .catch((error: unknown) => ctx.log.warn({ err: error, key: id }, 'account: could not note the use of a key'))
}
