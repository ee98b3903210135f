import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createFrameCache, textFrame } from '../../../src/graphql/transport/websocket-frame.ts'

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
await once(server, 'listening')
afterAll(() => server.close())
// A server that listens on a host has an address with a port.
const { port } = server.address() as AddressInfo

test.each([0, 1, 125, 126, 0xffff, 0x1_0000, 200_000])(
  'a client reads a frame of %i bytes and more',
  async (length) => {
    const client = new WebSocket(`ws://127.0.0.1:${port}`)
    const read = once(client, 'message')
    const [socket, { socket: stream }] = await once(server, 'connection')
    const messages = ['x'.repeat(length), 'é'.repeat(length / 2)]
    stream.write(textFrame(messages[0] ?? ''))
    expect(String((await read)[0])).toBe(messages[0])
    stream.write(textFrame(messages[1] ?? ''))
    expect(String((await once(client, 'message'))[0])).toBe(messages[1])
    socket.terminate()
  },
)

test('clients with the same id share a frame, others get their own', () => {
  const frameOf = createFrameCache((id, result) => `${id}:${result}`)
  expect(frameOf('1', 'one')).toBe(frameOf('1', 'one'))
  expect(frameOf('2', 'one')).toEqual(textFrame('2:one'))
  expect(frameOf('1', 'two')).toEqual(textFrame('1:two'))
  expect(frameOf('1', 'one')).toEqual(textFrame('1:one'))
})
