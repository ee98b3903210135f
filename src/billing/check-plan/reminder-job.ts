import { checkPlanReminders, organizationToRemind, scheduleReminder } from '../../account/organization/plan.ts'
import { HOUR, MINUTE } from '../../core/time.ts'
import { runDue } from '../../database/lease/due-work.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import type { Mailer } from '../../notification/channel/mailer.ts'
import type { BillingContext } from '../context.ts'
import type { Reminder } from './reminder.ts'
import { nextReminder, reminderDue } from './reminder.ts'
import { reminderMail } from './reminder-mail.ts'

/**
 * Sending an email takes at most 45 s. If the worker dies, another sends the email after this time, with the same
 * message id.
 */
const LEASE_MS = 2 * MINUTE
const BATCH_SIZE = 10
/** Delay before a temporarily refused email is sent again. A reminder may be days late. */
const RETRY_DELAY_MS = 1 * HOUR

/**
 * Sends the due reminders about check plans that were paid for and are about to end. Sends none without a payment
 * server, because nothing could be renewed; once one is configured, sends the reminders that still apply. Logs a
 * failure and retries it when the lease ends.
 * @returns when the next reminder is due; null: never.
 */
export async function sendDueReminders(ctx: BillingContext, mailer: Mailer): Promise<Date | null> {
  if (ctx.billing.btcpay === null) return null
  return runDue(ctx, {
    ...checkPlanReminders,
    limit: BATCH_SIZE,
    leaseMs: LEASE_MS,
    each: ({ id, until }) => processReminder(ctx, mailer, id, until),
    isParallel: true,
    subject: 'organization',
    failureMessage: 'billing: could not send or record a reminder; will retry',
  })
}

/**
 * Sends the due reminder of one organization and schedules the next one, unless a payment has rescheduled it in the
 * meantime.
 */
async function processReminder(ctx: BillingContext, mailer: Mailer, id: string, lease: Date): Promise<void> {
  const organization = await organizationToRemind(ctx, id, lease)
  if (organization === null) return
  // Reads the plan each time, because the operator may have changed or removed its end.
  const { checkPlan, checkPlanUntil: until } = organization
  const next = checkPlan === 'PRO' && until !== null ? await sendReminderIfDue(ctx, mailer, organization, until) : null
  await scheduleReminder(ctx, id, lease, next)
}

/** Sends the reminder that applies now, if any. Returns the time of the next reminder or retry. */
async function sendReminderIfDue(
  ctx: BillingContext,
  mailer: Mailer,
  organization: Organization,
  until: Date,
): Promise<Date | null> {
  const now = ctx.now()
  const next = nextReminder(until, now)
  const reminder = reminderDue(until, now)
  if (reminder === null) return next
  return (await sendReminder(ctx, mailer, organization, until, reminder))
    ? next
    : new Date(now.getTime() + RETRY_DELAY_MS)
}

/** Returns true when the email is delivered or permanently refused. */
async function sendReminder(
  ctx: BillingContext,
  mailer: Mailer,
  organization: Organization,
  until: Date,
  reminder: Reminder,
): Promise<boolean> {
  const outcome = await mailer.send(reminderMail(ctx, { organization, until, reminder, domain: mailer.domain }))
  if (outcome.kind === 'delivered') return true
  const isPermanent = outcome.permanence !== 'TEMPORARY'
  const about = { organization: organization.id, reminder, status: outcome.status, reply: redactAddresses(outcome) }
  if (isPermanent) ctx.log.warn(about, 'billing: a reminder was permanently refused')
  else ctx.log.warn(about, 'billing: a reminder was temporarily refused; will retry in an hour')
  return isPermanent
}

/** Removes addresses from a mail server's reply, because most replies repeat the recipient's address. */
function redactAddresses({ message }: { readonly message: string }): string {
  return message.replace(/\S+/g, (word) => (word.includes('@') ? '…' : word))
}
