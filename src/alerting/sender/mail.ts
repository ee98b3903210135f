import { z } from 'zod'
import { textAsHtml } from '../../core/markdown.ts'
import { email, MAIL } from '../../notification/channel/email.ts'
import { htmlOf, textOf } from '../../notification/channel/mail-template.ts'
import { bodyOf, defineSender } from './sender.ts'

/** Mail, which also reaches gateways to SMS. Messages about one alert are in one thread. */
export const mail = defineSender({
  name: 'Mail',
  kind: 'PEOPLE',
  fields: z.object({
    address: z.string().transform((text, ctx) => {
      const parsed = email.address.safeParse(text)
      if (parsed.success) return parsed.data.text
      ctx.addIssue({ code: 'custom', message: parsed.error.issues[0]?.message ?? 'must be a mail address' })
      return z.NEVER
    }),
  }),
  describe: ({ address }) => ({ label: address, destination: MAIL, url: null }),
  async send({ address }, message, { mailer, now }) {
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
      subject: `[${organization.name}] ${title}`,
      text: textOf(mail),
      html: htmlOf(mail),
      messageId: `${id}@${mailer.domain}`,
      inReplyTo: thread,
      list: null,
      date: now(),
    })
  },
})
