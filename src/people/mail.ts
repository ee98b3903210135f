import { NotFound } from '../core/errors.ts'
import type { PeopleContext } from './context.ts'

/** An email to a person about their account. */
export interface AccountMail {
  readonly to: string
  readonly subject: string
  /** Plain text. */
  readonly message: string
  readonly action: { readonly label: string; readonly url: string }
  /** Why the reader receives it. */
  readonly reason: string
}

/** The answer of the mail server. */
export interface MailAnswer {
  readonly delivered: boolean
  readonly message: string
}

/** Sends an email about an account. Never rejects: failures are logged, without the link in the email. */
export type SendAccountMail = (mail: AccountMail) => Promise<MailAnswer>

/** Returns the function that sends emails. @throws NotFound when email is not set up. */
export function requireMail({ sendMail }: Pick<PeopleContext, 'sendMail'>): SendAccountMail {
  if (sendMail === undefined) throw new NotFound('Email is not set up.')
  return sendMail
}

/** Starts work without waiting for it, because its duration would reveal which addresses have an account. */
export function afterAnswer({ log }: Pick<PeopleContext, 'log'>, work: () => Promise<void>): void {
  work().catch((error: unknown) => log.error({ err: error }, 'people: could not send a link'))
}
