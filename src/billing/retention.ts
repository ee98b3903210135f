import type { Context } from '../core/context.ts'
import type { CountDeleted } from '../core/deleted-rows.ts'
import { DELETE_BATCH } from '../core/deleted-rows.ts'
import { DAY } from '../core/time.ts'

/**
 * Empties a batch of payloads of payment events that are older than `days`, and deletes events that are unrelated to what we sell.
 * The financial record of the other events remains: amount, currency, outcome and the provider’s ids. Unassigned events keep their
 * payload, which shows what was paid for. Returns whether there may be more.
 */
export async function deleteOldPayloads(
  { db, now }: Pick<Context, 'db' | 'now'>,
  days: number,
  count: CountDeleted,
): Promise<boolean> {
  const before = new Date(now().getTime() - days * DAY)
  const ignored = await db.$executeRaw`
    DELETE FROM "PaymentEvent" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "PaymentEvent"
      WHERE outcome = 'IGNORED' AND "receivedAt" < ${before} LIMIT ${DELETE_BATCH}))`
  const emptied = await db.$executeRaw`
    UPDATE "PaymentEvent" SET payload = '', email = NULL WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "PaymentEvent"
      WHERE outcome = 'APPLIED' AND "receivedAt" < ${before} AND payload <> '' LIMIT ${DELETE_BATCH}))`
  count('PaymentEvent', ignored)
  count('PaymentEvent.payload', emptied)
  return Math.max(ignored, emptied) >= DELETE_BATCH
}
