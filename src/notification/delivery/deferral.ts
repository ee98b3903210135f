import { addressOf } from '../channel/sealed-address.ts'
import type { MailQuotas } from '../mail/budget.ts'
import { consumeMail } from '../mail/budget.ts'
import type { DueDelivery } from './delivery.ts'

/**
 * Consumes the quotas of a delivery by email, as `consumeMail`. Messages about the subscription itself were counted
 * when they were requested, and retries at their first attempt.
 */
export async function deferralOf(
  quotas: MailQuotas,
  delivery: Pick<DueDelivery, 'organizationId' | 'seq' | 'failed' | 'createdAt' | 'subscriber' | 'organization'>,
  now: Date,
): Promise<Date | null> {
  const { organizationId, seq, failed, createdAt, subscriber, organization } = delivery
  if (subscriber.channel !== 'EMAIL' || failed > 0) return null
  const address = addressOf(quotas.seal, subscriber)
  const mail = { organizationId, tier: organization.tier, address, createdAt, countsForOrganization: seq !== null }
  return consumeMail(quotas, mail, now)
}
