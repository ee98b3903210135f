import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, expect, test, vi } from 'vitest'
import { createHttpServer } from '../../src/http/server.ts'
import { connected } from '../support/raw-http.ts'

const requests: IncomingMessage[] = []
const server = createHttpServer({
  router: (request, response) => {
    requests.push(request)
    request.resume().on('end', () => response.end('read'))
  },
  graphql: null,
  websocket: null,
  callerOf: ({ headers }) => ({ address: String(headers['x-client']), credential: null, organization: null }),
})
const url = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}`
const sockets: Socket[] = []
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await server.close(0)
})

/** Begins a request with a body of this length that a client does not finish; null: of an unknown length. */
async function open(client: string, length: number | null, path = '/'): Promise<Socket> {
  const socket = await connected(url)
  sockets.push(socket)
  const framing = length === null ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nX-Client: ${client}\r\n${framing}\r\n\r\n`)
  return socket
}

/** Returns the answer, which arrives at once. */
async function answerOf(socket: Socket): Promise<string> {
  const [text] = (await once(socket, 'data')) as [Buffer]
  return text.toString()
}

const statusOf = async (socket: Socket) => Number((await answerOf(socket)).slice(9, 12))

test('large bodies that one network leaves open keep nobody else from sending one', async () => {
  for (let index = 0; index < 128; index++) await open(`2001:db8:1:1::${index.toString(16)}`, index % 2 ? null : 20_000)
  await vi.waitUntil(() => requests.length === 128)
  expect(await statusOf(await open('2001:db8:1:1::ffff', 20_000))).toBe(503)
  const refused = await answerOf(await open('2001:db8:1:1::ffff', 20_000, '/api/v1/integrations/x'))
  expect(refused).toMatch(/^HTTP\/1\.1 503 .*Retry-After: 5\r\n.*Content-Type: application\/json/s)
  const message = 'Too many large requests are being received. Try again soon.'
  expect(refused).toContain(JSON.stringify({ error: { code: 'UNAVAILABLE', message } }))
  const other = await open('192.0.2.1', 20_000)
  other.write(Buffer.alloc(20_000))
  expect(await statusOf(other)).toBe(200)
  const small = await open('2001:db8:1:1::1', 16_000)
  small.write(Buffer.alloc(16_000))
  expect(await statusOf(small)).toBe(200)
  sockets[0]?.destroy()
  await vi.waitUntil(() => requests[0]?.destroyed)
  const again = await open('2001:db8:1:1::ffff', 20_000)
  again.write(Buffer.alloc(20_000))
  expect(await statusOf(again)).toBe(200)
})

test('a body of absurdly small chunks is refused on its route’s own terms', async () => {
  const socket = await open('192.0.2.7', null, '/api/v1/integrations/x')
  socket.write('1\r\nx\r\n'.repeat(20_000))
  const refused = await answerOf(socket)
  expect(refused).toMatch(/^HTTP\/1\.1 400 .*Content-Type: application\/json/s)
  expect(refused).toContain('"code":"INVALID_INPUT","message":"The request body has too many small chunks.')
})
