import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDnsClient, type DnsClient, type DnsResult } from '../../../src/network/dns/client.ts'
import {
  answer,
  type Behaviour,
  createGate,
  encodeReply,
  type Reply,
  rcodes,
  type SeenQuery,
  silence,
  type TestDnsServer,
  truncated,
} from '../../support/dns-server.ts'
import { freePort } from '../../support/free-port.ts'
import { startClient } from './setup.ts'

const listed: Behaviour = (query) => answer(query, ['127.0.0.2'])
const refusing: Behaviour = () => ({ rcode: rcodes.refused })
const failing: Behaviour = () => ({ rcode: rcodes.servfail })
const garbled: Behaviour = (query) => {
  const whole = encodeReply(query, { name: query.name, type: 'A' }, answer(query, ['127.0.0.2']))
  return { bytes: whole.subarray(0, -1) }
}
const found = { kind: 'answer', values: ['127.0.0.2'], ttl: 300 }

/** Queries with a short retransmission delay, 50 ms, and a long deadline. */
function askInHaste(client: DnsClient, name = 'bl.test'): Promise<DnsResult> {
  void client.query(name, 'A', { timeoutMs: 150 })
  return client.query(name, 'A', { timeoutMs: 10_000 })
}

describe('a message that is not an answer', () => {
  test('is counted and ignored, and the answer that follows is returned', async () => {
    const { client } = await startClient([
      (query) => [
        { ...answer(query, ['6.6.6.6']), id: query.id ^ 1 },
        { ...answer(query, ['6.6.6.6']), question: { name: 'other.test', type: 'A' } },
        { ...answer(query, ['6.6.6.6']), question: { name: query.name, type: 'AAAA' } },
        { bytes: Buffer.from('garbage') },
        { bytes: Buffer.alloc(0) },
        answer(query, ['127.0.0.2']),
      ],
    ])
    expect(await client.query('bl.test', 'A')).toEqual(found)
    expect(client.statistics).toMatchObject({ rejected: 5, received: 1 })
  })

  test('does not reach us from another address, even with the right id', async () => {
    const { client } = await startClient([
      (query) => [{ ...answer(query, ['6.6.6.6']), forged: true }, answer(query, ['127.0.0.2'])],
    ])
    expect(await client.query('bl.test', 'A')).toEqual(found)
    expect(client.statistics.rejected).toBe(0)
  })

  test('may be any bytes', async () => {
    const bytes = fc.sample(fc.uint8Array({ maxLength: 1400 }), 200)
    const { client } = await startClient([
      (query) => [...bytes.map((each) => ({ bytes: each })), answer(query, ['127.0.0.2'])],
    ])
    expect(await client.query('bl.test', 'A')).toEqual(found)
  })

  test('can be a second copy of the answer', async () => {
    const { client, server } = await startClient([
      (query) => [answer(query, ['127.0.0.2']), answer(query, ['127.0.0.2'])],
    ])
    await client.query('one.test', 'A')
    server.behave(listed)
    expect(await client.query('two.test', 'A')).toEqual(found)
    await expect.poll(() => client.statistics.rejected).toBe(1)
  })
})

describe('retransmission', () => {
  test('repeats the packet from the same port until an answer comes', async () => {
    const { client, server } = await startClient([silence])
    const result = askInHaste(client)
    await server.seen(3)
    server.behave(listed)
    expect(await result).toEqual(found)
    const [first, ...others] = server.queries
    for (const other of others) expect(other).toMatchObject({ id: first?.id, port: first?.port })
    expect(client.statistics).toMatchObject({ sent: 1, retransmitted: others.length })
  })

  test('accepts a late answer to the first packet', async () => {
    const gate = createGate()
    const { client, server } = await startClient([silence])
    server.behave(async (query) => {
      server.behave(silence)
      await gate.opened
      return answer(query, ['127.0.0.2'])
    })
    const result = askInHaste(client)
    await server.seen(2)
    gate.open()
    expect(await result).toEqual(found)
  })

  test('queries the next upstream too, and both may answer', async () => {
    const { client, servers } = await startClient([silence, silence, listed])
    expect(await askInHaste(client)).toEqual(found)
    const [first = 0, second = 0, third = 0] = servers.map((server) => server.queries.length)
    expect(first).toBeGreaterThan(second)
    expect(second).toBeGreaterThan(third)
    expect(third).toBeGreaterThan(0)
  })

  test('still accepts the answer of the first upstream', async () => {
    const { client, servers } = await startClient([silence, silence])
    const result = askInHaste(client)
    await servers[1]?.seen(1)
    servers[0]?.behave(listed)
    expect(await result).toEqual(found)
  })
})

describe('failover', () => {
  test.each([
    ['refuses', refusing],
    ['fails', failing],
    ['garbles', garbled],
  ])('is immediate when an upstream %s', async (_, behaviour) => {
    const { client, servers } = await startClient([behaviour, listed])
    expect(await client.query('bl.test', 'A')).toEqual(found)
    expect(servers.map((server) => server.queries.length)).toEqual([1, 1])
    expect(client.statistics.retransmitted).toBe(0)
  })

  test('queries every upstream once, and reports the first failure when all fail', async () => {
    const { client, servers } = await startClient([refusing, failing, garbled])
    expect(await client.query('bl.test', 'A')).toEqual({ kind: 'failed', reason: 'refused' })
    // A single SERVFAIL is not the end.
    expect(servers.map((server) => server.queries.length)).toEqual([1, 2, 1])
  })

  test('returns the failure of one at the deadline when the other is silent', async () => {
    // Long enough for the failure to arrive on a busy machine.
    const { client } = await startClient([failing, silence], 1000)
    expect(await client.query('bl.test', 'A')).toEqual({ kind: 'failed', reason: 'servfail' })
  })

  test('is immediate when the port is closed', async () => {
    const { client, servers } = await startClient([listed, listed])
    await servers[0]?.close()
    expect(await client.query('bl.test', 'A')).toEqual(found)
    expect(client.statistics.retransmitted).toBe(0)
  })

  test('is impossible with a single upstream', async () => {
    const servers = [{ address: '127.0.0.1', port: await freePort() }]
    const client = createDnsClient({ servers, timeoutMs: 5000, now: () => new Date() })
    onTestFinished(() => client.close())
    const names = Array.from({ length: 100 }, (_, index) => `n${index}.test`)
    const results = await Promise.all(names.map((name) => client.query(name, 'A')))
    for (const result of results) expect(result).toEqual({ kind: 'failed', reason: 'unreachable' })
  })

  test('continues when there is no route to an upstream', async () => {
    const { servers } = await startClient([listed])
    // The system does not connect an ordinary socket to the broadcast address.
    const unroutable = { address: '255.255.255.255', port: 53 }
    const client = createDnsClient({ servers: [unroutable, ...servers], timeoutMs: 5000, now: () => new Date() })
    onTestFinished(() => client.close())
    expect(await client.query('bl.test', 'A')).toEqual(found)
  })

  test('queries a silent upstream last for a while', async () => {
    const { client, servers, clock } = await startClient([silence, listed])
    for (const name of ['a.test', 'b.test', 'c.test']) expect(await askInHaste(client, name)).toEqual(found)
    const before = servers[0]?.queries.length
    expect(await client.query('d.test', 'A')).toEqual(found)
    expect(servers[0]?.queries.length).toBe(before)
    clock.advance(30_000)
    servers[0]?.behave((query) => answer(query, ['127.0.0.3']))
    expect(await client.query('e.test', 'A')).toMatchObject({ values: ['127.0.0.3'] })
  })
})

describe('SERVFAIL', () => {
  const failingOnce = (): Behaviour => {
    let failures = 0
    return (query) => (failures++ === 0 ? { rcode: rcodes.servfail } : answer(query, ['127.0.0.2']))
  }

  test('from the only resolver is asked once more', async () => {
    const { client, servers } = await startClient([failingOnce()])
    expect(await client.query('bl.test', 'A')).toEqual(found)
    expect(queriesOf(servers)).toEqual([[true, false]])
  })

  test('twice is the result', async () => {
    const { client, servers } = await startClient([failing])
    expect(await client.query('bl.test', 'A')).toEqual({ kind: 'failed', reason: 'servfail' })
    expect(queriesOf(servers)).toEqual([[true, false]])
  })

  test('from two resolvers is the result', async () => {
    const { client, servers } = await startClient([failing, failing])
    expect(await client.query('bl.test', 'A')).toEqual({ kind: 'failed', reason: 'servfail' })
    expect(queriesOf(servers)).toEqual([[true], [true]])
  })

  test('is asked once more even if the other resolver is silent', async () => {
    const { client, servers } = await startClient([failingOnce(), silence])
    expect(await askInHaste(client)).toEqual(found)
    expect(servers[0]?.queries.length).toBe(2)
  })

  test('says nothing about EDNS', async () => {
    const { client, servers } = await startClient([failingOnce()])
    await client.query('one.test', 'A')
    await client.query('two.test', 'A')
    expect(queriesOf(servers)).toEqual([[true, false, true]])
  })
})

describe('a resolver that does not understand EDNS', () => {
  /** Rejects queries with EDNS as `rejection`, and answers the others. */
  const plainOnly =
    (rejection: Reply): Behaviour =>
    (query) =>
      hasEdns(query) ? rejection : answer(query, ['127.0.0.2'])
  const rejections = [rcodes.formatError, rcodes.notImplemented].flatMap((rcode) => [
    { rcode },
    { rcode, withoutQuestion: true },
  ])

  test.each(rejections)('and says %j is asked again without EDNS', async (rejection) => {
    const { client, servers } = await startClient([plainOnly(rejection)])
    expect(await client.query('bl.test', 'A')).toEqual(found)
    expect(queriesOf(servers)).toEqual([[true, false]])
    expect(client.statistics).toMatchObject({ rejected: 0, retransmitted: 0 })
  })

  test('is remembered for 15 minutes', async () => {
    const { client, servers, clock } = await startClient([plainOnly({ rcode: rcodes.formatError })])
    await client.query('a.test', 'A')
    await client.query('b.test', 'A')
    clock.advance(15 * 60_000 - 1)
    await client.query('c.test', 'A')
    expect(queriesOf(servers)).toEqual([[true, false, false, false]])
    clock.advance(1)
    await client.query('d.test', 'A')
    expect(queriesOf(servers)).toEqual([[true, false, false, false, true, false]])
  })

  test('is remembered per resolver', async () => {
    const { client, servers } = await startClient([plainOnly({ rcode: rcodes.notImplemented }), listed])
    await client.query('a.test', 'A')
    servers[0]?.behave(() => ({ rcode: rcodes.refused }))
    await client.query('b.test', 'A')
    expect(queriesOf(servers)).toEqual([[true, false, false], [true]])
  })

  test('is understood over TCP too', async () => {
    const { client, servers } = await startClient([
      (query) => {
        if (query.transport === 'udp') return truncated
        return hasEdns(query) ? { rcode: rcodes.formatError } : answer(query, ['127.0.0.2'])
      },
    ])
    expect(await client.query('bl.test', 'A')).toEqual(found)
    expect(queriesOf(servers)).toEqual([[true, true, false]])
  })

  test.each(rejections)(
    'and no other query either fails with the reason, and others are asked: %j',
    async (rejection) => {
      const reason = rejection.rcode === rcodes.formatError ? 'formerr' : 'notimp'
      const { client, servers } = await startClient([() => rejection])
      expect(await client.query('bl.test', 'A')).toEqual({ kind: 'failed', reason })
      expect(queriesOf(servers)).toEqual([[true, false]])
      const { client: other } = await startClient([() => rejection, listed])
      expect(await other.query('bl.test', 'A')).toEqual(found)
    },
  )

  test('and answers nothing without a question is not believed', async () => {
    const { client } = await startClient([
      (query) => [
        { withoutQuestion: true },
        { withoutQuestion: true, rcode: rcodes.nxdomain },
        { withoutQuestion: true, ...answer(query, ['6.6.6.6']) },
        answer(query, ['127.0.0.2']),
      ],
    ])
    expect(await client.query('bl.test', 'A')).toEqual(found)
    expect(client.statistics).toMatchObject({ rejected: 3 })
  })

  test.each([0, 1, 63, 64, 65, 200])('releases its slots: %i such queries at once', async (count) => {
    const { client } = await startClient([plainOnly({ rcode: rcodes.formatError })])
    const names = Array.from({ length: count }, (_, index) => `n${index}.test`)
    const results = await Promise.all(names.map((name) => client.query(name, 'A')))
    expect(results).toEqual(names.map(() => found))
    expect(await client.query('last.test', 'A')).toEqual(found)
  })
})

const hasEdns = ({ packet }: SeenQuery) => (packet.additionals ?? []).some(({ type }) => type === 'OPT')
/** Returns for each query of each server whether it had EDNS. */
const queriesOf = (servers: readonly TestDnsServer[]) => servers.map(({ queries }) => queries.map(hasEdns))

describe('the capacity of an upstream', () => {
  const names = Array.from({ length: 100 }, (_, index) => `n${index}.test`)

  test('is 64 queries; further ones are queued in order', async () => {
    const gate = createGate()
    const { client, server } = await startClient([
      async (query) => {
        await gate.opened
        return answer(query, ['127.0.0.2'])
      },
    ])
    const results = Promise.all(names.map((name) => client.query(name, 'A')))
    await server.seen(64)
    expect(client.statistics.sent).toBe(64)
    gate.open()
    for (const result of await results) expect(result).toEqual(found)
    expect(server.queries.slice(64).map((query) => query.name)).not.toContain('n63.test')
    expect(new Set(server.queries.map((query) => query.name)).size).toBe(100)
  })

  test('is not used by cancelled queries', async () => {
    const gate = createGate()
    const { client, server } = await startClient([
      async (query) => {
        await gate.opened
        return answer(query, ['127.0.0.2'])
      },
    ])
    const leaving = new AbortController()
    const results = names.map((name, index) => client.query(name, 'A', index >= 70 ? { signal: leaving.signal } : {}))
    await server.seen(64)
    leaving.abort()
    expect(await results[99]).toEqual({ kind: 'failed', reason: 'aborted' })
    gate.open()
    await Promise.all(results)
    expect(server.queries.length).toBe(70)
  })

  test('is freed by queries cancelled in flight', async () => {
    const { client, server } = await startClient([silence])
    const leaving = new AbortController()
    for (const name of names.slice(0, 64)) void client.query(name, 'A', { signal: leaving.signal })
    await server.seen(64)
    server.behave(listed)
    const waiting = client.query('last.test', 'A')
    leaving.abort()
    expect(await waiting).toEqual(found)
  })

  test('is not wasted on queries cancelled together', async () => {
    const { client, server } = await startClient([silence])
    const leaving = new AbortController()
    const results = names.map((name) => client.query(name, 'A', { signal: leaving.signal }))
    await server.seen(64)
    leaving.abort()
    await Promise.all(results)
    expect(client.statistics.sent).toBe(64)
  })

  test('counts queued time towards the deadline', async () => {
    const { client } = await startClient([silence])
    const leaving = new AbortController()
    const holding = names.slice(0, 64).map((name) => client.query(name, 'A', { signal: leaving.signal }))
    expect(await client.query('late.test', 'A', { timeoutMs: 50 })).toEqual({ kind: 'failed', reason: 'timeout' })
    expect(client.statistics.sent).toBe(64)
    leaving.abort()
    await Promise.all(holding)
  })
})

describe('forging', () => {
  test('is prevented by several changing ports and random ids', async () => {
    const { client, server } = await startClient([listed])
    for (let batch = 0; batch < 40; batch++) {
      await Promise.all(Array.from({ length: 50 }, (_, index) => client.query(`n${batch}-${index}.test`, 'A')))
    }
    // A busy machine repeats queries, each from its original port.
    const names = new Map<number, Set<string>>()
    for (const { port, name } of server.queries) names.set(port, (names.get(port) ?? new Set()).add(name))
    expect(names.size).toBeGreaterThanOrEqual(7)
    expect(Math.max(...Array.from(names.values(), ({ size }) => size))).toBeLessThanOrEqual(300)
    expect(new Set(server.queries.slice(0, 100).map((query) => query.id)).size).toBeGreaterThan(90)
    expect(client.statistics).toMatchObject({ sent: 2000, received: 2000, rejected: 0 })
  })
})

describe('a truncated answer', () => {
  const overTcp: Behaviour = (query) => (query.transport === 'udp' ? truncated : answer(query, ['127.0.0.2']))

  test('is queried again over TCP', async () => {
    const { client, server } = await startClient([overTcp])
    expect(await client.query('bl.test', 'A')).toEqual(found)
    expect(server.queries.map((query) => query.transport)).toEqual(['udp', 'tcp'])
    expect(client.statistics).toMatchObject({ tcp: 1, received: 2 })
  })

  test('may have thousands of bytes over TCP', async () => {
    const values = Array.from({ length: 2000 }, (_, index) => `127.0.${index >> 8}.${index & 255}`)
    const { client } = await startClient([(query) => (query.transport === 'udp' ? truncated : answer(query, values))])
    expect(await client.query('bl.test', 'A')).toMatchObject({ values })
  })

  test.each<[string, Behaviour]>([
    ['truncated again', () => truncated],
    ['to another question', (query) => ({ ...answer(query, ['6.6.6.6']), id: query.id ^ 1 })],
    ['garbage', () => ({ bytes: Buffer.from('garbage') })],
    ['empty', () => ({ bytes: Buffer.alloc(0) })],
  ])('is malformed when the full answer is %s', async (_, whole) => {
    const { client } = await startClient([(query) => (query.transport === 'udp' ? truncated : whole(query))])
    expect(await client.query('bl.test', 'A')).toEqual({ kind: 'failed', reason: 'malformed' })
  })

  test('keeps the deadline when the server is silent over TCP', async () => {
    const { client, server } = await startClient([(query) => (query.transport === 'udp' ? truncated : [])], 300)
    expect(await client.query('bl.test', 'A')).toEqual({ kind: 'failed', reason: 'timeout' })
    expect(server.queries.at(-1)?.transport).toBe('tcp')
  })

  test('fails over when the connection breaks', async () => {
    const { client, servers } = await startClient([silence, listed])
    servers[0]?.behave((query) => {
      if (query.transport === 'udp') return truncated
      void servers[0]?.close()
      return []
    })
    expect(await client.query('bl.test', 'A')).toEqual(found)
  })
})

describe('an owner', () => {
  const slow: Behaviour = (query) => (query.name.endsWith('slow.test') ? silence(query) : listed(query))
  const namesSeen = (queries: readonly { readonly name: string }[]) =>
    new Set(queries.map(({ name }) => name).filter((name) => name.endsWith('slow.test')))

  test('whose names do not answer has half of the queries in flight, and delays nobody', async () => {
    const { client, server } = await startClient([slow], 60_000)
    for (let each = 0; each < 300; each++) void client.query(`${each}.slow.test`, 'A', { owner: 'greedy' })
    await expect.poll(() => namesSeen(server.queries).size).toBe(32)
    expect(await client.query('quick.test', 'A', { owner: 'other' })).toEqual(found)
    expect(await client.query('ours.test', 'A')).toEqual(found)
    expect(namesSeen(server.queries).size).toBe(32)
  })

  test('may ask again once its own queries have ended', async () => {
    const { client, server } = await startClient([slow], 60_000)
    const leaving = new AbortController()
    const options = { owner: 'greedy', signal: leaving.signal }
    const left = Array.from({ length: 200 }, (_, each) => client.query(`${each}.slow.test`, 'A', options))
    await expect.poll(() => namesSeen(server.queries).size).toBe(32)
    leaving.abort()
    await Promise.all(left)
    expect(await client.query('quick.test', 'A', { owner: 'greedy' })).toEqual(found)
    expect(namesSeen(server.queries).size, 'what was cancelled is not sent').toBe(32)
  })
})
