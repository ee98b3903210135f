import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { dialFailure } from '../../../src/network/outbound/dial.ts'
import { freePort } from '../../support/free-port.ts'
import { silentPort } from '../../support/silent-port.ts'
import { startTcpServer } from '../../support/tcp-server.ts'
import { ample, startOutbound, zone } from './setup.ts'

describe('a connection', () => {
  test('is made to an address that accepts, even if others refuse', async () => {
    const { port } = await startTcpServer((socket) => socket.end('hello'))
    const { outbound } = await startOutbound(zone({ 'a.example.com': ['127.0.0.3', '::1', '127.0.0.1'] }))
    const connected = await outbound.connect({ host: 'a.example.com', port }, ample)
    if (connected.kind === 'failed') throw new Error(connected.message)
    expect(connected).toMatchObject({ address: '127.0.0.1', certificate: null, phases: { tls: null, firstByte: null } })
    const [data] = await once(connected.socket, 'data')
    expect(String(data)).toBe('hello')
    connected.socket.destroy()
  })

  test('does not wait for a silent address when another one accepts', async () => {
    const { port } = await startTcpServer((socket) => socket.end())
    await silentPort('127.0.0.2', port)
    const { outbound } = await startOutbound(zone({ 'a.example.com': ['127.0.0.2', '127.0.0.1'] }))
    const connected = await outbound.connect({ host: 'a.example.com', port }, ample)
    expect(connected).toMatchObject({ kind: 'connected', address: '127.0.0.1' })
    expect(connected.phases.connect).toBeGreaterThanOrEqual(240)
    if (connected.kind === 'connected') connected.socket.destroy()
  })

  test('that no address accepts ends at the deadline', async () => {
    const port = await silentPort('127.0.0.1')
    const { outbound } = await startOutbound(zone({}))
    expect(await outbound.connect({ host: '127.0.0.1', port }, { timeoutMs: 100 })).toMatchObject({
      reason: 'timeout',
      fault: 'unclear',
      message: 'No connection within 0.1 s',
    })
  })

  test('that is refused fails with `refused`', async () => {
    const port = await freePort()
    const { outbound } = await startOutbound(zone({}))
    expect(await outbound.connect({ host: '127.0.0.1', port }, ample)).toMatchObject({
      reason: 'refused',
      fault: 'theirs',
      message: `Connection to port ${port} refused`,
    })
  })

  test.each([0, -1, 65_536, 1.5])('to port %d is not made', async (port) => {
    const { outbound } = await startOutbound(zone({}))
    expect(await outbound.connect({ host: '127.0.0.1', port }, ample)).toMatchObject({ reason: 'invalid' })
  })
})

describe('an address without a route', () => {
  const onlyFour = () => new Set([4] as const)

  test.each(['ENETUNREACH', 'EHOSTUNREACH', 'EINVAL', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'])(
    'of IPv6 is the fault of this machine if it only has IPv4: %s',
    (code) => {
      const { reason, fault, message } = dialFailure(code, '2001:db8::1', 443, onlyFour)
      expect([reason, fault]).toEqual(['local', 'ours'])
      expect(message).toMatch(/^This machine (?:has no|does not)/)
    },
  )

  test('is the host’s fault when this machine has a route to that IP version', () => {
    expect(dialFailure('EHOSTUNREACH', '192.0.2.1', 443, onlyFour)).toMatchObject({
      reason: 'unreachable',
      fault: 'unclear',
      message: 'The host cannot be reached',
    })
    expect(dialFailure('ENETUNREACH', '192.0.2.1', 443, onlyFour)).toMatchObject({ fault: 'ours' })
  })
})
