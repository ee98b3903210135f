import { createTransport } from 'nodemailer'
import addressparser from 'nodemailer/lib/addressparser'
import { withDeadline } from '../../core/concurrency/deadline.ts'
import type { Config } from '../../core/config.ts'
import { StartError } from '../../core/errors.ts'
import { SECOND } from '../../core/time.ts'
import { boundedTls } from '../../network/outbound/tls-options.ts'
import type { SendOutcome } from './channel.ts'
import { refusalSubject } from './smtp-reply.ts'

/** An email to one recipient. Only `text` and `html` can have line breaks; the library would refuse or fold others. */
export interface Mail {
  readonly to: string
  /** The display name of the sender. */
  readonly fromName: string
  readonly subject: string
  readonly text: string
  /** Null for a plain-text email. */
  readonly html: string | null
  /** Without angle brackets. */
  readonly messageId: string
  readonly inReplyTo: string | null
  /**
   * The list that the email belongs to, and the URL at which a POST unsubscribes; null if it only concerns the
   * recipient's own account.
   */
  readonly list: { readonly id: string; readonly unsubscribeUrl: string } | null
  readonly date: Date
}

/** Sends email through the SMTP server of the settings. */
export interface Mailer {
  /** The domain of the sender's address, which message ids use. */
  readonly domain: string
  /** Never rejects. */
  send(mail: Mail): Promise<SendOutcome>
  close(): void
}

/** The mailer of the settings. */
export interface SettingsMailer extends Mailer {
  /** Whether the last email failed for a reason that the operator can mend, such as an unreachable server. */
  isFailing(): boolean
}

/** The maximum number of connections to the SMTP server. They open as needed; one organization's deliveries need half. */
const CONNECTIONS = 16
/**
 * The maximum number of emails that are being sent, or were accepted but not recorded yet. A crash can send these
 * twice.
 */
export const MAX_CONCURRENT_MAILS = CONNECTIONS
/**
 * The timeout of a send, in milliseconds. After it, an email may have been accepted or not, and is sent again with the
 * same id.
 */
const TIMEOUT = 45 * SECOND

/**
 * Creates the mailer of the settings; null without `SMTP_URL`.
 * @param site our public URL; email comes from its host if `MAIL_FROM` is not set.
 * @throws StartError if `MAIL_FROM` is not an email address.
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
    tls: boundedTls,
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
        ...(mail.html !== null && { html: mail.html }),
        date: mail.date,
        messageId: `<${mail.messageId}>`,
        ...(mail.inReplyTo !== null && { inReplyTo: `<${mail.inReplyTo}>`, references: [`<${mail.inReplyTo}>`] }),
        ...(mail.list !== null && { list: { id: { url: mail.list.id, comment: mail.fromName } } }),
        headers: {
          ...(mail.list !== null && unsubscribeHeaders(mail.list)),
          // Asks vacation responders not to reply (RFC 3834).
          'Auto-Submitted': 'auto-generated',
        },
      })
      const outcome = await withDeadline(TIMEOUT, 'The SMTP server', sending).then(
        ({ response }) => ({ kind: 'delivered', status: statusIn(response), message: clean(response) }) as const,
        failureOf,
      )
      isFailing = outcome.kind === 'failed' && outcome.isOurs === true
      return outcome
    },
    close: () => transport.close(),
  }
}

/** Returns the headers of one-click unsubscription (RFC 8058). */
function unsubscribeHeaders({ unsubscribeUrl }: { readonly unsubscribeUrl: string }): Record<string, string> {
  return { 'List-Unsubscribe': `<${unsubscribeUrl}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
}

/** Returns the sender's address. @throws StartError unless the text is one email address. */
export function requireSender(text: string): string {
  const [sender, ...more] = addressparser(text)
  const address = sender && 'address' in sender ? (sender.address ?? '') : ''
  if (more.length === 0 && /^[^\s@<>]+@[^\s@<>]+$/.test(address)) return address
  throw new StartError(
    `MAIL_FROM is ${JSON.stringify(text)}, but must be one email address, such as status@example.com.`,
  )
}

/** An error of the library. `responseCode` is the server's status, `command` the command that it refused. */
interface SmtpError extends Error {
  readonly code?: string
  readonly responseCode?: number
  readonly response?: string
  readonly command?: string
}

/** Classifies a failure. Only what concerns the recipient's address ends the delivery. */
function failureOf({ responseCode, response, command = '', message }: SmtpError): SendOutcome {
  const status = responseCode ?? null
  const text = clean(response ?? message)
  const subject = refusalSubject({ status, text, command })
  return {
    kind: 'failed',
    status,
    message: text,
    permanence: subject === 'ADDRESS' ? 'REFUSED' : 'TEMPORARY',
    isOurs: subject === 'US',
    retryAfterMs: null,
  }
}

const MAX_MESSAGE_LENGTH = 300

/** Shortens a server's response to one line. */
const clean = (text: string) =>
  text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_MESSAGE_LENGTH)
const statusIn = (response: string) => Number(/^\d{3}/.exec(response)?.[0] ?? 250)
