import { timingSafeEqual } from 'node:crypto'
import type { Context } from '../context.ts'
import { randomText } from '../id.ts'
import { hashSecret } from './secret.ts'

/** The row that holds the token made at the first start. */
const ONLY_ROW = 1

/** Whether a text is the operator's token: the one in the settings, or else the one made at the first start. */
export async function isOperatorToken(ctx: Pick<Context, 'db' | 'config'>, token: string): Promise<boolean> {
  const { ADMIN_TOKEN } = ctx.config
  const expected = ADMIN_TOKEN === undefined ? await storedHash(ctx) : hashSecret(ADMIN_TOKEN)
  return expected !== null && timingSafeEqual(Buffer.from(expected), Buffer.from(hashSecret(token)))
}

/**
 * Makes the operator's token on an empty database. Gives the token when this call made it, to be printed once, and null
 * when there is one already: in the settings, or made earlier or by another instance that starts at the same time.
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
