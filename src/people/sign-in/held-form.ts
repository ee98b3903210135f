import { RateLimited } from '../../core/errors.ts'
import { MINUTE } from '../../core/time.ts'
import { limitRequests } from '../attempt-limit.ts'
import type { PeopleContext } from '../context.ts'
import { createToken, takeToken } from '../one-time-token.ts'

/** How long a form is stored: as long as a mailed link works. */
export const HELD_FORM_LIFETIME = 15 * MINUTE
/** The maximum length of a stored form, in characters: the longest message and the other fields. */
const MAX_LENGTH = 64 * 1024
/** The maximum number of stored forms of all networks: 64 MiB. Further ones are not stored. */
const MAX_FORMS = 1000
/** The purpose of the sealed text. */
const ABOUT = 'held form'

/**
 * Stores a form that was submitted after its session had ended, sealed, until the person has signed in elsewhere, such as at an
 * OpenID provider. Returns a token that redeems it once; null: it is too long, too many are stored, or the network has made too
 * many requests.
 */
export async function storeHeldForm(ctx: PeopleContext, text: string): Promise<string | null> {
  if (text.length > MAX_LENGTH) return null
  try {
    await limitRequests(ctx)
  } catch (error) {
    if (error instanceof RateLimited) return null
    throw error
  }
  const stored = { purpose: 'HELD_FORM', expiresAt: { gt: ctx.now() } } as const
  if ((await ctx.db.oneTimeToken.count({ where: stored })) >= MAX_FORMS) return null
  const data = { sealed: ctx.seal.seal(text, ABOUT) }
  return createToken(ctx, 'HELD_FORM', { data, lifetimeMs: HELD_FORM_LIFETIME })
}

/** Returns a stored form and deletes it; null: it was already returned, or has expired. */
export async function takeHeldForm(ctx: PeopleContext, token: string): Promise<string | null> {
  const { data = null } = (await takeToken(ctx, 'HELD_FORM', token)) ?? {}
  const isSealed = data !== null && typeof data === 'object' && 'sealed' in data
  return isSealed ? ctx.seal.open(String(data['sealed']), ABOUT) : null
}
