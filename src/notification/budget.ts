import type { Quota } from '../account/quota.ts'
import { consumeHourly } from '../account/quota.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { MINUTE, nextUtcDay, nextUtcHour, utcDay } from '../core/time.ts'
import type { Tier } from '../generated/prisma/enums.ts'
import type { DueDelivery } from './delivery.ts'
import { suppressionIds } from './suppression.ts'
import { addressOf } from './token.ts'

/** The email quotas of an organization per day (UTC). */
export interface MailBudget {
  /** Notifications by email; more are deferred to the next day. */
  readonly mails: number
  /** Addresses that it subscribes itself, without a confirmation: as many as its subscriber limit. */
  readonly unconfirmed: number
  /** Messages that ask for a confirmation. */
  readonly confirmations: number
}

export const mailBudgets: Readonly<Record<Tier, MailBudget>> = {
  FREE: { mails: 500, unconfirmed: 50, confirmations: 100 },
  PRO: { mails: 20_000, unconfirmed: 1000, confirmations: 2000 },
  TEAM: { mails: 200_000, unconfirmed: 10_000, confirmations: 10_000 },
}

/** The number of emails to one mailbox per hour (UTC), from all organizations together. */
export const MAX_MAILS_PER_HOUR = 30

/** Deferred deliveries are spread over this time after a quota resets, oldest first. */
const SPREAD = MINUTE
/** Deliveries older than this go first. */
const MAX_AGE = 2 * 24 * 60 * MINUTE

/**
 * Consumes one email of the quotas of its mailbox and its organization. Returns the time until which the email is deferred;
 * null: it can be sent. Messages about the subscription itself were counted when they were requested, and retries before.
 */
export async function deferralOf(
  { usage, seal }: { readonly usage: Quota; readonly seal: SecretBox },
  delivery: Pick<DueDelivery, 'organizationId' | 'seq' | 'failed' | 'createdAt' | 'subscriber' | 'organization'>,
  now: Date,
): Promise<Date | null> {
  const { organizationId, seq, failed, createdAt, subscriber, organization } = delivery
  if (subscriber.channel !== 'EMAIL' || failed > 0) return null
  const [subject, day, limit] = [mailSubject(organizationId), utcDay(now), mailBudgets[organization.tier].mails]
  const tomorrow = () => spread(nextUtcDay(now), createdAt)
  // Checked first: an email that waits for its organization's quota must not consume its mailbox's.
  if (seq !== null && usage.isUsedUp(subject, day, limit) && !(await usage.consume(subject, day, limit)).granted) {
    return tomorrow()
  }
  const mailbox = suppressionIds(seal)(null, { channel: 'EMAIL', text: addressOf(seal, subscriber) })
  if (!(await consumeHourly(usage, `mailbox ${mailbox}`, now, MAX_MAILS_PER_HOUR))) {
    return spread(nextUtcHour(now), createdAt)
  }
  return seq === null || (await usage.consume(subject, day, limit)).granted ? null : tomorrow()
}

/** Returns a time soon after a quota resets: the older the delivery, the sooner. */
export function spread(renewedAt: Date, createdAt: Date): Date {
  const age = Math.min(Math.max(renewedAt.getTime() - createdAt.getTime(), 0), MAX_AGE)
  return new Date(renewedAt.getTime() + Math.round(SPREAD * (1 - age / MAX_AGE)))
}

const mailSubject = (organizationId: string) => `mails ${organizationId}`
