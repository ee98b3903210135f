import type { z } from 'zod'
import { emailAddress } from '../../core/email-address.ts'
import { isolate } from '../../language/isolate.ts'
import type { NotificationContent } from '../content/content.ts'
import type { Address, Channel } from './channel.ts'
import type { MailContent } from './mail-template.ts'
import { htmlOf, textOf } from './mail-template.ts'
import { foldMailbox } from './mailbox.ts'

/** The destination of all email, whose limits protect our SMTP server. */
export const MAIL = 'mail'

/** Addresses count as case-insensitive, because no current server distinguishes mailboxes by case. */
const address = emailAddress.trim().transform((text): Address => {
  const [mailbox = '', domain = ''] = [text.slice(0, text.lastIndexOf('@')), text.slice(text.lastIndexOf('@') + 1)]
  const canonical = `${mailbox}@${domain}`.toLowerCase()
  return { text: canonical, label: canonical, destination: MAIL, target: foldMailbox(canonical) }
}) satisfies z.ZodType<Address>

/** Email in text and HTML, in one thread per subject and subscriber. */
export const email: Channel = {
  name: 'email',
  address,
  async send({ id, content, address, manageUrl, unsubscribeUrl, thread, opensThread }, { mailer, now }) {
    if (mailer === null) {
      const message = 'Email isn’t set up: SMTP_URL is not set.'
      return { kind: 'failed', status: null, message, permanence: 'TEMPORARY', isOurs: true, retryAfterMs: null }
    }
    const mail = contentOf(content, manageUrl)
    const root = `${thread}@${mailer.domain}`
    return mailer.send({
      to: address,
      fromName: content.words.page.feed(content.page.name),
      // The subject describes the change; `inReplyTo` keeps the thread together.
      subject: `[${content.page.name}] ${content.subject}`,
      text: textOf(mail),
      html: htmlOf(mail),
      messageId: opensThread ? root : `${id}@${mailer.domain}`,
      inReplyTo: opensThread ? null : root,
      list: { id: `${content.page.slug}.${mailer.domain}`, unsubscribeUrl },
      date: now(),
    })
  },
}

/** Adds links to the page and to the subscription. */
function contentOf({ page, words, ...content }: NotificationContent, manageUrl: string): MailContent {
  const links = [
    { label: words.mail.statusPage, url: page.url },
    { label: words.mail.manage, url: manageUrl },
  ]
  return { ...content, ...content.isolated, about: words.page.feed(isolate(page.name)), links, language: words }
}
