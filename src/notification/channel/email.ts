import type { z } from 'zod'
import { emailText } from '../../account/page-settings.ts'
import type { Address, Channel } from './channel.ts'
import { htmlOf, textOf } from './mail-template.ts'

/** The destination of all mail: what is spared is our own SMTP server. */
export const MAIL = 'mail'

/** Mailboxes are told apart without regard to case: no server of today has two that differ in nothing else. */
const address = emailText.trim().transform((text): Address => {
  const [mailbox = '', domain = ''] = [text.slice(0, text.lastIndexOf('@')), text.slice(text.lastIndexOf('@') + 1)]
  const canonical = `${mailbox}@${domain}`.toLowerCase()
  // What stands after a plus leads to the same mailbox at most providers.
  return { text: canonical, label: canonical, destination: MAIL, target: canonical.replace(/\+[^@]*@/, '@') }
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
    const root = `${thread}@${mailer.domain}`
    return mailer.send({
      to: address,
      fromName: `${letter.page.name} status`,
      // The same for the whole thread: some readers go by it.
      subject: `[${letter.page.name} status] ${letter.topic}`,
      text: textOf(letter, manageUrl),
      html: htmlOf(letter, manageUrl),
      messageId: opensThread ? root : `${id}@${mailer.domain}`,
      inReplyTo: opensThread ? null : root,
      listId: `${letter.page.slug}.${mailer.domain}`,
      unsubscribeUrl,
      date: now(),
    })
  },
}
