// @slow
import { X509Certificate } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { createServer as createTlsServer } from 'node:tls'
import type { Answer } from 'dns-packet'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { DnsOptions } from '../../../src/monitoring/probe/dns.ts'
import { dns } from '../../../src/monitoring/probe/dns.ts'
import type { RecordType } from '../../../src/network/dns/message.ts'
import { createOutbound } from '../../../src/network/outbound/outbound.ts'
import { zone } from '../../network/outbound/setup.ts'
import { createAuthority } from '../../support/certificate.ts'
import { answer, type Behaviour, rcodes, silence, soa, startDnsServer, truncated } from '../../support/dns-server.ts'
import { closed, open } from '../../support/private-targets.ts'
import { essence, runWith, startTools } from './run.ts'

const options = (given: object): DnsOptions => dns.options.parse({ name: 'www.example.com', ...given })
const addresses =
  (...values: readonly string[]): Behaviour =>
  (query) =>
    answer(query, values)

/** Returns the result of a probe whose DNS server behaves this way. */
async function probe(behaviour: Behaviour, given: object = {}, { allowPrivate = true, timeoutMs = 5000 } = {}) {
  const { tools, server } = await startTools(behaviour, allowPrivate)
  return { result: await dns.run(options(given), runWith(tools, { timeoutMs })), server, tools }
}

describe('options', () => {
  test('have defaults', () => {
    expect(options({})).toEqual({
      name: 'www.example.com',
      recordType: 'A',
      expected: [],
      match: 'EXACT',
      inverted: false,
    })
  })

  test('are normalized, and parsing them again does not change them', () => {
    const read = options({
      name: ' Bücher.Example.COM. ',
      recordType: 'MX',
      expected: ['10 mail.example.com.'],
      resolver: '[2001:DB8::0001]:5353',
    })
    expect(read).toMatchObject({ name: 'xn--bcher-kva.example.com', resolver: '[2001:db8::1]:5353' })
    expect(dns.options.parse(read)).toEqual(read)
    expect(options({ resolver: '192.0.2.1:53' }).resolver).toBe('192.0.2.1')
    expect(options({ name: '192.0.2.7', recordType: 'PTR' }).name).toBe('192.0.2.7')
  })

  test.each([
    [{ name: 'a b' }, 'name'],
    [{ name: '' }, 'name'],
    [{ name: '192.0.2.7' }, 'name'],
    [{ recordType: 'ANY' }, 'recordType'],
    [{ expected: ['192.0.2.7', '2001:db8::7'] }, 'expected.1'],
    [{ recordType: 'AAAA', expected: ['192.0.2.7'] }, 'expected.0'],
    [{ expected: new Array(21).fill('192.0.2.7') }, 'expected'],
    [{ match: 'SOME' }, 'match'],
    [{ resolver: 'dns.example.com' }, 'resolver'],
    [{ resolver: '192.0.2.1:0' }, 'resolver'],
    [{ resolver: 'tls://' }, 'resolver'],
    [{ resolver: 'tls://dns.example/path' }, 'resolver'],
    [{ resolver: 'tls://dns.example:70000' }, 'resolver'],
    [{ resolver: 'https://me:secret@dns.example/' }, 'resolver'],
    [{ resolver: 'http://dns.example/dns-query' }, 'resolver'],
    [{ resolver: 'fe80::1%eth0' }, 'resolver'],
    [{ degradedAboveMs: 0 }, 'degradedAboveMs'],
  ])('refuse %j', (given, path) => {
    const read = dns.options.safeParse({ name: 'www.example.com', ...given })
    expect(read.error?.issues.map((issue) => issue.path.join('.'))).toEqual([path])
  })
})

describe('without expectations', () => {
  test('any record is enough, and the message shows it', async () => {
    const { result } = await probe(addresses('192.0.2.7', '192.0.2.8'))
    expect(essence(result)).toEqual({ outcome: 'UP', message: 'A 192.0.2.7, 192.0.2.8', suspect: null })
    expect(result.detail).toEqual({ answers: ['192.0.2.7', '192.0.2.8'] })
    expect(result.latencyMs).toBeGreaterThan(0)
  })

  test('the response never comes from the cache', async () => {
    const { server, tools } = await probe(addresses('192.0.2.7'))
    server.behave(addresses('192.0.2.8'))
    expect((await dns.run(options({}), runWith(tools))).message).toBe('A 192.0.2.8')
    expect(server.queries.length).toBe(2)
  })

  test('a slow response is DEGRADED', async () => {
    const slow: Behaviour = (query) =>
      new Promise((resolve) => setTimeout(() => resolve(answer(query, ['192.0.2.7'])), 20))
    const { result } = await probe(slow, { degradedAboveMs: 1 })
    expect(result).toMatchObject({ outcome: 'DEGRADED', suspect: null })
    expect(result.message).toMatch(/^Answered in \d+ ms, more than 1 ms$/)
  })

  test.each([
    ['"v=DKIM1; k=rsa; " "p=MIGf"', 'v=DKIM1; k=rsa; p=MIGf', 'UP'],
    ['"one" \t "two"', 'onetwo', 'UP'],
    ['"a\\"b\\059c"', 'a"b;c', 'UP'],
    ['one two', 'one two', 'UP'],
    ['"one" "two"', 'one two', 'DOWN'],
  ])('the text %s, as in a zone file, and the response %s: %s', async (expected, answered, outcome) => {
    const { result } = await probe((query) => answer(query, [answered]), { recordType: 'TXT', expected: [expected] })
    expect(result.outcome).toBe(outcome)
  })

  test('responses are shortened to one line', async () => {
    const many = Array.from({ length: 30 }, (_, index) => `${index}\n\u001b[31m${'x'.repeat(200)}`)
    const { result } = await probe((query) => (query.transport === 'udp' ? truncated : answer(query, many)), {
      recordType: 'TXT',
    })
    expect(result.detail?.answers?.length).toBe(20)
    expect(result.message).not.toMatch(/\p{C}/u)
  })
})

describe('records of each type are compared in the format of a zone file', () => {
  const start = {
    mname: 'ns.example.com',
    rname: 'hostmaster.example.com',
    serial: 1,
    refresh: 600,
    retry: 300,
    expire: 86_400,
    minimum: 300,
  }
  const data: Partial<Record<RecordType, readonly [answered: unknown, expected: string, other: string]>> = {
    A: ['192.0.2.7', '192.0.2.7', '192.0.2.8'],
    AAAA: ['2001:db8::7', '2001:DB8:0::7', '2001:db8::8'],
    CNAME: ['Edge.example.net', 'edge.example.NET.', 'edge.example.org'],
    MX: [{ preference: 10, exchange: 'mail.example.com' }, '10  Mail.example.com.', '20 mail.example.com'],
    NS: ['ns1.example.net', 'ns1.example.net.', 'ns2.example.net'],
    TXT: ['v=spf1 -all', '"v=spf1 -all"', 'V=spf1 -all'],
    SOA: [start, 'ns.example.com. hostmaster.example.com. 1 600 300 86400 300', 'ns.example.com'],
    SRV: [
      { priority: 1, weight: 2, port: 443, target: 'a.example.com' },
      '1 2 443 a.example.com.',
      '1 2 444 a.example.com',
    ],
    CAA: [{ flags: 0, tag: 'issue', value: 'ca.example' }, '0 issue "ca.example"', '0 issuewild "ca.example"'],
    PTR: ['host.example.com', 'host.example.com', 'other.example.com'],
  }

  test.each(Object.entries(data))('%s', async (recordType, [answered, expected, other]) => {
    const given = { recordType, expected: [expected] }
    const { tools, server } = await startTools((query) => ({
      answers: [{ name: query.name, type: query.type, ttl: 300, data: answered } as Answer],
    }))
    expect(await dns.run(options(given), runWith(tools))).toMatchObject({ outcome: 'UP' })
    expect(await dns.run(options({ ...given, expected: [other] }), runWith(tools))).toMatchObject({ outcome: 'DOWN' })
    expect(new Set(server.queries.map(({ type }) => type))).toEqual(new Set([recordType]))
  })

  test('MX of a domain that accepts no mail (RFC 7505)', async () => {
    const { result } = await probe(
      (query) => ({ answers: [{ name: query.name, type: 'MX', ttl: 300, data: { preference: 0, exchange: '.' } }] }),
      { recordType: 'MX', expected: ['0 .'] },
    )
    expect(result.outcome).toBe('UP')
  })

  test.each([
    ['EXACT', ['mail.example.com', '20 backup.example.com'], 'UP'],
    ['EXACT', ['MAIL.example.com.', 'backup.example.com'], 'UP'],
    ['EXACT', ['mail.example.com'], 'DOWN'],
    ['EXACT', ['mail.example.com', 'backup.example.com', 'other.example.com'], 'DOWN'],
    ['EXACT', ['20 mail.example.com', 'backup.example.com'], 'DOWN'],
    ['CONTAINS', ['backup.example.com'], 'UP'],
    ['CONTAINS', ['example.com'], 'DOWN'],
  ])('MX %s %j, with or without the preference, is %s', async (match, expected, outcome) => {
    const records = { 'mail.example.com': 10, 'backup.example.com': 20 }
    const { result } = await probe(
      ({ name }) => ({
        answers: Object.entries(records).map(([exchange, preference]) => ({
          ...{ name, type: 'MX', ttl: 300, data: { preference, exchange } },
        })),
      }),
      { recordType: 'MX', match, expected },
    )
    expect(result.outcome, result.message).toBe(outcome)
  })

  test('PTR of an address, which is queried by its reverse name', async () => {
    const { server } = await probe(addresses('host.example.com'), { name: '192.0.2.7', recordType: 'PTR' })
    const { server: other } = await probe(addresses('host.example.com'), { name: '2001:db8::7', recordType: 'PTR' })
    expect(server.queries[0]?.name).toBe('7.2.0.192.in-addr.arpa')
    expect(other.queries[0]?.name).toBe(`7${'.0'.repeat(23)}.8.b.d.0.1.0.0.2.ip6.arpa`)
  })

  test('at the end of a chain of aliases', async () => {
    const { result } = await probe(
      ({ name }) => ({
        answers: [
          { name, type: 'CNAME', ttl: 300, data: 'edge.example.net' },
          { name: 'edge.example.net', type: 'A', ttl: 300, data: '192.0.2.7' },
        ],
      }),
      { expected: ['192.0.2.7'] },
    )
    expect(result.outcome).toBe('UP')
  })
})

describe('the set of records', () => {
  test.each([
    ['EXACT', ['192.0.2.8', '192.0.2.7'], 'UP', 'A 192.0.2.7, 192.0.2.8'],
    ['EXACT', ['192.0.2.7'], 'DOWN', 'The A records of www.example.com have the unexpected 192.0.2.8'],
    ['EXACT', ['192.0.2.7', '192.0.2.8', '192.0.2.9'], 'DOWN', 'The A records of www.example.com lack 192.0.2.9'],
    [
      'EXACT',
      ['192.0.2.9'],
      'DOWN',
      'The A records of www.example.com lack 192.0.2.9 and have the unexpected 192.0.2.7, 192.0.2.8',
    ],
    ['CONTAINS', ['192.0.2.8'], 'UP', 'A 192.0.2.7, 192.0.2.8'],
    ['CONTAINS', ['192.0.2.8', '192.0.2.9'], 'DOWN', 'The A records of www.example.com lack 192.0.2.9'],
  ])('%s %j is %s', async (match, expected, outcome, message) => {
    const { result } = await probe(addresses('192.0.2.7', '192.0.2.8'), { match, expected })
    expect(essence(result)).toEqual({ outcome, message, suspect: null })
  })
})

describe('a resolver over TLS or HTTPS', () => {
  const authority = createAuthority()
  const certified = authority.issue(['dns.example'])

  /** Serves DNS over TLS and HTTPS with the answers of a DNS server, and runs probes with both. */
  async function probeBoth(
    behaviour: Behaviour,
    { trusted = true, garble = (message: Buffer) => message, now = () => new Date(), given = {} } = {},
  ) {
    const server = await startDnsServer(behaviour)
    const { tools } = await startTools(zone({ 'dns.example': ['127.0.0.1'] }))
    const asTcp = (message: Buffer) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(message.length)
      return Buffer.concat([length, message])
    }
    const relayed = async (query: Buffer): Promise<Buffer> => {
      const socket = connect(server.port, '127.0.0.1').end(asTcp(query))
      return garble((await buffer(socket)).subarray(2))
    }
    const tls = createTlsServer(certified, (socket) => {
      socket.on('error', () => undefined)
      socket.once('data', async (query: Buffer) => void socket.write(asTcp(await relayed(query.subarray(2)))))
    })
    const https = createHttpsServer(certified, async (request, response) => {
      const asked = await buffer(request)
      const isRight = request.url === '/dns-query' && request.headers['content-type'] === 'application/dns-message'
      response.writeHead(isRight ? 200 : 400, { 'content-type': 'application/dns-message' }).end(await relayed(asked))
    })
    const ports = await Promise.all(
      [tls, https].map(async (each) => {
        await once(each.listen(0, '127.0.0.1'), 'listening')
        return (each.address() as AddressInfo).port
      }),
    )
    onTestFinished(async () => {
      tls.close()
      https.close()
      await server.close()
    })
    const outbound = createOutbound({ dns: tools.dns, allowPrivate: true, ...(trusted && { ca: authority.ca }) })
    const run = (resolver: string) => dns.run(options({ ...given, resolver }), runWith({ ...tools, outbound, now }))
    return Promise.all([run(`tls://dns.example:${ports[0]}`), run(`https://dns.example:${ports[1]}`)])
  }

  test('is queried, and its answer is judged', async () => {
    for (const result of await probeBoth(addresses('192.0.2.7')))
      expect(result).toMatchObject({ outcome: 'UP', message: 'A 192.0.2.7', latencyMs: expect.any(Number) })
  })

  test('whose certificate expires soon makes the monitor DEGRADED, with its name; a failure is more important', async () => {
    const days = 24 * 60 * 60 * 1000
    const now = () => new Date(Date.parse(new X509Certificate(certified.cert).validTo) - 3.5 * days)
    const message = 'TLS certificate of dns.example expires in 3 days'
    for (const result of await probeBoth(addresses('192.0.2.7'), { now }))
      expect(result).toMatchObject({ outcome: 'DEGRADED', message, detail: { answers: ['192.0.2.7'] } })
    for (const result of await probeBoth(() => ({ rcode: rcodes.nxdomain }), { now }))
      expect(result.outcome).toBe('DOWN')
    for (const [certificateDays, outcome] of [
      [0, 'UP'],
      [3, 'UP'],
      [4, 'DEGRADED'],
    ] as const) {
      const results = await probeBoth(addresses('192.0.2.7'), { now, given: { certificateDays } })
      expect(results.map((result) => result.outcome)).toEqual([outcome, outcome])
    }
  })

  test.each([rcodes.formatError, rcodes.notImplemented, rcodes.servfail])(
    'that answers code %i to EDNS is asked again without it',
    async (rcode) => {
      const behaviour: Behaviour = (query) =>
        query.packet.additionals?.length ? { rcode, withoutQuestion: true } : answer(query, ['192.0.2.7'])
      for (const result of await probeBoth(behaviour)) expect(result.outcome).toBe('UP')
    },
  )

  test('is trusted when it answers that a name does not exist', async () => {
    for (const result of await probeBoth(() => ({ rcode: rcodes.nxdomain })))
      expect(result).toMatchObject({ outcome: 'DOWN', message: 'www.example.com does not exist (NXDOMAIN)' })
  })

  test('is DOWN when it refuses the query or returns something else', async () => {
    for (const result of await probeBoth(() => ({ rcode: rcodes.refused })))
      expect(result).toMatchObject({ outcome: 'DOWN', message: expect.stringMatching(/refused to answer/) })
    for (const result of await probeBoth(addresses('192.0.2.7'), { garble: () => Buffer.from('nonsense') }))
      expect(result).toMatchObject({ outcome: 'DOWN', message: expect.stringMatching(/unreadable response/) })
  })

  test('is DOWN when its certificate is not trusted', async () => {
    for (const result of await probeBoth(addresses('192.0.2.7'), { trusted: false }))
      expect(result).toMatchObject({ outcome: 'DOWN', message: expect.stringMatching(/certificate/) })
  })

  test.each([
    ['tls://DNS.Example/', 'tls://dns.example', { host: 'dns.example', port: 853 }],
    ['tls://[2001:db8::53]:8853', 'tls://[2001:db8::53]:8853', { host: '2001:db8::53', port: 8853 }],
    ['tls://dns.example:443', 'tls://dns.example:443', { host: 'dns.example', port: 443 }],
    ['https://dns.example', 'https://dns.example/dns-query', { host: 'dns.example', port: null }],
    ['https://dns.example:8443/own?a=b#c', 'https://dns.example:8443/own?a=b', { host: 'dns.example', port: 8443 }],
  ])('%s is read as %s', (resolver, read, target) => {
    const given = options({ resolver })
    expect(given.resolver).toBe(read)
    expect(options(given)).toEqual(given)
    expect(dns.target(given)).toEqual(target)
  })

  test.each(['tls://127.0.0.1', 'https://localhost/dns-query', 'tls://[fe80::1]'])(
    'on a private network is refused: %s',
    async (resolver) => {
      expect(dns.refusals?.(options({ resolver }), closed)).toMatchObject([{ path: ['resolver'] }])
      const { result } = await probe(addresses('192.0.2.7'), { resolver }, { allowPrivate: false })
      expect(result).toMatchObject({ outcome: 'UNKNOWN', message: expect.stringMatching(/^Not queried: resolver/) })
    },
  )
})

describe('a missing record', () => {
  test.each([
    [rcodes.nxdomain, 'www.example.com does not exist (NXDOMAIN)'],
    [0, 'www.example.com has no A record'],
  ])('is DOWN (code %i)', async (rcode, message) => {
    const { result } = await probe((query) => ({ rcode, authorities: [soa(query.name, 60, 60)] }))
    expect(essence(result)).toEqual({ outcome: 'DOWN', message, suspect: null })
  })
})

describe('our own resolvers', () => {
  const name = 'www.example.com'

  test('that answer SERVFAIL make the name DOWN, unless our network is down', async () => {
    const { result } = await probe(() => ({ rcode: rcodes.servfail }))
    const message = `The DNS servers of ${name} gave no usable answer (SERVFAIL)`
    expect(essence(result)).toEqual({ outcome: 'DOWN', message, suspect: name })
  })

  test('that answer other queries make the name DOWN', async () => {
    const { result } = await probe(
      (query) => (query.name === name ? [] : { rcode: rcodes.nxdomain }),
      {},
      { timeoutMs: 200 },
    )
    expect(essence(result)).toEqual({ outcome: 'DOWN', message: `No answer for ${name} within 0.2 s`, suspect: name })
  })

  test('that do not answer at all make the result UNKNOWN', async () => {
    const { result } = await probe(silence, {}, { timeoutMs: 200 })
    expect(essence(result)).toEqual({
      outcome: 'UNKNOWN',
      message: 'Our own DNS resolvers did not answer',
      suspect: null,
    })
  })

  test('that are unreachable make the result UNKNOWN', async () => {
    const { tools, server } = await startTools()
    await server.close()
    const result = await dns.run(options({}), runWith(tools))
    expect(essence(result)).toEqual({
      outcome: 'UNKNOWN',
      message: 'Our own DNS resolvers are unreachable',
      suspect: null,
    })
  })

  test('that refuse queries make the result UNKNOWN', async () => {
    const { result } = await probe(() => ({ rcode: rcodes.refused }))
    expect(result).toMatchObject({ outcome: 'UNKNOWN', message: 'Our own DNS resolvers refused to answer (REFUSED)' })
  })

  test('that return unreadable responses make the result UNKNOWN', async () => {
    const { result } = await probe(() => truncated)
    const message = 'Our own DNS resolvers returned an unreadable response for www.example.com'
    expect(essence(result)).toEqual({ outcome: 'UNKNOWN', message, suspect: null })
  })

  test('that truncate long responses are queried over TCP', async () => {
    const { result } = await probe((query) => (query.transport === 'udp' ? truncated : answer(query, ['192.0.2.7'])))
    expect(result.outcome).toBe('UP')
  })
})

describe('a configured resolver', () => {
  async function probeAt(behaviour: Behaviour, timeoutMs = 5000) {
    const server = await startDnsServer(behaviour)
    const { tools, server: ours } = await startTools()
    const resolver = `127.0.0.1:${server.port}`
    const result = await dns.run(options({ resolver }), runWith(tools, { timeoutMs }))
    await server.close()
    expect(ours.queries).toEqual([])
    return {
      ...essence(result),
      message: result.message.replace(resolver, 'R'),
      suspect: result.suspect === resolver,
    }
  }

  test('is queried instead of our resolvers', async () => {
    expect(await probeAt(addresses('192.0.2.7'))).toEqual({ outcome: 'UP', message: 'A 192.0.2.7', suspect: false })
  })

  test('that does not understand EDNS is asked without it, and the message says so', async () => {
    const behaviour: Behaviour = (query) =>
      query.packet.additionals?.length
        ? { rcode: rcodes.formatError, withoutQuestion: true }
        : answer(query, ['192.0.2.7'])
    const message = 'A 192.0.2.7 (asked without EDNS, which the resolver does not understand)'
    expect(await probeAt(behaviour)).toEqual({ outcome: 'UP', message, suspect: false })
  })

  test('that does not understand EDNS is remembered from probe to probe', async () => {
    const server = await startDnsServer((query) =>
      query.packet.additionals?.length ? { rcode: rcodes.notImplemented } : answer(query, ['192.0.2.7']),
    )
    const { tools } = await startTools()
    for (const queries of [2, 3, 4]) {
      const result = await dns.run(options({ resolver: `127.0.0.1:${server.port}` }), runWith(tools))
      expect([result.outcome, server.queries.length]).toEqual(['UP', queries])
    }
    await server.close()
  })

  test('that fails once is asked once more', async () => {
    let failures = 0
    const behaviour: Behaviour = (query) =>
      failures++ === 0 ? { rcode: rcodes.servfail } : answer(query, ['192.0.2.7'])
    expect(await probeAt(behaviour)).toEqual({ outcome: 'UP', message: 'A 192.0.2.7', suspect: false })
  })

  test.each<[string, Behaviour, string, boolean]>([
    [
      'understands nothing',
      () => ({ rcode: rcodes.formatError }),
      'The resolver R did not understand the query (FORMERR), also without EDNS',
      false,
    ],
    [
      'implements nothing',
      () => ({ rcode: rcodes.notImplemented, withoutQuestion: true }),
      'The resolver R does not implement the query (NOTIMP), also without EDNS',
      false,
    ],
    ['refuses the query', () => ({ rcode: rcodes.refused }), 'The resolver R refused to answer (REFUSED)', false],
    ['fails', () => ({ rcode: rcodes.servfail }), 'The resolver R gave no usable answer (SERVFAIL)', false],
    ['is silent', silence, 'The resolver R did not answer within 0.2 s', true],
    [
      'truncates its response over UDP and is silent over TCP',
      ({ transport }) => (transport === 'udp' ? truncated : []),
      'The resolver R truncated its response over UDP and did not answer over TCP',
      false,
    ],
  ])('is DOWN when it %s', async (_, behaviour, message, suspect) => {
    expect(await probeAt(behaviour, 200)).toEqual({ outcome: 'DOWN', message, suspect })
  })

  test('is DOWN when nothing listens on its port', async () => {
    const server = await startDnsServer()
    await server.close()
    const { tools } = await startTools()
    const result = await dns.run(options({ resolver: `127.0.0.1:${server.port}` }), runWith(tools))
    expect(result).toMatchObject({ outcome: 'DOWN', suspect: `127.0.0.1:${server.port}` })
    expect(result.message).toMatch(/is unreachable$/)
  })

  test('is UNKNOWN when our machine has no route to it', async ({ skip }) => {
    const resolver = await addressWithoutWay()
    if (resolver === null) return skip('This machine has a way to every address, of IPv4 and of IPv6')
    const { tools } = await startTools()
    expect(essence(await dns.run(options({ resolver }), runWith(tools)))).toEqual({
      outcome: 'UNKNOWN',
      message: `Our machine has no route to the resolver ${resolver}`,
      suspect: null,
    })
  })
})

/** Returns a public address of an IP version for which this machine has no route. Nothing is sent to it. */
async function addressWithoutWay(): Promise<string | null> {
  for (const [type, address] of [
    ['udp6', '2001:4860:4860::8888'],
    ['udp4', '8.8.8.8'],
  ] as const) {
    const socket = createSocket(type)
    const hasWay = await (async () => {
      socket.connect(53, address)
      await once(socket, 'connect')
    })().then(
      () => true,
      () => false,
    )
    socket.close()
    if (!hasWay) return address
  }
  return null
}

describe('tenants', () => {
  test.each([
    [{ name: 'db.internal' }, 'name'],
    [{ name: 'kubernetes.default.svc.cluster.local', recordType: 'SRV' }, 'name'],
    [{ name: '10.0.0.1', recordType: 'PTR' }, 'name'],
    [{ name: '1.0.0.10.in-addr.arpa', recordType: 'PTR' }, 'name'],
    [{ resolver: '127.0.0.53' }, 'resolver'],
    [{ resolver: '[::1]:5353' }, 'resolver'],
    [{ resolver: '::ffff:10.0.0.1' }, 'resolver'],
  ])('cannot query private names through our resolver: %j', async (given, path) => {
    expect(dns.refusals?.(options(given), closed)?.map((issue) => issue.path)).toEqual([[path]])
    expect(dns.refusals?.(options(given), open)).toEqual([])
    const { result, server } = await probe(addresses('10.0.0.1'), given, { allowPrivate: false })
    expect(result).toMatchObject({ outcome: 'UNKNOWN', detail: { isPrivateTarget: true } })
    expect(result.message).toMatch(/^Not queried: /)
    expect(server.queries).toEqual([])
  })

  test.each([
    ['www.onion', 'Tor'],
    ['a.invalid', 'never exist'],
    ['a.alt', 'not in the DNS'],
  ])('cannot query %s, even if private networks are allowed', (name, reason) => {
    for (const rule of [closed, open]) {
      const message = expect.stringMatching(`^must be a public name, unless you name a resolver: .*${reason}`)
      expect(dns.refusals?.(options({ name }), rule)).toMatchObject([{ path: ['name'], message }])
    }
    expect(dns.refusals?.(options({ name, resolver: '8.8.8.8' }), closed)).toEqual([])
  })

  test('may query a public resolver for any name', () => {
    expect(dns.refusals?.(options({ name: 'db.internal', resolver: '8.8.8.8' }), closed)).toEqual([])
  })

  test.each(['10.0.0.1', '127.0.0.1', '169.254.169.254'])(
    'cannot see or guess the private address %s',
    async (address) => {
      for (const expected of [[], [address], ['8.8.8.8']]) {
        const { result } = await probe(addresses('8.8.8.8', address), { expected }, { allowPrivate: false })
        expect(essence(result)).toEqual({
          outcome: 'UNKNOWN',
          message: expect.stringMatching(
            /^www\.example\.com resolves to private addresses, which are only compared if you name a resolver; [^\d]+$/,
          ),
          suspect: null,
        })
        expect(result.detail).toEqual({ isPrivateTarget: true })
      }
    },
  )

  test('cannot use up our query quota at the blacklists', async () => {
    const { result, server } = await probe(addresses('127.0.0.2'), { name: '2.0.0.127.zen.spamhaus.org' })
    expect(result.message).toBe(
      'Not queried: name must not be a blacklist: use a monitor of kind BLACKLIST (Spamhaus ZEN)',
    )
    expect(server.queries).toEqual([])
  })
})
