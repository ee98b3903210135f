import { once } from 'node:events'
import { createServer } from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { callHttp2, type Http2Answer } from '../../../src/network/http2/call.ts'
import { createFrameReader, type Frame, frameFlag, frameType, writeFrame } from '../../../src/network/http2/frame.ts'
import { type HeaderField, writeHeaderBlock } from '../../../src/network/http2/header-block.ts'
import { startTcpServer } from '../../support/tcp-server.ts'

const { endHeaders, endStream, ack } = frameFlag

async function call(port: number, body = Buffer.from('question')): ReturnType<typeof callHttp2> {
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  const headers: readonly HeaderField[] = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':authority', `127.0.0.1:${port}`],
    [':path', '/some/path'],
    ['te', 'trailers'],
    ['x-long', 'x'.repeat(300)],
  ]
  const answer = await callHttp2(socket, { headers, body, maxBodyBytes: 1024 })
  socket.destroy()
  return answer
}

describe('an answer of Node’s server', () => {
  test('has headers, a body and trailers, after an interim response', async () => {
    const server = createServer({ settings: { maxConcurrentStreams: 1 } })
    server.on('stream', async (stream, headers) => {
      const asked = Buffer.concat(await stream.toArray()).toString()
      stream.additionalHeaders({ ':status': 103 })
      stream.respond({ ':status': 201, 'x-path': headers[':path'] ?? '' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-long': `${headers['x-long']}` }))
      stream.end(asked.toUpperCase())
    })
    const answer = (await call(await listen(server))) as Http2Answer
    expect(answer.headers.get(':status')).toBe('201')
    expect(answer.headers.get('x-path')).toBe('/some/path')
    expect(answer.body.toString()).toBe('QUESTION')
    expect(answer.trailers).toEqual(new Map([['x-long', 'x'.repeat(300)]]))
  })

  test('has the headers that it was given, however it encodes them', async () => {
    const sent: Record<string, string>[] = []
    const server = createServer()
    server.on('stream', (stream) => {
      stream.respond({ ':status': 200, ...sent.at(-1) })
      stream.end('x'.repeat(1024))
    })
    const port = await listen(server)
    // Every character that a value may have: Huffman codes of all lengths.
    const characters = Array.from({ length: 223 }, (_, n) => String.fromCharCode(n + 32)).filter((c) => c !== '\x7f')
    const value = fc
      .string({ unit: fc.constantFrom(...characters), minLength: 1, maxLength: 300 })
      .map((text) => text.trim() || 'x')
    const headers = fc.dictionary(fc.stringMatching(/^x-[a-z0-9-]{1,20}$/), value, { maxKeys: 12 })
    await fc.assert(
      fc.asyncProperty(headers, async (given) => {
        sent.push(given)
        const answer = (await call(port)) as Http2Answer
        expect(Object.fromEntries(answer.headers)).toMatchObject({ ':status': '200', ...given })
        expect(answer.body).toHaveLength(1024)
      }),
      { numRuns: 60 },
    )
  })

  test('is refused when its body is too long', async () => {
    const server = createServer((_, response) => response.end('x'.repeat(1025)))
    expect(await call(await listen(server))).toBe('too long')
  })

  async function listen(server: ReturnType<typeof createServer>): Promise<number> {
    onTestFinished(() => void server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return (server.address() as AddressInfo).port
  }
})

const settings = writeFrame({ type: frameType.settings })
const block = (...fields: HeaderField[]) => writeHeaderBlock(fields)
const ok = block([':status', '200'])
const headers = (payload: Buffer, flags: number = endHeaders, stream = 1) =>
  writeFrame({ type: frameType.headers, flags, stream, payload })
const continuation = (payload: Buffer, flags = 0) =>
  writeFrame({ type: frameType.continuation, flags, stream: 1, payload })
const data = (text: string, flags = 0, stream = 1) =>
  writeFrame({ type: frameType.data, flags, stream, payload: Buffer.from(text) })
const goAway = (lastStream: number, code: number) => {
  const payload = Buffer.alloc(8)
  payload.writeUInt32BE(lastStream, 0)
  payload.writeUInt32BE(code, 4)
  return writeFrame({ type: frameType.goAway, payload })
}
const ping = writeFrame({ type: frameType.ping, payload: Buffer.from('12345678') })
const whole = [headers(ok), data('hello', endStream)]

/** Starts a server that sends these frames after its settings, and closes the connection. */
const scripted = async (frames: readonly Buffer[], serve: (socket: Socket) => unknown = (socket) => socket.end()) => {
  const { port } = await startTcpServer((socket) => {
    socket.write(Buffer.concat(frames))
    serve(socket)
  })
  return port
}

describe('an answer', () => {
  test.each([
    [
      'after a block in pieces',
      [headers(ok.subarray(0, 3), 0), continuation(ok.subarray(3), endHeaders), data('hello', endStream)],
    ],
    [
      'between unknown frames, windows and priorities',
      [
        writeFrame({ type: 200, stream: 77, payload: Buffer.from('?') }),
        writeFrame({ type: 8, stream: 1, payload: Buffer.alloc(4, 1) }),
        headers(ok),
        writeFrame({ type: 2, stream: 9, payload: Buffer.alloc(5) }),
        data('hello', endStream),
      ],
    ],
    ['of a server that will close the connection', [headers(ok), goAway(1, 0), data('hello', endStream)]],
    ['in several frames, one of them empty', [headers(ok), data('hel'), data(''), data('lo'), data('', endStream)]],
    [
      'in padded frames',
      [
        headers(Buffer.concat([Buffer.from([2]), ok, Buffer.alloc(2)]), endHeaders | frameFlag.padded),
        data('\x01hello\0', endStream | frameFlag.padded),
      ],
    ],
    [
      'that ends with trailers',
      [headers(ok), data('hello'), headers(block(['a', '1'], ['a', '2']), endHeaders | endStream)],
    ],
    ['in frames with reserved bits', whole.map((frame) => Buffer.from(frame).fill(0x80, 5, 6))],
  ])('is read %s', async (_, frames) => {
    const answer = await call(await scripted([settings, ...frames]))
    expect(answer).toMatchObject({ headers: new Map([[':status', '200']]), body: Buffer.from('hello') })
  })

  test('may consist of headers alone', async () => {
    const answer = await call(
      await scripted([settings, headers(block([':status', '200'], ['a', 'b']), endHeaders | endStream)]),
    )
    expect(answer).toEqual({
      headers: new Map([
        [':status', '200'],
        ['a', 'b'],
      ]),
      trailers: new Map(),
      body: Buffer.alloc(0),
    })
  })

  test('is read byte by byte', async () => {
    const bytes = Buffer.concat([settings, ...whole])
    const port = await scripted([], async (socket) => {
      socket.setNoDelay(true)
      for (const byte of bytes) await new Promise((sent) => socket.write(Buffer.from([byte]), sent))
    })
    expect(await call(port)).toMatchObject({ body: Buffer.from('hello') })
  })
})

test('settings and pings are acknowledged, but not their acknowledgements', async () => {
  const received: Frame[] = []
  const port = await scripted([settings, writeFrame({ type: frameType.settings, flags: ack }), ping], (socket) => {
    const read = createFrameReader()
    let preface = 24
    socket.on('data', (chunk: Buffer) => {
      for (const frame of read(chunk.subarray(preface))) {
        received.push(frame)
        if (frame.type === frameType.ping) socket.write(Buffer.concat(whole))
        if (frame.type === frameType.goAway) socket.end()
      }
      preface = 0
    })
  })
  expect(await call(port)).toMatchObject({ body: Buffer.from('hello') })
  const { settings: SETTINGS, headers: HEADERS, data: DATA, ping: PING } = frameType
  expect(received.slice(0, 5)).toMatchObject([
    { type: SETTINGS, flags: 0 },
    { type: HEADERS, flags: endHeaders, stream: 1 },
    { type: DATA, flags: endStream, stream: 1, payload: Buffer.from('question') },
    { type: SETTINGS, flags: ack, payload: Buffer.alloc(0) },
    { type: PING, flags: ack, payload: Buffer.from('12345678') },
  ])
})

describe('there is no answer', () => {
  const long = block(['x', 'y'.repeat(10_000)])
  const [SETTINGS, PING] = [frameType.settings, frameType.ping]
  test.each([
    ['closed', 'before settings', []],
    ['closed', 'before the end', [settings, headers(ok), data('hel')]],
    ['closed', 'in the middle of a frame', [settings, headers(ok), data('hello', endStream).subarray(0, -1)]],
    ['closed', 'in the middle of a header block', [settings, headers(ok, 0)]],
    [
      'closed',
      'for a stream that is reset',
      [settings, headers(ok), writeFrame({ type: 3, stream: 1, payload: Buffer.alloc(4) })],
    ],
    ['closed', 'when the request is not processed', [settings, goAway(0, 0), ...whole]],
    ['closed', 'after an error of the connection', [settings, goAway(1, 11), ...whole]],
    ['protocol', 'in another protocol', [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')]],
    ['protocol', 'without settings', whole],
    ['protocol', 'in settings of a stream', [writeFrame({ type: SETTINGS, stream: 1 }), ...whole]],
    ['protocol', 'in settings of odd length', [writeFrame({ type: SETTINGS, payload: Buffer.alloc(5) }), ...whole]],
    ['protocol', 'after a short ping', [settings, writeFrame({ type: PING, payload: Buffer.alloc(7) }), ...whole]],
    [
      'protocol',
      'after a ping of a stream',
      [settings, writeFrame({ type: PING, stream: 1, payload: Buffer.alloc(8) })],
    ],
    ['protocol', 'after a short GOAWAY', [settings, writeFrame({ type: frameType.goAway, payload: Buffer.alloc(7) })]],
    [
      'protocol',
      'that nobody asked for',
      [settings, writeFrame({ type: frameType.pushPromise, stream: 1, payload: ok })],
    ],
    ['protocol', 'in another stream', [settings, headers(ok, endHeaders, 3)]],
    ['protocol', 'in the connection', [settings, headers(ok, endHeaders, 0)]],
    ['protocol', 'in data before headers', [settings, data('hello', endStream)]],
    ['protocol', 'in headers without a status', [settings, headers(block(['a', 'b']))]],
    ['protocol', 'in an interim response', [settings, headers(block([':status', '100']), endHeaders | endStream)]],
    ['protocol', 'in a malformed block', [settings, headers(Buffer.from([0x80]))]],
    ['protocol', 'in a block that another frame interrupts', [settings, headers(ok, 0), ping]],
    ['protocol', 'in a continuation of nothing', [settings, continuation(ok, endHeaders)]],
    ['protocol', 'with trailers before its end', [settings, headers(ok), data('hello'), headers(ok)]],
    ['protocol', 'in a frame that is too long', [settings, writeFrame({ stream: 1, payload: Buffer.alloc(16_385) })]],
    ['too long', 'in headers of 20 kB in two frames', [settings, headers(long, 0), continuation(long)]],
    [
      'too long',
      'in headers of 20 kB in one frame',
      [settings, headers(Buffer.concat([block(['x', 'y'.repeat(12_000)]), Buffer.alloc(150, 0x88)]))],
    ],
    [
      'too long',
      'in a long body of short frames',
      [settings, headers(ok), ...Array.from({ length: 103 }, () => data('x'.repeat(10)))],
    ],
    ['too much', 'after a thousand frames', [settings, ...Array.from({ length: 1000 }, () => ping)]],
    [
      'too much',
      'after unknown frames of 256 KiB',
      [settings, ...Array.from({ length: 17 }, () => writeFrame({ type: 99, payload: Buffer.alloc(16_000) }))],
    ],
  ] as const)('%s: %s', async (reason, _, frames) => {
    expect(await call(await scripted(frames))).toBe(reason)
  })

  test('on a connection that is closed already', async () => {
    const socket = connect({ port: await scripted([]), host: '127.0.0.1' }).on('error', () => {})
    socket.destroy()
    await once(socket, 'close')
    expect(await callHttp2(socket, { headers: [], body: Buffer.alloc(0), maxBodyBytes: 1 })).toBe('closed')
  })

  test('in any bytes, and nothing throws', async () => {
    let frames: readonly Frame[] = []
    const { port } = await startTcpServer((socket) => socket.end(Buffer.concat([settings, ...frames.map(writeFrame)])))
    const frame = fc.record({
      type: fc.nat({ max: 10 }),
      flags: fc.nat({ max: 255 }),
      stream: fc.constantFrom(0, 1, 1, 1, 2),
      payload: fc.oneof(
        fc.constant(ok),
        fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      ),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 6 }), async (given) => {
        frames = given
        const answer = await call(port)
        if (typeof answer === 'string') expect(['closed', 'protocol', 'too long', 'too much']).toContain(answer)
        else expect(answer.headers.has(':status')).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})
