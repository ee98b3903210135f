import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { TolerantConnection } from '../../../src/network/outbound/tolerant-connection.ts'

test('interim responses that arrive at once do not reach the parser if there are too many', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.end('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const connection = new TolerantConnection(connect(server.address() as { port: number }))
  let delivered = 0
  connection.on('data', (bytes: Buffer) => {
    delivered += bytes.toString().split('HTTP/1.1 103').length - 1
  })
  const [error] = await once(connection, 'error')
  expect(error).toMatchObject({ message: 'Too many interim responses' })
  expect(delivered).toBeLessThanOrEqual(100)
  server.close()
})
