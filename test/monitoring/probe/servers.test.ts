// @slow
import { execFileSync } from 'node:child_process'
import { constants, createHash, generateKeyPairSync, privateDecrypt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer as createHttp2Server } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
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
import { optionsOf } from '../../../src/monitoring/monitor/option-list.ts'
import type { ProbedKind } from '../../../src/monitoring/monitor/probe-kinds.ts'
import { probes } from '../../../src/monitoring/monitor/probe-kinds.ts'
import type { Probe } from '../../../src/monitoring/probe/probe.ts'
import { createOutbound } from '../../../src/network/outbound/outbound.ts'
import { zone } from '../../network/outbound/setup.ts'
import { createAuthority, selfSigned } from '../../support/certificate.ts'
import { freePort } from '../../support/free-port.ts'
import { scratchFolder, startProgram } from '../../support/program.ts'
import { startTcpServer } from '../../support/tcp-server.ts'
import { runWith, startTools } from './run.ts'

/** The kinds that connect to a host and port over TCP. */
const kinds = [
  'SSH',
  'REDIS',
  'POSTGRESQL',
  'MYSQL',
  'MQTT',
  'WEBSOCKET',
  'GRPC',
  'MONGODB',
] as const satisfies readonly ProbedKind[]

async function run(kind: ProbedKind, given: object, timeoutMs = 5000, allowPrivate = true) {
  const { tools } = await startTools(zone({}), allowPrivate)
  const probe: Probe = probes[kind]
  return probe.run(probe.options.parse({ host: '127.0.0.1', ...given }), runWith(tools, { timeoutMs }))
}

/** Returns the result of probing a server that sends this on connection, or after the first request. */
async function reported(kind: ProbedKind, sent: string | Buffer, given: object = {}, timeoutMs = 5000) {
  const speaksFirst = kind === 'SSH' || kind === 'MYSQL'
  const { port } = await startTcpServer((socket: Socket) => {
    if (speaksFirst) socket.write(sent)
    else socket.once('data', () => socket.write(sent))
  })
  return run(kind, { port, ...(kind === 'WEBSOCKET' && { tls: false }), ...given }, timeoutMs)
}

/** The sizes in bytes of some BSON types. */
const sizes: Readonly<Record<number, number>> = { 7: 12, 9: 8, 10: 0, 16: 4, 17: 8, 18: 8, 19: 16 }

const greeting = (payload: Buffer) => {
  const head = Buffer.alloc(4)
  head.writeUIntLE(payload.length, 0, 3)
  return Buffer.concat([head, payload])
}

/** Encodes a BSON element. */
const bson = {
  number: (name: string, value: number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(value)
    return Buffer.concat([Buffer.from(`\x01${name}\0`), bytes])
  },
  text: (name: string, value: string) => {
    const length = Buffer.alloc(4)
    length.writeInt32LE(Buffer.byteLength(value) + 1)
    return Buffer.concat([Buffer.from(`\x02${name}\0`), length, Buffer.from(`${value}\0`)])
  },
  boolean: (name: string, value: boolean) => Buffer.from(`\x08${name}\0${value ? '\x01' : '\0'}`),
  /** Elements that the probe skips: a document, a list, bytes, an id, a date, null, and 32-bit and 64-bit integers. */
  others: Buffer.concat([
    Buffer.concat([Buffer.from('\x03in\0'), bsonDocument(Buffer.from('\x08ok\0\0'))]),
    Buffer.concat([Buffer.from('\x04hosts\0'), bsonDocument(Buffer.alloc(0))]),
    Buffer.from('\x05hash\0\x02\0\0\0\0ab'),
    ...[7, 9, 10, 16, 17, 18, 19].map((type) =>
      Buffer.concat([Buffer.from([type]), Buffer.from(`t${type}\0`), Buffer.alloc(sizes[type] ?? 0, 1)]),
    ),
  ]),
}

function bsonDocument(elements: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32LE(elements.length + 5)
  return Buffer.concat([length, elements, Buffer.from([0])])
}

/** Returns a MongoDB server's response to the command with this number (OP_MSG). */
function mongoAnswer(id: number, document: Buffer, { flags = 0, code = 2013 } = {}): Buffer {
  const head = Buffer.alloc(21)
  head.writeInt32LE(head.length + document.length, 0)
  head.writeInt32LE(id, 8)
  head.writeInt32LE(code, 12)
  head.writeUInt32LE(flags, 16)
  return Buffer.concat([head, document])
}

const mongoDocument = (...elements: Buffer[]) => bsonDocument(Buffer.concat(elements))

describe('every kind of server', () => {
  test.each(kinds)('%s has a label for each option, and its smallest input has the required options', (kind) => {
    const { options, smallest }: Probe = probes[kind]
    const named = optionsOf(kind).map(({ name }) => name)
    expect(Object.keys((options as unknown as { shape: object }).shape).sort()).toEqual([...named].sort())
    expect(options.safeParse(smallest).success).toBe(true)
    expect(
      optionsOf(kind)
        .filter(({ isRequired }) => isRequired)
        .map(({ name }) => name),
    ).toEqual(['host'])
  })

  test.each(kinds)(
    '%s is DOWN when nothing listens, or the server is silent, hangs up or sends endless data',
    async (kind) => {
      const plain = kind === 'WEBSOCKET' ? { tls: false } : {}
      expect(await run(kind, { port: await freePort(), ...plain })).toMatchObject({ outcome: 'DOWN' })
      expect(await reported(kind, '', {}, 500)).toMatchObject({ outcome: 'DOWN', message: 'No answer within 0.5 s' })
      const { port } = await startTcpServer((socket) => socket.end())
      expect(await run(kind, { port, ...plain })).toMatchObject({ outcome: 'DOWN' })
      const endless = await reported(kind, 'x'.repeat(1024 * 1024))
      expect(endless).toMatchObject({ outcome: 'DOWN' })
    },
  )

  test.each(kinds)('%s is UNKNOWN when the target is forbidden, and does not connect', async (kind) => {
    const server = await startTcpServer(() => undefined)
    expect(await run(kind, { port: server.port }, 5000, false)).toMatchObject({ outcome: 'UNKNOWN' })
    expect(server.connections).toBe(0)
  })

  test.each(kinds)('%s is UNKNOWN when the run is aborted', async (kind) => {
    const leaving = new AbortController()
    const { port } = await startTcpServer(() => leaving.abort())
    const { tools } = await startTools(zone({}))
    const probe: Probe = probes[kind]
    const given = { host: '127.0.0.1', port, ...(kind === 'WEBSOCKET' && { tls: false }) }
    const aborted = probe.run(probe.options.parse(given), runWith(tools, { timeoutMs: 60_000, signal: leaving.signal }))
    expect(await aborted).toMatchObject({ outcome: 'UNKNOWN' })
  })
})

describe('the answer of a server', () => {
  const hello = greeting(Buffer.from('\u000a10.11.6-MariaDB\0xxxx', 'latin1'))
  const denied = greeting(Buffer.concat([Buffer.from([0xff, 0x15, 0x04]), Buffer.from('#28000Access denied')]))
  const refused = greeting(Buffer.concat([Buffer.from([0xff, 0x10, 0x04]), Buffer.from('Too many connections')]))
  test.each<[ProbedKind, string | Buffer, string, RegExp]>([
    ['SSH', 'SSH-2.0-OpenSSH_9.2\r\n', 'UP', /^SSH-2\.0-OpenSSH_9\.2 in \d+ ms$/],
    ['SSH', 'Welcome\r\nSSH-1.99-x\r\n', 'UP', /^SSH-1\.99-x/],
    ['SSH', 'SSH-1.5-old\r\n', 'DOWN', /old version: SSH-1\.5-old$/],
    ['SSH', 'x\n'.repeat(30), 'DOWN', /^The server does not speak SSH$/],
    ['REDIS', '+PONG\r\n', 'UP', /^PONG in/],
    ['REDIS', '-NOAUTH Authentication required.\r\n', 'DOWN', /^The server refused: NOAUTH Authentication required\.$/],
    ['REDIS', '-LOADING Redis is loading\r\n', 'DOWN', /LOADING/],
    ['REDIS', 'HTTP/1.1 400 Bad Request\r\n', 'DOWN', /does not speak the protocol of Redis$/],
    ['MYSQL', Buffer.concat([hello, denied]), 'UP', /^Version 10\.11\.6-MariaDB in/],
    ['MYSQL', Buffer.concat([hello, greeting(Buffer.from([0]))]), 'UP', /^Version 10\.11\.6-MariaDB in/],
    ['MYSQL', Buffer.concat([hello, greeting(Buffer.from([0xfe])), denied]), 'UP', /^Version 10/],
    ['MYSQL', Buffer.concat([hello, refused]), 'DOWN', /^The server refused: Too many connections$/],
    ['MYSQL', refused, 'DOWN', /^The server refused: Too many connections$/],
    ['MYSQL', 'HTTP/1.1 400', 'DOWN', /does not speak the protocol of MySQL$/],
    ['MQTT', Buffer.from([0x20, 2, 0, 0]), 'UP', /^Connected in/],
    ['MQTT', Buffer.from([0x20, 2, 0, 5]), 'DOWN', /^The broker refused: the client is not authorized$/],
    ['MQTT', 'HTTP', 'DOWN', /^The server does not speak MQTT$/],
    ['WEBSOCKET', 'HTTP/1.1 403 Forbidden\r\n\r\n', 'DOWN', /^HTTP 403 instead of 101$/],
    ['WEBSOCKET', 'HTTP/1.1 101 Ok\r\n\r\n', 'DOWN', /^The server does not speak WebSocket$/],
    ['WEBSOCKET', 'SSH-2.0-x\r\n\r\n', 'DOWN', /^The server does not speak HTTP$/],
    ['GRPC', 'HTTP/1.1 400 Bad Request\r\n\r\n', 'DOWN', /^The server does not speak HTTP\/2$/],
    ['POSTGRESQL', 'HTTP/1.1 400 Bad Request\r\n\r\n', 'DOWN', /./],
  ])('%s %j is %s', async (kind, sent, outcome, message) => {
    expect(await reported(kind, sent, {}, 2000)).toMatchObject({ outcome, message: expect.stringMatching(message) })
  })

  test('makes the monitor DEGRADED when it is slow', async () => {
    const { port } = await startTcpServer((socket) => void setTimeout(() => socket.write('SSH-2.0-x\r\n'), 30))
    expect(await run('SSH', { port, degradedAboveMs: 20 })).toMatchObject({
      outcome: 'DEGRADED',
      message: expect.stringMatching(/more than 20 ms$/),
    })
  })

  test.each([
    ['REDIS', '+PONG\r\n', {}],
    ['MQTT', Buffer.from([0x20, 2, 0, 0]), {}],
  ] as const)('of %s warns of a certificate that expires soon, trusted or not', async (kind, reply, more) => {
    const serve = (socket: Socket) => void socket.once('data', () => socket.write(reply))
    const { port } = await startTcpServer(serve, selfSigned('127.0.0.1'))
    const given = { port, tls: true, verifyCertificate: false, ...more }
    expect(await run(kind, given)).toMatchObject({ outcome: 'UP' })
    expect(await run(kind, { ...given, certificateDays: 365 })).toMatchObject({
      outcome: 'DEGRADED',
      message: expect.stringMatching(/^TLS certificate expires in \d+ days$/),
    })
  })

  test('names an issuer whose certificate has expired', async () => {
    const authority = createAuthority()
    const [from, to] = [-60, -3.5].map((days) => new Date(Date.now() + days * 86_400_000))
    const certified = authority
      .intermediate('Shop R3', { ...(from && { from }), ...(to && { to }) })
      .issue(['127.0.0.1'])
    const { port } = await startTcpServer(() => {}, certified)
    const { tools } = await startTools(zone({}))
    const outbound = createOutbound({ dns: tools.dns, allowPrivate: true, ca: authority.ca })
    const probe: Probe = probes.REDIS
    const options = probe.options.parse({ host: '127.0.0.1', port, tls: true })
    expect(await probe.run(options, runWith({ ...tools, outbound }))).toMatchObject({
      outcome: 'DOWN',
      message: 'TLS certificate of the issuer Shop R3 expired 3 days ago',
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
  /** A message that the library accepts; it treats falsy ones as missing. */
  interface Question {
    readonly service: string
  }

  /** Returns the answer of `serve` to the health check of a service. */
  const serving = (service: string, call: ServerUnaryCall<Question, number>): number | Partial<StatusObject> => {
    if (service === '' || service === 'shop.v1.Cart') return 1
    if (service === 'down') return 2
    if (service === 'long') return 100
    if (service === 'refused') return { code: status.PERMISSION_DENIED, details: 'zu spät: 5 %' }
    return { code: status.NOT_FOUND, details: call.getPath() }
  }

  /** Serves grpc.health.v1 with hand-written encoding and decoding. */
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
    ['refused', 'DOWN', /^The server refused: PERMISSION_DENIED zu spät: 5 %$/],
    ['long', 'DOWN', /its answer is too long$/],
  ])('reports that the service %j is %s', async (service, outcome, message) => {
    const port = await serve('Check', ServerCredentials.createInsecure())
    const found = await run('GRPC', { port, service })
    expect(found).toMatchObject({ outcome, message: expect.stringMatching(message) })
  })

  test('without a health service is DOWN, like a plain HTTP server', async () => {
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

  test('is queried over TLS, whose certificate must be trusted', async () => {
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

  test('that sends endless frames is DOWN', async () => {
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
    expect(await run('GRPC', { port })).toMatchObject({ outcome: 'DOWN', message: 'The server sent too much data' })
  })
})

describe('a real WebSocket server', () => {
  /** Starts a server that sends a greeting, echoes messages, and hangs up or floods on request. */
  async function serve(handleProtocols: (all: Set<string>) => string | false): Promise<number> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols })
    server.on('connection', (socket, { url }) => {
      socket.send(`hello ${url}`)
      socket.on('message', (data) => {
        if (String(data) === 'end') socket.close(1008)
        else if (String(data) === 'flood') socket.send('x'.repeat(100_000))
        else socket.send(`you said ${data}`)
      })
    })
    await once(server, 'listening')
    onTestFinished(() => {
      for (const socket of server.clients) socket.terminate()
      server.close()
    })
    return (server.address() as AddressInfo).port
  }

  test('opens a connection, with or without a subprotocol', async () => {
    const port = await serve((all) => [...all][0] ?? false)
    expect(await run('WEBSOCKET', { port, tls: false, path: '/a?b=c' })).toMatchObject({
      outcome: 'UP',
      message: expect.stringMatching(/^Opened in \d+ ms$/),
    })
    expect(await run('WEBSOCKET', { port, tls: false, subprotocol: 'graphql-ws' })).toMatchObject({ outcome: 'UP' })
    const other = await serve(() => false)
    expect(await run('WEBSOCKET', { port: other, tls: false, subprotocol: 'graphql-ws' })).toMatchObject({
      outcome: 'DOWN',
      message: 'The server does not accept the subprotocol',
    })
  })

  test.each([
    [{ expect: 'hello /' }, 'UP', /^Received the expected message in \d+ ms$/],
    [{ send: 'ping', expect: 'said ping' }, 'UP', /^Received the expected message/],
    [{ send: 'ping', expect: 'pong' }, 'DOWN', /^No answer within 0\.5 s$/],
    [{ send: 'end', expect: 'pong' }, 'DOWN', /^The server closed the WebSocket \(1008\)$/],
    [{ send: 'flood', expect: 'pong' }, 'DOWN', /^The server sent a message of more than 64 KiB$/],
  ])('with %j is %s', async (given, outcome, message) => {
    const port = await serve(() => false)
    const found = await run('WEBSOCKET', { port, tls: false, ...given }, 500)
    expect(found).toMatchObject({ outcome, message: expect.stringMatching(message) })
  })

  test('is queried over TLS by its name', async () => {
    const certified = selfSigned('127.0.0.1')
    const hosts: unknown[] = []
    const server = createHttpsServer(certified).listen(0, '127.0.0.1')
    new WebSocketServer({ server }).on('connection', (_, { headers }) => hosts.push(headers.host))
    onTestFinished(() => void server.close().closeAllConnections())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(await run('WEBSOCKET', { port, verifyCertificate: false })).toMatchObject({
      outcome: 'UP',
      detail: { certificateEndsAt: expect.any(String) },
    })
    expect(await run('WEBSOCKET', { port })).toMatchObject({ outcome: 'DOWN' })
    expect(hosts).toEqual([`127.0.0.1:${port}`])
  })
})

describe('an MQTT broker', () => {
  const accepted = Buffer.from([0x20, 2, 0, 0])
  const subscribed = Buffer.from([0x90, 3, 0, 1, 0])
  const message = (topic: string, text: string) => {
    const rest = Buffer.concat([Buffer.from([0, topic.length]), Buffer.from(topic + text)])
    const length = rest.length < 128 ? [rest.length] : [(rest.length & 127) | 128, rest.length >> 7]
    return Buffer.concat([Buffer.from([0x30, ...length]), rest])
  }

  test.each<[string, Buffer[], object, string, RegExp]>([
    ['a message of a topic', [subscribed, message('a/b', 'on')], {}, 'UP', /^Received a message in/],
    [
      'the expected answer',
      [subscribed, message('a/b', 'on'), message('a/b', 'x'.repeat(300))],
      { expect: 'xx' },
      'UP',
      /./,
    ],
    ['another message', [subscribed, message('a/b', 'on')], { expect: 'off' }, 'DOWN', /^Received a message, but not/],
    ['no message', [subscribed], {}, 'DOWN', /^No answer within 0\.5 s$/],
    ['a refusal', [Buffer.from([0x90, 3, 0, 1, 0x80])], {}, 'DOWN', /^The broker refused the subscription$/],
    ['a packet that a broker must not send', [Buffer.from([0xc0, 0])], {}, 'DOWN', /^The server does not speak MQTT$/],
    ['an endless length', [Buffer.from([0x90, 255, 255, 255, 255, 1])], {}, 'DOWN', /does not speak MQTT$/],
    ['a message without a topic', [subscribed, Buffer.from([0x30, 1, 0])], {}, 'DOWN', /does not speak MQTT$/],
    [
      'more than the probe reads',
      [Buffer.from([0x90, 255, 255, 127]), Buffer.alloc(20_000)],
      {},
      'DOWN',
      /more than 16 KiB/,
    ],
  ])('that sends %s', async (_, packets, given, outcome, text) => {
    const { port } = await startTcpServer((socket) => {
      socket.once('data', () => {
        socket.write(accepted)
        socket.once('data', (asked) => {
          expect(asked.toString('latin1')).toBe('\x82\x08\x00\x01\x00\x03a/b\x00')
          for (const packet of packets) socket.write(packet)
        })
      })
    })
    const found = await run('MQTT', { port, topic: 'a/b', ...given }, 500)
    expect(found).toMatchObject({ outcome, message: expect.stringMatching(text) })
  })

  test.each([
    ['a', true],
    ['+/b/#', true],
    ['#', true],
    ['a#', false],
    ['a/#/b', false],
    ['a+/b', false],
    ['', false],
  ])('can have the topic %j: %s', (topic, may) => {
    expect(probes.MQTT.options.safeParse({ host: 'example.com', topic }).success).toBe(may)
  })
})

describe('a MongoDB server', () => {
  const ok = bson.number('ok', 1)
  const pong = mongoAnswer(2, mongoDocument(ok))
  const hello = (...elements: Buffer[]) => mongoAnswer(1, mongoDocument(bson.others, ...elements))
  const inSet = bson.text('setName', 'rs0')
  const primary = hello(bson.boolean('isWritablePrimary', true), ok)
  const foreign = /^The server does not speak the protocol of MongoDB$/
  const refusal = mongoDocument(bson.number('ok', 0), bson.text('errmsg', 'node is\nin shutdown'))
  const outcomes: [name: string, answers: Buffer, outcome: string, message: RegExp][] = [
    ['alone', Buffer.concat([primary, pong]), 'UP', /^Standalone server in \d+ ms$/],
    [
      'the primary',
      Buffer.concat([hello(inSet, bson.boolean('isWritablePrimary', true), ok), pong]),
      'UP',
      /^Primary of rs0 in/,
    ],
    [
      'a secondary',
      Buffer.concat([
        hello(inSet, bson.boolean('isWritablePrimary', false), bson.boolean('secondary', true), ok),
        pong,
      ]),
      'UP',
      /^Secondary of rs0 in/,
    ],
    [
      'an arbiter',
      Buffer.concat([hello(inSet, bson.boolean('arbiterOnly', true), ok), pong]),
      'UP',
      /^Arbiter of rs0 in/,
    ],
    ['a router', Buffer.concat([hello(bson.text('msg', 'isdbgrid'), ok), pong]), 'UP', /^Router in/],
    [
      'recovering',
      hello(inSet, bson.boolean('isWritablePrimary', false), bson.boolean('secondary', false), ok),
      'DOWN',
      /^The server is neither primary nor secondary of rs0$/,
    ],
    ['refusing hello', mongoAnswer(1, refusal), 'DOWN', /^The server refused: node is in shutdown$/],
    ['refusing ping', Buffer.concat([primary, mongoAnswer(2, refusal)]), 'DOWN', /^The server refused: node is/],
    ['without a reason', mongoAnswer(1, mongoDocument(bson.number('ok', 0))), 'DOWN', /^The server refused: hello$/],
    [
      'with a reason that is a document',
      mongoAnswer(1, mongoDocument(bson.number('ok', 0), Buffer.from('\x03errmsg\0'), bsonDocument(Buffer.alloc(0)))),
      'DOWN',
      /^The server refused: hello$/,
    ],
    [
      'with a text in another encoding',
      Buffer.concat([
        hello(Buffer.from('\x02x\0\x02\0\0\0\xfc\0', 'latin1'), inSet, bson.boolean('secondary', true), ok),
        pong,
      ]),
      'UP',
      /^Secondary of rs0 in/,
    ],
    ['answering something else', mongoAnswer(7, mongoDocument(ok)), 'DOWN', foreign],
    ['of an old protocol', mongoAnswer(1, mongoDocument(ok), { code: 1 }), 'DOWN', foreign],
    ['announcing more messages', mongoAnswer(1, mongoDocument(ok), { flags: 2 }), 'DOWN', foreign],
    ['with an unknown type', hello(Buffer.from('\x55x\0\0\0\0\0'), ok), 'DOWN', foreign],
    ['with a text of 2 GiB', hello(Buffer.from('\x02x\0\xff\xff\xff\x7fab\0', 'latin1')), 'DOWN', foreign],
    ['with a text of -1 bytes', hello(Buffer.from('\x02x\0\xff\xff\xff\xffab\0', 'latin1')), 'DOWN', foreign],
    ['with a name that ends with the document', hello(Buffer.from('\x01xxxxxxx')), 'DOWN', foreign],
    ['with a truncated value', hello(Buffer.from('\x01x\0\x01')), 'DOWN', foreign],
    ['whose document is longer', mongoAnswer(1, Buffer.from([9, 0, 0, 0, 0])), 'DOWN', foreign],
    ['whose document is empty', mongoAnswer(1, Buffer.alloc(0)), 'DOWN', foreign],
    [
      'with an answer of 2 GiB',
      Buffer.concat([Buffer.from([255, 255, 255, 127]), primary.subarray(4)]),
      'DOWN',
      foreign,
    ],
    ['with an answer of -1 bytes', Buffer.concat([Buffer.alloc(4, 255), primary.subarray(4)]), 'DOWN', foreign],
    ['of HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), 'DOWN', foreign],
  ]
  test.each(outcomes)('that is %s', async (_, answers, outcome, message) => {
    const found = await reported('MONGODB', answers, {}, 2000)
    expect(found).toMatchObject({ outcome, message: expect.stringMatching(message) })
  })

  test('whose first document has any damaged byte gets a verdict', async () => {
    for (let at = 21; at < primary.length; at += 1) {
      const damaged = Buffer.concat([primary, pong])
      damaged[at] = (damaged[at] ?? 0) ^ 0x7f
      const { message } = await reported('MONGODB', damaged, {}, 2000)
      expect(message, `byte ${at}`).toMatch(/^The server |^Standalone server in|^Router in/)
    }
  })

  test.each(['{"a\\u0000b": 1}', '{"a": {"_bsontype": "Long"}}', '{}', '[1]', 'ping'])('is not sent %s', (command) => {
    const { error } = probes.MONGODB.options.safeParse({ host: 'example.com', command })
    expect(error?.issues).toMatchObject([
      { path: ['command'], message: expect.stringMatching(/^must be a JSON object/) },
    ])
  })

  test('receives hello and then ping, both for the database admin', async () => {
    const asked: Buffer[] = []
    const { port } = await startTcpServer((socket) => {
      socket.on('data', (data: Buffer) => {
        asked.push(data)
        socket.write(asked.length === 1 ? primary : pong)
      })
    })
    expect(await run('MONGODB', { port })).toMatchObject({ outcome: 'UP' })
    const expected = ['hello', 'ping'].map((name, index) => {
      const document = mongoDocument(Buffer.from(`\x10${name}\0\x01\0\0\0`), bson.text('$db', 'admin'))
      const question = mongoAnswer(0, document)
      question.writeInt32LE(index + 1, 4)
      return question
    })
    expect(asked).toEqual(expected)
  })
})

describe('a MySQL server', () => {
  const nonce = Buffer.from('12345678abcdefghijkl')
  const hash = (algorithm: string, ...parts: Buffer[]) => createHash(algorithm).update(Buffer.concat(parts)).digest()
  const xor = (one: Buffer, other: Buffer) => Buffer.from(one.map((byte, at) => byte ^ (other[at % other.length] ?? 0)))
  const ok = Buffer.from([0, 0, 0, 2, 0, 0, 0])
  const end = Buffer.from([0xfe, 0, 0, 2, 0])
  const denied = Buffer.concat([Buffer.from([0xff, 0x15, 0x04]), Buffer.from('#28000Access denied')])
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })

  /**
   * Starts a server that asks for a plugin and a password, as in MySQL’s manual, and returns two rows for every query.
   */
  async function serve(plugin: string, password: string, another?: string): Promise<number> {
    const talk = async (socket: Socket) => {
      const parts = socket[Symbol.asyncIterator]()
      let number = 0
      const send = (...packets: Buffer[]) => {
        for (const data of packets) {
          const head = Buffer.from([data.length & 255, data.length >> 8, 0, number++])
          socket.write(Buffer.concat([head, data]))
        }
      }
      const next = async (): Promise<Buffer> => {
        const { value } = await parts.next()
        number = (value?.[3] ?? 0) + 1
        return value?.subarray(4) ?? Buffer.alloc(0)
      }
      const rest = Buffer.concat([nonce.subarray(8), Buffer.from(`\0${plugin}\0`)])
      const head = Buffer.concat([Buffer.from('\u000a8.0.36\0\u0001\0\0\0', 'latin1'), nonce.subarray(0, 8)])
      send(Buffer.concat([head, Buffer.alloc(1 + 2 + 1 + 2 + 2 + 1 + 10), rest]))
      const reported = await next()
      const at = reported.indexOf(0, 32) + 1
      let proof = reported.subarray(at + 1, at + 1 + (reported[at] ?? 0))
      if (another !== undefined) {
        send(Buffer.concat([Buffer.from([0xfe]), Buffer.from(`${another}\0`), nonce, Buffer.from([0])]))
        proof = await next()
      }
      if (!(await isRight(another ?? plugin, proof, password, { send, next }))) return send(denied)
      send(ok)
      const query = (await next()).toString('latin1')
      if (query === '\x03SELECT 1')
        send(Buffer.from([1]), Buffer.from('column'), end, Buffer.from('\u00011'), Buffer.from('\u00012'), end)
      else if (query === '\x03LOAD') send(Buffer.from('\u00fb/etc/passwd', 'latin1'))
      else send(denied)
    }
    // A client may hang up at any time.
    const { port } = await startTcpServer((socket) => void talk(socket).catch(() => undefined))
    return port
  }

  async function isRight(
    plugin: string,
    proof: Buffer,
    password: string,
    { send, next }: { send(...packets: Buffer[]): void; next(): Promise<Buffer> },
  ): Promise<boolean> {
    const secret = Buffer.from(password)
    if (plugin === 'mysql_native_password') {
      const stored = hash('sha1', hash('sha1', secret))
      return hash('sha1', xor(proof, hash('sha1', nonce, stored))).equals(stored)
    }
    const stored = hash('sha256', hash('sha256', secret))
    if (!hash('sha256', xor(proof, hash('sha256', stored, nonce))).equals(stored)) return false
    // The server has not cached the hash, so it asks for the password.
    send(Buffer.from([1, 4]))
    if (!(await next()).equals(Buffer.from([2]))) return false
    send(Buffer.concat([Buffer.from([1]), Buffer.from(keys.publicKey.export({ type: 'spki', format: 'pem' }))]))
    const padding = constants.RSA_PKCS1_OAEP_PADDING
    return xor(privateDecrypt({ key: keys.privateKey, padding }, await next()), nonce).equals(
      Buffer.from(`${password}\0`),
    )
  }

  test.each([
    ['mysql_native_password', undefined],
    ['caching_sha2_password', undefined],
    ['caching_sha2_password', 'mysql_native_password'],
  ])('that asks for %s, then %s', async (plugin, another) => {
    const port = await serve(plugin, 's3cret', another)
    const signed = { port, password: 's3cret', query: 'SELECT 1' }
    expect(await run('MYSQL', signed)).toMatchObject({
      outcome: 'UP',
      message: expect.stringMatching(/^Version 8\.0\.36: 2 rows in/),
    })
    const refused = { outcome: 'DOWN', message: 'The server refused: Access denied' }
    expect(await run('MYSQL', { port, password: 'wrong' })).toMatchObject(refused)
    expect(await run('MYSQL', { port, database: 'shop' })).toMatchObject(refused)
    expect(await run('MYSQL', { ...signed, query: 'SELECT no' })).toMatchObject(refused)
    expect(await run('MYSQL', { port, password: 's3cret' })).toMatchObject({
      outcome: 'UP',
      message: expect.stringMatching(/^Version 8\.0\.36 in/),
    })
  })

  test('never receives a file, and cannot demand an unsupported sign-in', async () => {
    const port = await serve('mysql_native_password', 's3cret')
    const foreign = { outcome: 'DOWN', message: 'The server does not speak the protocol of MySQL' }
    expect(await run('MYSQL', { port, password: 's3cret', query: 'LOAD' })).toMatchObject(foreign)
    const other = await serve('sha3_password', 's3cret')
    expect(await run('MYSQL', { port: other, password: 's3cret' })).toMatchObject({
      outcome: 'DOWN',
      message: 'The server requires a sign-in that is not supported: sha3_password',
    })
  })
})

const redisProgram = '/usr/bin/redis-server'
const mosquitto = '/usr/sbin/mosquitto'
const sshd = '/usr/sbin/sshd'
const passwordProgram = '/usr/bin/mosquitto_passwd'
const keyProgram = '/usr/bin/ssh-keygen'

describe('real servers, if Debian’s packages are installed', () => {
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
      scratchFolder(),
    ]
    await startProgram(redisProgram, args, port)
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
    const [port, folder] = [await freePort(), scratchFolder()]
    const passwords = join(folder, 'passwords')
    execFileSync(passwordProgram, ['-b', '-c', passwords, 'ana', 's3cret'])
    const settings = `listener ${port} 127.0.0.1\nallow_anonymous false\npassword_file ${passwords}\nuser root\n`
    writeFileSync(join(folder, 'conf'), settings)
    await startProgram(mosquitto, ['-c', join(folder, 'conf')], port)
    expect(await run('MQTT', { port, username: 'ana', password: 's3cret' })).toMatchObject({ outcome: 'UP' })
    expect(await run('MQTT', { port })).toMatchObject({
      outcome: 'DOWN',
      message: expect.stringMatching(/^The broker refused/),
    })
  })

  test.skipIf(!existsSync(sshd) || process.getuid?.() !== 0)('SSH (openssh-server, as root)', async () => {
    mkdirSync('/run/sshd', { recursive: true })
    const [port, folder] = [await freePort(), scratchFolder()]
    execFileSync(keyProgram, ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')])
    await startProgram(sshd, ['-D', '-f', '/dev/null', '-h', join(folder, 'key'), '-p', String(port)], port)
    expect(await run('SSH', { port })).toMatchObject({
      outcome: 'UP',
      message: expect.stringMatching(/^SSH-2\.0-OpenSSH/),
    })
  })

  const server = process.env['TEST_DATABASE_URL']
  test.skipIf(server === undefined)('PostgreSQL, if there is a server', async () => {
    const { hostname, port, username } = new URL(server ?? 'postgresql://postgres@127.0.0.1:5432')
    const given = { host: hostname, port: Number(port), user: username }
    expect(await run('POSTGRESQL', given)).toMatchObject({ outcome: 'UP', message: expect.stringMatching(/^1 row in/) })
    expect(await run('POSTGRESQL', { ...given, query: 'SELECT no' })).toMatchObject({
      outcome: 'DOWN',
      message: expect.stringMatching(/"no"/),
    })
    expect(await run('POSTGRESQL', { ...given, query: "SELECT repeat('x', 1000000)" })).toMatchObject({
      outcome: 'DOWN',
      message: 'The server sent more than 256 KiB',
    })
    expect(await run('POSTGRESQL', { ...given, query: 'SELECT pg_sleep(9)' }, 500)).toMatchObject({
      outcome: 'DOWN',
      message: 'No answer within 0.5 s',
    })
  })
})
