import { z } from 'zod'
import { issueMessage } from '../../core/issue-message.ts'
import { textAsHtml } from '../../core/markdown/markdown.ts'
import { cutAtWord } from '../../core/truncate.ts'
import { cappedText } from '../../core/validation.ts'
import { email, MAIL } from '../../notification/channel/email.ts'
import { htmlOf, textOf } from '../../notification/channel/mail-template.ts'
import type { AlertMessage } from './sender.ts'
import { bodyOf, defineSender } from './sender.ts'

/** The length of a short email: one SMS (GSM 03.38: 160 characters of 7 bits). */
const SMS_LENGTH = 160
/** The minimum length of the text before the link of a short email, even if both together exceed one SMS. */
const MIN_SHORT_LENGTH = 60

/** Email, in full or as a short text for SMS gateways. Messages about one alert form a thread. */
export const mail = defineSender({
  name: 'Mail',
  kind: 'PEOPLE',
  fields: z.object({
    address: cappedText(500).transform((text, ctx) => {
      const parsed = email.address.safeParse(text, { error: issueMessage })
      if (parsed.success) return parsed.data.text
      ctx.addIssue({ code: 'custom', message: parsed.error.issues[0]?.message ?? 'must be an email address' })
      return z.NEVER
    }),
    /** Omitted unless true, so that equal addresses have equal data. */
    short: z
      .boolean()
      .nullish()
      .transform((short) => short === true || undefined),
  }),
  describe: ({ address }) => ({ label: address, destination: MAIL, url: null }),
  async send({ address, short }, message, { mailer, now }) {
    if (mailer === null) {
      const reason = 'Email isn’t set up: SMTP_URL is not set.'
      return { kind: 'failed', status: null, message: reason, permanence: 'TEMPORARY', retryAfterMs: null }
    }
    const { id, organization, title, tone, acknowledgeUrl, url, settingsUrl, channel, items } = message
    const open = { label: 'Open in Allclear', url }
    const settings = { label: 'Channel settings', url: settingsUrl }
    const mail = {
      about: organization.name,
      headline: title,
      tone,
      facts: [],
      html: textAsHtml(bodyOf(message)),
      action: acknowledgeUrl === null ? open : { label: 'Acknowledge', url: acknowledgeUrl },
      reason: `Alert channel ${channel}.`,
      links: acknowledgeUrl === null ? [settings] : [open, settings],
    }
    const [only, ...others] = items
    const thread = others.length === 0 ? `${only.alertId}@${mailer.domain}` : null
    return mailer.send({
      to: address,
      fromName: organization.name,
      subject: short ? organization.name : `[${organization.name}] ${title}`,
      ...(short ? { text: shortText(message), html: null } : { text: textOf(mail), html: htmlOf(mail) }),
      messageId: `${id}@${mailer.domain}`,
      inReplyTo: thread,
      list: null,
      date: now(),
    })
  },
})

/** Returns the title, the reason and the acknowledgement link, cut to one SMS if the link leaves room. */
function shortText({ title, items: [first, ...others], acknowledgeUrl }: AlertMessage): string {
  const reason = others.length > 0 || first.message === '' ? '' : `: ${first.message}`
  const link = acknowledgeUrl === null ? '' : `\n${acknowledgeUrl}`
  return cutAtWord(`${title}${reason}`, Math.max(SMS_LENGTH - link.length, MIN_SHORT_LENGTH)) + link
}
