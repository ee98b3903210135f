import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { isTimeSliceOver } from '../../src/core/concurrency/time-slice.ts'
import { createHttpServer } from '../../src/http/server.ts'
import { connected } from '../support/raw-http.ts'

/** The clients whose requests have been worked on, or the names of these requests, in order. */
const seen: string[] = []
const nameOf = ({ headers }: IncomingMessage) => String(headers['x-name'] ?? headers['x-client'])
const server = createHttpServer({
  router(request, response) {
    seen.push(nameOf(request))
    // As long as a time slice.
    while (!isTimeSliceOver());
    response.end()
  },
  graphql: null,
  websocket: {
    upgrade(request, socket) {
      seen.push(nameOf(request))
      while (!isTimeSliceOver());
      socket.destroy()
    },
    close: async () => {},
  },
  callerOf: ({ headers }) => ({ address: String(headers['x-client']), credential: null, organization: null }),
})
const url = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}`
const sockets: Socket[] = []
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await server.close(0)
})

const FLOOD = 40
const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n'

/** How often to look, and for how long. */
const patience = { interval: 1, timeout: 20_000 }

/** Opens a connection for each of these requests, then sends all of them. */
async function send(requests: readonly string[]): Promise<readonly Socket[]> {
  const opened = await Promise.all(requests.map(() => connected(url)))
  sockets.push(...opened)
  for (const [index, socket] of opened.entries()) {
    socket.on('error', () => undefined)
    socket.write(requests[index] ?? '')
  }
  return opened
}

const asking = (client: string, path = '/', headers = '') =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Client: ${client}\r\n${headers}\r\n`
const flooding = (path?: string, headers?: string) => Array<string>(FLOOD).fill(asking('192.0.2.1', path, headers))
beforeEach(() => {
  seen.length = 0
})

test.each([
  ['requests', '/', ''],
  ['websockets', '/graphql', upgrade],
])('a client that opens many %s at once delays the one of another by a turn', async (_, path, headers) => {
  await send([...flooding(path, headers), asking('192.0.2.2', path, headers)])
  await vi.waitUntil(() => seen.length > FLOOD, patience)
  expect(seen.filter((client) => client === '192.0.2.2')).toHaveLength(1)
  expect(seen.indexOf('192.0.2.2')).toBeLessThan(FLOOD / 2)
})

test('a flood does not keep its own address from asking for our health', async () => {
  await send(flooding())
  await vi.waitUntil(() => seen.length > 0, patience)
  await send([asking('192.0.2.1', '/healthz', 'X-Name: health\r\n')])
  await vi.waitUntil(() => seen.length > FLOOD, patience)
  expect(seen.indexOf('health')).toBeLessThan(FLOOD)
})

test('a request whose connection has closed before its turn is not worked on', async () => {
  const opened = await send(flooding())
  await vi.waitUntil(() => seen.length > 0, patience)
  for (const socket of opened) socket.resetAndDestroy()
  // Behind the others of its client.
  await send([asking('192.0.2.1', '/', 'X-Name: last\r\n')])
  await vi.waitUntil(() => seen.includes('last'), patience)
  expect(seen.length).toBeLessThan(FLOOD)
})
