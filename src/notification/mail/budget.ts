import type { Quota } from '../../account/quota.ts'
import { consumeHourly } from '../../account/quota.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { MINUTE, nextUtcDay, nextUtcHour, utcDay } from '../../core/time.ts'
import type { Tier } from '../../generated/prisma/enums.ts'
import { suppressionIds } from './suppression.ts'

/** The email quotas of an organization per day (UTC). */
export interface MailBudget {
  /** Notifications by email. Further ones are deferred to the next day. */
  readonly mails: number
  /** Addresses that the organization subscribes without a confirmation: as many as its subscriber limit. */
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

/** The quotas, and the key with which mailboxes are hashed in them. */
export interface MailQuotas {
  readonly usage: Quota
  readonly seal: SecretBox
}

/** The properties of an email that quotas depend on. */
export interface CountedMail {
  readonly organizationId: string
  readonly tier: Tier
  readonly address: string
  readonly createdAt: Date
  /** Whether it also counts against the quota of its organization, not only of its mailbox. */
  readonly countsForOrganization: boolean
}

/**
 * Consumes one email from the quotas of its mailbox and its organization. Returns the time until which it is deferred,
 * or null if it can be sent.
 */
export async function consumeMail(
  { usage, seal }: MailQuotas,
  { organizationId, tier, address, createdAt, countsForOrganization }: CountedMail,
  now: Date,
): Promise<Date | null> {
  const [subject, day, limit] = [`mails ${organizationId}`, utcDay(now), mailBudgets[tier].mails]
  const hasBudget = async () => !countsForOrganization || (await usage.consume(subject, day, limit)).granted
  const tomorrow = () => spread(nextUtcDay(now), createdAt)
  // Checked first: an email that waits for the quota of its organization must not consume that of its mailbox.
  if (countsForOrganization && usage.isUsedUp(subject, day, limit) && !(await hasBudget())) return tomorrow()
  const mailbox = suppressionIds(seal)(null, { channel: 'EMAIL', text: address })
  if (!(await consumeHourly(usage, `mailbox ${mailbox}`, now, MAX_MAILS_PER_HOUR))) {
    return spread(nextUtcHour(now), createdAt)
  }
  return (await hasBudget()) ? null : tomorrow()
}

/** Returns a time soon after a quota resets: the older the delivery, the sooner. */
export function spread(renewedAt: Date, createdAt: Date): Date {
  const age = Math.min(Math.max(renewedAt.getTime() - createdAt.getTime(), 0), MAX_AGE)
  return new Date(renewedAt.getTime() + Math.round(SPREAD * (1 - age / MAX_AGE)))
}
