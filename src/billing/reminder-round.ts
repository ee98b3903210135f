import { takeDue } from '../database/lease.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { Mailer } from '../notification/channel/mailer.ts'
import { HOUR, MINUTE } from '../time.ts'
import type { BillingContext } from './context.ts'
import type { Reminder } from './reminder.ts'
import { nextReminder, reminderDue } from './reminder.ts'
import { reminderMail } from './reminder-mail.ts'

/** A mail takes 45 s at most; when its worker dies, another sends it after this, under the same id. */
const LEASE = 2 * MINUTE
const AT_ONCE = 10
/** How soon a mail that was not taken for now is sent again: it has days, and is not worth more haste. */
const RETRY = 1 * HOUR

/**
 * Reminds of the check plans that end, as far as somebody has paid for them. Where no payment server is set up nothing could
 * be renewed, so nothing is said; once there is one, what still applies is. One that fails is logged, and tried again when
 * its lease is over. Gives the time at which the next one is due; null: none is.
 */
export async function remindOfRenewals(ctx: BillingContext, mailer: Mailer): Promise<Date | null> {
  if (ctx.billing.btcpay === null) return null
  const { taken, until: lease } = await takeDue(ctx, {
    table: 'Organization',
    dueColumn: 'checkPlanReminderAt',
    where: Prisma.sql`"deletedAt" IS NULL`,
    limit: AT_ONCE,
    leaseMs: LEASE,
  })
  const failed = (id: string) => (error: unknown) =>
    ctx.log.error({ err: error, organization: id }, 'billing: a reminder could not be made or noted; trying again')
  await Promise.all(taken.map(({ id }) => remind(ctx, mailer, id, lease).catch(failed(id))))
  const next = await ctx.db.organization.findFirst({
    where: { checkPlanReminderAt: { not: null }, deletedAt: null },
    orderBy: { checkPlanReminderAt: 'asc' },
    select: { checkPlanReminderAt: true },
  })
  return next?.checkPlanReminderAt ?? null
}

/** Sends what is due to one organization. What comes next is noted unless a payment has moved it meanwhile. */
async function remind(ctx: BillingContext, mailer: Mailer, id: string, lease: Date): Promise<void> {
  const where = { id, checkPlanReminderAt: lease }
  const organization = await ctx.db.organization.findFirst({ where })
  if (organization === null) return
  // Read anew at each turn: the operator may have moved the end by hand, or taken it away.
  const { checkPlan, checkPlanUntil: until } = organization
  const next = checkPlan === 'PRO' && until !== null ? await told(ctx, mailer, organization, until) : null
  await ctx.db.organization.updateMany({ where, data: { checkPlanReminderAt: next } })
}

/** Tells an organization what is to be said of its plan's end now, if anything. Gives when there is more to say or to try. */
async function told(
  ctx: BillingContext,
  mailer: Mailer,
  organization: Organization,
  until: Date,
): Promise<Date | null> {
  const now = ctx.now()
  const next = nextReminder(until, now)
  const reminder = reminderDue(until, now)
  if (reminder === null) return next
  return (await send(ctx, mailer, organization, until, reminder)) ? next : new Date(now.getTime() + RETRY)
}

/** Whether the mail is dealt with: taken, or refused for good. */
async function send(
  ctx: BillingContext,
  mailer: Mailer,
  organization: Organization,
  until: Date,
  reminder: Reminder,
): Promise<boolean> {
  const outcome = await mailer.send(reminderMail(ctx, { organization, until, reminder, domain: mailer.domain }))
  if (outcome.kind === 'delivered') return true
  const isForGood = outcome.lasts !== 'PASSING'
  const about = { organization: organization.id, reminder, status: outcome.status, said: withoutAddresses(outcome) }
  if (isForGood) ctx.log.warn(about, 'billing: a reminder was refused for good')
  else ctx.log.warn(about, 'billing: a reminder was not taken for now; trying again in an hour')
  return isForGood
}

/** What a mail server says: most repeat the reader's address in it. */
function withoutAddresses({ message }: { readonly message: string }): string {
  return message.replace(/\S+@\S+/g, '…')
}
