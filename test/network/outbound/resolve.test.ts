import { hostname } from 'node:os'
import { describe, expect, test } from 'vitest'
import { PRIVATE_NETWORKS_HINT } from '../../../src/network/outbound/destination-policy.ts'
import { createOutbound } from '../../../src/network/outbound/outbound.ts'
import { answer, createGate, rcodes, silence } from '../../support/dns-server.ts'
import { startTcpServer } from '../../support/tcp-server.ts'
import { ample, startOutbound, zone } from './setup.ts'

const publicOne = '93.184.216.34'
const publicSix = '2606:4700::1111'

describe('the addresses of a host', () => {
  test('alternate between both families, IPv4 first', async () => {
    const names = { 'a.example.com': [publicSix, '2606:4700::2222', publicOne, '93.184.216.35'] }
    const { outbound } = await startOutbound(zone(names), { allowPrivate: false })
    expect(await outbound.addressesOf('A.example.com.', ample)).toEqual({
      kind: 'resolved',
      host: 'a.example.com',
      addresses: [publicOne, publicSix, '93.184.216.35', '2606:4700::2222'],
    })
  })

  test('are of one family when requested', async () => {
    const names = { 'a.example.com': [publicSix, publicOne], 'b.example.com': [publicOne] }
    const { outbound } = await startOutbound(zone(names), { allowPrivate: false })
    expect(await outbound.addressesOf('a.example.com', { ...ample, family: 6 })).toMatchObject({
      addresses: [publicSix],
    })
    expect(await outbound.addressesOf('b.example.com', { ...ample, family: 6 })).toMatchObject({
      reason: 'unknown-name',
      message: 'b.example.com has no address',
    })
    expect(await outbound.addressesOf(publicOne, { ...ample, family: 6 })).toMatchObject({
      reason: 'unknown-name',
      message: `${publicOne} has no IPv6 address`,
    })
  })

  test('are at most eight', async () => {
    const many = Array.from({ length: 20 }, (_, index) => `93.184.216.${index + 1}`)
    const { outbound } = await startOutbound(zone({ 'a.example.com': many }), { allowPrivate: false })
    expect(await outbound.addressesOf('a.example.com', ample)).toMatchObject({ addresses: many.slice(0, 8) })
  })

  test('do not wait long for a family that does not answer', async () => {
    const { outbound } = await startOutbound((query) => (query.type === 'A' ? answer(query, [publicOne]) : []))
    expect(await outbound.addressesOf('a.example.com', ample)).toMatchObject({ addresses: [publicOne] })
  })
})

describe('a name that resolves to a private address', () => {
  const inside: Readonly<Record<string, readonly string[]>> = {
    'loopback.example.com': ['127.0.0.1'],
    'mixed.example.com': [publicOne, '::1'],
    'two.example.com': [publicOne, '10.0.0.7'],
    'mapped.example.com': ['::ffff:127.0.0.1'],
    'nat64.example.com': ['64:ff9b::7f00:1'],
    'metadata.example.com': ['169.254.169.254'],
    'zero.example.com': ['0.0.0.0'],
  }
  const neverAllowed = new Set(['nat64', 'metadata', 'zero'].map((name) => `${name}.example.com`))

  test.each(Object.keys(inside))('such as %s is refused without revealing the address', async (name) => {
    const { outbound } = await startOutbound(zone(inside), { allowPrivate: false })
    expect(await outbound.addressesOf(name, ample)).toMatchObject({
      kind: 'failed',
      fault: 'theirs',
      address: null,
      ...(neverAllowed.has(name)
        ? { reason: 'forbidden', message: `${name} resolves to an address that is blocked` }
        : {
            reason: 'private',
            message: `${name} resolves to an address that is not public; ${PRIVATE_NETWORKS_HINT}`,
          }),
    })
  })

  test('by an alias is refused', async () => {
    const { outbound } = await startOutbound(
      (query) => ({
        answers: [
          { name: query.name, type: 'CNAME', ttl: 60, data: 'db.internal' },
          ...(query.type === 'A' ? [{ name: 'db.internal', type: 'A' as const, ttl: 60, data: '10.0.0.7' }] : []),
        ],
      }),
      { allowPrivate: false },
    )
    expect(await outbound.addressesOf('alias.example.com', ample)).toMatchObject({ reason: 'private' })
  })

  test('that only our network can know is refused alike, whether it exists or not', async () => {
    const { outbound } = await startOutbound(zone({ 'db.internal': ['10.0.0.7'] }), { allowPrivate: false })
    const [known, unknown] = await Promise.all(
      ['db.internal', 'no.internal'].map((name) => outbound.addressesOf(name, ample)),
    )
    const message = (name: string) => `${name} is not a public name; ${PRIVATE_NETWORKS_HINT}`
    expect(known).toMatchObject({ reason: 'private', message: message('db.internal') })
    expect(unknown).toMatchObject({ reason: 'private', message: message('no.internal') })
  })

  test('is reachable when private networks are allowed, except metadata services', async () => {
    const { outbound } = await startOutbound(zone({ 'db.internal': ['10.0.0.7'], ...inside }))
    expect(await outbound.addressesOf('db.internal', ample)).toMatchObject({ addresses: ['10.0.0.7'] })
    expect(await outbound.addressesOf('x.localhost', ample)).toMatchObject({ addresses: ['127.0.0.1', '::1'] })
    expect(await outbound.addressesOf('metadata.example.com', ample)).toMatchObject({
      reason: 'forbidden',
      message: 'metadata.example.com resolves to an address that is blocked',
    })
  })

  test.each([
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '0177.0.0.1',
    '2130706433',
    '①②⑦.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    'localhost',
    'localhost.',
    'x.localhost',
    '0',
    '[::]',
  ])('is never connected to when it is spelled %s', async (host) => {
    const canary = await startTcpServer((socket) => socket.end())
    const { outbound, server } = await startOutbound(zone({}), { allowPrivate: false })
    const { port } = canary
    const reason = ['[64:ff9b::7f00:1]', '0', '[::]'].includes(host) ? 'forbidden' : 'private'
    expect(await outbound.request({ url: `http://${host}:${port}/`, maxBodyBytes: 1 }, ample)).toMatchObject({ reason })
    expect(await outbound.connect({ host, port }, ample)).toMatchObject({ reason })
    expect(canary.connections).toBe(0)
    expect(server.queries).toEqual([])
  })
})

describe('DNS that changes its answer', () => {
  test('cannot reach private addresses: each attempt connects only to checked addresses', async () => {
    const canary = await startTcpServer((socket) => socket.end())
    // A busy machine may repeat a query, so the answer depends on the attempt.
    let attempts = 0
    const { outbound, clock } = await startOutbound(
      (query) => answer(query, query.type === 'AAAA' ? [] : [attempts % 2 === 1 ? publicOne : '127.0.0.1'], 0),
      { allowPrivate: false },
    )
    const attempt = () => {
      // Answers are cached for at least half a minute.
      clock.advance(60_000)
      attempts += 1
      const url = `http://rebind.example.com:${canary.port}/`
      return outbound.request({ url, maxBodyBytes: 1 }, { timeoutMs: 1000 })
    }
    expect(await attempt()).not.toMatchObject({ reason: 'private' })
    expect(await attempt()).toMatchObject({ reason: 'private' })
    expect(await attempt()).not.toMatchObject({ reason: 'private' })
    expect(canary.connections).toBe(0)
  })
})

describe('a name without addresses', () => {
  test('does not exist, or has no records', async () => {
    const { outbound } = await startOutbound(zone({ 'empty.example.com': [] }), { allowPrivate: false })
    expect(await outbound.addressesOf('no.example.com', ample)).toMatchObject({
      reason: 'unknown-name',
      fault: 'theirs',
      message: 'no.example.com does not exist',
    })
    expect(await outbound.addressesOf('empty.example.com', ample)).toMatchObject({
      reason: 'unknown-name',
      message: 'empty.example.com has no address',
    })
  })

  test('may be in the hosts file, which counts only when private networks are allowed', async () => {
    const { outbound } = await startOutbound(zone({}))
    expect(await outbound.addressesOf(hostname(), ample)).toMatchObject({ kind: 'resolved' })
  })

  test('may be the fault of its nameservers or of our resolvers', async () => {
    const { outbound, server } = await startOutbound(() => ({ rcode: rcodes.servfail }))
    expect(await outbound.addressesOf('a.example.com', ample)).toMatchObject({
      reason: 'unresolved',
      fault: 'unclear',
      message: 'The nameservers of a.example.com do not work',
    })
    server.behave(() => ({ rcode: rcodes.refused }))
    expect(await outbound.addressesOf('b.example.com', ample)).toMatchObject({ reason: 'unresolved', fault: 'ours' })
  })

  test('may be the fault of its nameservers when the resolver answers other queries', async () => {
    const { client, server } = await startOutbound(silence)
    const impatient = {
      ...client,
      query: (...[name, type, options]: Parameters<typeof client.query>) =>
        client.query(name, type, { timeoutMs: 50, ...options }),
    }
    const outbound = createOutbound({ dns: impatient, allowPrivate: false })
    server.behave((query) => (query.name === 'a.root-servers.net' ? answer(query, ['198.41.0.4']) : []))
    expect(await outbound.addressesOf('a.example.com', ample)).toMatchObject({ reason: 'unresolved', fault: 'unclear' })
    server.behave(silence)
    expect(await outbound.addressesOf('b.example.com', ample)).toMatchObject({
      reason: 'unresolved',
      fault: 'ours',
      message: 'None of our DNS resolvers answered',
    })
  })

  test('ends by the deadline, or when its caller aborts', async () => {
    const { outbound, server } = await startOutbound(silence)
    expect(await outbound.addressesOf('a.example.com', { timeoutMs: 50 })).toMatchObject({
      reason: 'timeout',
      fault: 'unclear',
      message: 'No address of the host within 0.05 s',
    })
    const gate = createGate()
    server.behave(async () => {
      gate.open()
      return []
    })
    const leaving = new AbortController()
    const left = outbound.addressesOf('b.example.com', { timeoutMs: 60_000, signal: leaving.signal })
    await gate.opened
    leaving.abort()
    expect(await left).toMatchObject({ reason: 'aborted', fault: 'ours' })
    expect(await outbound.addressesOf('c.example.com', { ...ample, signal: leaving.signal })).toMatchObject({
      reason: 'aborted',
    })
  })
})
