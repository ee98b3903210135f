import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDnsClient } from '../../../src/network/dns/client.ts'
import { answer, type Behaviour, createGate, rcodes, silence, soa } from '../../support/dns-server.ts'
import { requireRbldnsd, startRbldnsd } from '../../support/rbldnsd.ts'
import { startClient } from './setup.ts'

const listed: Behaviour = (query) => answer(query, ['127.0.0.2'])
const found = { kind: 'answer', values: ['127.0.0.2'], ttl: 300 }
const aborted = { kind: 'failed', reason: 'aborted' }
const timeout = { kind: 'failed', reason: 'timeout' }

describe('the cache', () => {
  test('answers without a query until the TTL has passed, in upper or lower case', async () => {
    const { client, server, clock } = await startClient([listed])
    expect(client.peek('bl.test', 'A')).toBeUndefined()
    await client.query('bl.test', 'A')
    clock.advance(299_999)
    expect(client.peek('BL.test', 'A')).toEqual({ ...found, ttl: 1 })
    expect(await client.query('bl.TEST', 'A')).toEqual({ ...found, ttl: 1 })
    expect(server.queries.length).toBe(1)
    expect(client.statistics).toMatchObject({ sent: 1, cacheHits: 2 })
    clock.advance(1)
    expect(await client.query('bl.test', 'A')).toEqual(found)
    expect(server.queries.length).toBe(2)
  })

  test('caches nonexistence by the SOA record', async () => {
    const { client, server, clock } = await startClient([
      (query) => ({ rcode: rcodes.nxdomain, authorities: [soa(query.name, 600, 150)] }),
    ])
    expect(await client.query('bl.test', 'A')).toEqual({ kind: 'none', nxdomain: true, ttl: 150 })
    clock.advance(149_000)
    expect(await client.query('bl.test', 'A')).toEqual({ kind: 'none', nxdomain: true, ttl: 1 })
    clock.advance(1000)
    await client.query('bl.test', 'A')
    expect(server.queries.length).toBe(2)
  })

  test('keeps a refusal for 10 s, and a timeout for 5 s', async () => {
    const { client, server, clock } = await startClient([() => ({ rcode: rcodes.refused })])
    await client.query('refused.test', 'A')
    server.behave(silence)
    await client.query('silent.test', 'A', { timeoutMs: 30 })
    clock.advance(4999)
    expect(client.peek('refused.test', 'A')).toEqual({ kind: 'failed', reason: 'refused' })
    expect(client.peek('silent.test', 'A')).toEqual(timeout)
    clock.advance(1)
    expect(client.peek('refused.test', 'A')).toEqual({ kind: 'failed', reason: 'refused' })
    expect(client.peek('silent.test', 'A')).toBeUndefined()
    clock.advance(5000)
    expect(client.peek('refused.test', 'A')).toBeUndefined()
  })

  test('distinguishes record types', async () => {
    const { client } = await startClient([(query) => answer(query, [query.type === 'A' ? '127.0.0.2' : 'listed'])])
    await client.query('bl.test', 'A')
    expect(client.peek('bl.test', 'TXT')).toBeUndefined()
    expect(await client.query('bl.test', 'TXT')).toMatchObject({ values: ['listed'] })
  })

  test('removes a result on demand', async () => {
    const { client, server } = await startClient([listed])
    await client.query('bl.test', 'A')
    client.forget('BL.test', 'A')
    expect(client.peek('bl.test', 'A')).toBeUndefined()
    await client.query('bl.test', 'A')
    expect(server.queries.length).toBe(2)
  })

  test('is bypassed on demand, but stores the result', async () => {
    const { client, server } = await startClient([listed])
    await client.query('bl.test', 'A')
    server.behave((query) => answer(query, ['127.0.0.3']))
    expect(await client.query('bl.test', 'A', { fresh: true })).toMatchObject({ values: ['127.0.0.3'] })
    expect(client.peek('bl.test', 'A')).toMatchObject({ values: ['127.0.0.3'] })
    expect(server.queries.length).toBe(2)
  })

  test('keeps an answer for a shorter time on demand, but never for longer', async () => {
    const { client, clock } = await startClient([listed])
    const ttlOf = (values: readonly string[]) => (values.includes('127.0.0.2') ? 20 : undefined)
    expect(await client.query('short.test', 'A', { ttlOf })).toEqual({ ...found, ttl: 20 })
    expect(await client.query('long.test', 'A', { ttlOf: () => 9999 })).toEqual(found)
    expect(await client.query('same.test', 'A', { ttlOf: () => undefined })).toEqual(found)
    clock.advance(20_000)
    expect(client.peek('short.test', 'A')).toBeUndefined()
    expect(client.peek('long.test', 'A')).toEqual({ ...found, ttl: 280 })
  })
})

test('an answer with a TTL of 0 s is not cached', async () => {
  const { client, server } = await startClient([(query) => answer(query, ['127.0.0.2'], 0)])
  for (const count of [1, 2, 3]) {
    expect(await client.query('bl.test', 'A')).toEqual({ kind: 'answer', values: ['127.0.0.2'], ttl: 0 })
    expect(server.queries.length).toBe(count)
    expect(client.peek('bl.test', 'A')).toBeUndefined()
  }
})

describe('concurrent callers with the same question', () => {
  test('share one query', async () => {
    const { client, server } = await startClient([listed])
    const results = await Promise.all(Array.from({ length: 50 }, () => client.query('bl.test', 'A')))
    for (const result of results) expect(result).toEqual(found)
    expect(server.queries.length).toBe(1)
    expect(client.statistics).toMatchObject({ sent: 1, coalesced: 49 })
  })

  test('keep their own deadlines: the later one gets its answer', async () => {
    const { client, server } = await startClient([silence])
    const hasty = client.query('bl.test', 'A', { timeoutMs: 40 })
    const patient = client.query('bl.test', 'A', { timeoutMs: 5000 })
    expect(await hasty).toEqual(timeout)
    server.behave(listed)
    expect(await patient).toEqual(found)
    expect(client.statistics).toMatchObject({ sent: 1, timeouts: 1 })
  })

  test('leave without ending the query of the others', async () => {
    const gate = createGate()
    const { client, server } = await startClient([
      async (query) => {
        await gate.opened
        return answer(query, ['127.0.0.2'])
      },
    ])
    const leaving = new AbortController()
    const first = client.query('bl.test', 'A', { signal: leaving.signal })
    const second = client.query('bl.test', 'A')
    await server.seen(1)
    leaving.abort()
    expect(await first).toEqual(aborted)
    gate.open()
    expect(await second).toEqual(found)
    expect(server.queries.length).toBe(1)
  })

  test('are admitted once, when the query is sent', async () => {
    const { client, server } = await startClient([listed])
    let left = 1
    const admit = () => left-- > 0
    const both = [1, 2].map(() => client.query('bl.test', 'A', { admit }))
    for (const result of await Promise.all(both)) expect(result).toEqual(found)
    expect(await client.query('bl.test', 'A', { admit })).toEqual(found)
    expect(await client.query('other.test', 'A', { admit })).toEqual({ kind: 'failed', reason: 'withheld' })
    expect(client.peek('other.test', 'A')).toBeUndefined()
    expect(server.queries.map(({ name }) => name)).toEqual(['bl.test'])
  })

  test('can be dismissed together', async () => {
    const { client, server } = await startClient([silence])
    const signal = { aborted: false }
    const left = client.query('bl.test', 'A', { signal })
    await server.seen(1)
    signal.aborted = true
    client.dismiss()
    server.behave(listed)
    expect(await client.query('bl.test', 'A')).toEqual(found)
    expect(await left).toEqual(aborted)
    expect(client.statistics).toMatchObject({ sent: 2, coalesced: 0 })
  })

  test('end the query when the last one leaves, without caching', async () => {
    const { client, server } = await startClient([silence])
    const leaving = new AbortController()
    const both = [1, 2].map(() => client.query('bl.test', 'A', { signal: leaving.signal }))
    await server.seen(1)
    leaving.abort()
    expect(await Promise.all(both)).toEqual([aborted, aborted])
    expect(client.peek('bl.test', 'A')).toBeUndefined()
    server.behave(listed)
    expect(await client.query('bl.test', 'A')).toEqual(found)
    expect(client.statistics).toMatchObject({ sent: 2, retransmitted: 0, coalesced: 1 })
  })

  test('cache the answer for the shortest time requested', async () => {
    const { client } = await startClient([listed])
    const results = [undefined, 40, 50].map((ttl) => client.query('bl.test', 'A', { ttlOf: () => ttl }))
    for (const result of await Promise.all(results)) expect(result).toEqual({ ...found, ttl: 40 })
  })
})

describe('a caller', () => {
  test('that has already left sends no query', async () => {
    const { client } = await startClient([listed])
    expect(await client.query('bl.test', 'A', { signal: AbortSignal.abort() })).toEqual(aborted)
    expect(client.statistics.sent).toBe(0)
  })

  test('may use one signal for many queries, and leaves no listener on it', async () => {
    const { client } = await startClient([listed])
    const warnings: Error[] = []
    const note = (warning: Error) => void warnings.push(warning)
    process.on('warning', note)
    const { signal } = new AbortController()
    const added = new Set<unknown>()
    const add = signal.addEventListener.bind(signal)
    signal.addEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
      added.add(listener)
      add(type, listener)
    }
    const remove = signal.removeEventListener.bind(signal)
    signal.removeEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
      added.delete(listener)
      remove(type, listener)
    }
    await Promise.all(Array.from({ length: 50 }, (_, index) => client.query(`n${index}.test`, 'A', { signal })))
    process.off('warning', note)
    expect(added.size).toBe(0)
    expect(warnings).toEqual([])
  })

  test.each(['', 'a..b', `${'a'.repeat(64)}.test`, 'a b.test', 'a\0.test', 'test.'])(
    'that asks for %j is told that the name is invalid, and nothing is sent',
    async (name) => {
      const { client } = await startClient([listed])
      expect(await client.query(name, 'A')).toEqual({ kind: 'failed', reason: 'invalid-name' })
      expect(client.statistics.sent).toBe(0)
    },
  )
})

describe('closing', () => {
  test('aborts queries in flight, queued queries and later ones', async () => {
    const { client, server } = await startClient([silence])
    const pending = Array.from({ length: 100 }, (_, index) => client.query(`n${index}.test`, 'A'))
    await server.seen(64)
    await client.close()
    for (const result of await Promise.all(pending)) expect(result).toEqual(aborted)
    expect(client.statistics.sent).toBe(64)
    expect(await client.query('bl.test', 'A')).toEqual(aborted)
    await client.close()
  })

  test('works before and while the first sockets open', async () => {
    const { client } = await startClient([silence])
    const pending = client.query('bl.test', 'A')
    await client.close()
    expect(await pending).toEqual(aborted)
    const unused = createDnsClient({ servers: [{ address: '::1', port: 53 }], timeoutMs: 10, now: () => new Date() })
    await unused.close()
  })

  test('does not keep the process alive, except for a query in flight', async () => {
    const { server } = await startClient([listed])
    const script = `
      const { createDnsClient } = await import(${JSON.stringify(new URL('../../../src/network/dns/client.ts', import.meta.url).href)})
      const servers = [{ address: '127.0.0.1', port: ${server.port} }]
      const client = createDnsClient({ servers, timeoutMs: 60_000, now: () => new Date() })
      console.log(JSON.stringify(await client.query('bl.test', 'A')))`
    const node = [...['--import', 'tsx'], ...['--input-type', 'module'], '--eval', script]
    const { stdout } = await promisify(execFile)(process.execPath, node)
    expect(JSON.parse(stdout)).toEqual(found)
  })
})

/** A server in a thread of its own, which answers each query with 127.0.0.2 while this thread is busy. */
async function startThreadedServer(): Promise<{ address: string; port: number }> {
  const script = `
    const { createSocket } = require('node:dgram')
    const { parentPort } = require('node:worker_threads')
    const socket = createSocket('udp4').bind(0, '127.0.0.1', () => parentPort.postMessage(socket.address()))
    socket.on('message', (query, { port, address }) => {
      const end = query.indexOf(0, 12) + 5
      const head = Buffer.concat([query.subarray(0, 2), Buffer.from('81800001000100000000', 'hex')])
      const record = Buffer.from('c00c000100010000003c00047f000002', 'hex')
      socket.send(Buffer.concat([head, query.subarray(12, end), record]), port, address)
    })`
  const thread = new Worker(script, { eval: true })
  onTestFinished(async () => void (await thread.terminate()))
  const [address] = await once(thread, 'message')
  return address
}

test('an answer that came while the process was busy is in time', async () => {
  const server = await startThreadedServer()
  const client = createDnsClient({ servers: [server], timeoutMs: 500, now: () => new Date(0) })
  onTestFinished(() => client.close())
  const result = client.query('bl.test', 'A')
  while (client.statistics.sent === 0) await new Promise(setImmediate)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700)
  expect(await result).toMatchObject({ kind: 'answer', values: ['127.0.0.2'] })
})

test('a real list server answers with addresses and reasons, or that it does not list a name', async (context) => {
  requireRbldnsd(context)
  const head = '$SOA 3600 ns.bl.test hostmaster.bl.test 1 600 300 86400 150'
  const server = await startRbldnsd([
    { zone: 'bl.test', type: 'ip4set', lines: [head, ':127.0.0.4:Listed: see http://bl.test/$', '127.0.0.2'] },
    { zone: 'shop.test', type: 'generic', lines: [head, '@ A 192.0.2.1', 'www A 192.0.2.2'] },
  ])
  const client = createDnsClient({ servers: [server], timeoutMs: 5000, now: () => new Date(0) })
  try {
    expect(await client.query('2.0.0.127.bl.test', 'A')).toEqual({ kind: 'answer', values: ['127.0.0.4'], ttl: 2100 })
    expect(await client.query('2.0.0.127.bl.test', 'TXT')).toMatchObject({
      values: ['Listed: see http://bl.test/127.0.0.2'],
    })
    expect(await client.query('1.0.0.127.bl.test', 'A')).toEqual({ kind: 'none', nxdomain: true, ttl: 150 })
    expect(await client.query('www.shop.test', 'A')).toMatchObject({ values: ['192.0.2.2'] })
    expect(await client.query('www.shop.test', 'AAAA')).toEqual({ kind: 'none', nxdomain: false, ttl: 150 })
    expect(await client.query('elsewhere.test', 'A')).toEqual({ kind: 'failed', reason: 'refused' })
  } finally {
    await client.close()
    await server.stop()
  }
})
