import { z } from 'zod'
import { requireOperator } from '../../core/access.ts'
import { transaction } from '../../core/context.ts'
import { emailAddress } from '../../core/email-address.ts'
import { validate } from '../../core/validation.ts'
import { email } from '../channel/email.ts'
import type { SuppressionContext } from '../mail/suppression.ts'
import { subscribersAt, suppressMailbox } from '../mail/suppression.ts'
import { MAX_BOUNCES, stopSubscribers } from './subscriber.ts'

const report = z.object({ email: emailAddress, kind: z.enum(['BOUNCE', 'COMPLAINT']) })

/**
 * Records a bounce or a complaint that the operator's mail system reports. A complaint, or the third bounce in a row,
 * stops all subscriptions of the mailbox, and no organization can subscribe it again. All addresses of a mailbox count
 * as one. Operator only.
 * @returns the number of stopped subscriptions.
 * @throws Invalid.
 */
export async function reportBounce(ctx: SuppressionContext, input: unknown): Promise<number> {
  requireOperator(ctx)
  const { email: given, kind } = validate(report, input)
  const { text } = email.address.parse(given)
  return transaction(ctx, async (tx) => {
    const ids = await subscribersAt(tx, [text])
    if (kind === 'BOUNCE') return countBounces(tx, ids)
    await suppressMailbox(tx, text)
    return stopSubscribers(tx, ids, 'COMPLAINED')
  })
}

/** Counts a bounce for each of these subscribers. Returns how many subscriptions it stopped. */
export async function countBounces(tx: SuppressionContext, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  await tx.db.subscriber.updateMany({ where: { id: { in: [...ids] } }, data: { bounces: { increment: 1 } } })
  const over = await tx.db.subscriber.findMany({
    where: { id: { in: [...ids] }, bounces: { gte: MAX_BOUNCES } },
    select: { id: true },
  })
  return stopSubscribers(
    tx,
    over.map(({ id }) => id),
    'BOUNCED',
  )
}
