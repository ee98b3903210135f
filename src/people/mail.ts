import { NotFound } from '../core/errors.ts'
import type { PeopleContext } from './context.ts'

/** A mail to a person about its account. */
export interface AccountMail {
  readonly to: string
  readonly subject: string
  /** Plain text. */
  readonly message: string
  readonly action: { readonly label: string; readonly url: string }
  /** Why the reader receives it. */
  readonly reason: string
}

/** What the mail server answered. */
export interface MailAnswer {
  readonly delivered: boolean
  readonly message: string
}

/** Sends a mail about an account. Never rejects: failures are logged, without the mail's link. */
export type SendAccountMail = (mail: AccountMail) => Promise<MailAnswer>

/** Returns what sends mail. @throws NotFound when mail is not set up. */
export function requireMail({ sendMail }: Pick<PeopleContext, 'sendMail'>): SendAccountMail {
  if (sendMail === undefined) throw new NotFound('Mail is not set up.')
  return sendMail
}

/** Runs work whose duration would tell who exists, after the answer. */
export function afterAnswer({ log }: Pick<PeopleContext, 'log'>, work: () => Promise<void>): void {
  work().catch((error: unknown) => log.error({ err: error }, 'people: could not send a link'))
}
