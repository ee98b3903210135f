import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Email } from 'postal-mime'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'

/** A received email. */
export interface ReceivedMail extends Email {
  /** The addressee of the envelope. */
  readonly envelopeTo: string
  /** All of it, as transmitted. */
  readonly raw: string
}

/** An SMTP server on loopback. */
export interface MailServer {
  /** For `SMTP_URL`. */
  readonly url: string
  /** The received emails, in order. */
  readonly mails: ReceivedMail[]
  /** Resolves once this many matching emails have arrived. */
  arrived(count: number, matches?: (mail: ReceivedMail) => boolean): Promise<ReceivedMail[]>
  /** The answer that refuses a recipient, matches as `550 5.1.1 No matches mailbox`; null: accepts it. */
  refusal: (to: string) => string | null
  close(): Promise<void>
}

/** Starts a server; the caller closes it. */
export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  const waiting = new Set<() => void>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    // Does not wait for clients that keep their connections.
    closeTimeout: 1,
    onRcptTo({ address }, _session, done) {
      const refusal = mailServer.refusal(address)
      done(
        refusal === null
          ? null
          : Object.assign(new Error(refusal.slice(4)), { responseCode: Number(refusal.slice(0, 3)) }),
      )
    },
    onData(stream, { envelope }, done) {
      void buffer(stream).then(async (raw) => {
        const mail = await PostalMime.parse(raw)
        mails.push({ ...mail, envelopeTo: envelope.rcptTo[0]?.address ?? '', raw: raw.toString('utf8') })
        done(null)
        for (const check of waiting) check()
        // The sender was killed in the middle.
      }, done)
    },
  })
  server.on('error', () => undefined)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // A server that listens on an address has one with a port.
  const { port } = server.server.address() as AddressInfo
  const mailServer: MailServer = {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    refusal: () => null,
    arrived: (count, matches = () => true) =>
      new Promise((resolve) => {
        const check = () => {
          const found = mails.filter(matches)
          if (found.length < count) return
          waiting.delete(check)
          resolve(found)
        }
        waiting.add(check)
        check()
      }),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return mailServer
}

/** The first address in a text that begins this way. */
export function linkIn({ text = '' }: Pick<ReceivedMail, 'text'>, begins: string): string {
  const start = text.indexOf(begins)
  if (start === -1) throw new Error(`There is no link to ${begins} in:\n${text}`)
  return text.slice(start).split(/\s/, 1)[0] ?? ''
}
