import { timingSafeEqual } from 'node:crypto'
import type { Context } from '../core/context.ts'
import { hashSecret } from '../core/hash-secret.ts'
import { randomText } from '../core/id.ts'

/** The id of the only row, which has the token of the first start. */
const ONLY_ROW = 1

/** Returns whether a text is the operator's token, which comes from the settings or else from the first start. */
export async function isOperatorToken(ctx: Pick<Context, 'db' | 'config'>, token: string): Promise<boolean> {
  const { ADMIN_TOKEN } = ctx.config
  const expected = ADMIN_TOKEN === undefined ? await storedHash(ctx) : hashSecret(ADMIN_TOKEN)
  return expected !== null && timingSafeEqual(Buffer.from(expected), Buffer.from(hashSecret(token)))
}

/**
 * Creates the operator's token in an empty database. Returns the token, to be printed once; null when there is one already: in the
 * settings, from an earlier start, or from another instance that starts at the same time.
 */
export async function createOperatorToken(ctx: Pick<Context, 'db' | 'config' | 'now'>): Promise<string | null> {
  if (ctx.config.ADMIN_TOKEN !== undefined || (await storedHash(ctx)) !== null) return null
  const token = `op_${randomText(40)}`
  const { count } = await ctx.db.operatorToken.createMany({
    data: { id: ONLY_ROW, hash: hashSecret(token), createdAt: ctx.now() },
    skipDuplicates: true,
  })
  return count === 1 ? token : null
}

async function storedHash({ db }: Pick<Context, 'db'>): Promise<string | null> {
  const row = await db.operatorToken.findUnique({ where: { id: ONLY_ROW } })
  return row?.hash ?? null
}
