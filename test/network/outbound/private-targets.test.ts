import { expect, test } from 'vitest'
import { createOutbound } from '../../../src/network/outbound/outbound.ts'
import { startTcpServer } from '../../support/tcp-server.ts'
import { startClient } from '../dns/setup.ts'
import { ample, zone } from './setup.ts'

const names = zone({ 'app.example.com': ['127.0.0.1'], 'metadata.example.com': ['169.254.169.254'] })

/** A client that asks a set of owners for each permission, and the questions that it has asked. */
async function startOwned(allowed: Set<string | null>) {
  const { client: dns, server, clock } = await startClient([names])
  const asked: (string | null)[] = []
  const allowPrivate = async (owner: string | null) => {
    asked.push(owner)
    return allowed.has(owner)
  }
  return { outbound: createOutbound({ dns, allowPrivate }), server, clock, asked }
}

const answering = (text: string) => startTcpServer((socket) => void socket.once('data', () => socket.end(text)))
const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'

test('an owner’s permission does not help another, whose answer comes from the same cache', async () => {
  const server = await answering(ok)
  const { outbound, server: dns } = await startOwned(new Set(['org_a']))
  const ask = (owner?: string) =>
    outbound.request(
      { url: `http://app.example.com:${server.port}/`, maxBodyBytes: 1 },
      { ...ample, ...(owner !== undefined && { owner }) },
    )
  expect(await ask('org_b')).toMatchObject({ reason: 'private', fault: 'theirs' })
  expect(await ask('org_a')).toMatchObject({ status: 200 })
  const queries = dns.queries.length
  expect(await ask('org_b')).toMatchObject({ reason: 'private' })
  expect(await ask()).toMatchObject({ reason: 'private' })
  expect(dns.queries).toHaveLength(queries)
  expect(server.connections).toBe(1)
  expect(await Promise.all(['org_a', 'org_b', 'org_a', 'org_b'].map(ask))).toMatchObject([
    { status: 200 },
    { reason: 'private' },
    { status: 200 },
    { reason: 'private' },
  ])
})

test('an owner’s permission does not hold for what others chose', async () => {
  const server = await answering(ok)
  const { outbound, asked } = await startOwned(new Set(['org_a']))
  const limits = { ...ample, owner: 'org_a', chosenBy: 'others' } as const
  const target = { host: '127.0.0.1', port: server.port }
  expect(await outbound.connect(target, limits)).toMatchObject({ reason: 'private' })
  expect(asked).toEqual([null])
  expect(server.connections).toBe(0)
})

test('each connection is checked: a permission that is withdrawn between redirects ends the request', async () => {
  const allowed = new Set<string | null>(['org_a'])
  const inside = await answering(ok)
  let withdraw = false
  const outside = await startTcpServer((socket) => {
    socket.once('data', () => {
      if (withdraw) allowed.clear()
      socket.end(`HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:${inside.port}/\r\ncontent-length: 0\r\n\r\n`)
    })
  })
  const { outbound } = await startOwned(allowed)
  const url = `http://app.example.com:${outside.port}/`
  const ask = () => outbound.request({ url, maxRedirects: 3, maxBodyBytes: 1 }, { ...ample, owner: 'org_a' })
  expect(await ask()).toMatchObject({ status: 200 })
  withdraw = true
  expect(await ask()).toMatchObject({ reason: 'private' })
  expect(inside.connections).toBe(1)
})

test('a metadata service stays forbidden with a permission, also through a proxy that resolves names', async () => {
  const proxy = await answering(ok)
  const { outbound } = await startOwned(new Set(['org_a']))
  const limits = { ...ample, owner: 'org_a' }
  const through = { url: `http://127.0.0.1:${proxy.port}` }
  for (const host of ['metadata.example.com', '169.254.169.254', '[fd00:ec2::254]', '100.100.100.200'])
    expect(await outbound.connect({ host, port: 80 }, limits)).toMatchObject({ reason: 'forbidden' })
  for (const host of ['metadata.google.internal', '169.254.169.254', '[fe80::1]'])
    expect(await outbound.request({ url: `http://${host}/`, proxy: through, maxBodyBytes: 1 }, limits)).toMatchObject({
      reason: 'forbidden',
    })
  expect(proxy.connections).toBe(0)
})

test('public addresses need no permission, so none is looked up', async () => {
  const { outbound, asked } = await startOwned(new Set())
  expect(await outbound.addressesOf('93.184.216.34', ample)).toMatchObject({ kind: 'resolved' })
  expect(asked).toEqual([])
})

test('a permission that cannot be looked up refuses the connection, and is our fault', async () => {
  const server = await answering(ok)
  const { client: dns } = await startClient([names])
  const outbound = createOutbound({ dns, allowPrivate: () => Promise.reject(new Error('no database')) })
  expect(await outbound.connect({ host: '127.0.0.1', port: server.port }, ample)).toMatchObject({
    reason: 'local',
    fault: 'ours',
  })
  expect(server.connections).toBe(0)
})
