import { checksPerDay } from '../../account/limits.ts'
import { textAsHtml } from '../../core/markdown/markdown.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import { wordsOf } from '../../language/catalogue.ts'
import type { MailContent } from '../../notification/channel/mail-template.ts'
import { htmlOf, textOf } from '../../notification/channel/mail-template.ts'
import type { Mail } from '../../notification/channel/mailer.ts'
import type { Tone } from '../../notification/content/content.ts'
import { timeIn } from '../../notification/content/content.ts'
import type { BillingContext } from '../context.ts'
import { moneyText } from '../price.ts'
import { checkPlanDays, checkPlanPrice } from './check-plan-invoice.ts'
import type { Reminder } from './reminder.ts'
import { renewalUrl } from './renewal.ts'

/** A reminder, its recipient and the end of the plan. */
export interface ReminderDetails {
  readonly organization: Pick<Organization, 'id' | 'name' | 'contactEmail' | 'timeZone'>
  readonly until: Date
  readonly reminder: Reminder
  /** The domain of message ids. */
  readonly domain: string
}

/** Builds the email of a reminder. A retry has the same message id, so that mail programs show the email once. */
export function reminderMail(ctx: BillingContext, about: ReminderDetails): Mail {
  const { organization, until, reminder, domain } = about
  const content = buildContent(ctx, about)
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

/** Our own emails are in English. */
const words = wordsOf('EN')

function buildContent(ctx: BillingContext, { organization, until, reminder }: ReminderDetails): MailContent {
  const { id, name, timeZone } = organization
  const message = messages[reminder === 'ENDED' ? 'after' : 'before']()
  const [local, utc] = [timeIn(timeZone, words)(until), timeIn('UTC', words)(until)]
  return {
    about: 'Allclear check plan',
    headline: headlines[reminder](name, local),
    tone: tones[reminder],
    facts: [
      ['Organization', name],
      [reminder === 'ENDED' ? 'Ended' : 'Ends', local === utc ? utc : `${local} (${utc})`],
      ['Renewal', `${moneyText(checkPlanPrice)} for ${checkPlanDays} days, in Bitcoin or Litecoin`],
    ],
    html: textAsHtml(message),
    action: { label: `Renew for ${moneyText(checkPlanPrice)}`, url: renewalUrl(ctx, id, until) },
    reason: `You receive this because you are the contact for ${name} at ${ctx.site.baseUrl}, and its check plan was paid for.`,
    links: [],
  }
}

const headlines = {
  WEEK: (name, end) => `The pro check plan of ${name} ends on ${end}`,
  DAY: (name, end) => `Last day: the pro check plan of ${name} ends on ${end}`,
  ENDED: (name) => `The pro check plan of ${name} has ended`,
} as const satisfies Record<Reminder, (name: string, end: string) => string>

const tones = { WEEK: 'planned', DAY: 'minor', ENDED: 'neutral' } as const satisfies Record<Reminder, Tone>

const formatCount = (checks: number) => checks.toLocaleString('en')

const limits = () =>
  `limited to ${formatCount(checksPerDay.FREE)} checks a day per address instead of ${formatCount(checksPerDay.PRO)} for the organization`

const messages = {
  before: () => `After that, its keys are ${limits()}, and bulk checks stop working. Your keys and all other data stay.

We never charge automatically. If you renew now, you lose no day: the new ${checkPlanDays} days start when the current ones end. If you have already paid, you don’t need to do anything.`,
  after: () => `Its keys are now ${limits()}, and bulk checks no longer work. Your keys and all other data stay.

Nothing was charged; we never charge automatically. A new period of ${checkPlanDays} days starts when a payment arrives. If you have already paid, you don’t need to do anything.`,
} as const
