import type { Socket } from 'node:net'
import { type Conversation, ConversationError } from './conversation.ts'
import { beforeTlsOn } from './server-probe.ts'

/** The protocols that upgrade a connection to TLS. */
export const startTlsProtocols = ['SMTP', 'IMAP', 'POP3', 'LDAP'] as const

/** A protocol that upgrades a connection to TLS. */
export type StartTls = (typeof startTlsProtocols)[number]

/**
 * Asks a server to upgrade to TLS, and waits until it agrees. The caller enforces the timeout.
 * @throws ConversationError when it does not agree.
 */
export function startTls(protocol: StartTls, socket: Socket): Promise<void> {
  return beforeTlsOn(socket, asks[protocol])
}

const asks: Readonly<Record<StartTls, (server: Conversation) => Promise<void>>> = {
  async SMTP(server) {
    await smtpReply(server, '220')
    server.send('EHLO allclear.invalid\r\n')
    await smtpReply(server, '250')
    server.send('STARTTLS\r\n')
    await smtpReply(server, '220')
  },
  async IMAP(server) {
    await expectLine(server, /^\* OK/i)
    server.send('a STARTTLS\r\n')
    await expectLine(server, /^a OK/i)
  },
  async POP3(server) {
    await expectLine(server, /^\+OK/i)
    server.send('STLS\r\n')
    await expectLine(server, /^\+OK/i)
  },
  async LDAP(server) {
    server.send(LDAP_START_TLS)
    const [sequence, length = 0] = await server.bytes(2)
    if (sequence !== 0x30 || length > 0x7f) throw new ConversationError('The server does not speak LDAP')
    const answer = await server.bytes(length)
    // The message id comes first, then an extended response (RFC 4511 §4.12), whose first element is the result.
    const at = answer.indexOf(Buffer.from([0x0a, 0x01]))
    if (answer[3] !== 0x78 || at === -1 || answer[at + 2] !== 0)
      throw new ConversationError('The server refused to start TLS')
  },
}

/** Reads a reply of any number of lines (RFC 5321 §4.2). */
async function smtpReply(server: Conversation, code: string): Promise<void> {
  for (;;) {
    const line = await server.until('\n')
    if (!line.startsWith(code)) throw new ConversationError('The server refused to start TLS')
    if (line[3] !== '-') return
  }
}

async function expectLine(server: Conversation, pattern: RegExp): Promise<void> {
  if (!pattern.test(await server.until('\n'))) throw new ConversationError('The server refused to start TLS')
}

/** An extended request with the name of StartTLS (RFC 4511 §4.14), as message 1. */
const LDAP_START_TLS = Buffer.concat([
  Buffer.from([0x30, 0x1d, 0x02, 0x01, 0x01, 0x77, 0x18, 0x80, 0x16]),
  Buffer.from('1.3.6.1.4.1.1466.20037'),
])
