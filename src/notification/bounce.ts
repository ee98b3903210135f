import { z } from 'zod'
import { requireOperator } from '../account/access.ts'
import { emailText } from '../account/page-settings.ts'
import type { Context } from '../context.ts'
import { transaction } from '../context.ts'
import { validate } from '../validate.ts'
import { addressHash } from './address.ts'
import { email } from './channel/email.ts'
import { MOST_BOUNCES, stop } from './subscriber.ts'

const report = z.object({ email: emailText, kind: z.enum(['BOUNCE', 'COMPLAINT']) })

/**
 * Takes word from the operator's mail system that mail to an address came back for good, or that its reader complained, which
 * ends all its subscriptions at once; the third bounce in a row does as well. Operator only.
 * @returns how many subscriptions that ended. @throws Invalid.
 */
export async function reportBounce(ctx: Context, input: unknown): Promise<number> {
  requireOperator(ctx)
  const { email: given, kind } = validate(report, input)
  const addressHashed = addressHash('EMAIL', email.address.parse(given).text)
  return transaction(ctx, async (tx) => {
    const found = await tx.db.subscriber.findMany({ where: { addressHash: addressHashed }, select: { id: true } })
    const ids = found.map(({ id }) => id)
    return kind === 'COMPLAINT' ? stop(tx, ids, 'COMPLAINED') : countBounces(tx, ids)
  })
}

/** Counts a message that was refused for good, for each of these subscribers; gives how many that stopped. */
export async function countBounces(tx: Context, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  await tx.db.subscriber.updateMany({ where: { id: { in: [...ids] } }, data: { bounces: { increment: 1 } } })
  const over = await tx.db.subscriber.findMany({
    where: { id: { in: [...ids] }, bounces: { gte: MOST_BOUNCES } },
    select: { id: true },
  })
  return stop(
    tx,
    over.map(({ id }) => id),
    'BOUNCED',
  )
}
