// @slow
import type { Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { describe, expect, test } from 'vitest'
import type { StartTls } from '../../../src/monitoring/probe/start-tls.ts'
import type { TcpOptions } from '../../../src/monitoring/probe/tcp.ts'
import { tcp } from '../../../src/monitoring/probe/tcp.ts'
import { createOutbound } from '../../../src/network/outbound/outbound.ts'
import { zone } from '../../network/outbound/setup.ts'
import { type Authority, createAuthority, selfSigned } from '../../support/certificate.ts'
import { freePort } from '../../support/free-port.ts'
import { startTcpServer } from '../../support/tcp-server.ts'
import { runWith, startTools } from './run.ts'

const options = (given: object): TcpOptions => tcp.options.parse({ host: '127.0.0.1', port: 1, ...given })

/** Returns the result of probing a server that behaves this way. */
async function probe(serve: (socket: Socket) => void, given: object = {}, timeoutMs = 5000) {
  const { port } = await startTcpServer(serve)
  return run({ port, ...given }, timeoutMs)
}

async function run(given: object, timeoutMs = 5000, allowPrivate = true) {
  const { tools } = await startTools(zone({}), allowPrivate)
  return tcp.run(options(given), runWith(tools, { timeoutMs }))
}

describe('options', () => {
  test('have defaults, and do not change when they are parsed again', () => {
    const read = options({ host: ' DB.Example.com. ', port: 5432 })
    expect(read).toEqual({
      host: 'db.example.com',
      port: 5432,
      tls: false,
      verifyCertificate: true,
      inverted: false,
    })
    expect(tcp.options.parse(read)).toEqual(read)
  })

  test.each([
    [{ host: 'a b' }, 'host'],
    [{ host: 'a:80' }, 'host'],
    [{ port: 0 }, 'port'],
    [{ port: 65_536 }, 'port'],
    [{ expect: '' }, 'expect'],
    [{ send: 'x'.repeat(1001) }, 'send'],
    [{ port: 25, send: 'HELO me\\r\\n' }, 'send'],
    [{ degradedAboveMs: 0 }, 'degradedAboveMs'],
    [{ tls: true, startTls: 'SMTP' }, 'startTls'],
    [{ startTls: 'FTP' }, 'startTls'],
    [{ more: 1 }, ''],
  ])('are refused: %j', (given, path) => {
    const { error } = tcp.options.safeParse({ host: '127.0.0.1', port: 1, ...given })
    expect(error?.issues.map((issue) => issue.path.join('.'))).toEqual([path])
  })
})

describe('a TCP monitor', () => {
  test('is UP when the connection is accepted', async () => {
    const result = await probe(() => undefined)
    expect(result).toMatchObject({
      outcome: 'UP',
      message: expect.stringMatching(/^Connected in \d+ ms$/),
      latencyMs: expect.any(Number),
      detail: { address: '127.0.0.1', phases: { tls: null, firstByte: null } },
      suspect: null,
    })
  })

  test('is UP when the response is as expected, even if it arrives in parts', async () => {
    const echo = (socket: Socket) => {
      socket.on('data', (chunk) => {
        socket.write(`you said ${chunk.subarray(0, 2)}`)
        setImmediate(() => socket.write(chunk.subarray(2)))
      })
    }
    const given = { send: 'PI\\\\NG\\r\\n\\0', expect: 'said PI\\\\NG\\r\\n\\0' }
    expect(await probe(echo, given)).toMatchObject({ outcome: 'UP' })
  })

  test('is DOWN when the server accepts the connection and sends nothing', async () => {
    expect(await probe(() => undefined, { expect: '220' }, 200)).toMatchObject({
      outcome: 'DOWN',
      message: 'Connected, but "220" did not arrive within 0.2 s',
      latencyMs: null,
      suspect: null,
    })
  })

  test('is DOWN when the server sends something else', async () => {
    expect(await probe((socket) => socket.end('421 busy'), { expect: '220' })).toMatchObject({
      outcome: 'DOWN',
      message: 'Connected, but closed before "220" arrived',
    })
    const talkative = (socket: Socket) => void socket.write('x'.repeat(64 * 1024))
    expect(await probe(talkative, { expect: '220' })).toMatchObject({
      outcome: 'DOWN',
      message: 'Connected, but "220" is not in the first 16 KiB',
    })
    const late = (socket: Socket) => void socket.write(`${'x'.repeat(16 * 1024)}220`)
    expect(await probe(late, { expect: '220' })).toMatchObject({ outcome: 'DOWN' })
  })

  test('is DOWN when the connection is refused', async () => {
    const port = await freePort()
    expect(await run({ port })).toMatchObject({
      outcome: 'DOWN',
      message: `Connection to port ${port} refused`,
      suspect: null,
    })
  })

  test('is DEGRADED when the response is slow', async () => {
    const slow = (socket: Socket) => void setTimeout(() => socket.write('220'), 30)
    expect(await probe(slow, { expect: '220', degradedAboveMs: 20 })).toMatchObject({
      outcome: 'DEGRADED',
      message: expect.stringMatching(/^Connected in \d+ ms, more than 20 ms$/),
    })
  })

  test('uses TLS, and verifies the certificate if configured', async () => {
    const { port } = await startTcpServer((socket) => socket.write('hello'), selfSigned('127.0.0.1'))
    const given = { port, tls: true, expect: 'hello' }
    expect(await run(given)).toMatchObject({ outcome: 'DOWN', message: 'TLS certificate is self-signed' })
    expect(await run({ ...given, verifyCertificate: false })).toMatchObject({
      outcome: 'UP',
      detail: { certificateEndsAt: expect.stringMatching(/Z$/), phases: { tls: expect.any(Number) } },
    })
  })

  test('is UNKNOWN when the target is forbidden', async () => {
    const server = await startTcpServer(() => undefined)
    expect(await run({ port: server.port }, 5000, false)).toMatchObject({ outcome: 'UNKNOWN', suspect: null })
    expect(server.connections).toBe(0)
  })

  test('is UNKNOWN when the run is aborted', async () => {
    const leaving = new AbortController()
    const { port } = await startTcpServer(() => leaving.abort())
    const { tools } = await startTools(zone({}))
    const limits = { timeoutMs: 60_000, signal: leaving.signal }
    expect(await tcp.run(options({ port, expect: '220' }), runWith(tools, limits))).toMatchObject({
      outcome: 'UNKNOWN',
    })
  })
})

describe('STARTTLS', () => {
  const authority = createAuthority()

  /** Starts a server that answers each line from a script, and then starts TLS. */
  async function ask(
    protocol: StartTls,
    greeting: string,
    replies: readonly string[],
    days = 90,
    more: { issuer?: Authority } = {},
  ) {
    const { issuer = authority } = more
    const from = new Date(Date.now() - 60 * 86_400_000)
    const certified = issuer.issue(['127.0.0.1'], { from, to: new Date(Date.now() + days * 86_400_000) })
    const { port } = await startTcpServer((socket) => {
      const left = [...replies]
      socket.write(greeting, 'latin1')
      const answer = () => {
        socket.write(left.shift() ?? '', 'latin1')
        if (left.length > 0) return
        socket.off('data', answer)
        const secured = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(certified) })
        secured.on('error', () => undefined)
      }
      socket.on('data', answer)
    })
    const { tools } = await startTools(zone({}))
    const outbound = createOutbound({ dns: tools.dns, allowPrivate: true, ca: authority.ca })
    return tcp.run(options({ port, startTls: protocol }), runWith({ ...tools, outbound }, { timeoutMs: 2000 }))
  }

  const smtp = ['250-mail\r\n250 STARTTLS\r\n', '220 go\r\n']
  const ldap = '\u0030\u000c\u0002\u0001\u0001\u0078\u0007\u000a\u0001\u0000\u0004\u0000\u0004\u0000'

  test.each<[StartTls, string, readonly string[]]>([
    ['SMTP', '220-mail\r\n220 ready\r\n', smtp],
    ['IMAP', '* OK ready\r\n', ['a OK begin\r\n']],
    ['POP3', '+OK ready\r\n', ['+OK begin\r\n']],
    ['LDAP', '', [ldap]],
  ])('by %s is UP, and reads the certificate', async (protocol, greeting, replies) => {
    expect(await ask(protocol, greeting, replies)).toMatchObject({
      outcome: 'UP',
      detail: { certificateEndsAt: expect.any(String) },
    })
  })

  test('is DEGRADED when the certificate expires soon, and DOWN when it has expired', async () => {
    expect(await ask('SMTP', '220 ready\r\n', smtp, 5.5)).toMatchObject({
      outcome: 'DEGRADED',
      message: 'TLS certificate expires in 5 days',
    })
    expect(await ask('SMTP', '220 ready\r\n', smtp, -0.5)).toMatchObject({
      outcome: 'DOWN',
      message: 'TLS certificate expired today',
    })
  })

  test('names the certificate of an issuer that expires first', async () => {
    const [from, to] = [
      new Date(Date.now() - 60 * 86_400_000),
      (days: number) => new Date(Date.now() + days * 86_400_000),
    ]
    const issuer = (days: number) => authority.intermediate('Mail R3', { from, to: to(days) })
    expect(await ask('IMAP', '* OK ready\r\n', ['a OK begin\r\n'], 90, { issuer: issuer(5.5) })).toMatchObject({
      outcome: 'DEGRADED',
      message: 'TLS certificate of the issuer Mail R3 expires in 5 days',
    })
    expect(await ask('SMTP', '220 ready\r\n', smtp, 90, { issuer: issuer(-5.5) })).toMatchObject({
      outcome: 'DOWN',
      message: 'TLS certificate of the issuer Mail R3 expired 5 days ago',
    })
  })

  test.each<[StartTls, string, readonly string[]]>([
    ['SMTP', '554 no\r\n', ['']],
    ['SMTP', '220 ready\r\n', ['250 mail\r\n', '502 no\r\n']],
    ['IMAP', '* OK ready\r\n', ['a BAD no\r\n']],
    ['POP3', '+OK ready\r\n', ['-ERR no\r\n']],
    ['LDAP', '', [ldap.replace('\u000a\u0001\u0000', '\u000a\u0001\u0034')]],
  ])('that is refused by %s is DOWN', async (protocol, greeting, replies) => {
    expect(await ask(protocol, greeting, replies)).toMatchObject({
      outcome: 'DOWN',
      message: 'The server refused to start TLS',
    })
  })

  test('that never answers is DOWN within the timeout', async () => {
    expect(await ask('SMTP', '220-', ['220-'])).toMatchObject({
      outcome: 'DOWN',
      message: 'No agreement to start TLS within 2 s',
    })
  })
})
