import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { HTTPException } from 'hono/http-exception'
import { afterAll, expect, test } from 'vitest'
import { Invalid } from '../../../src/core/errors.ts'
import { readBody, readBytes } from '../../../src/http/request/body.ts'
import { connected } from '../../support/raw-http.ts'

const server = createServer().listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
afterAll(() => {
  server.close()
  server.closeAllConnections()
})

/** Reads at most 8 bytes of a request that begins with `head`; the rest can be sent on the socket. */
async function reading(head: string): Promise<{ socket: Socket; body: Promise<string> }> {
  const socket = await connected(url)
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${head}`)
  const [request] = (await once(server, 'request')) as [IncomingMessage]
  return { socket, body: readBody(request, 8) }
}

test('a chunked body is read as one text', async () => {
  const { socket, body } = await reading('Transfer-Encoding: chunked\r\n\r\n')
  for (const byte of Buffer.from('Grüße')) socket.write(Buffer.from([...Buffer.from('1\r\n'), byte, 13, 10]))
  socket.write('0\r\n\r\n')
  expect(await body).toBe('Grüße')
})

test.each([
  ['of no bytes', 'Content-Length: 0\r\n\r\n', ''],
  ['that is missing', '\r\n', ''],
  ['of as many bytes as may be', 'Content-Length: 8\r\n\r\n12345678', '12345678'],
  ['of as many, without a Content-Length', 'Transfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n0\r\n\r\n', '12345678'],
])('a body %s is read', async (_, sent, text) => {
  expect(await (await reading(sent)).body).toBe(text)
})

test.each([
  ['by its Content-Length', 'Content-Length: 9\r\n\r\n'],
  ['without a Content-Length', 'Transfer-Encoding: chunked\r\n\r\n9\r\n123456789\r\n'],
])('a larger one, %s, is rejected before its end', async (_, sent) => {
  const refused = (await reading(sent)).body
  await expect(refused).rejects.toThrow(HTTPException)
  await expect(refused).rejects.toMatchObject({ status: 413 })
})

test('a larger one on a connection that closes is rejected at its end, so that the answer is not lost', async () => {
  const { socket, body } = await reading('Connection: close\r\nContent-Length: 9\r\n\r\n')
  const state = Promise.race([body.then(String, () => 'refused'), setImmediate('waits')])
  expect(await state).toBe('waits')
  socket.write('123456789')
  await expect(body).rejects.toMatchObject({ status: 413 })
})

test('an incomplete body is invalid input', async () => {
  const { socket, body } = await reading('Content-Length: 8\r\n\r\n1234')
  socket.destroy()
  await expect(body).rejects.toThrow(Invalid)
})

test('a body that arrives byte by byte is read whole', async () => {
  const socket = await connected(url)
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  const [request] = (await once(server, 'request')) as [IncomingMessage]
  const body = readBytes(request, 200_000)
  const text = Array.from({ length: 200_000 }, (_, index) => String.fromCharCode(97 + (index % 26))).join('')
  socket.write(`${Array.from(text, (letter) => `1\r\n${letter}\r\n`).join('')}0\r\n\r\n`)
  expect((await body).toString()).toBe(text)
})

test('a body of a connection that has closed already is incomplete', async () => {
  const socket = await connected(url)
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\n1234')
  const [request] = (await once(server, 'request')) as [IncomingMessage]
  socket.destroy()
  await new Promise((resolve) => request.on('close', resolve))
  await expect(readBody(request, 8)).rejects.toThrow(Invalid)
})

test.each([
  ['in any text', 'Content-Length: 3\r\n\r\na\0b'],
  ['in a form', 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 5\r\n\r\na=%00'],
])('NUL %s, which cannot be stored, is refused', async (_, sent) => {
  await expect((await reading(sent)).body).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test('an escaped percent sign before zeros is no NUL, and elsewhere %00 is text', async () => {
  const form = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\n\r\na=%2500'
  expect(await (await reading(form)).body).toBe('a=%2500')
  expect(await (await reading('Content-Length: 3\r\n\r\n%00')).body).toBe('%00')
})
