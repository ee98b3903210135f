import { expect, test } from 'vitest'
import type { Mail, Mailer } from '../../../src/notification/channel/mailer.ts'
import { createAccountMail } from '../../../src/notification/mail/account-mail.ts'
import { noon } from '../../support/context.ts'
import { silent } from '../../support/scratch.ts'

const mail = {
  to: 'ada@example.com',
  subject: 'Sign in to Allclear',
  message: 'The link works once.',
  action: { label: 'Sign in', url: 'https://status.example/sign-in/link/secret' },
  reason: 'Someone <asked> for it.',
}

function mailer(failure: string | null): Mailer & { readonly sent: Mail[] } {
  const sent: Mail[] = []
  return {
    sent,
    domain: 'status.example',
    close() {},
    async send(mail) {
      sent.push(mail)
      if (failure === null) return { kind: 'delivered', status: 250, message: 'OK' }
      return { kind: 'failed', status: 550, message: failure, permanence: 'REFUSED', retryAfterMs: null }
    },
  }
}

test('an email about an account describes its purpose, and belongs to no list', async () => {
  const { sent, ...rest } = mailer(null)
  await createAccountMail({ now: () => noon, log: silent }, { ...rest, sent } as Mailer)(mail)
  expect(sent).toMatchObject([{ to: 'ada@example.com', fromName: 'Allclear', list: null, date: noon }])
  expect(sent[0]?.text).toContain('Sign in: https://status.example/sign-in/link/secret')
  expect(sent[0]?.html).toContain('Someone &#60;asked&#62; for it.')
  expect(sent[0]?.messageId).toMatch(/^account\.[\w-]+@status\.example$/)
})

test('a failure is logged, without the link', async () => {
  const logged: unknown[] = []
  const log = { ...silent, error: (...given: unknown[]) => void logged.push(given) } as typeof silent
  await createAccountMail({ now: () => noon, log }, mailer('550 No such mailbox'))(mail)
  expect(JSON.stringify(logged)).toContain('No such mailbox')
  expect(JSON.stringify(logged)).not.toContain('secret')
})
