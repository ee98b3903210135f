import { randomUUID } from 'node:crypto'
import type { Context } from '../../core/context.ts'
import { textAsHtml } from '../../core/markdown/markdown.ts'
import type { SendAccountMail } from '../../people/mail.ts'
import { htmlOf, textOf } from '../channel/mail-template.ts'
import type { Mailer } from '../channel/mailer.ts'

/** Creates a function that sends email about accounts, such as links to sign in. */
export function createAccountMail({ now, log }: Pick<Context, 'now' | 'log'>, mailer: Mailer): SendAccountMail {
  return async ({ to, subject, message, action, reason }) => {
    const content = {
      about: 'Allclear account',
      headline: subject,
      tone: 'neutral',
      facts: [],
      html: textAsHtml(message),
      action,
      reason,
      links: [],
    } as const
    const outcome = await mailer.send({
      to,
      fromName: 'Allclear',
      subject,
      text: textOf(content),
      html: htmlOf(content),
      messageId: `account.${randomUUID()}@${mailer.domain}`,
      inReplyTo: null,
      list: null,
      date: now(),
    })
    if (outcome.kind === 'failed')
      log.error({ reason: outcome.message }, 'notification: could not send an email to an account')
    return { delivered: outcome.kind === 'delivered', message: outcome.message }
  }
}
