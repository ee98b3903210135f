import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Duplex, PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { type RequestOfSocket, SecuredSocket, TOO_MUCH } from '../../../src/network/outbound/secured-socket.ts'

/** Creates a socket over a connection whose server is the test, and collects what it tells its thread. */
function open() {
  const server = new PassThrough()
  const connection = Duplex.from({ readable: server, writable: new PassThrough() }) as Socket
  const requests: RequestOfSocket[] = []
  const socket = new SecuredSocket(connection, (request) => void requests.push(request))
  const failed = new Promise<NodeJS.ErrnoException>((resolve) => socket.on('error', resolve))
  return { server, socket, requests, failed }
}

const KIB = 1024
const kinds = (requests: readonly RequestOfSocket[]) => new Set(requests.map(({ kind }) => kind))

/** Sends bytes of the server, of which the thread reads everything. */
async function send({ server, socket }: ReturnType<typeof open>, kib: number): Promise<void> {
  for (let sent = 0; sent < kib && !socket.destroyed; sent += 16) {
    server.write(Buffer.alloc(16 * KIB))
    await new Promise(setImmediate)
    socket.onReply({ kind: 'read', count: 16 * KIB })
  }
}

test('a server that sends 256 KiB without content is cut off', async () => {
  const opened = open()
  await send(opened, 256)
  expect(opened.socket.destroyed).toBe(false)
  await send(opened, 32)
  expect(await opened.failed).toMatchObject({ code: TOO_MUCH })
  expect(opened.requests.at(-1)).toEqual({ kind: 'close' })
})

test('a server may send a hundred bytes for each byte of content', async () => {
  const opened = open()
  await send(opened, 256)
  opened.socket.onReply({ kind: 'decrypted', bytes: new Uint8Array(16 * KIB) })
  await send(opened, 1600)
  expect(opened.socket.destroyed).toBe(false)
  await send(opened, 32)
  expect(await opened.failed).toMatchObject({ code: TOO_MUCH })
})

test('a server is not read while its thread is busy', async () => {
  const { server, requests } = open()
  for (let sent = 0; sent < 20; sent++) server.write(Buffer.alloc(16 * KIB))
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
  const sent = requests.reduce((sum, request) => sum + (request.kind === 'encrypted' ? request.bytes.length : 0), 0)
  expect(sent).toBeGreaterThanOrEqual(128 * KIB)
  expect(sent).toBeLessThan(256 * KIB)
})

test('a thread is not told of reading before the caller reads', async () => {
  const { socket, requests } = open()
  for (let turn = 0; turn < 8; turn++) socket.onReply({ kind: 'decrypted', bytes: new Uint8Array(16 * KIB) })
  expect(requests).not.toContainEqual({ kind: 'read', count: 16 * KIB * 8 })
  socket.resume()
  await new Promise(setImmediate)
  const counts = requests.map((request) => (request.kind === 'read' ? request.count : 0))
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(8 * 16 * KIB)
})

test('writing fails when the connection is closed, and the thread is told once', async () => {
  const { socket, requests, failed } = open()
  const written = new Promise((resolve) => socket.write('x', resolve))
  socket.destroy(new Error('gone'))
  expect(await written).toBeInstanceOf(Error)
  expect(await failed).toMatchObject({ message: 'gone' })
  socket.destroy()
  expect(requests.filter(({ kind }) => kind === 'close')).toHaveLength(1)
  expect(kinds(requests)).toEqual(new Set(['write', 'close']))
})

test('the answer of a server that hangs up arrives, although the thread still has something to send', async () => {
  const server = createServer((peer) => peer.end('answer')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connection = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const socket = new SecuredSocket(connection, () => {})
  await once(connection, 'end')
  socket.onReply({ kind: 'encrypted', bytes: new Uint8Array(24) })
  await new Promise(setImmediate)
  socket.onReply({ kind: 'decrypted', bytes: Uint8Array.from(Buffer.from('answer')) })
  socket.onReply({ kind: 'ended' })
  expect(Buffer.concat(await socket.toArray()).toString()).toBe('answer')
  await once(server.close(), 'close')
})

test.each(['read at once', 'read later'])(
  'what arrived before a connection is reset is %s, and the error follows',
  async (how) => {
    const server = createServer((peer) => peer.on('data', () => peer.resetAndDestroy())).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const connection = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const requests: RequestOfSocket[] = []
    const socket = new SecuredSocket(connection, (request) => void requests.push(request))
    const failed = once(socket, 'error')
    const content: Buffer[] = []
    if (how === 'read at once') socket.on('data', (chunk: Buffer) => content.push(chunk))
    connection.write('request')
    await new Promise((resolve) => connection.once('close', resolve))
    expect(requests).toContainEqual({ kind: 'ended' })
    socket.onReply({ kind: 'decrypted', bytes: Uint8Array.from(Buffer.from('answer')) })
    socket.onReply({ kind: 'ended' })
    if (how === 'read later') socket.on('data', (chunk: Buffer) => content.push(chunk))
    expect((await failed)[0]).toMatchObject({ code: 'ECONNRESET' })
    expect(Buffer.concat(content).toString()).toBe('answer')
    await once(server.close(), 'close')
  },
)
