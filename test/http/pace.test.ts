import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { requirePace } from '../../src/http/pace.ts'
import { readBody } from '../../src/http/request/body.ts'
import { connected } from '../support/raw-http.ts'

const MEGABYTE = 2 ** 20
const WINDOW = 30_000
const LEAST = 240 * 1024

let answer = (_request: IncomingMessage, response: ServerResponse): unknown => response.end('read')
const server = createServer((request, response) => {
  requirePace(request, response)
  answer(request, response)
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
afterAll(() => {
  server.close()
  server.closeAllConnections()
})
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** A client that has begun a request: what it got so far, and whether its connection is closed. */
async function client(head: string, onRequest: typeof answer) {
  const arrived = new Promise<IncomingMessage>((resolve) => {
    answer = (request, response) => {
      resolve(request)
      return onRequest(request, response)
    }
  })
  const socket = await connected(url)
  const state = { text: '', isClosed: false }
  socket.on('data', (part) => {
    state.text += part.toString('latin1')
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    state.isClosed = true
  })
  socket.write(head)
  return { state, socket, request: await arrived }
}

const read = (request: IncomingMessage, response: ServerResponse) =>
  readBody(request, 100 * MEGABYTE).then(
    (body) => response.end(`${body.length} bytes`),
    () => undefined,
  )
const post = (length: number, path = '/') => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`

/** Lets a window pass, and then what it causes. */
async function nextWindow(): Promise<void> {
  vi.advanceTimersByTime(WINDOW)
  for (let turn = 0; turn < 5; turn++) await setImmediate()
}

/** Sends bytes, and waits until the server has received them. */
async function send(socket: Socket, request: IncomingMessage, bytes: number): Promise<void> {
  const before = request.socket.bytesRead
  socket.write(Buffer.alloc(bytes, 'x'))
  await vi.waitUntil(() => request.socket.bytesRead >= before + bytes || request.complete)
}

test.each([
  ['brings nothing', 0, post(10)],
  ['brings less than it must', LEAST - 1000, post(MEGABYTE)],
  ['is small, and never complete', 9, post(10)],
  ['comes in pieces', 1000, 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n'],
])('a body that %s is cut off', async (_, bytes, head) => {
  const { state, socket, request } = await client(head, read)
  await send(socket, request, bytes)
  await nextWindow()
  await vi.waitUntil(() => state.isClosed)
  expect(state.text).toMatch(/^HTTP\/1\.1 408 .*too slowly/s)
  expect(request.destroyed).toBe(true)
})

test('a slow body gets a sentence, and an error as JSON from the REST API', async () => {
  const answers: string[] = []
  for (const path of ['/console/x', '/api/v1/integrations/x']) {
    const { state } = await client(post(10, path), read)
    await nextWindow()
    await vi.waitUntil(() => state.isClosed)
    answers.push(state.text)
  }
  expect(answers[0]).toMatch(/Content-Type: text\/plain; charset=utf-8\r\n.*\r\nThe request arrived too slowly\.\n$/s)
  expect(answers[1]).toMatch(/Content-Type: application\/json; charset=utf-8\r\n/)
  const error = { code: 'REQUEST_TOO_SLOW', message: 'The request arrived too slowly.' }
  expect(JSON.parse(answers[1]?.split('\r\n\r\n')[1] ?? '')).toEqual({ error })
})

test('a body that brings enough in each window is read, however long it takes', async () => {
  const { state, socket, request } = await client(post(10 * LEAST), read)
  for (let window = 0; window < 9; window++) {
    await send(socket, request, LEAST)
    await nextWindow()
  }
  await send(socket, request, LEAST)
  await vi.waitUntil(() => state.text.endsWith(`${10 * LEAST} bytes`))
  expect(state.isClosed).toBe(false)
})

test('a body that we do not read yet is not cut off', async () => {
  let readNow = () => {}
  const { state, socket, request } = await client(post(10 * MEGABYTE), (request, response) => {
    readNow = () => void read(request, response)
  })
  socket.write(Buffer.alloc(10 * MEGABYTE, 'x'))
  await vi.waitUntil(() => request.readableLength >= request.readableHighWaterMark)
  for (let window = 0; window < 3; window++) await nextWindow()
  expect(state.isClosed).toBe(false)
  readNow()
  await vi.waitUntil(() => state.text.endsWith(`${10 * MEGABYTE} bytes`))
})

test('a client that sends on after its answer is cut off, with the answer', async () => {
  const { state, socket, request } = await client(post(100 * MEGABYTE), (_request, response) => response.end('no'))
  await vi.waitUntil(() => state.text.endsWith('no'))
  await send(socket, request, LEAST)
  await nextWindow()
  await vi.waitUntil(() => state.isClosed)
  expect(state.text).not.toContain('408')
})

test('an answer that nobody takes is given up after as long as the least rate needs', async () => {
  const { state, socket, request } = await client('GET / HTTP/1.1\r\nHost: x\r\n\r\n', (_request, response) =>
    response.end(Buffer.alloc(20 * MEGABYTE)),
  )
  socket.pause()
  const left = request.socket.writableLength
  let windows = 0
  while (!request.socket.destroyed && windows < 200) {
    await nextWindow()
    windows += 1
  }
  expect(windows).toBe(Math.ceil(left / LEAST) + 1)
  expect(left).toBeGreaterThan(0)
  expect(state.isClosed).toBe(false)
})

test('an answer that is being prepared may take its time, and so may its stream', async () => {
  let finish = () => {}
  const { state } = await client('GET / HTTP/1.1\r\nHost: x\r\n\r\n', (_request, response) => {
    response.write('a')
    finish = () => void response.end('b')
  })
  for (let window = 0; window < 5; window++) await nextWindow()
  finish()
  await vi.waitUntil(() => state.text.includes('b\r\n0'))
})

test('the timer ends with the request', async () => {
  const { state } = await client('GET / HTTP/1.1\r\nHost: x\r\n\r\n', (_request, response) => response.end('done'))
  await vi.waitUntil(() => state.text.endsWith('done'))
  await setImmediate()
  // Node's own timers of connections are others.
  await nextWindow()
  expect(state.isClosed).toBe(false)
})
