import { createHash } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, TLSSocket, type TlsOptions } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { type Document, serialize } from 'bson'
import { createAuthority } from '../support/certificate.ts'
import {
  constraints,
  curveSigner,
  dsaSigner,
  impossibleDates,
  largeGroup,
  longChain,
  manyNames,
  oddCertificate,
  rsaSigner,
} from '../support/hostile-certificate.ts'
import type { HostileCase } from './case.ts'
import { flood, sendOneByOne } from './flood.ts'
import { watch } from './probes.ts'
import { registries, trusted } from './registry.ts'

const MIB = 2 ** 20

/** Answers a client; the argument is the client's first message. */
type Talk = (socket: Socket, first: Buffer) => void

/** A case of a server that a monitor connects to. `speaksFirst`: it does not wait for the client. */
function serving(
  name: string,
  options: (port: number) => object,
  talk: Talk,
  { speaksFirst = false, tls }: { speaksFirst?: boolean; tls?: () => TlsOptions } = {},
): HostileCase {
  return {
    name: `a monitor connects to ${name}`,
    statuses: [200],
    waits: true,
    async send(target) {
      const sockets = new Set<Socket>()
      const serve = (socket: Socket) => {
        sockets.add(socket)
        socket.on('error', () => {})
        if (speaksFirst) talk(socket, Buffer.alloc(0))
        else socket.once('data', (first: Buffer) => talk(socket, first))
      }
      const server = tls ? createTlsServer(tls(), serve).on('tlsClientError', () => {}) : createServer(serve)
      server.on('connection', (socket: Socket) => void sockets.add(socket))
      await once(server.listen(0, '127.0.0.1'), 'listening')
      try {
        return await watch(target, options((server.address() as AddressInfo).port))
      } finally {
        server.close()
        for (const socket of sockets) socket.destroy()
      }
    },
  }
}

const to =
  (kind: string, more: object = {}) =>
  (port: number) => ({
    [kind]: { host: '127.0.0.1', port, ...more },
  })

const times = (bytes: readonly number[], count: number) =>
  Buffer.concat(Array.from({ length: count }, () => Buffer.from(bytes)))

const frame = (type: number, flags: number, stream: number, payload: Buffer) => {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}
const [HEADERS, SETTINGS, PING, CONTINUATION] = [1, 4, 6, 9]
const settings = frame(SETTINGS, 0, 0, Buffer.alloc(0))
/** A header that is not indexed, in HPACK: `x: ` and a hundred letters. */
const header = Buffer.concat([Buffer.from([0, 1, 0x78, 100]), Buffer.alloc(100, 'x')])

/** Accepts a WebSocket, then sends frames. */
function webSocket(frames: (socket: Socket) => void): Talk {
  return (socket, request) => {
    const [, key = ''] = /sec-websocket-key: (\S+)/i.exec(request.toString()) ?? []
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
    const head = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}`
    socket.write(`${head}\r\n\r\n`)
    frames(socket)
  }
}

/** A greeting of MySQL, and the end of authentication. */
const greeting = Buffer.concat([
  Buffer.from([77, 0, 0, 0]),
  Buffer.from(`\n8.0\0${'1234'}12345678\0${'\0'.repeat(2 + 1 + 2 + 2 + 1 + 10)}abcdefghijkl\0mysql_native_password\0`),
])
greeting.writeUIntLE(greeting.length - 4, 0, 3)

const mysql = (rest: (socket: Socket) => void): Talk => {
  return (socket) => {
    socket.write(greeting)
    socket.once('data', () => {
      socket.write(Buffer.from([7, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0]))
      socket.once('data', () => rest(socket))
    })
  }
}

/** PostgreSQL's messages after authentication. */
const signedIn = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49])

const proxied = (scheme: string) => (port: number) => ({
  http: { url: 'https://127.0.0.1/', proxy: { url: `${scheme}://127.0.0.1:${port}` } },
})

const dns = (scheme: string) => (port: number) => ({
  dns: { name: 'example.com', recordType: 'TXT', resolver: `${scheme}://127.0.0.1:${port}` },
})

/** A DNS reply with as many records as fit, each an alias of a pointer into the one before. */
function dnsReply(query: Buffer): Buffer {
  const count = 5000
  const head = Buffer.from(query)
  head.writeUInt16BE(0x8180, 2)
  head.writeUInt16BE(count, 6)
  head.writeUInt16BE(0, 10)
  const question = head.subarray(0, head.indexOf(0, 12) + 5)
  const record = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, 1, 0])
  return Buffer.concat([question, ...Array.from({ length: count }, () => record)])
}

/** Calls `answer` with a message once all of it has arrived, which may take several pieces. */
function onceWhole(
  socket: Socket,
  first: Buffer,
  isWhole: (received: Buffer) => boolean,
  answer: (message: Buffer) => void,
) {
  let received = first
  const onData = (piece: Buffer) => {
    received = Buffer.concat([received, piece])
    if (!isWhole(received)) return
    socket.off('data', onData)
    answer(received)
  }
  socket.on('data', onData)
  onData(Buffer.alloc(0))
}

let domains = 0

const shortNames = (count: number) => Array.from({ length: count }, (_, index) => `${index.toString(36)}.a`)

/** TLS servers whose handshake makes their client compute for long, or read much. */
const handshakes: Readonly<Record<string, () => TlsOptions>> = {
  'a Diffie-Hellman group of 10,000 bits': () => ({
    ...createAuthority().issue(['127.0.0.1'], { hasRsaKey: true }),
    ...{ dhparam: largeGroup(), ciphers: 'DHE', maxVersion: 'TLSv1.2' },
  }),
  'a Diffie-Hellman group of 8,192 bits in TLS 1.3': () => ({ ...trusted, ecdhCurve: 'ffdhe8192' }),
  'a chain of RSA keys with exponents of 3,072 bits': () => longChain(rsaSigner(3072, 3072)),
  'a chain of RSA keys of 16,384 bits': () => longChain(rsaSigner(16_384, 64)),
  'a chain of DSA keys of 10,000 bits': () => longChain(dsaSigner()),
  'a chain of keys on a binary curve': () => longChain(curveSigner('sect571r1')),
  'a chain of 100 certificates': () => longChain(curveSigner('P-521')),
  'a million pairs of names and constraints': () =>
    longChain(curveSigner('P-256'), {
      authority: { extensions: constraints(shortNames(650)) },
      leaf: { extensions: [manyNames(shortNames(1300))] },
    }),
  '49,000 empty names': () => oddCertificate({ extensions: [manyNames(Array.from({ length: 49_000 }, () => ''))] }),
  '33,000 names after a quote': () =>
    oddCertificate({ extensions: [manyNames(['a"b', ...Array.from({ length: 33_000 }, () => 'a')])] }),
  'dates that are none': () => oddCertificate({ validity: impossibleDates }),
}

const ok = 'HTTP/1.1 200 OK\r\n'

/** Encodes 16 MiB of zeros so many times. */
function layeredBomb(layers: number): Buffer {
  let body = Buffer.alloc(16 * MIB)
  for (let layer = 0; layer < layers; layer++) body = gzipSync(body)
  return body
}

/** Responses in HTTP, up to the limits of what is read and beyond. */
const answers: Readonly<Record<string, Talk>> = {
  'sends 290 KiB of one-letter headers': (socket) => {
    socket.end(`${ok}${'a:\n'.repeat(4990)}${`b: ${'x'.repeat(56_000)}\n`.repeat(5)}\n`)
  },
  'sends headers without end': (socket) => {
    socket.write(ok)
    flood(socket, Buffer.from('a:\n'.repeat(20_000)))
  },
  'continues a header without end': (socket) => {
    socket.write(`${ok}a: b\r\n`)
    flood(socket, Buffer.from(' c\r\n'.repeat(20_000)))
  },
  'sends interim responses without end': (socket) => flood(socket, Buffer.from('HTTP/1.1 103 x\n\n'.repeat(4000))),
  'sends a head in single bytes': (socket) => {
    socket.setNoDelay(true)
    socket.write(`${ok}a: `)
    sendOneByOne(socket, 'x', 20_000)
  },
  'sends a bomb in five layers': (socket) => {
    const body = layeredBomb(5)
    socket.write(`${ok}Content-Encoding: gzip, gzip, gzip, gzip, gzip\r\nContent-Length: ${body.length}\r\n\r\n`)
    socket.end(body)
  },
  'redirects to itself with as many cookies as there is room for': (socket) => {
    const cookies = Array.from({ length: 4000 }, (_, index) => `Set-Cookie: c${index}=${'x'.repeat(50)}; Domain=a\r\n`)
    socket.end(`HTTP/1.1 302 Found\r\nLocation: /\r\n${cookies.join('')}\r\n`)
  },
  'redirects with large cookies': (socket) => {
    const cookies = Array.from({ length: 60 }, (_, index) => `Set-Cookie: c${index}=${'='.repeat(4900)}\r\n`)
    socket.end(`HTTP/1.1 302 Found\r\nLocation: /\r\n${cookies.join('')}\r\n`)
  },
  'states its charset at length': (socket) => {
    socket.end(`${ok}Content-Type: text/html\r\n\r\n${'<meta a=<!--'.repeat(80_000)}`)
  },
}

/** The protocols of monitors, with servers of an attacker. */
export const servers: readonly HostileCase[] = [
  serving('SSH that never says its version', to('ssh'), (socket) => flood(socket, Buffer.from('x\r\n'.repeat(5000))), {
    speaksFirst: true,
  }),
  serving('Redis that answers with a line without an end', to('redis'), (socket) =>
    flood(socket, Buffer.alloc(60_000, 'x')),
  ),
  serving('MQTT that sends messages without end', to('mqtt', { topic: '#', expect: 'none' }), (socket) => {
    socket.write(Buffer.from([0x20, 2, 0, 0]))
    socket.once('data', () => {
      socket.write(Buffer.from([0x90, 3, 0, 1, 0]))
      flood(socket, times([0x30, 3, 0, 1, 0x78], 2000))
    })
  }),
  serving(
    'MySQL that sends endless rows',
    to('mysql', { password: 'x', query: 'SELECT 1' }),
    mysql((socket) => {
      const columns = Buffer.from([1, 0, 0, 1, 1, 1, 0, 0, 2, 1, 5, 0, 0, 3, 0xfe, 0, 0, 2, 0])
      socket.write(columns)
      flood(socket, times([1, 0, 0, 4, 1], 2000))
    }),
    { speaksFirst: true },
  ),
  serving('MySQL that greets with 16 MB', to('mysql'), (socket) => flood(socket, Buffer.alloc(MIB, 0xff)), {
    speaksFirst: true,
  }),
  serving('PostgreSQL that sends rows without end', to('postgresql'), (socket) => {
    socket.write(signedIn)
    socket.once('data', () => flood(socket, times([0x44, 0, 0, 0, 6, 0, 0], 2000)))
  }),
  serving('PostgreSQL that sends notices without end', to('postgresql'), (socket) => {
    flood(socket, times([0x4e, 0, 0, 0, 5, 0], 2000))
  }),
  serving('PostgreSQL that asks for two billion iterations', to('postgresql', { password: 'x' }), (socket) => {
    const sasl = Buffer.from('SCRAM-SHA-256\0\0')
    socket.write(Buffer.concat([Buffer.from([0x52, 0, 0, 0, 8 + sasl.length, 0, 0, 0, 10]), sasl]))
    socket.once('data', (answer: Buffer) => {
      const [, nonce = ''] = /r=([^,]+)/.exec(answer.toString('latin1')) ?? []
      const challenge = Buffer.from(`r=${nonce}x,s=c2FsdA==,i=2000000000`)
      socket.write(Buffer.concat([Buffer.from([0x52, 0, 0, 0, 8 + challenge.length, 0, 0, 0, 11]), challenge]))
    })
  }),
  serving('MongoDB that asks for a billion iterations', to('mongodb', { user: 'a', password: 'x' }), (socket) => {
    const answer = (id: number, document: Document) => {
      const body = serialize(document)
      const head = Buffer.alloc(21)
      head.writeInt32LE(head.length + body.length)
      head.writeInt32LE(id, 8)
      head.writeInt32LE(2013, 12)
      socket.write(Buffer.concat([head, body]))
    }
    answer(1, { isWritablePrimary: true, ok: 1 })
    socket.once('data', (start: Buffer) => {
      const [, nonce = ''] = /r=([^\0]+)/.exec(start.toString('latin1')) ?? []
      const payload = Buffer.from(`r=${nonce.slice(0, 24)}x,s=c2FsdA==,i=999999999`)
      answer(2, { conversationId: 1, payload, done: false, ok: 1 })
    })
  }),
  serving('MongoDB that answers with 48 MB', to('mongodb'), (socket) => flood(socket, Buffer.alloc(MIB, 2))),
  serving('gRPC that continues its headers without end', to('grpc'), (socket) => {
    socket.write(Buffer.concat([settings, frame(HEADERS, 0, 1, Buffer.from([0x88]))]))
    flood(socket, frame(CONTINUATION, 0, 1, Buffer.concat(Array.from({ length: 100 }, () => header))))
  }),
  serving('gRPC that repeats a large header in single bytes', to('grpc'), (socket) => {
    // A field of 100 bytes that is added to the table, then its number, as often as a frame holds it.
    const added = Buffer.concat([Buffer.from([0x40, 1, 0x78, 100]), Buffer.alloc(100, 'x')])
    socket.write(Buffer.concat([settings, frame(HEADERS, 4, 1, Buffer.concat([added, Buffer.alloc(16_000, 0xbe)]))]))
  }),
  serving('gRPC that pings without end', to('grpc'), (socket) => {
    socket.write(settings)
    flood(socket, Buffer.concat(Array.from({ length: 1000 }, () => frame(PING, 0, 0, Buffer.alloc(8)))))
  }),
  serving('gRPC that changes its settings without end', to('grpc'), (socket) => {
    flood(socket, Buffer.concat(Array.from({ length: 1000 }, () => settings)))
  }),
  serving(
    'a WebSocket that sends endless empty messages',
    to('websocket', { tls: false, expect: 'none' }),
    webSocket((socket) => flood(socket, times([0x81, 0], 20_000))),
  ),
  serving(
    'a WebSocket that pings endlessly',
    to('websocket', { tls: false, expect: 'none' }),
    webSocket((socket) => flood(socket, times([0x89, 0], 20_000))),
  ),
  serving(
    'a WebSocket that sends a message in endless pieces',
    to('websocket', { tls: false, expect: 'none' }),
    webSocket((socket) => {
      socket.write(Buffer.from([0x01, 1, 0x78]))
      flood(socket, times([0x00, 1, 0x78], 20_000))
    }),
  ),
  ...Object.entries(answers).map(([name, talk]) =>
    serving(
      `HTTP that ${name}`,
      (port) => ({ http: { url: `http://127.0.0.1:${port}/`, keyword: { text: 'x' } } }),
      talk,
    ),
  ),
  serving(
    'HTTP that sends events without end',
    (port) => ({ http: { url: `http://127.0.0.1:${port}/` } }),
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n')
      flood(socket, Buffer.from('data: x\n\n'.repeat(5000)))
    },
  ),
  serving('a proxy whose headers have no end', proxied('http'), (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx: ')
    flood(socket, Buffer.alloc(60_000, 'x'))
  }),
  serving('a proxy that connects, and floods', proxied('http'), (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    flood(socket, Buffer.alloc(60_000, 'x'))
  }),
  serving(
    'a proxy that forwards, and floods',
    (port) => ({ http: { url: 'http://127.0.0.1/', proxy: { url: `http://127.0.0.1:${port}` } } }),
    (socket) => flood(socket, Buffer.alloc(60_000, 'x')),
  ),
  serving('a proxy of SOCKS that floods', proxied('socks5'), (socket) => {
    socket.write(Buffer.from([5, 0]))
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
      flood(socket, Buffer.alloc(60_000, 5))
    })
  }),
  serving(
    'a resolver over TLS that answers with as many records as there is room for',
    dns('tls'),
    (socket, first) => {
      const isWhole = (received: Buffer) => received.length > 2 && received.length >= 2 + received.readUInt16BE(0)
      onceWhole(socket, first, isWhole, (query) => {
        const reply = dnsReply(query.subarray(2))
        const length = Buffer.alloc(2)
        length.writeUInt16BE(Math.min(65_535, reply.length))
        socket.write(Buffer.concat([length, reply]))
      })
    },
    { tls: () => trusted },
  ),
  serving('a resolver over TLS that floods', dns('tls'), (socket) => flood(socket, Buffer.alloc(60_000, 0xff)), {
    tls: () => trusted,
  }),
  serving(
    'a resolver over HTTPS that answers with as many records as there is room for',
    dns('https'),
    (socket, first) => {
      const queryIn = (request: Buffer) => request.subarray(request.indexOf('\r\n\r\n') + 4)
      const isWhole = (received: Buffer) => {
        const [, length = '0'] = /content-length: (\d+)/i.exec(received.toString('latin1')) ?? []
        return received.includes('\r\n\r\n') && Number(length) > 0 && queryIn(received).length >= Number(length)
      }
      onceWhole(socket, first, isWhole, (request) => {
        const reply = dnsReply(queryIn(request))
        const head = `HTTP/1.1 200 OK\r\ncontent-type: application/dns-message\r\ncontent-length: ${reply.length}\r\n\r\n`
        socket.end(Buffer.concat([Buffer.from(head), reply]))
      })
    },
    { tls: () => trusted },
  ),
  ...Object.entries(handshakes).flatMap(([what, tls]) =>
    [true, false].map((verifyCertificate) =>
      serving(
        `a TLS server with ${what}${verifyCertificate ? '' : ', without verification'}`,
        (port) => ({ tcp: { host: '127.0.0.1', port, tls: true, verifyCertificate } }),
        () => {},
        { tls },
      ),
    ),
  ),
  serving(
    'a TLS server that repeats the handshake without end',
    to('tcp', { tls: true, verifyCertificate: false, expect: 'x' }),
    (socket) => {
      const again = (error?: Error | null) => {
        if (!error && socket instanceof TLSSocket) socket.renegotiate({}, again)
      }
      again()
    },
    { speaksFirst: true, tls: () => ({ ...trusted, maxVersion: 'TLSv1.2' }) },
  ),
  serving(
    'a TLS server that sends bytes one by one',
    to('tcp', { tls: true, verifyCertificate: false, expect: 'y' }),
    (socket) => {
      for (let n = 0; n < 1000; n++) sendOneByOne(socket, 'x')
    },
    { speaksFirst: true, tls: () => trusted },
  ),
  ...(['[', '{"a":'] as const).map(
    (piece): HostileCase => ({
      name: `a monitor gets a token of 64 kB of ${piece}`,
      statuses: [200],
      async send(target) {
        const tokenUrl = await target.serve(piece.repeat(64_000 / piece.length), {})
        const oauth = { tokenUrl, clientId: `c${Math.random()}`, clientSecret: 'x' }
        return watch(target, { http: { url: tokenUrl, oauth } })
      },
    }),
  ),
  ...registries.map(
    ({ label, name }): HostileCase => ({
      name: `a monitor asks a registry that answers with ${name}`,
      statuses: [200],
      waits: true,
      send: (target) => watch(target, { domain: { domain: `hostile-${process.pid}-${++domains}.${label}` } }),
    }),
  ),
  {
    name: 'a monitor sends a datagram, and a hundred thousand come back',
    statuses: [200],
    waits: true,
    async send(target) {
      const socket = createSocket('udp4')
      socket.on('error', () => {})
      socket.on('message', (_message, { port, address }) => {
        for (let n = 0; n < 100_000; n++) socket.send(Buffer.alloc(100, 'x'), port, address, () => {})
      })
      socket.bind(0, '127.0.0.1')
      await once(socket, 'listening')
      try {
        return await watch(target, { udp: { host: '127.0.0.1', port: socket.address().port, send: 'x', expect: 'y' } })
      } finally {
        socket.close()
      }
    },
  },
]
