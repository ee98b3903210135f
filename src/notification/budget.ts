import type { UsageCounters } from '../account/usage.ts'
import { takeThisHour } from '../account/usage.ts'
import type { Tier } from '../generated/prisma/enums.ts'
import type { Seal } from '../seal.ts'
import { MINUTE, nextUtcDay, nextUtcHour, utcDay } from '../time.ts'
import type { DueDelivery } from './delivery.ts'
import { suppressionIds } from './suppression.ts'
import { addressOf } from './token.ts'

/** How much mail an organization may cause on a day (UTC). */
export interface MailBudget {
  /** Mails about what happens on its page; what is more waits for the next day. */
  readonly mails: number
  /** Addresses that it subscribes itself, without asking them to confirm: as many as it may have subscribers. */
  readonly vouched: number
  /** Letters that ask strangers to confirm. */
  readonly confirmations: number
}

export const mailBudgets: Readonly<Record<Tier, MailBudget>> = {
  FREE: { mails: 500, vouched: 50, confirmations: 100 },
  PRO: { mails: 20_000, vouched: 1000, confirmations: 2000 },
  TEAM: { mails: 200_000, vouched: 10_000, confirmations: 10_000 },
}

/** How many mails go to one mailbox in an hour (UTC), from all organizations together. */
export const MAILS_AN_HOUR = 30

/** For how long after a budget is renewed what had to wait is spread, in the order in which it was made. */
const SPREAD = MINUTE
/** What was made longer ago than this goes first of all. */
const LONGEST_AGO = 2 * 24 * 60 * MINUTE

/**
 * Takes a mail from the budgets of its mailbox and its organization. Gives until when it has to wait for the next one; null:
 * it may be sent. A letter about the subscription itself was counted when it was asked for, and one that is tried again was
 * counted before.
 */
export async function deferralOf(
  { usage, seal }: { readonly usage: UsageCounters; readonly seal: Seal },
  delivery: Pick<DueDelivery, 'organizationId' | 'seq' | 'failed' | 'createdAt' | 'subscriber' | 'organization'>,
  now: Date,
): Promise<Date | null> {
  const { organizationId, seq, failed, createdAt, subscriber, organization } = delivery
  if (subscriber.channel !== 'EMAIL' || failed > 0) return null
  const [subject, day, limit] = [mailSubject(organizationId), utcDay(now), mailBudgets[organization.tier].mails]
  const tomorrow = () => spread(nextUtcDay(now), createdAt)
  // First without counting: what waits for its organization takes nothing from its mailbox.
  if (seq !== null && usage.isUsedUp(subject, day, limit) && !(await usage.take(subject, day, limit)).granted) {
    return tomorrow()
  }
  const mailbox = suppressionIds(seal)(null, { channel: 'EMAIL', text: addressOf(seal, subscriber) })
  if (!(await takeThisHour(usage, `mailbox ${mailbox}`, now, MAILS_AN_HOUR))) {
    return spread(nextUtcHour(now), createdAt)
  }
  return seq === null || (await usage.take(subject, day, limit)).granted ? null : tomorrow()
}

/** A moment soon after a budget is renewed: the sooner, the longer ago something was made. */
export function spread(renewedAt: Date, createdAt: Date): Date {
  const age = Math.min(Math.max(renewedAt.getTime() - createdAt.getTime(), 0), LONGEST_AGO)
  return new Date(renewedAt.getTime() + Math.round(SPREAD * (1 - age / LONGEST_AGO)))
}

const mailSubject = (organizationId: string) => `mails ${organizationId}`
