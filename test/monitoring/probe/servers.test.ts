import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type handleUnaryCall,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type StatusObject,
  status,
} from '@grpc/grpc-js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { describedOptions } from '../../../src/monitoring/option-list.ts'
import type { DescribedProbe } from '../../../src/monitoring/probe/server-probe.ts'
import type { DescribedKind } from '../../../src/monitoring/probe-kinds.ts'
import { describedKinds } from '../../../src/monitoring/probe-kinds.ts'
import { zone } from '../../network/outbound/setup.ts'
import { selfSigned } from '../../support/certificate.ts'
import { freePort } from '../../support/free-port.ts'
import { startTcpServer } from '../../support/tcp-server.ts'
import { runWith, startTools } from './run.ts'

/** Those that connect to a host and port by TCP. */
const kinds = (Object.keys(describedKinds) as DescribedKind[]).filter((kind) => kind !== 'DOMAIN' && kind !== 'UDP')

async function run(kind: DescribedKind, given: object, timeoutMs = 5000, allowPrivate = true) {
  const { tools } = await startTools(zone({}), allowPrivate)
  const probe: DescribedProbe = describedKinds[kind]
  return probe.run(probe.options.parse({ host: '127.0.0.1', ...given }), runWith(tools, { timeoutMs }))
}

/** What one run finds against a server that sends this when it is connected, or when it has been asked. */
async function told(kind: DescribedKind, sent: string | Buffer, given: object = {}, timeoutMs = 5000) {
  const speaksFirst = kind === 'SSH' || kind === 'MYSQL'
  const { port } = await startTcpServer((socket: Socket) => {
    if (speaksFirst) socket.write(sent)
    else socket.once('data', () => socket.write(sent))
  })
  return run(kind, { port, ...(kind === 'WEBSOCKET' && { tls: false }), ...given }, timeoutMs)
}

const greeting = (payload: Buffer) => {
  const head = Buffer.alloc(4)
  head.writeUIntLE(payload.length, 0, 3)
  return Buffer.concat([head, payload])
}

describe('every kind of server', () => {
  test.each(kinds)('%s has words for each of its options, and required ones are in its smallest input', (kind) => {
    const { options, smallest }: DescribedProbe = describedKinds[kind]
    const named = describedOptions(kind).map(({ name }) => name)
    expect(Object.keys((options as unknown as { shape: object }).shape).sort()).toEqual([...named].sort())
    expect(options.safeParse(smallest).success).toBe(true)
    expect(
      describedOptions(kind)
        .filter(({ isRequired }) => isRequired)
        .map(({ name }) => name),
    ).toEqual(['host'])
  })

  test.each(kinds)(
    '%s is DOWN when nobody listens, the server is silent, hangs up, or talks endlessly',
    async (kind) => {
      const plain = kind === 'WEBSOCKET' ? { tls: false } : {}
      expect(await run(kind, { port: await freePort(), ...plain })).toMatchObject({ outcome: 'DOWN' })
      expect(await told(kind, '', {}, 500)).toMatchObject({ outcome: 'DOWN', message: 'No answer within 0.5 s' })
      const { port } = await startTcpServer((socket) => socket.end())
      expect(await run(kind, { port, ...plain })).toMatchObject({ outcome: 'DOWN' })
      const endless = await told(kind, 'x'.repeat(1024 * 1024))
      expect(endless).toMatchObject({ outcome: 'DOWN' })
    },
  )

  test.each(kinds)('%s is UNKNOWN when the target is forbidden, and connects to nothing', async (kind) => {
    const server = await startTcpServer(() => undefined)
    expect(await run(kind, { port: server.port }, 5000, false)).toMatchObject({ outcome: 'UNKNOWN' })
    expect(server.connections).toBe(0)
  })

  test.each(kinds)('%s is UNKNOWN when the run is aborted', async (kind) => {
    const leaving = new AbortController()
    const { port } = await startTcpServer(() => leaving.abort())
    const { tools } = await startTools(zone({}))
    const probe: DescribedProbe = describedKinds[kind]
    const given = { host: '127.0.0.1', port, ...(kind === 'WEBSOCKET' && { tls: false }) }
    const aborted = probe.run(probe.options.parse(given), runWith(tools, { timeoutMs: 60_000, signal: leaving.signal }))
    expect(await aborted).toMatchObject({ outcome: 'UNKNOWN' })
  })
})

describe('the answer of a server', () => {
  const hello = greeting(Buffer.from('\u000a10.11.6-MariaDB\0xxxx', 'latin1'))
  const denied = greeting(Buffer.concat([Buffer.from([0xff, 0x15, 0x04]), Buffer.from('#28000Access denied')]))
  const refused = greeting(Buffer.concat([Buffer.from([0xff, 0x10, 0x04]), Buffer.from('Too many connections')]))
  test.each<[DescribedKind, string | Buffer, string, RegExp]>([
    ['SSH', 'SSH-2.0-OpenSSH_9.2\r\n', 'UP', /^SSH-2\.0-OpenSSH_9\.2 in \d+ ms$/],
    ['SSH', 'Welcome\r\nSSH-1.99-x\r\n', 'UP', /^SSH-1\.99-x/],
    ['SSH', 'SSH-1.5-old\r\n', 'DOWN', /old version: SSH-1\.5-old$/],
    ['SSH', 'x\n'.repeat(30), 'DOWN', /^The server does not speak SSH$/],
    ['REDIS', '+PONG\r\n', 'UP', /^PONG in/],
    ['REDIS', '-NOAUTH Authentication required.\r\n', 'DOWN', /^The server refuses: NOAUTH Authentication required\.$/],
    ['REDIS', '-LOADING Redis is loading\r\n', 'DOWN', /LOADING/],
    ['REDIS', 'HTTP/1.1 400 Bad Request\r\n', 'DOWN', /does not speak the protocol of Redis$/],
    ['MYSQL', Buffer.concat([hello, denied]), 'UP', /^Version 10\.11\.6-MariaDB in/],
    ['MYSQL', Buffer.concat([hello, greeting(Buffer.from([0]))]), 'UP', /^Version 10\.11\.6-MariaDB in/],
    ['MYSQL', Buffer.concat([hello, greeting(Buffer.from([0xfe])), denied]), 'UP', /^Version 10/],
    ['MYSQL', Buffer.concat([hello, refused]), 'DOWN', /^The server refuses: Too many connections$/],
    ['MYSQL', refused, 'DOWN', /^The server refuses: Too many connections$/],
    ['MYSQL', 'HTTP/1.1 400', 'DOWN', /does not speak the protocol of MySQL$/],
    ['MQTT', Buffer.from([0x20, 2, 0, 0]), 'UP', /^Connected in/],
    ['MQTT', Buffer.from([0x20, 2, 0, 5]), 'DOWN', /^The broker refuses: the client is not authorized$/],
    ['MQTT', 'HTTP', 'DOWN', /^The server does not speak MQTT$/],
    ['WEBSOCKET', 'HTTP/1.1 403 Forbidden\r\n\r\n', 'DOWN', /^HTTP 403 instead of 101$/],
    ['WEBSOCKET', 'HTTP/1.1 101 Ok\r\n\r\n', 'DOWN', /^The server does not speak WebSocket$/],
    ['WEBSOCKET', 'SSH-2.0-x\r\n\r\n', 'DOWN', /^The server does not speak HTTP$/],
    ['GRPC', 'HTTP/1.1 400 Bad Request\r\n\r\n', 'DOWN', /^The server does not speak HTTP\/2$/],
    ['POSTGRESQL', 'HTTP/1.1 400 Bad Request\r\n\r\n', 'DOWN', /./],
  ])('%s %j is %s', async (kind, sent, outcome, message) => {
    expect(await told(kind, sent, {}, 2000)).toMatchObject({ outcome, message: expect.stringMatching(message) })
  })

  test('that is slow is DEGRADED', async () => {
    const { port } = await startTcpServer((socket) => void setTimeout(() => socket.write('SSH-2.0-x\r\n'), 30))
    expect(await run('SSH', { port, degradedAboveMs: 20 })).toMatchObject({
      outcome: 'DEGRADED',
      message: expect.stringMatching(/more than 20 ms$/),
    })
  })

  test('is read over TLS, whose certificate must be trusted', async () => {
    const serve = (socket: Socket) => void socket.once('data', () => socket.write('+PONG\r\n'))
    const { port } = await startTcpServer(serve, selfSigned('127.0.0.1'))
    expect(await run('REDIS', { port, tls: true })).toMatchObject({
      outcome: 'DOWN',
      message: expect.stringMatching(/self-signed/),
    })
    expect(await run('REDIS', { port, tls: true, verifyCertificate: false })).toMatchObject({
      outcome: 'UP',
      detail: { certificateEndsAt: expect.any(String) },
    })
  })
})

describe('a real gRPC server', () => {
  /** The library takes a falsy message for none. */
  interface Question {
    readonly service: string
  }

  /** How `serve` answers a health check for a service. */
  const serving = (service: string, call: ServerUnaryCall<Question, number>): number | Partial<StatusObject> => {
    if (service === '' || service === 'shop.v1.Cart') return 1
    if (service === 'down') return 2
    if (service === 'long') return 100
    if (service === 'refused') return { code: status.PERMISSION_DENIED, details: 'zu spät: 5 %' }
    return { code: status.NOT_FOUND, details: call.getPath() }
  }

  /** Serves grpc.health.v1 with messages that are written and read by hand. */
  async function serve(method: string, credentials: ServerCredentials): Promise<number> {
    const server = new Server()
    const check: MethodDefinition<Question, number> = {
      path: `/grpc.health.v1.Health/${method}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: ({ service }) => Buffer.from(service),
      requestDeserialize: (bytes) => ({ service: bytes.subarray(2).toString() }),
      responseSerialize: (state) => (state === 100 ? Buffer.alloc(5000) : Buffer.from([0x08, state])),
      responseDeserialize: (bytes) => bytes.readUInt8(1),
    }
    const answer: handleUnaryCall<Question, number> = (call, callback) => {
      const answered = serving(call.request.service, call)
      if (typeof answered === 'number') callback(null, answered)
      else callback(answered)
    }
    server.addService({ [method]: check }, { [method]: answer })
    onTestFinished(() => server.forceShutdown())
    return new Promise((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', credentials, (error, port) => (error ? reject(error) : resolve(port)))
    })
  }

  test.each([
    ['', 'UP', /^SERVING in \d+ ms$/],
    ['shop.v1.Cart', 'UP', /^SERVING in/],
    ['down', 'DOWN', /^down is NOT_SERVING$/],
    ['other', 'DOWN', /^The server has no service other$/],
    ['refused', 'DOWN', /^The server refuses: PERMISSION_DENIED zu spät: 5 %$/],
    ['long', 'DOWN', /its answer is too long$/],
  ])('says of the service %j that it is %s', async (service, outcome, message) => {
    const port = await serve('Check', ServerCredentials.createInsecure())
    const found = await run('GRPC', { port, service })
    expect(found).toMatchObject({ outcome, message: expect.stringMatching(message) })
  })

  test('without a health service is DOWN, and one of HTTP alone', async () => {
    const port = await serve('Watch', ServerCredentials.createInsecure())
    const without = { outcome: 'DOWN', message: 'The server has no health service (grpc.health.v1)' }
    expect(await run('GRPC', { port })).toMatchObject(without)
    const web = createHttp2Server((_, response) => response.end('hello')).listen(0, '127.0.0.1')
    onTestFinished(() => void web.close())
    await once(web, 'listening')
    const { port: webPort } = web.address() as AddressInfo
    const other = { outcome: 'DOWN', message: 'The server does not speak gRPC' }
    expect(await run('GRPC', { port: webPort })).toMatchObject(other)
  })

  test('is asked over TLS, whose certificate must be trusted', async () => {
    const { cert, key } = selfSigned('127.0.0.1')
    const pair = [{ cert_chain: Buffer.from(cert), private_key: Buffer.from(key) }]
    const port = await serve('Check', ServerCredentials.createSsl(null, pair))
    expect(await run('GRPC', { port, tls: true })).toMatchObject({
      outcome: 'DOWN',
      message: expect.stringMatching(/self-signed/),
    })
    expect(await run('GRPC', { port, tls: true, verifyCertificate: false })).toMatchObject({
      outcome: 'UP',
      detail: { certificateEndsAt: expect.any(String) },
    })
  })

  test('that sends frames without end is DOWN', async () => {
    const { port } = await startTcpServer((socket) => {
      // SETTINGS, then PING after PING (RFC 9113 §6.5, §6.7).
      socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]))
      const pings = Buffer.concat(
        Array.from({ length: 4000 }, () => Buffer.from([0, 0, 8, 6, 0, ...new Array(12).fill(0)])),
      )
      const more = () => {
        while (socket.writable && socket.write(pings));
      }
      socket.on('drain', more)
      socket.resume()
      more()
    })
    expect(await run('GRPC', { port })).toMatchObject({
      outcome: 'DOWN',
      message: expect.stringMatching(
        /^The server (?:sends more than 256 KiB|does not speak HTTP\/2|closed the connection)$/,
      ),
    })
  })
})

describe('a real WebSocket server', () => {
  test('opens, and accepts a subprotocol or not', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: (all) => [...all][0] ?? false })
    await new Promise((resolve) => server.once('listening', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    expect(await run('WEBSOCKET', { port, tls: false, path: '/a?b=c' })).toMatchObject({ outcome: 'UP' })
    expect(await run('WEBSOCKET', { port, tls: false, subprotocol: 'graphql-ws' })).toMatchObject({ outcome: 'UP' })
  })
})

/** Starts a program of a Debian package, and waits until it listens; stopped when the test ends. */
async function start(program: string, args: readonly string[], port: number): Promise<void> {
  const child = spawn(program, args, { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  for (let tries = 0; tries < 200; tries++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.once('close', () => undefined)
      socket.once('connect', () => socket.destroy())
    })
    if (isOpen) return
    await pause(50)
  }
  throw new Error(`${program} does not listen.`)
}

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'allclear-server-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const redisProgram = '/usr/bin/redis-server'
const mosquitto = '/usr/sbin/mosquitto'
const sshd = '/usr/sbin/sshd'
const passwordProgram = '/usr/bin/mosquitto_passwd'
const keyProgram = '/usr/bin/ssh-keygen'

describe('real servers, where Debian’s packages are installed', () => {
  test.skipIf(!existsSync(redisProgram))('Redis with a password (redis-server)', async () => {
    const port = await freePort()
    const args = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--requirepass',
      's3cret',
      '--dir',
      scratch(),
    ]
    await start(redisProgram, args, port)
    expect(await run('REDIS', { port, password: 's3cret' })).toMatchObject({
      outcome: 'UP',
      message: expect.stringMatching(/^PONG/),
    })
    expect(await run('REDIS', { port, password: 'wrong' })).toMatchObject({
      outcome: 'DOWN',
      message: expect.stringMatching(/WRONGPASS/),
    })
    expect(await run('REDIS', { port })).toMatchObject({ outcome: 'DOWN', message: expect.stringMatching(/NOAUTH/) })
  })

  test.skipIf(!existsSync(mosquitto))('MQTT with a user (mosquitto)', async () => {
    const [port, folder] = [await freePort(), scratch()]
    const passwords = join(folder, 'passwords')
    execFileSync(passwordProgram, ['-b', '-c', passwords, 'ana', 's3cret'])
    const settings = `listener ${port} 127.0.0.1\nallow_anonymous false\npassword_file ${passwords}\nuser root\n`
    writeFileSync(join(folder, 'conf'), settings)
    await start(mosquitto, ['-c', join(folder, 'conf')], port)
    expect(await run('MQTT', { port, username: 'ana', password: 's3cret' })).toMatchObject({ outcome: 'UP' })
    expect(await run('MQTT', { port })).toMatchObject({
      outcome: 'DOWN',
      message: expect.stringMatching(/^The broker refuses/),
    })
  })

  test.skipIf(!existsSync(sshd) || process.getuid?.() !== 0)('SSH (openssh-server, as root)', async () => {
    mkdirSync('/run/sshd', { recursive: true })
    const [port, folder] = [await freePort(), scratch()]
    execFileSync(keyProgram, ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')])
    await start(sshd, ['-D', '-f', '/dev/null', '-h', join(folder, 'key'), '-p', String(port)], port)
    expect(await run('SSH', { port })).toMatchObject({
      outcome: 'UP',
      message: expect.stringMatching(/^SSH-2\.0-OpenSSH/),
    })
  })

  const server = process.env['TEST_DATABASE_URL']
  test.skipIf(server === undefined)('PostgreSQL, where there is one', async () => {
    const { hostname, port, username } = new URL(server ?? 'postgresql://postgres@127.0.0.1:5432')
    const given = { host: hostname, port: Number(port), user: username }
    expect(await run('POSTGRESQL', given)).toMatchObject({ outcome: 'UP', message: expect.stringMatching(/^1 row in/) })
    expect(await run('POSTGRESQL', { ...given, query: 'SELECT no' })).toMatchObject({
      outcome: 'DOWN',
      message: expect.stringMatching(/"no"/),
    })
    expect(await run('POSTGRESQL', { ...given, query: "SELECT repeat('x', 1000000)" })).toMatchObject({
      outcome: 'DOWN',
      message: 'The server sends more than 256 KiB',
    })
    expect(await run('POSTGRESQL', { ...given, query: 'SELECT pg_sleep(9)' }, 500)).toMatchObject({
      outcome: 'DOWN',
      message: 'No answer within 0.5 s',
    })
  })
})
