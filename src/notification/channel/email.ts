import type { z } from 'zod'
import { emailText } from '../../account/page-settings.ts'
import type { Letter } from '../letter.ts'
import { foldMailbox } from '../mailbox.ts'
import type { Address, Channel } from './channel.ts'
import type { MailContent } from './mail-template.ts'
import { htmlOf, textOf } from './mail-template.ts'

/** The destination of all mail: what is spared is our own SMTP server. */
export const MAIL = 'mail'

/** Mailboxes are told apart without regard to case: no server of today has two that differ in nothing else. */
const address = emailText.trim().transform((text): Address => {
  const [mailbox = '', domain = ''] = [text.slice(0, text.lastIndexOf('@')), text.slice(text.lastIndexOf('@') + 1)]
  const canonical = `${mailbox}@${domain}`.toLowerCase()
  return { text: canonical, label: canonical, destination: MAIL, target: foldMailbox(canonical) }
}) satisfies z.ZodType<Address>

/** Mail, in text and HTML, in one thread per incident and reader. */
export const email: Channel = {
  name: 'e-mail',
  address,
  async send({ id, letter, address, manageUrl, unsubscribeUrl, thread, opensThread }, { mailer, now }) {
    if (mailer === null) {
      const message = 'No mail is sent from here: SMTP_URL is not set.'
      return { kind: 'failed', status: null, message, lasts: 'PASSING', retryAfterMs: null }
    }
    const content = contentOf(letter, manageUrl)
    const root = `${thread}@${mailer.domain}`
    return mailer.send({
      to: address,
      fromName: `${letter.page.name} status`,
      // The same for the whole thread: some readers go by it.
      subject: `[${letter.page.name} status] ${letter.topic}`,
      text: textOf(content),
      html: htmlOf(content),
      messageId: opensThread ? root : `${id}@${mailer.domain}`,
      inReplyTo: opensThread ? null : root,
      list: { id: `${letter.page.slug}.${mailer.domain}`, unsubscribeUrl },
      date: now(),
    })
  },
}

/** A letter to a subscriber, who is told where the page is and how to be told no more. */
function contentOf({ page, ...letter }: Letter, manageUrl: string): MailContent {
  const links = [
    { label: 'Status page', url: page.url },
    { label: 'Change or end it', url: manageUrl },
  ]
  return { ...letter, about: `${page.name} status`, links }
}
