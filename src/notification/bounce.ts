import { z } from 'zod'
import { requireOperator } from '../account/access.ts'
import { emailText } from '../account/page-settings.ts'
import { transaction } from '../context.ts'
import { validate } from '../validate.ts'
import { email } from './channel/email.ts'
import { MOST_BOUNCES, stop } from './subscriber.ts'
import type { SuppressionContext } from './suppression.ts'
import { subscribersAt, suppressMailbox } from './suppression.ts'

const report = z.object({ email: emailText, kind: z.enum(['BOUNCE', 'COMPLAINT']) })

/**
 * Takes word from the operator's mail system that mail to an address came back for good, or that its reader complained, which
 * ends all its subscriptions at once; the third bounce in a row does as well. From then on no organization may subscribe it.
 * All addresses of a mailbox count as one. Operator only.
 * @returns how many subscriptions that ended. @throws Invalid.
 */
export async function reportBounce(ctx: SuppressionContext, input: unknown): Promise<number> {
  requireOperator(ctx)
  const { email: given, kind } = validate(report, input)
  const { text } = email.address.parse(given)
  return transaction(ctx, async (tx) => {
    const ids = await subscribersAt(tx, [text])
    if (kind === 'BOUNCE') return countBounces(tx, ids)
    await suppressMailbox(tx, text)
    return stop(tx, ids, 'COMPLAINED')
  })
}

/** Counts a message that was refused for good, for each of these subscribers; gives how many that stopped. */
export async function countBounces(tx: SuppressionContext, ids: readonly string[]): Promise<number> {
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
