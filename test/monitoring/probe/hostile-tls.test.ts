import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type OptionsInput, readOptions } from '../../../src/monitoring/monitor/options.ts'
import type { ProbedKind } from '../../../src/monitoring/monitor/probe-kinds.ts'
import { runProbe } from '../../../src/monitoring/monitor/run-probe.ts'
import { createAuthority } from '../../support/certificate.ts'
import { largeGroup } from '../../support/hostile-certificate.ts'
import { open } from '../../support/private-targets.ts'
import { runWith, startTools } from './run.ts'

const certified = createAuthority().issue(['127.0.0.1'], { hasRsaKey: true })
/** Supports only Diffie-Hellman in a group of 10,000 bits, which takes its clients two seconds. */
const onlyLargeGroup = createSecureContext({
  ...certified,
  dhparam: largeGroup(),
  ciphers: 'DHE',
  maxVersion: 'TLSv1.2',
})

/** A server's texts before TLS: each is sent after a message of the client; the first one, if it greets, at once. */
interface Before {
  readonly greets?: boolean
  readonly says: readonly (string | Buffer)[]
}

/** Starts a server. Returns its port, and how many clients have begun a handshake. */
async function startHostile({ greets = false, says }: Before = { says: [] }) {
  const sockets = new Set<Socket>()
  let handshakes = 0
  const server = createServer(async (socket) => {
    sockets.add(socket.on('error', () => {}))
    for (const [index, text] of says.entries()) {
      if (index > 0 || !greets) await once(socket, 'data')
      socket.write(text)
    }
    handshakes += 1
    new TLSSocket(socket, { isServer: true, secureContext: onlyLargeGroup }).on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { port: (server.address() as AddressInfo).port, handshakes: () => handshakes }
}

/** The greeting of MySQL 8 that offers TLS. */
const mysqlGreeting = (() => {
  const capabilities = Buffer.from([0x00, 0x8a])
  const more = Buffer.from([0xff, 0x02, 0x00, 0x08, 0x00, 21])
  const body = Buffer.concat([
    Buffer.from('\n8.0\0'),
    ...[Buffer.from('123412345678\0'), capabilities, more, Buffer.alloc(10)],
    Buffer.from('abcdefghijkl\0mysql_native_password\0'),
  ])
  const head = Buffer.alloc(4)
  head.writeUIntLE(body.length, 0, 3)
  return Buffer.concat([head, body])
})()

const ldapAgreed = Buffer.from([0x30, 0x0c, 0x02, 0x01, 0x01, 0x78, 0x07, 0x0a, 0x01, 0x00, 0x04, 0x00, 0x04, 0x00])

const host = '127.0.0.1'
const of = (kind: string, more: object = {}) =>
  [(port: number) => ({ [kind]: { host, port, tls: true, ...more } })] as const
const starting = (startTls: string, before: Before) =>
  [(port: number) => ({ tcp: { host, port, startTls } }), before] as const

/** Every way in which a monitor begins TLS. */
const doors: Readonly<Record<string, readonly [(port: number) => OptionsInput, Before?]>> = {
  HTTP: [(port) => ({ http: { url: `https://127.0.0.1:${port}/` } })],
  'HTTP through a proxy': [
    (port) => ({ http: { url: 'http://127.0.0.1/', proxy: { url: `https://127.0.0.1:${port}` } } }),
  ],
  'HTTP behind a proxy': [
    (port) => ({ http: { url: 'https://127.0.0.1/', proxy: { url: `http://127.0.0.1:${port}` } } }),
    { says: ['HTTP/1.1 200 OK\r\n\r\n'] },
  ],
  'HTTP with a token': [
    (port) => ({
      http: {
        url: 'https://127.0.0.1/',
        oauth: { tokenUrl: `https://127.0.0.1:${port}/`, clientId: 'a', clientSecret: 'b' },
      },
    }),
  ],
  TCP: of('tcp'),
  'TCP with STARTTLS of SMTP': starting('SMTP', {
    greets: true,
    says: ['220 a\r\n', '250 STARTTLS\r\n', '220 go\r\n'],
  }),
  'TCP with STARTTLS of IMAP': starting('IMAP', { greets: true, says: ['* OK a\r\n', 'a OK\r\n'] }),
  'TCP with STARTTLS of POP3': starting('POP3', { greets: true, says: ['+OK a\r\n', '+OK\r\n'] }),
  'TCP with STARTTLS of LDAP': starting('LDAP', { says: [ldapAgreed] }),
  REDIS: of('redis'),
  MQTT: of('mqtt'),
  MONGODB: of('mongodb'),
  MYSQL: [...of('mysql'), { greets: true, says: [mysqlGreeting, ''] }],
  POSTGRESQL: [...of('postgresql'), { says: ['S'] }],
  'POSTGRESQL without verification': [...of('postgresql', { verifyCertificate: false }), { says: ['S'] }],
  WEBSOCKET: of('websocket'),
  GRPC: of('grpc'),
  'DNS over TLS': [(port) => ({ dns: { name: 'example.com', recordType: 'A', resolver: `tls://127.0.0.1:${port}` } })],
  'DNS over HTTPS': [
    (port) => ({ dns: { name: 'example.com', recordType: 'A', resolver: `https://127.0.0.1:${port}/` } }),
  ],
}

describe('a TLS server that only supports a large Diffie-Hellman group is refused by a monitor of', () => {
  test.each(Object.entries(doors))('%s', async (_, [input, before]) => {
    const server = await startHostile(before)
    const { tools } = await startTools()
    const { kind, options } = readOptions(open, input(server.port))
    const result = await runProbe(kind as ProbedKind, options as never, runWith(tools))
    expect(result.message).toContain('none of our TLS versions and ciphers')
    expect(server.handshakes()).toBe(1)
  })
})

describe('PostgreSQL without TLS', () => {
  test.each([
    ['N', 'The server does not support TLS'],
    ['E', 'The server refused to start TLS'],
  ])('answers %s', async (says, message) => {
    const { port } = await startHostile({ says: [says] })
    const { tools } = await startTools()
    const { options } = readOptions(open, of('postgresql')[0](port))
    expect(await runProbe('POSTGRESQL', options as never, runWith(tools))).toMatchObject({ outcome: 'DOWN', message })
  })
})
