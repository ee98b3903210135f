// @slow
import { once } from 'node:events'
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHttpServer } from '../../src/http/server.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { caddyMissing, startDeployedCaddy } from '../support/caddy.ts'
import { createAuthority } from '../support/certificate.ts'
import { nginxMissing, startDeployedNginx } from '../support/nginx.ts'

/** The requests that reached the routes of the service, in order, without those of the proxies themselves. */
const seen: string[] = []
/** More than a slow client takes at once. */
const long = Buffer.alloc(1024 * 1024, 'x')
const server = createHttpServer({
  graphql: null,
  websocket: null,
  callerOf: () => ({ address: '', credential: null, organization: null }),
  router(request, response) {
    if (request.url === '/long') return response.end(long)
    return request.resume().on('end', () => {
      if (request.url !== '/readyz') seen.push(`${request.method} ${request.url}`)
      response.end(`answered(${request.url})`)
    })
  },
})
const port = await server.listen(0, '127.0.0.1')
afterAll(() => server.close(0))

/** Sends bytes. Returns all that is received until the connection ends, or has been silent for a while. */
type Send = (bytes: string, silenceMs?: number) => Promise<string>

const sendOver =
  (open: () => Socket): Send =>
  async (bytes, silenceMs = 500) => {
    const socket = open()
    let received = ''
    socket.setEncoding('latin1').on('data', (part: string) => {
      received += part
    })
    socket.on('error', () => undefined)
    socket.write(bytes, 'latin1')
    socket.setTimeout(silenceMs, () => socket.destroy())
    await once(socket, 'close')
    return received
  }

const sendingOver = (connect: () => Socket) => ({ send: sendOver(connect), connect })

const overTls = ({ port }: { readonly port: number }) =>
  sendingOver(() => connectTls({ port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false }))

const doors = [
  {
    name: 'the service itself',
    missing: null,
    open: async () => ({ ...sendingOver(() => connectPlain(port, '127.0.0.1')), stop: async () => {} }),
  },
  {
    name: 'nginx, with deploy/nginx.conf',
    missing: nginxMissing,
    async open() {
      const nginx = await startDeployedNginx(`http://127.0.0.1:${port}`, createAuthority().issue(['localhost']))
      return { ...overTls(nginx), stop: nginx.stop }
    },
  },
  {
    name: 'Caddy, with deploy/Caddyfile',
    missing: caddyMissing,
    async open() {
      const caddy = await startDeployedCaddy(`http://127.0.0.1:${port}`)
      return { ...overTls(caddy), stop: caddy.stop }
    },
  },
]

const post = 'POST /outer HTTP/1.1\r\nHost: localhost\r\n'
const inner = 'GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n'
const chunked = (head: string) => `${post}${head}\r\n0\r\n\r\n${inner}`
const length = inner.length + 5

/**
 * Requests that two servers in a chain may cut differently. Each hides a second request in what one of them takes for
 * the body of the first.
 */
const requests: readonly (readonly [name: string, bytes: string])[] = [
  ['CL.TE', `${post}Content-Length: ${length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`],
  [
    'TE.CL',
    `${post}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`,
  ],
  [
    'TE.TE, the second unknown',
    chunked(`Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\nContent-Length: ${length}\r\n`),
  ],
  [
    'TE.TE, the first unknown',
    chunked(`Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\nContent-Length: ${length}\r\n`),
  ],
  ['identity and chunked', chunked(`Transfer-Encoding: identity, chunked\r\nContent-Length: ${length}\r\n`)],
  ['chunked and identity', chunked(`Transfer-Encoding: chunked, identity\r\nContent-Length: ${length}\r\n`)],
  ['xchunked', chunked(`Transfer-Encoding: xchunked\r\nContent-Length: ${length}\r\n`)],
  ['chunked in capitals', chunked(`Transfer-Encoding: CHUNKED\r\nContent-Length: ${length}\r\n`)],
  ['chunked with a tab', chunked(`Transfer-Encoding:\tchunked\r\nContent-Length: ${length}\r\n`)],
  ['chunked with a vertical tab', chunked(`Transfer-Encoding: \x0bchunked\r\nContent-Length: ${length}\r\n`)],
  ['chunked in quotes', chunked(`Transfer-Encoding: "chunked"\r\nContent-Length: ${length}\r\n`)],
  ['a space before the colon', chunked(`Transfer-Encoding : chunked\r\nContent-Length: ${length}\r\n`)],
  ['a space before the name', chunked(` Transfer-Encoding: chunked\r\nContent-Length: ${length}\r\n`)],
  ['a folded header', chunked(`X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: ${length}\r\n`)],
  ['a folded value', chunked(`Transfer-Encoding:\r\n chunked\r\nContent-Length: ${length}\r\n`)],
  ['a bare CR in a header', chunked(`X: y\rTransfer-Encoding: chunked\r\nContent-Length: ${length}\r\n`)],
  ['a bare LF in a header', chunked(`X: y\nTransfer-Encoding: chunked\r\nContent-Length: ${length}\r\n`)],
  ['a NUL in a header', chunked(`X: y\0Transfer-Encoding: chunked\r\nContent-Length: ${length}\r\n`)],
  ['a NUL in a name', chunked(`Transfer-Encoding\0: chunked\r\nContent-Length: ${length}\r\n`)],
  ['two lengths', `${post}Content-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`],
  ['two lengths in one', `${post}Content-Length: 0, ${inner.length}\r\n\r\n${inner}`],
  ['a length with a sign', `${post}Content-Length: +${inner.length}\r\n\r\n${inner}`],
  ['a negative length', `${post}Content-Length: -1\r\n\r\n${inner}`],
  ['a hexadecimal length', `${post}Content-Length: 0x${inner.length.toString(16)}\r\n\r\n${inner}`],
  ['a length with a space', `${post}Content-Length: ${String(inner.length).split('').join(' ')}\r\n\r\n${inner}`],
  ['a length that overflows', `${post}Content-Length: 18446744073709551616\r\n\r\n${inner}`],
  ['a chunk size with a sign', `${post}Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n${inner}`],
  ['a hexadecimal chunk size', `${post}Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n${inner}`],
  ['a chunk size that overflows', `${post}Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n\r\n${inner}`],
  ['a chunk with a bare LF', `${post}Transfer-Encoding: chunked\r\n\r\n0\n\n${inner}`],
  ['a chunk size with a bare LF', `${post}Transfer-Encoding: chunked\r\n\r\n1\nx\r\n0\r\n\r\n${inner}`],
  ['a chunk extension with a bare LF', `${post}Transfer-Encoding: chunked\r\n\r\n0;a\nb\r\n\r\n${inner}`],
  ['a chunk extension with a bare CR', `${post}Transfer-Encoding: chunked\r\n\r\n0;a\rb\r\n\r\n${inner}`],
  ['a chunk that is longer than its size', `${post}Transfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n${inner}`],
  ['a chunk without its end', `${post}Transfer-Encoding: chunked\r\n\r\n1\r\nx0\r\n\r\n${inner}`],
  [
    'chunks by HTTP/1.0',
    `POST /outer HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\nContent-Length: ${length}\r\n\r\n0\r\n\r\n${inner}`,
  ],
  [
    'a length named twice by hyphen',
    `${post}Content_Length: ${inner.length}\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
  ],
  ['GET with a body', `GET /outer HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`],
  [
    'an upgrade with a body',
    `${post}Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
  ],
  [
    'an upgrade with chunks',
    `${post}Connection: Upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`,
  ],
  [
    'a websocket with a body',
    `GET /graphql HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 1\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
  ],
  [
    'Connection that removes the length',
    `${post}Connection: Content-Length\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
  ],
  [
    'Connection that removes the encoding',
    `${post}Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`,
  ],
  ['an expectation with a body', `${post}Expect: 100-continue\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`],
  ['a space in the address', `GET /outer x HTTP/1.1\r\nHost: localhost\r\n\r\n`],
  ['a line feed in the address', `GET /outer\n/x HTTP/1.1\r\nHost: localhost\r\n\r\n`],
  ['a request line with a bare LF', `GET /outer HTTP/1.1\nHost: localhost\n\n${''}`],
  ['two hosts', `GET /outer HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n`],
  ['the absolute form of another host', `GET http://evil.example/outer HTTP/1.1\r\nHost: localhost\r\n\r\n`],
]

/** Requests with one meaning, whose body looks like a request. */
const harmless = new Set([
  'a length named twice by hyphen',
  'GET with a body',
  'an upgrade with a body',
  'an upgrade with chunks',
  'Connection that removes the length',
  'Connection that removes the encoding',
  'an expectation with a body',
])

describe.each(doors)('$name', ({ missing, open }) => {
  test.runIf(process.env['CI'])('is installed', () => expect(missing).toBeNull())

  describe.skipIf(missing !== null)('', () => {
    let send: Send
    beforeAll(async () => {
      const door = await open()
      send = door.send
      atTheEnd(door.stop)
    })

    test.each(requests)('the service sees no request that the client was not answered, after %s', async (_, bytes) => {
      seen.length = 0
      const received = await send(bytes)
      const answered = Array.from(received.matchAll(/answered\(([^)]*)\)/g), ([, path]) => path)
      expect(seen.map((request) => request.split(' ')[1])).toEqual(answered)
      // Nor does anybody else on the same connections get the answer to it.
      for (const path of ['/next', '/next-but-one']) {
        const own = await send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
        expect(own).toMatch(/^HTTP\/1\.1 200 /)
        expect(own.match(/answered\([^)]*\)/g)).toEqual([`answered(${path})`])
      }
    })
  })
})

describe.each(doors)('$name, while 200 clients are slow', ({ missing, open }) => {
  describe.skipIf(missing !== null)('', () => {
    let door: { readonly send: Send; readonly connect: () => Socket; stop(): Promise<void> }
    beforeAll(async () => {
      door = await open()
      atTheEnd(door.stop)
    })

    test.each([
      ['to send anything', ''],
      ['with their headers', 'GET /slow HTTP/1.1\r\nHost: localhost\r\nX: '],
      ['with their bodies', `POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nx`],
      ['with their chunks', `POST /slow HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\nx`],
      ['to read', 'GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ])('%s, others are answered', async (_, bytes) => {
      const slow = Array.from({ length: 200 }, () => door.connect().on('error', () => undefined))
      for (const socket of slow) socket.pause().write(bytes)
      const own = await door.send('GET /own HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 10_000)
      for (const socket of slow) socket.destroy()
      expect(own).toContain('answered(/own)')
    })
  })
})

describe('the service itself', () => {
  const { send: direct } = sendingOver(() => connectPlain(port, '127.0.0.1'))
  const unclear = requests.filter(([name]) => !harmless.has(name))
  test.each(unclear)('refuses %s, and closes the connection', async (_, bytes) => {
    seen.length = 0
    const received = await direct(bytes)
    expect(received).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(received.match(/HTTP\/1\.1 /g)).toHaveLength(1)
    expect(received).toMatch(/\r\nconnection: close\r\n/i)
    expect(seen).toEqual([])
  })
})
