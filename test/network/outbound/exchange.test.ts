// @slow
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { OutboundRequest } from '../../../src/network/outbound/outbound.ts'
import { startScript, startTcpServer } from '../../support/tcp-server.ts'
import { ample, startOutbound, zone } from './setup.ts'

const KIB = 1024
const MIB = 1024 * KIB

async function ask(port: number, request: Partial<OutboundRequest> = {}, timeoutMs = ample.timeoutMs) {
  const { outbound } = await startOutbound(zone({}))
  return outbound.request({ url: `http://127.0.0.1:${port}/a?b`, maxBodyBytes: 64 * KIB, ...request }, { timeoutMs })
}

function reply(body: string | Buffer, headers: readonly string[] = [`Content-Length: ${body.length}`]): Buffer {
  return Buffer.concat([Buffer.from(['HTTP/1.1 200 OK', ...headers, '', ''].join('\r\n')), Buffer.from(body)])
}

/** Writes the same bytes repeatedly while the other side reads them. `written` counts them. */
async function startEndless(head: Buffer, bytes: Buffer) {
  let close = (_bytes: number) => {}
  const written = new Promise<number>((resolve) => {
    close = resolve
  })
  const { port } = await startTcpServer((socket) => {
    socket.on('close', () => close(socket.bytesWritten))
    const write = () => {
      while (!socket.destroyed && socket.write(bytes));
    }
    socket.once('data', () => {
      socket.on('drain', write).write(head)
      write()
    })
  })
  return { port, written }
}

describe('a request', () => {
  test('is sent as given, and its response returned with the duration of each phase', async () => {
    let seen = ''
    const { port } = await startTcpServer((socket) => {
      socket.on('data', (chunk) => {
        seen += chunk
        if (seen.endsWith('hello')) socket.end(reply('world', ['X-Test: yes', 'Content-Length: 5']))
      })
    })
    const headers = [
      { name: 'X-Api-Key', value: 's3cret' },
      { name: 'x-twice', value: '1' },
      { name: 'X-Twice', value: '2' },
      { name: 'User-Agent', value: 'mine' },
      { name: 'Host', value: 'forged' },
    ]
    const answer = await ask(port, { method: 'POST', headers, body: 'hello' })
    expect(answer).toMatchObject({
      kind: 'answer',
      status: 200,
      complete: true,
      url: `http://127.0.0.1:${port}/a?b`,
      address: '127.0.0.1',
      certificate: null,
      phases: { tls: null },
    })
    if (answer.kind === 'failed') throw new Error(answer.message)
    expect(answer.body.toString()).toBe('world')
    expect(answer.headers['x-test']).toBe('yes')
    const { dns, connect, firstByte, total } = answer.phases
    const sum = (dns ?? Number.NaN) + (connect ?? Number.NaN) + (firstByte ?? Number.NaN)
    expect(sum).toBeGreaterThan(0)
    expect(total).toBeGreaterThanOrEqual(sum)
    expect(seen.split('\r\n')).toEqual([
      'POST /a?b HTTP/1.1',
      'user-agent: mine',
      'accept-encoding: gzip, br',
      'accept: */*',
      'x-api-key: s3cret',
      'x-twice: 1',
      'x-twice: 2',
      `host: 127.0.0.1:${port}`,
      'Connection: close',
      'Content-Length: 5',
      '',
      'hello',
    ])
  })

  test('that cannot be sent is reported without its secrets', async () => {
    const { port } = await startScript(reply(''))
    const value = 's3cret\r\nHost: inside'
    const failure = await ask(port, { headers: [{ name: 'x', value }] })
    expect(failure).toMatchObject({ reason: 'invalid', message: expect.not.stringContaining('s3cret') })
    expect(await ask(port, { method: 'A B' })).toMatchObject({ reason: 'invalid' })
  })

  test.each([
    ['ftp://a.example/', 'invalid'],
    ['not a URL', 'invalid'],
    ['http://user@a.example/', 'invalid'],
    ['http://a.example:25/', 'forbidden'],
    ['http://169.254.169.254/latest/meta-data/', 'forbidden'],
  ])('to %s is not made: %s', async (url, reason) => {
    expect(await ask(0, { url })).toMatchObject({ reason })
  })
})

describe('a redirect', () => {
  async function startSite(locations: Readonly<Record<string, string>>) {
    const seen: string[] = []
    const { port } = await startTcpServer((socket) => {
      socket.once('data', (chunk) => {
        const [, path = ''] = String(chunk).split(' ')
        seen.push(path)
        const location = locations[path]
        const head = location === undefined ? 'HTTP/1.1 200 OK' : `HTTP/1.1 302 Found\r\nLocation: ${location}`
        socket.end(`${head}\r\nContent-Length: 0\r\n\r\n`)
      })
    })
    return { port, seen }
  }

  test('is followed when requested, and returned otherwise', async () => {
    const { port } = await startSite({ '/a?b': '/c', '/c': './d' })
    expect(await ask(port, { maxRedirects: 2 })).toMatchObject({ status: 200, url: `http://127.0.0.1:${port}/d` })
    expect(await ask(port)).toMatchObject({ status: 302, headers: { location: '/c' } })
  })

  test('in a loop ends', async () => {
    const { port, seen } = await startSite({ '/a?b': '/c', '/c': '/a?b' })
    expect(await ask(port, { maxRedirects: 5 })).toMatchObject({
      reason: 'redirects',
      fault: 'theirs',
      message: `Redirects in a loop within http://127.0.0.1:${port}`,
    })
    expect(seen.length).toBe(6)
  })

  test('is checked like the first request, by name and by address', async () => {
    const inside = { 'inside.example.com': ['169.254.169.254'] }
    const { outbound, server } = await startOutbound(zone(inside))
    for (const target of ['http://169.254.169.254/', 'http://[fe80::1]/', 'http://inside.example.com/']) {
      const { port } = await startSite({ '/': target })
      const request = { url: `http://127.0.0.1:${port}/`, maxRedirects: 3, maxBodyBytes: KIB }
      expect(await outbound.request(request, ample)).toMatchObject({ reason: 'forbidden', address: null })
    }
    expect(server.queries.map(({ name }) => name)).toEqual(['inside.example.com', 'inside.example.com'])
  })
})

describe('a response', () => {
  test('that arrives byte by byte ends at the deadline', async () => {
    const { port } = await startTcpServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n')
      const timer = setInterval(() => socket.write('x'), 20)
      socket.on('close', () => clearInterval(timer))
    })
    expect(await ask(port, {}, 300)).toMatchObject({
      reason: 'timeout',
      fault: 'unclear',
      message: 'No complete answer within 0.3 s',
    })
  })

  test('whose head arrives byte by byte ends at the deadline', async () => {
    const { port } = await startTcpServer((socket) => {
      const timer = setInterval(() => socket.write('H'), 20)
      socket.on('close', () => clearInterval(timer))
    })
    expect(await ask(port, {}, 300)).toMatchObject({ kind: 'failed', fault: expect.not.stringMatching('ours') })
  })

  test('that does not arrive ends at the deadline', async () => {
    const { port } = await startTcpServer(() => undefined)
    expect(await ask(port, {}, 100)).toMatchObject({ reason: 'timeout', message: 'No answer within 0.1 s' })
  })

  test('that is shorter than its Content-Length fails', async () => {
    const { port } = await startScript(reply('short', ['Content-Length: 1000']))
    expect(await ask(port)).toMatchObject({
      reason: 'closed',
      fault: 'theirs',
      message: 'Connection closed before the response was complete',
    })
  })

  test('that is longer than its Content-Length is cut there', async () => {
    const { port } = await startScript(reply('short and more', ['Content-Length: 5']))
    const answer = await ask(port)
    expect(answer).toMatchObject({ complete: true, body: Buffer.from('short') })
  })

  test('without end is read up to the limit', async () => {
    const { port, written } = await startEndless(reply('', []), Buffer.alloc(64 * KIB, 'x'))
    const answer = await ask(port, { maxBodyBytes: MIB })
    expect(answer).toMatchObject({ status: 200, complete: false, body: { length: MIB } })
    // When the limit is reached, the system's buffers still hold data in transit.
    expect(await written).toBeLessThan(32 * MIB)
  })

  test('in chunks of one byte is read up to the limit', async () => {
    const head = reply('', ['Transfer-Encoding: chunked'])
    const { port, written } = await startEndless(head, Buffer.from('1\r\nx\r\n'.repeat(10_000)))
    const answer = await ask(port, { maxBodyBytes: 300 * KIB })
    expect(answer).toMatchObject({ complete: false, body: Buffer.alloc(300 * KIB, 'x') })
    expect(await written).toBeLessThan(32 * MIB)
    const { port: other } = await startScript(
      Buffer.concat([head, Buffer.from(`${'2\r\nab\r\n'.repeat(KIB)}0\r\n\r\n`)]),
    )
    const exactly = { complete: true, body: Buffer.from('ab'.repeat(KIB)) }
    expect(await ask(other, { maxBodyBytes: 2 * KIB })).toMatchObject(exactly)
    expect(await ask(other, { maxBodyBytes: 2 * KIB - 1 })).toMatchObject({ complete: false, body: { length: 2047 } })
  })

  test('after interim responses is returned, unless there are too many', async () => {
    const early = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'
    const { port } = await startScript(Buffer.concat([Buffer.from(early), reply('late')]))
    expect(await ask(port)).toMatchObject({ status: 200, body: Buffer.from('late') })
    const { port: endless } = await startEndless(Buffer.from(early), Buffer.from(early.repeat(500)))
    expect(await ask(endless)).toMatchObject({ reason: 'protocol', message: 'Too many interim responses' })
  })

  test.each([
    ['gzip', gzipSync('hello')],
    ['x-gzip', gzipSync('hello')],
    ['br', brotliCompressSync('hello')],
    ['deflate', deflateSync('hello')],
    ['Deflate', deflateRawSync('hello')],
  ])('encoded with %s is decoded', async (encoding, packed) => {
    const { port } = await startScript(reply(packed, [`Content-Encoding: ${encoding}`]))
    expect(await ask(port)).toMatchObject({ complete: true, body: Buffer.from('hello') })
  })

  test.each(['constructor', '__proto__', 'zip'])(
    'in an unknown encoding, such as %s, is returned unchanged',
    async (name) => {
      const { port } = await startScript(reply('hello', [`Content-Encoding: ${name}`]))
      expect(await ask(port)).toMatchObject({ complete: true, body: Buffer.from('hello') })
    },
  )

  test('without a body may claim an encoding', async () => {
    const { port } = await startScript(reply('', ['Content-Encoding: gzip', 'Content-Length: 0']))
    expect(await ask(port)).toMatchObject({ complete: true, body: { length: 0 } })
    expect(await ask(port, { method: 'HEAD' })).toMatchObject({ complete: true, body: { length: 0 } })
  })

  test.each([
    ['gzip', (bytes: Buffer) => gzipSync(bytes)],
    ['br', (bytes: Buffer) => brotliCompressSync(bytes)],
    ['deflate', (bytes: Buffer) => deflateRawSync(bytes)],
  ])('that decodes to a huge body, by %s, is decoded up to the limit', async (encoding, pack) => {
    const bomb = pack(Buffer.alloc(16 * MIB))
    expect(bomb.length).toBeLessThan(100 * KIB)
    const { port } = await startScript(reply(bomb, [`Content-Encoding: ${encoding}`]))
    expect(await ask(port)).toMatchObject({ complete: false, body: { length: 64 * KIB } })
  })

  test('that is encoded without end and decodes to nothing fails', async () => {
    // Empty stored blocks of deflate (RFC 1951 §3.2.4), after the head of gzip.
    const head = reply(gzipSync('').subarray(0, 10), ['Content-Encoding: gzip'])
    const { port } = await startEndless(head, Buffer.from('000000ffff'.repeat(1000), 'hex'))
    expect(await ask(port)).toMatchObject({ reason: 'protocol', message: 'The response body cannot be decoded' })
  })

  test('that is encoded wrongly fails', async () => {
    const { port } = await startScript(reply('not packed at all', ['Content-Encoding: gzip']))
    expect(await ask(port)).toMatchObject({ reason: 'protocol', message: 'The response body cannot be decoded' })
    const { port: other } = await startScript(reply('not packed at all', ['Content-Encoding: br']))
    expect(await ask(other)).toMatchObject({ reason: 'protocol', message: 'The response body cannot be decoded' })
  })

  const long = Array.from({ length: 2000 }, (_, index) => `line ${index} of a page\n`).join('')

  test.each([
    ['gzip', gzipSync(long)],
    ['deflate', deflateSync(long)],
    ['deflate', deflateRawSync(long)],
    ['br', brotliCompressSync(long)],
  ])('whose encoding has no end, by %s, is decoded as far as it goes', async (encoding, packed) => {
    for (const cut of [1, 8, Math.floor(packed.length / 2)]) {
      const part = packed.subarray(0, packed.length - cut)
      const { port } = await startScript(
        reply(part, [`Content-Encoding: ${encoding}`, `Content-Length: ${part.length}`]),
      )
      const answer = await ask(port)
      if (answer.kind === 'failed') throw new Error(answer.message)
      expect(answer.complete).toBe(true)
      expect(answer.body.length).toBeGreaterThan(1000)
      expect(long.startsWith(answer.body.toString())).toBe(true)
    }
  })

  test('that ends within the head of its encoding decodes to nothing', async () => {
    const { port } = await startScript(reply(gzipSync(long).subarray(0, 5), ['Content-Encoding: gzip']))
    expect(await ask(port)).toMatchObject({ complete: true, body: { length: 0 } })
  })

  test.each([
    ['gzip, gzip', gzipSync(gzipSync(long))],
    ['gzip,br', brotliCompressSync(gzipSync(long))],
    ['identity, deflate , identity, GZIP', gzipSync(deflateRawSync(long))],
    ['gzip\r\nContent-Encoding: br', brotliCompressSync(gzipSync(long))],
    ['gzip, gzip', gzipSync(gzipSync(long).subarray(0, -8)).subarray(0, -8)],
  ])('encoded several times, by %j, is decoded in the order of the header', async (encodings, packed) => {
    const { port } = await startScript(reply(packed, [`Content-Encoding: ${encodings}`]))
    expect(await ask(port)).toMatchObject({ complete: true, body: Buffer.from(long) })
  })

  test('encoded more than five times, or in part with something unknown, is returned unchanged', async () => {
    for (const encodings of [Array(6).fill('gzip').join(','), 'zip, gzip']) {
      const { port } = await startScript(reply('hello', [`Content-Encoding: ${encodings}`]))
      expect(await ask(port)).toMatchObject({ complete: true, body: Buffer.from('hello') })
    }
  })

  test('whose outer encoding decodes to much and whose inner one to nothing fails', async () => {
    // Empty stored blocks of deflate (RFC 1951 §3.2.4), after the head of gzip.
    const inner = Buffer.concat([gzipSync('').subarray(0, 10), Buffer.from('000000ffff'.repeat(MIB), 'hex')])
    const { port } = await startScript(reply(gzipSync(inner), ['Content-Encoding: gzip, gzip']))
    expect(await ask(port)).toMatchObject({ reason: 'protocol', message: 'The response body cannot be decoded' })
  })

  test.each([
    ['never ends', (socket: Socket) => socket.write('data: 1\n\n')],
    ['cannot be decoded', (socket: Socket) => socket.end('not packed at all')],
    ['is cut off', (socket: Socket) => socket.write('x', () => socket.resetAndDestroy())],
  ])('whose body %s is returned at its head when no body is asked for', async (_, more) => {
    const { port } = await startTcpServer((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n')
        socket.write('Transfer-Encoding: chunked\r\n\r\n', () => more(socket))
      })
    })
    expect(await ask(port, { maxBodyBytes: 0 })).toMatchObject({ status: 200, complete: false, body: { length: 0 } })
    expect(await ask(port, { maxBodyBytes: 0 }, 300)).toMatchObject({ status: 200 })
  })

  test('with a short body that nobody asked for is received, so that its server sees no aborted request', async () => {
    let hasAborted = false
    const finished = new Promise<void>((resolve) => {
      const server = createServer((_, response) => {
        response.on('close', () => {
          hasAborted = !response.writableFinished
          resolve()
        })
        response.flushHeaders()
        setImmediate(() => response.end('x'.repeat(1000)))
      }).listen(0, '127.0.0.1', () => void ask((server.address() as AddressInfo).port, { maxBodyBytes: 0 }))
      onTestFinished(() => void server.close())
    })
    await finished
    expect(hasAborted).toBe(false)
  })

  test('with an endless head is refused', async () => {
    const { port } = await startEndless(
      Buffer.from('HTTP/1.1 200 OK\r\n'),
      Buffer.from(`X-Flood: ${'x'.repeat(KIB)}\r\n`),
    )
    expect(await ask(port)).toMatchObject({ reason: 'protocol', message: 'The response headers exceed 300 KiB' })
  })

  test('with endless trailers is refused', async () => {
    const head = reply('0\r\n', ['Transfer-Encoding: chunked'])
    const { port } = await startEndless(head, Buffer.from(`X-Flood: ${'x'.repeat(KIB)}\r\n`))
    expect(await ask(port)).toMatchObject({ kind: 'failed', fault: 'theirs' })
  })

  test('whose header line is longer than 100 KiB, or that has more than 5000 headers, is refused', async () => {
    const { port } = await startScript(reply('', [`X-Long: ${'x'.repeat(101 * KIB)}`]))
    expect(await ask(port)).toMatchObject({ reason: 'protocol', message: 'A response header exceeds 100 KiB' })
    const { port: many } = await startScript(reply('', Array(5001).fill('A: b')))
    expect(await ask(many)).toMatchObject({ reason: 'protocol', message: 'The response has more than 5000 headers' })
    const { port: one } = await startEndless(Buffer.from('HTTP/1.1 200 OK\r\nX: '), Buffer.alloc(KIB, 'x'))
    expect(await ask(one)).toMatchObject({ reason: 'protocol', message: 'A response header exceeds 100 KiB' })
  })

  test('that is not HTTP is refused', async () => {
    const { port } = await startScript('SSH-2.0-OpenSSH_9.2\r\n')
    expect(await ask(port)).toMatchObject({ reason: 'protocol', message: 'The response is not valid HTTP' })
  })

  test.each(['resets', 'ends'])('does not arrive when the other side %s', async (how) => {
    const { port } = await startTcpServer((socket) => {
      socket.once('data', () => (how === 'resets' ? socket.resetAndDestroy() : socket.end()))
    })
    expect(await ask(port)).toMatchObject({ reason: 'closed', message: 'Connection closed without a response' })
  })

  test('whose body is cut off by a reset fails', async () => {
    const { port } = await startTcpServer((socket) => {
      socket.once('data', () => socket.write(reply('x', ['Content-Length: 1000']), () => socket.resetAndDestroy()))
    })
    expect(await ask(port)).toMatchObject({ reason: 'closed' })
  })

  test('that came while the process was busy is in time', async () => {
    const script = `
      const { createServer } = require('node:net')
      const { parentPort } = require('node:worker_threads')
      const server = createServer((socket) => {
        socket.on('error', () => undefined)
        socket.once('data', () => {
          parentPort.postMessage('asked')
          setTimeout(() => socket.end('HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok'), 50)
        })
      }).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`
    const thread = new Worker(script, { eval: true })
    onTestFinished(async () => void (await thread.terminate()))
    const [port] = await once(thread, 'message')
    const asked = once(thread, 'message')
    const answer = ask(port, {}, 1000)
    await asked
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1200)
    expect(await answer).toMatchObject({ kind: 'answer', status: 200 })
  })

  test('is not awaited after its caller aborts, and the connection closes', async () => {
    const leaving = new AbortController()
    let closed = () => {}
    const gone = new Promise<void>((resolve) => {
      closed = resolve
    })
    const { port } = await startTcpServer((socket) => {
      socket.on('close', closed)
      socket.once('data', () => leaving.abort())
    })
    const { outbound } = await startOutbound(zone({}))
    const request = { url: `http://127.0.0.1:${port}/`, maxBodyBytes: KIB }
    expect(await outbound.request(request, { ...ample, signal: leaving.signal })).toMatchObject({
      reason: 'aborted',
      fault: 'ours',
    })
    await gone
  })
})
