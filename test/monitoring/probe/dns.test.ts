import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { Answer } from 'dns-packet'
import { describe, expect, test } from 'vitest'
import type { DnsOptions } from '../../../src/monitoring/probe/dns.ts'
import { dns, dnsRefusals } from '../../../src/monitoring/probe/dns.ts'
import type { RecordType } from '../../../src/network/dns/message.ts'
import { answer, type Behaviour, rcodes, silence, soa, startDnsServer, truncated } from '../../support/dns-server.ts'
import { essence, runWith, startTools } from './run.ts'

const options = (given: object): DnsOptions => dns.options.parse({ name: 'www.example.com', ...given })
const addresses =
  (...values: readonly string[]): Behaviour =>
  (query) =>
    answer(query, values)

/** What one run finds with a DNS that behaves so. */
async function probe(behaviour: Behaviour, given: object = {}, { allowPrivate = true, timeoutMs = 5000 } = {}) {
  const { tools, server } = await startTools(behaviour, allowPrivate)
  return { finding: await dns.run(options(given), runWith(tools, { timeoutMs })), server, tools }
}

describe('options', () => {
  test('have defaults', () => {
    expect(options({})).toEqual({ name: 'www.example.com', recordType: 'A', expected: [], match: 'EXACT' })
  })

  test('are read in one spelling, and again as they are', () => {
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
    [{ resolver: 'fe80::1%eth0' }, 'resolver'],
    [{ degradedAboveMs: 0 }, 'degradedAboveMs'],
  ])('refuse %j', (given, path) => {
    const read = dns.options.safeParse({ name: 'www.example.com', ...given })
    expect(read.error?.issues.map((issue) => issue.path.join('.'))).toEqual([path])
  })
})

describe('without expectations', () => {
  test('a record is enough, and what it is is told', async () => {
    const { finding } = await probe(addresses('192.0.2.7', '192.0.2.8'))
    expect(essence(finding)).toEqual({ outcome: 'UP', message: 'A 192.0.2.7, 192.0.2.8', suspect: null })
    expect(finding.detail).toEqual({ answers: ['192.0.2.7', '192.0.2.8'] })
    expect(finding.latencyMs).toBeGreaterThan(0)
  })

  test('is never answered from the cache', async () => {
    const { server, tools } = await probe(addresses('192.0.2.7'))
    server.behave(addresses('192.0.2.8'))
    expect((await dns.run(options({}), runWith(tools))).message).toBe('A 192.0.2.8')
    expect(server.queries.length).toBe(2)
  })

  test('a slow answer is degraded', async () => {
    const slow: Behaviour = (query) =>
      new Promise((resolve) => setTimeout(() => resolve(answer(query, ['192.0.2.7'])), 20))
    const { finding } = await probe(slow, { degradedAboveMs: 1 })
    expect(finding).toMatchObject({ outcome: 'DEGRADED', suspect: null })
    expect(finding.message).toMatch(/^Answered in \d+ ms, more than 1 ms$/)
  })

  test.each([
    ['"v=DKIM1; k=rsa; " "p=MIGf"', 'v=DKIM1; k=rsa; p=MIGf', 'UP'],
    ['"one" \t "two"', 'onetwo', 'UP'],
    ['"a\\"b\\059c"', 'a"b;c', 'UP'],
    ['one two', 'one two', 'UP'],
    ['"one" "two"', 'one two', 'DOWN'],
  ])('a text that a zone file writes as %s matches %s: %s', async (expected, answered, outcome) => {
    const { finding } = await probe((query) => answer(query, [answered]), { recordType: 'TXT', expected: [expected] })
    expect(finding.outcome).toBe(outcome)
  })

  test('what comes from outside is kept short, and on one line', async () => {
    const many = Array.from({ length: 30 }, (_, index) => `${index}\n\u001b[31m${'x'.repeat(200)}`)
    const { finding } = await probe((query) => (query.transport === 'udp' ? truncated : answer(query, many)), {
      recordType: 'TXT',
    })
    expect(finding.detail?.answers?.length).toBe(20)
    expect(finding.message).not.toMatch(/\p{C}/u)
  })
})

describe('records of each type are compared as a zone file has them', () => {
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

  test('MX of a domain that takes no mail (RFC 7505)', async () => {
    const { finding } = await probe(
      (query) => ({ answers: [{ name: query.name, type: 'MX', ttl: 300, data: { preference: 0, exchange: '.' } }] }),
      { recordType: 'MX', expected: ['0 .'] },
    )
    expect(finding.outcome).toBe('UP')
  })

  test('PTR of an address, by its reverse name', async () => {
    const { server } = await probe(addresses('host.example.com'), { name: '192.0.2.7', recordType: 'PTR' })
    const { server: other } = await probe(addresses('host.example.com'), { name: '2001:db8::7', recordType: 'PTR' })
    expect(server.queries[0]?.name).toBe('7.2.0.192.in-addr.arpa')
    expect(other.queries[0]?.name).toBe(`7${'.0'.repeat(23)}.8.b.d.0.1.0.0.2.ip6.arpa`)
  })

  test('at the end of aliases', async () => {
    const { finding } = await probe(
      ({ name }) => ({
        answers: [
          { name, type: 'CNAME', ttl: 300, data: 'edge.example.net' },
          { name: 'edge.example.net', type: 'A', ttl: 300, data: '192.0.2.7' },
        ],
      }),
      { expected: ['192.0.2.7'] },
    )
    expect(finding.outcome).toBe('UP')
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
    const { finding } = await probe(addresses('192.0.2.7', '192.0.2.8'), { match, expected })
    expect(essence(finding)).toEqual({ outcome, message, suspect: null })
  })
})

describe('what is not there', () => {
  test.each([
    [rcodes.nxdomain, 'www.example.com does not exist (NXDOMAIN)'],
    [0, 'www.example.com has no A record'],
  ])('is down (code %i)', async (rcode, message) => {
    const { finding } = await probe((query) => ({ rcode, authorities: [soa(query.name, 60, 60)] }))
    expect(essence(finding)).toEqual({ outcome: 'DOWN', message, suspect: null })
  })
})

describe('our own resolvers', () => {
  const name = 'www.example.com'

  test('that find no working nameserver say that of the name, or are cut off', async () => {
    const { finding } = await probe(() => ({ rcode: rcodes.servfail }))
    const message = `The DNS servers of ${name} gave no usable answer (SERVFAIL)`
    expect(essence(finding)).toEqual({ outcome: 'DOWN', message, suspect: name })
  })

  test('that answer, but not for the name, say that of the name', async () => {
    const { finding } = await probe(
      (query) => (query.name === name ? [] : { rcode: rcodes.nxdomain }),
      {},
      { timeoutMs: 200 },
    )
    expect(essence(finding)).toEqual({ outcome: 'DOWN', message: `No answer for ${name} within 0.2 s`, suspect: name })
  })

  test('that do not answer at all are our fault', async () => {
    const { finding } = await probe(silence, {}, { timeoutMs: 200 })
    expect(essence(finding)).toEqual({
      outcome: 'UNKNOWN',
      message: 'Our own DNS resolvers do not answer',
      suspect: null,
    })
  })

  test('that cannot be reached are our fault', async () => {
    const { tools, server } = await startTools()
    await server.close()
    const finding = await dns.run(options({}), runWith(tools))
    expect(essence(finding)).toEqual({
      outcome: 'UNKNOWN',
      message: 'Our own DNS resolvers cannot be reached',
      suspect: null,
    })
  })

  test('that refuse are our fault', async () => {
    const { finding } = await probe(() => ({ rcode: rcodes.refused }))
    expect(finding).toMatchObject({ outcome: 'UNKNOWN', message: 'Our own DNS resolvers refuse to answer (REFUSED)' })
  })

  test('whose answers cannot be read are our fault', async () => {
    const { finding } = await probe(() => truncated)
    const message = 'Our own DNS resolvers gave an answer for www.example.com that cannot be read'
    expect(essence(finding)).toEqual({ outcome: 'UNKNOWN', message, suspect: null })
  })

  test('that have much to say are asked over TCP', async () => {
    const { finding } = await probe((query) => (query.transport === 'udp' ? truncated : answer(query, ['192.0.2.7'])))
    expect(finding.outcome).toBe('UP')
  })
})

describe('a resolver that the owner names', () => {
  async function probeAt(behaviour: Behaviour, timeoutMs = 5000) {
    const server = await startDnsServer(behaviour)
    const { tools, server: ours } = await startTools()
    const resolver = `127.0.0.1:${server.port}`
    const finding = await dns.run(options({ resolver }), runWith(tools, { timeoutMs }))
    await server.close()
    expect(ours.queries).toEqual([])
    return {
      ...essence(finding),
      message: finding.message.replace(resolver, 'R'),
      suspect: finding.suspect === resolver,
    }
  }

  test('is asked in place of ours', async () => {
    expect(await probeAt(addresses('192.0.2.7'))).toEqual({ outcome: 'UP', message: 'A 192.0.2.7', suspect: false })
  })

  test.each<[string, Behaviour, string, boolean]>([
    ['refuses', () => ({ rcode: rcodes.refused }), 'The resolver R refused to answer (REFUSED)', false],
    ['fails', () => ({ rcode: rcodes.servfail }), 'The resolver R gave no usable answer (SERVFAIL)', false],
    ['is silent', silence, 'The resolver R did not answer within 0.2 s', true],
    [
      'is cut short over UDP and silent over TCP',
      ({ transport }) => (transport === 'udp' ? truncated : []),
      'The resolver R gave an answer too long for UDP, and none over TCP',
      false,
    ],
  ])('is down when it %s', async (_, behaviour, message, suspect) => {
    expect(await probeAt(behaviour, 200)).toEqual({ outcome: 'DOWN', message, suspect })
  })

  test('is down when nothing listens there', async () => {
    const server = await startDnsServer()
    await server.close()
    const { tools } = await startTools()
    const finding = await dns.run(options({ resolver: `127.0.0.1:${server.port}` }), runWith(tools))
    expect(finding).toMatchObject({ outcome: 'DOWN', suspect: `127.0.0.1:${server.port}` })
    expect(finding.message).toMatch(/cannot be reached$/)
  })

  test('is unknown when there is no way to it from here', async ({ skip }) => {
    const resolver = await addressWithoutWay()
    if (resolver === null) return skip('This machine has a way to every address, of IPv4 and of IPv6')
    const { tools } = await startTools()
    expect(essence(await dns.run(options({ resolver }), runWith(tools)))).toEqual({
      outcome: 'UNKNOWN',
      message: `The machine that watches has no way to the resolver ${resolver}`,
      suspect: null,
    })
  })
})

/** A public address of the version of IP that this machine has no way to. Nothing is sent there. */
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
  ])('cannot look behind our resolver: %j', async (given, path) => {
    expect(dnsRefusals(options(given), false).map((issue) => issue.path)).toEqual([[path]])
    expect(dnsRefusals(options(given), true)).toEqual([])
    const { finding, server } = await probe(addresses('10.0.0.1'), given, { allowPrivate: false })
    expect(finding).toMatchObject({ outcome: 'UNKNOWN', detail: null })
    expect(finding.message).toMatch(/^Not asked: /)
    expect(server.queries).toEqual([])
  })

  test('may ask a public resolver whatever they like', () => {
    expect(dnsRefusals(options({ name: 'db.internal', resolver: '8.8.8.8' }), false)).toEqual([])
  })

  test.each(['10.0.0.1', '127.0.0.1', '169.254.169.254'])(
    'do not see or guess the private address %s',
    async (address) => {
      for (const expected of [[], [address], ['8.8.8.8']]) {
        const { finding } = await probe(addresses('8.8.8.8', address), { expected }, { allowPrivate: false })
        expect(essence(finding)).toEqual({
          outcome: 'UNKNOWN',
          message: 'www.example.com has private addresses here, which are compared only for a resolver that you name',
          suspect: null,
        })
        expect(finding.detail).toBeNull()
      }
    },
  )

  test('do not use up what the lists allow us', async () => {
    const { finding, server } = await probe(addresses('127.0.0.2'), { name: '2.0.0.127.zen.spamhaus.org' })
    expect(finding.message).toBe('Not asked: name is watched with a monitor of kind BLACKLIST (Spamhaus ZEN)')
    expect(server.queries).toEqual([])
  })
})
