import { type Answer, decode, encode } from 'dns-packet'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { answersQuery, encodeQuery, isQueryable, type Question, readReply } from '../../../src/network/dns/message.ts'
import { encodeReply, type Reply, rcodes, soa } from '../../support/dns-server.ts'

const question: Question = { name: '2.0.0.127.bl.test', type: 'A' }

function reply(content: Reply, asked: Question = question): Buffer {
  const query = {
    name: asked.name,
    type: asked.type,
    id: 7,
    transport: 'udp',
    port: 0,
    packet: decode(encodeQuery(7, asked)),
  } as const
  return encodeReply(query, asked, content)
}

function record(type: string, name: string, data: unknown, ttl = 300): Answer {
  return { type, name, data, ttl } as Answer
}

describe('a name', () => {
  test.each([
    'test',
    'a.b',
    '_dmarc.example.com',
    'xn--bcher-kva.example',
    `${'a'.repeat(63)}.b`,
    `${'a.'.repeat(126)}a`,
  ])('may be %s', (name) => {
    expect(isQueryable(name)).toBe(true)
  })

  test.each([
    '',
    '.',
    'a.',
    '.a',
    'a..b',
    `${'a'.repeat(64)}.b`,
    `${'a.'.repeat(126)}ab`,
    'a b',
    'ä.example',
    'a\0b',
    'a\n',
    'a/b',
  ])('may not be %j', (name) => {
    expect(isQueryable(name)).toBe(false)
  })
})

describe('a query', () => {
  test('requests recursion and accepts 1232 bytes with EDNS', () => {
    const packet = decode(encodeQuery(0xbeef, question))
    expect(packet).toMatchObject({ id: 0xbeef, type: 'query', flag_rd: true })
    expect(packet.questions).toEqual([{ name: question.name, type: 'A', class: 'IN' }])
    expect(packet.additionals).toMatchObject([{ type: 'OPT', udpPayloadSize: 1232, ednsVersion: 0, flag_do: false }])
  })

  test('contains any valid name, and its type', () => {
    const label = fc.stringMatching(/^[a-z\d_-]{1,63}$/)
    const names = fc.array(label, { minLength: 1, maxLength: 6 }).map((labels) => labels.join('.'))
    const questions = fc.record({ name: names.filter(isQueryable), type: fc.constantFrom('A', 'AAAA', 'TXT') })
    fc.assert(
      fc.property(questions, fc.nat(0xffff), (asked, id) => {
        expect(decode(encodeQuery(id, asked))).toMatchObject({ id, questions: [{ ...asked, class: 'IN' }] })
      }),
    )
  })

  const query = encodeQuery(7, question)
  const message = reply({})

  test('is matched by the echo of its id and question, in any case', () => {
    expect(answersQuery(message, query)).toBe(true)
    expect(answersQuery(reply({ question: { ...question, name: '2.0.0.127.BL.Test' } }), query)).toBe(true)
  })

  test.each<[string, Buffer]>([
    ['another id', reply({ id: 8 })],
    ['another name', reply({ question: { name: '3.0.0.127.bl.test', type: 'A' } })],
    ['a longer name', reply({ question: { name: `${question.name}x`, type: 'A' } })],
    ['another type', reply({ question: { name: question.name, type: 'TXT' } })],
    ['another class', reply({ question: { ...question, class: 'CH' } })],
    ['a query', query],
    ['no question', encode({ type: 'response', id: 7, questions: [] })],
    ['two questions', encode({ type: 'response', id: 7, questions: [question, question] })],
    ['a truncated header', message.subarray(0, 11)],
    ['a truncated question', message.subarray(0, message.length - 1)],
    ['nothing', Buffer.alloc(0)],
  ])('is not matched by %s', (_, other) => {
    expect(answersQuery(other, query)).toBe(false)
  })
})

describe('a reply with records', () => {
  test('returns every value and the lowest TTL', () => {
    const answers = [record('A', question.name, '127.0.0.2', 400), record('A', question.name, '127.0.0.10', 350)]
    expect(readReply(reply({ answers }), question)).toEqual({
      kind: 'answer',
      values: ['127.0.0.2', '127.0.0.10'],
      ttl: 350,
    })
  })

  test.each([
    [0, 0],
    [1, 30],
    [29, 30],
    [3600, 3600],
    [86_400, 3600],
    [0xffffffff, 3600],
  ])('with a TTL of %i s is cached for %i s', (ttl, kept) => {
    const message = reply({ answers: [record('A', question.name, '127.0.0.2', ttl)] })
    expect(readReply(message, question)).toMatchObject({ kind: 'answer', ttl: kept })
  })

  test('returns IPv6 addresses', () => {
    const asked: Question = { name: 'six.test', type: 'AAAA' }
    const message = reply({ answers: [record('AAAA', 'six.test', '2001:db8::1')] }, asked)
    expect(readReply(message, asked)).toMatchObject({ values: ['2001:db8::1'] })
  })

  test('joins the parts of a text before decoding as UTF-8', () => {
    const asked: Question = { name: 'text.test', type: 'TXT' }
    const bytes = Buffer.from('größer')
    const answers = [
      record('TXT', 'text.test', [bytes.subarray(0, 3), bytes.subarray(3)]),
      record('TXT', 'text.test', ['b']),
    ]
    expect(readReply(reply({ answers }, asked), asked)).toMatchObject({ values: ['größer', 'b'] })
  })

  test.each([
    ['CNAME', 'Edge.example.net', 'Edge.example.net'],
    ['NS', 'ns1.example.net', 'ns1.example.net'],
    ['PTR', 'host.example.net', 'host.example.net'],
    ['MX', { preference: 10, exchange: 'mail.example.net' }, '10 mail.example.net'],
    ['SRV', { priority: 1, weight: 2, port: 443, target: 'a.example.net' }, '1 2 443 a.example.net'],
    ['CAA', { flags: 128, tag: 'issue', value: 'ca.example; x=1' }, '128 issue "ca.example; x=1"'],
    [
      'SOA',
      { mname: 'ns.test', rname: 'host.test', serial: 1, refresh: 600, retry: 300, expire: 86_400, minimum: 30 },
      'ns.test host.test 1 600 300 86400 30',
    ],
  ] as const)('returns %s in zone file format', (type, data, value) => {
    const asked = { name: 'example.net', type }
    const result = readReply(reply({ answers: [record(type, 'example.net', data)] }, asked), asked)
    expect(result).toEqual({ kind: 'answer', values: [value], ttl: 300 })
  })

  test('follows CNAMEs in the message, in any order and case, and includes their TTL', () => {
    const answers = [
      record('A', 'end.test', '192.0.2.1', 900),
      record('CNAME', 'Middle.test', 'END.test', 60),
      record('CNAME', question.name, 'middle.TEST', 300),
    ]
    expect(readReply(reply({ answers }), question)).toEqual({ kind: 'answer', values: ['192.0.2.1'], ttl: 60 })
  })

  test('ignores records of other names and types', () => {
    const answers = [record('A', 'other.test', '127.0.0.2'), record('TXT', question.name, 'text')]
    expect(readReply(reply({ answers }), question)).toEqual({ kind: 'none', nxdomain: false, ttl: 30 })
  })

  test('stops at a loop of CNAMEs', () => {
    const answers = [record('CNAME', question.name, 'b.test'), record('CNAME', 'b.test', question.name)]
    expect(readReply(reply({ answers }), question)).toMatchObject({ kind: 'none' })
  })
})

describe('a reply without records', () => {
  test.each([
    ['the TTL of its SOA', 100, 200, 100],
    ['the MINIMUM of its SOA', 200, 100, 100],
    ['at least 15 s', 1, 1, 15],
    ['0 s if its SOA says so', 0, 300, 0],
    ['0 s if its MINIMUM says so', 300, 0, 0],
    ['at most 900 s', 86_400, 86_400, 900],
  ])('may be cached for %s', (_, ttl, minimum, kept) => {
    const authorities = [soa('bl.test', ttl, minimum)]
    expect(readReply(reply({ authorities }), question)).toEqual({ kind: 'none', nxdomain: false, ttl: kept })
    const missing = reply({ authorities, rcode: rcodes.nxdomain })
    expect(readReply(missing, question)).toEqual({ kind: 'none', nxdomain: true, ttl: kept })
  })

  test('is cached for 30 s without an SOA record', () => {
    expect(readReply(reply({ rcode: rcodes.nxdomain }), question)).toEqual({ kind: 'none', nxdomain: true, ttl: 30 })
  })

  test('is cached no longer than the CNAME that leads to it', () => {
    const answers = [record('CNAME', question.name, 'gone.test', 20)]
    const message = reply({ answers, authorities: [soa('test', 300, 300)], rcode: rcodes.nxdomain })
    expect(readReply(message, question)).toEqual({ kind: 'none', nxdomain: true, ttl: 20 })
  })

  test('that refers to other servers is not an answer', () => {
    const referral = { authorities: [record('NS', 'bl.test', 'ns.bl.test')] }
    expect(readReply(reply(referral), question)).toEqual({ kind: 'failed', reason: 'servfail' })
    expect(readReply(reply({ ...referral, authoritative: true }), question)).toMatchObject({ kind: 'none' })
  })
})

describe('a reply that fails', () => {
  test.each([
    [rcodes.refused, 'refused'],
    [rcodes.servfail, 'servfail'],
    [rcodes.formatError, 'formerr'],
    [rcodes.notImplemented, 'notimp'],
    [9, 'servfail'],
  ])('with code %i is %s', (rcode, reason) => {
    expect(readReply(reply({ rcode }), question)).toEqual({ kind: 'failed', reason })
  })

  test('with an extended code is not an empty answer', () => {
    const badVersion: Answer = {
      type: 'OPT',
      name: '.',
      udpPayloadSize: 1232,
      extendedRcode: 1,
      ednsVersion: 0,
      flags: 0,
      flag_do: false,
      options: [],
    }
    expect(readReply(reply({ additionals: [badVersion] }), question)).toEqual({ kind: 'failed', reason: 'servfail' })
  })

  test('is truncated, whatever else it contains', () => {
    expect(readReply(reply({ truncated: true, answers: [record('A', question.name, '127.0.0.2')] }), question)).toBe(
      'truncated',
    )
  })

  test('is malformed when it is truncated anywhere after the question', () => {
    const whole = reply({ answers: [record('A', question.name, '127.0.0.2')] })
    for (let length = reply({}).length; length < whole.length; length++) {
      expect(readReply(whole.subarray(0, length), question)).toEqual({ kind: 'failed', reason: 'malformed' })
    }
  })

  test('is malformed when something follows it', () => {
    expect(readReply(Buffer.concat([reply({}), Buffer.from([0])]), question)).toEqual({
      kind: 'failed',
      reason: 'malformed',
    })
  })
})

describe('random bytes', () => {
  const query = encodeQuery(7, question)

  test('never match a query', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        expect(answersQuery(Buffer.from(bytes), query)).toBe(false)
      }),
    )
  })

  test('after an echoed question never crash the client and never become an answer', () => {
    const counts = fc.tuple(fc.integer({ min: 1, max: 3 }), fc.nat(3), fc.nat(3))
    fc.assert(
      fc.property(counts, fc.uint8Array({ maxLength: 600 }), (sections, bytes) => {
        const message = Buffer.concat([reply({}), bytes])
        sections.forEach((count, index) => {
          message.writeUInt16BE(count, 6 + 2 * index)
        })
        expect(answersQuery(message, query)).toBe(true)
        expect(readReply(message, question)).not.toMatchObject({ kind: 'answer' })
      }),
      { numRuns: 500 },
    )
  })

  test('in a valid reply never crash the client', () => {
    const answers = [record('CNAME', question.name, 'end.test'), record('A', 'end.test', '127.0.0.2')]
    const whole = reply({ answers, authorities: [soa('test', 60, 60)] })
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, byte) => {
        const message = Buffer.from(whole)
        message[at] = byte
        const result = readReply(message, question)
        const values = result !== 'truncated' && result.kind === 'answer' ? result.values : []
        for (const value of values) expect(value).toMatch(/^\d+\.\d+\.\d+\.\d+$/)
      }),
      { numRuns: 1000 },
    )
  })
})
