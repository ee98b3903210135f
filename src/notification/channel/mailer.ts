import { createTransport } from 'nodemailer'
import addressparser from 'nodemailer/lib/addressparser'
import type { Config } from '../../core/config.ts'
import { StartError } from '../../core/errors.ts'
import { SECOND } from '../../core/time.ts'
import type { Outcome } from './channel.ts'

/** A mail to one reader. No field but `text` and `html` may have line breaks; the library would refuse or fold them. */
export interface Mail {
  readonly to: string
  /** What the sender is called. */
  readonly fromName: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Without angle brackets. */
  readonly messageId: string
  readonly inReplyTo: string | null
  /** Of which list, and where a POST ends the reader's part in it; null: it is about the reader's own business alone. */
  readonly list: { readonly id: string; readonly unsubscribeUrl: string } | null
  readonly date: Date
}

/** Sends mail through the SMTP server of the settings. */
export interface Mailer {
  /** The domain of the sender's address, in which message ids are made. */
  readonly domain: string
  /** Never rejects. */
  send(mail: Mail): Promise<Outcome>
  close(): void
}

/** The mailer of the settings. */
export interface SettingsMailer extends Mailer {
  /** Whether the last mail did not go out for a reason of ours, such as a server that is away; a refused reader is none. */
  isFailing(): boolean
}

/** Connections to the SMTP server at most. */
const CONNECTIONS = 8
/** How many mails are under way, or taken and not yet noted, at most: so many a crash may send twice. */
export const MAX_CONCURRENT_MAILS = CONNECTIONS
/** Of a whole sending, in milliseconds: what is not over then may have been taken or not, and is sent again with the same id. */
const TIMEOUT = 45 * SECOND

/**
 * The mailer of the settings; null without `SMTP_URL`.
 * @param site our public address: mail comes from its host when `MAIL_FROM` is not set.
 * @throws StartError when `MAIL_FROM` is no mail address.
 */
export function createMailer(
  { SMTP_URL, MAIL_FROM }: Pick<Config, 'SMTP_URL' | 'MAIL_FROM'>,
  site: { readonly baseUrl: string },
): SettingsMailer | null {
  if (SMTP_URL === undefined) return null
  const named = MAIL_FROM === undefined ? null : requireSender(MAIL_FROM)
  const sender = () => named ?? `status@${new URL(site.baseUrl).hostname}`
  const transport = createTransport({
    url: SMTP_URL,
    pool: true,
    maxConnections: CONNECTIONS,
    maxMessages: Number.POSITIVE_INFINITY,
    connectionTimeout: 10 * SECOND,
    greetingTimeout: 10 * SECOND,
    socketTimeout: 30 * SECOND,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  let isFailing = false
  return {
    isFailing: () => isFailing,
    get domain() {
      const address = sender()
      return address.slice(address.lastIndexOf('@') + 1)
    },
    async send(mail) {
      const sending = transport.sendMail({
        from: { name: mail.fromName, address: sender() },
        to: { name: '', address: mail.to },
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
        date: mail.date,
        messageId: `<${mail.messageId}>`,
        ...(mail.inReplyTo !== null && { inReplyTo: `<${mail.inReplyTo}>`, references: [`<${mail.inReplyTo}>`] }),
        ...(mail.list !== null && { list: { id: { url: mail.list.id, comment: mail.fromName } } }),
        headers: {
          ...(mail.list !== null && unsubscribeHeaders(mail.list)),
          // RFC 3834: nobody's holiday is to be answered with.
          'Auto-Submitted': 'auto-generated',
        },
      })
      const outcome = await within(TIMEOUT, sending).then(
        ({ response }) => ({ kind: 'delivered', status: statusIn(response), message: clean(response) }) as const,
        failureOf,
      )
      isFailing = outcome.kind === 'failed' && outcome.permanence === 'TEMPORARY'
      return outcome
    },
    close: () => transport.close(),
  }
}

/** RFC 8058: one click, without a page in between. */
function unsubscribeHeaders({ unsubscribeUrl }: { readonly unsubscribeUrl: string }): Record<string, string> {
  return { 'List-Unsubscribe': `<${unsubscribeUrl}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
}

/** @throws StartError when a text is no mail address. */
export function requireSender(text: string): string {
  const [sender, ...more] = addressparser(text)
  const address = sender && 'address' in sender ? (sender.address ?? '') : ''
  if (more.length === 0 && /^[^\s@<>]+@[^\s@<>]+$/.test(address)) return address
  throw new StartError(
    `MAIL_FROM is ${JSON.stringify(text)}, but must be one email address, such as status@example.com.`,
  )
}

/** An error of the library; `responseCode` is the server's, `command` what it refused. */
interface SmtpError extends Error {
  readonly code?: string
  readonly responseCode?: number
  readonly response?: string
  readonly command?: string
}

/**
 * What a failure means. The server's refusal of the reader's address or of the mail itself (5xx, RFC 5321 §4.2.1) is for
 * good; anything else, such as a sender that it does not know or a password that is wrong, is ours to put right.
 */
function failureOf(error: SmtpError): Outcome {
  const { responseCode: status = null, response, command = '', message } = error
  const refused = status !== null && status >= 500 && /^(RCPT TO|DATA)/.test(command)
  return {
    kind: 'failed',
    status,
    message: clean(response ?? message),
    permanence: refused ? 'REFUSED' : 'TEMPORARY',
    retryAfterMs: null,
  }
}

const MAX_MESSAGE_LENGTH = 300

/** What a server says, on one line that is not too long. */
const clean = (text: string) =>
  text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_MESSAGE_LENGTH)
const statusIn = (response: string) => Number(/^\d{3}/.exec(response)?.[0] ?? 250)

function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('The SMTP server did not finish in time.')), milliseconds)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
