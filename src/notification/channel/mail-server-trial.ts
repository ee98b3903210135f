import { parseConnectionUrl } from 'nodemailer/lib/shared'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { SECOND } from '../../core/time.ts'
import { boundedTls } from '../../network/outbound/tls-options.ts'

/** The response of a mail server to a connection and a login, without sending an email. */
export type MailTrial =
  | { readonly kind: 'accepted'; readonly isEncrypted: boolean; readonly isLoggedIn: boolean }
  | { readonly kind: 'failed'; readonly at: 'connection' | 'encryption' | 'login'; readonly reason: string }

const TIMEOUT_MS = 5 * SECOND

/** Error codes of the library for TLS failures, and patterns in messages of OpenSSL and Node.js about certificates. */
const TLS_CODES = new Set(['ETLS'])
const CERTIFICATE = /certificate|self.signed|altname|SSL|TLS/i

/**
 * Connects to the server of `SMTP_URL` as the mailer does, uses STARTTLS if it is offered, logs in if the URL has a
 * user, and quits. Never rejects; each step takes at most about five seconds.
 */
export async function tryMailServer(smtpUrl: string): Promise<MailTrial> {
  const { auth, ...options } = parseConnectionUrl(smtpUrl)
  const connection = new SMTPConnection({
    ...options,
    tls: { ...options.tls, ...boundedTls },
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
  })
  try {
    await new Promise<void>((resolve, reject) => {
      connection.on('error', reject)
      connection.connect((error) => (error ? reject(error) : resolve()))
    })
  } catch (error) {
    const { code = '', message } = error as { readonly code?: string; readonly message: string }
    connection.close()
    const at = TLS_CODES.has(code) || CERTIFICATE.test(message) ? 'encryption' : 'connection'
    return { kind: 'failed', at, reason: shortened(message) }
  }
  const user = auth?.user
  try {
    if (user) {
      await new Promise<void>((resolve, reject) => {
        connection.on('error', reject)
        connection.login({ user, pass: auth.pass ?? '' }, (error) => (error ? reject(error) : resolve()))
      })
    }
    return { kind: 'accepted', isEncrypted: connection.secure, isLoggedIn: Boolean(user) }
  } catch (error) {
    const { response, message } = error as { readonly response?: string; readonly message: string }
    return { kind: 'failed', at: 'login', reason: shortened(response ?? message) }
  } finally {
    connection.quit()
  }
}

const MAX_REASON_LENGTH = 200

/** Shortens a server's response to one line. */
const shortened = (text: string) =>
  text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_REASON_LENGTH)
    .replace(/(?<!\.)\.+$/, '')
