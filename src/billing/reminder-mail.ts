import { checksPerDay } from '../account/plan.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { textAsHtml } from '../markdown.ts'
import type { MailContent } from '../notification/channel/mail-template.ts'
import { htmlOf, textOf } from '../notification/channel/mail-template.ts'
import type { Mail } from '../notification/channel/mailer.ts'
import type { Tone } from '../notification/letter.ts'
import { timeIn } from '../notification/letter.ts'
import { checkPlanDays, checkPlanPrice } from './check-plan-invoice.ts'
import type { BillingContext } from './context.ts'
import { moneyText } from './price.ts'
import type { Reminder } from './reminder.ts'
import { renewalUrl } from './renewal.ts'

/** Which reminder is sent to whom, of a plan that ends when. */
export interface ReminderOf {
  readonly organization: Pick<Organization, 'id' | 'name' | 'contactEmail' | 'timeZone'>
  readonly until: Date
  readonly reminder: Reminder
  /** In which message ids are made. */
  readonly domain: string
}

/** A reminder as a mail. Sent again, it has the same id, so that mail programs show it once. */
export function reminderMail(ctx: BillingContext, about: ReminderOf): Mail {
  const { organization, until, reminder, domain } = about
  const content = contentOf(ctx, about)
  return {
    to: organization.contactEmail,
    fromName: 'Allclear',
    subject: content.headline,
    text: textOf(content),
    html: htmlOf(content),
    messageId: `renewal.${organization.id}.${until.getTime()}.${reminder.toLowerCase()}@${domain}`,
    inReplyTo: null,
    list: null,
    date: ctx.now(),
  }
}

function contentOf(ctx: BillingContext, { organization, until, reminder }: ReminderOf): MailContent {
  const { id, name, timeZone } = organization
  const message = messages[reminder === 'ENDED' ? 'after' : 'before']
  const [local, utc] = [timeIn(timeZone)(until), timeIn('UTC')(until)]
  return {
    about: 'Allclear check plan',
    headline: headlines[reminder](name, local),
    tone: tones[reminder],
    facts: [
      ['Organization', name],
      [reminder === 'ENDED' ? 'Ended' : 'Ends', local === utc ? utc : `${local} (${utc})`],
      ['Renewal', `${moneyText(checkPlanPrice)} for ${checkPlanDays} days, in Bitcoin or Litecoin`],
    ],
    message,
    html: textAsHtml(message),
    action: { label: `Renew for ${moneyText(checkPlanPrice)}`, url: renewalUrl(ctx, id, until) },
    reason: `You get this because yours is the contact address of ${name} at ${ctx.site.baseUrl}, and its check plan was paid for.`,
    links: [],
  }
}

const headlines = {
  WEEK: (name, end) => `The pro check plan of ${name} ends on ${end}`,
  DAY: (name, end) => `Last day: the pro check plan of ${name} ends on ${end}`,
  ENDED: (name) => `The pro check plan of ${name} has ended`,
} as const satisfies Record<Reminder, (name: string, end: string) => string>

const tones = { WEEK: 'planned', DAY: 'minor', ENDED: 'neutral' } as const satisfies Record<Reminder, Tone>

const count = (checks: number) => checks.toLocaleString('en')
const [free, pro] = [count(checksPerDay.FREE), count(checksPerDay.PRO)]

const messages = {
  before: `From then on its keys make ${free} checks a day for each address, instead of ${pro} for the organization, and no bulk checks. The keys stay, and so does everything else.

Nothing is charged by itself: who does nothing pays nothing. Who renews now loses no day, for the new ${checkPlanDays} days begin when the old ones end. If you have paid already, nothing more is needed.`,
  after: `Its keys make ${free} checks a day for each address now, instead of ${pro} for the organization, and no bulk checks. The keys stay, and so does everything else.

Nothing was charged, and nothing is by itself: who does nothing pays nothing. The new ${checkPlanDays} days begin when a payment arrives. If you have paid already, nothing more is needed.`,
} as const
