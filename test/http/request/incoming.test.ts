import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { Incoming } from '../../../src/http/request/incoming.ts'
import { connected } from '../../support/raw-http.ts'

let onRequest = (_request: Incoming, _response: ServerResponse): void => {}
const server = createServer({ IncomingMessage: Incoming }, (request, response) => onRequest(request, response)).listen(
  0,
  '127.0.0.1',
)
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
afterAll(() => {
  server.close()
  server.closeAllConnections()
})

const chunked = (path = '/') => `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`
/** Chunks of these sizes, and their end. */
const chunks = (sizes: readonly number[]) =>
  `${sizes.map((size) => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`).join('')}0\r\n\r\n`

/** Sends a body. Returns the sizes of the pieces in which a reader gets it, and whether it has too many. */
async function pieces(body: string): Promise<{ readonly sizes: readonly number[]; readonly isRefused: boolean }> {
  const socket = await connected(url)
  const sizes: number[] = []
  try {
    return await new Promise((resolve) => {
      onRequest = (request) => {
        request.onTooManyPieces = () => resolve({ sizes, isRefused: true })
        request.on('data', (piece: Buffer) => sizes.push(piece.length))
        request.on('end', () => resolve({ sizes, isRefused: false }))
      }
      socket.write(chunked() + body)
    })
  } finally {
    socket.destroy()
  }
}

const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0)

test('small chunks that arrive together are passed on as one, in their order with others', async () => {
  const { sizes } = await pieces(chunks([1, 2, 3, 4, 2000, 5, 6]))
  expect(sum(sizes)).toBe(2021)
  expect(sizes.length).toBeLessThan(6)
  expect(sizes).toContain(2000)
  expect((await pieces(chunks(Array(5000).fill(1)))).sizes.length).toBeLessThan(20)
})

test('another request is answered before the rest of a body of many small chunks is read', async () => {
  const [slow, quick] = [await connected(url), await connected(url)]
  const order: string[] = []
  const bothDone = new Promise<void>((resolve) => {
    onRequest = (request, response) => {
      request.resume().on('end', () => {
        order.push(request.url ?? '')
        response.end()
        if (order.length === 2) resolve()
      })
    }
  })
  // More than a read, which has 64 KiB.
  slow.write(chunked('/slow') + chunks(Array(9000).fill(16)))
  quick.write('GET /quick HTTP/1.1\r\nHost: x\r\n\r\n')
  await bothDone
  expect(order).toEqual(['/quick', '/slow'])
  slow.destroy()
  quick.destroy()
})

test('a body of as many small pieces as may be is read; one more is too many', async () => {
  expect(await pieces(chunks(Array(10_000).fill(1)))).toMatchObject({ isRefused: false })
  expect((await pieces(chunks(Array(11_000).fill(1)))).isRefused).toBe(true)
})

test('pieces of a line each may be any number', async () => {
  const { sizes, isRefused } = await pieces(chunks(Array(20_000).fill(16)))
  expect([sum(sizes), isRefused]).toEqual([320_000, false])
})

test.each([
  ['of a known length', 'Content-Length: 4000000\r\n\r\n', Buffer.alloc(4_000_000)],
  ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n', chunks(Array(400).fill(10_000))],
])('of a large body %s, a turn of the event loop reads little', async (_, headers, body) => {
  const socket = await connected(url)
  const inTurns: number[] = [0]
  const whole = new Promise<void>((resolve) => {
    onRequest = (request) => {
      const nextTurn = () => {
        inTurns.push(0)
        if (!request.complete) setImmediate(nextTurn)
      }
      setImmediate(nextTurn)
      request.on('data', (piece: Buffer) => inTurns.push((inTurns.pop() ?? 0) + piece.length))
      request.on('end', resolve)
    }
  })
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${headers}`)
  socket.write(body)
  await whole
  socket.destroy()
  expect(sum(inTurns)).toBe(4_000_000)
  // A piece, and what was read before it.
  expect(Math.max(...inTurns)).toBeLessThanOrEqual(2 * 64 * 1024)
})
