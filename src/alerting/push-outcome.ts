import type { Context } from '../core/context.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { SendOutcome } from '../notification/channel/channel.ts'

/**
 * Records the final result of a browser in the message of its alert channel: the first acceptance, and every failure.
 * The message has failed if no browser has accepted it.
 */
export async function recordPushOutcome(
  { db, now }: Pick<Context, 'db' | 'now'>,
  alertDeliveryId: string,
  host: string,
  { kind, status, message }: SendOutcome,
): Promise<void> {
  const delivered = kind === 'delivered'
  const attempt = JSON.stringify([{ at: now(), delivered, status, message: `${host}: ${message}`, durationMs: 0 }])
  // Reads only the row that it locks: of two browsers at once, each sees what the other one recorded.
  const accepted = Prisma.sql`jsonb_path_exists(attempts, '$[*] ? (@.delivered == true && @.status != null)')`
  await db.$executeRaw`
    UPDATE "AlertDelivery" SET attempts = attempts || ${attempt}::jsonb,
      status = (CASE WHEN ${delivered}::bool OR ${accepted} THEN 'DELIVERED' ELSE 'FAILED' END)::"DeliveryStatus"
    WHERE id = ${alertDeliveryId} AND status IN ('DELIVERED', 'FAILED') AND NOT (${delivered}::bool AND ${accepted})`
}
