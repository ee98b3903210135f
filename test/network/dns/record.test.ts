import { type Answer, decode, encode } from 'dns-packet'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ResourceRecord, readName, readSections, recordTypes, textOf } from '../../../src/network/dns/record.ts'
import { soa } from '../../support/dns-server.ts'

const headerLength = 12

/** A message of these sections, without a question. */
function messageOf(sections: { answers?: Answer[]; authorities?: Answer[]; additionals?: Answer[] }): Buffer {
  return encode({ type: 'response', id: 1, ...sections })
}

/** One record with these bytes as its data, alone in a message. */
function messageWith(type: number, data: Uint8Array): { message: Buffer; record: ResourceRecord } {
  const fixed = Buffer.from([0, 0, type, 0, 1, 0, 0, 0, 60, data.length >> 8, data.length & 255])
  const message = Buffer.concat([Buffer.alloc(headerLength), fixed, data])
  message.writeUInt16BE(1, 6)
  const [record] = readSections(message, headerLength).answers
  if (record === undefined) throw new Error('There should be a record')
  return { message, record }
}

/** The wire form of a name, and of what else is given as numbers. */
const bytes = (...parts: readonly (string | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part))))

describe('the records of a message', () => {
  test('are those of its three sections', () => {
    const message = messageOf({
      answers: [
        { type: 'A', name: 'a.test', ttl: 300, data: '127.0.0.2' },
        { type: 'TXT', name: 'b.test', ttl: 0xffffffff, data: 'text' },
      ],
      authorities: [soa('test', 600, 150)],
      additionals: [{ type: 'AAAA', name: 'c.test', ttl: 0, data: '2001:db8::1' }],
    })
    const { answers, authorities, additionals } = readSections(message, headerLength)
    const told = (record: ResourceRecord) => [readName(message, record.name), record.type, record.ttl]
    expect(answers.map(told)).toEqual([
      ['a.test', recordTypes.A, 300],
      ['b.test', recordTypes.TXT, 0xffffffff],
    ])
    expect(authorities.map(told)).toEqual([['test', recordTypes.SOA, 600]])
    expect(additionals.map(told)).toEqual([['c.test', recordTypes.AAAA, 0]])
    expect(answers.map((record) => textOf(message, record))).toEqual(['127.0.0.2', 'text'])
    expect(additionals.map((record) => textOf(message, record))).toEqual(['2001:db8::1'])
  })

  test('are as another decoder finds them', () => {
    const label = fc.stringMatching(/^[a-z\d_-]{1,20}$/)
    const name = fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.'))
    const ttl = fc.nat()
    const record = fc.oneof(
      fc.record({ type: fc.constant('A' as const), name, ttl, data: fc.ipV4() }),
      fc.record({ type: fc.constant('CNAME' as const), name, ttl, data: name }),
      fc.record({ type: fc.constant('TXT' as const), name, ttl, data: fc.string({ maxLength: 200 }) }),
    )
    fc.assert(
      fc.property(fc.array(record, { maxLength: 6 }), (records) => {
        const message = messageOf({ answers: records })
        const found = readSections(message, headerLength).answers.map((each) => {
          const data = each.type === recordTypes.CNAME ? readName(message, each.data) : textOf(message, each)
          return [readName(message, each.name), each.type, each.ttl, data]
        })
        const decoded = (decode(message).answers ?? []) as typeof records
        expect(found).toEqual(
          decoded.map(({ name, type, ttl, data }) => [name, recordTypes[type], ttl, type === 'TXT' ? `${data}` : data]),
        )
      }),
    )
  })

  const whole = messageOf({ answers: [{ type: 'A', name: 'a.test', ttl: 300, data: '127.0.0.2' }] })

  test('fill it: it is broken when it is cut anywhere, or goes on', () => {
    for (let length = headerLength; length < whole.length; length++) {
      expect(() => readSections(whole.subarray(0, length), headerLength)).toThrow(RangeError)
    }
    expect(() => readSections(Buffer.concat([whole, Buffer.alloc(1)]), headerLength)).toThrow(RangeError)
  })

  test('are at least as many as it says', () => {
    const message = Buffer.from(whole)
    message.writeUInt16BE(0xffff, 6)
    expect(() => readSections(message, headerLength)).toThrow(RangeError)
  })
})

describe('a name', () => {
  test('is read as it was sent, through pointers to what came before', () => {
    const message = bytes(4, 'TEST', 0, 1, 'b', 0xc0, 0, 1, 'a', 0xc0, 6)
    expect([0, 6, 10].map((from) => readName(message, from))).toEqual(['TEST', 'b.TEST', 'a.b.TEST'])
  })

  test('may be the root', () => {
    expect(readName(bytes(0), 0)).toBe('')
  })

  test('has at most 253 characters', () => {
    const name = (last: number) =>
      bytes(
        ...Array(3)
          .fill([63, 'a'.repeat(63)])
          .flat(),
        last,
        'b'.repeat(last),
        0,
      )
    expect(readName(name(61), 0).length).toBe(253)
    expect(() => readName(name(62), 0)).toThrow(RangeError)
  })

  test.each<[string, Buffer, number]>([
    ['that points at itself', bytes(0xc0, 0), 0],
    ['that points forward', bytes(0xc0, 2, 0), 0],
    ['that goes round', bytes(1, 'a', 0xc0, 0), 0],
    ['whose pointers go round', bytes(0xc0, 2, 0xc0, 0), 2],
    ['with a label of an unknown kind', bytes(0x40, 'a'.repeat(64), 0), 0],
    ['with a label cut short', bytes(3, 'ab'), 0],
    ['with a pointer cut short', bytes(0xc0), 0],
    ['without an end', bytes(1, 'a'), 0],
    ['behind the message', bytes(0), 1],
  ])('%s is broken', (_, message, from) => {
    expect(() => readName(message, from)).toThrow(RangeError)
  })
})

describe('the data of a record', () => {
  test('of addresses are in their usual form', () => {
    const six = messageWith(recordTypes.AAAA, Buffer.from('20010db8000000000000000000000001', 'hex'))
    expect(textOf(six.message, six.record)).toBe('2001:db8::1')
    const mapped = messageWith(recordTypes.AAAA, Buffer.from('00000000000000000000ffff7f000002', 'hex'))
    expect(textOf(mapped.message, mapped.record)).toBe('::ffff:7f00:2')
  })

  test('of texts are joined before they are read as UTF-8', () => {
    const text = Buffer.from('größer')
    const parts = Buffer.concat([bytes(3), text.subarray(0, 3), bytes(0), bytes(text.length - 3), text.subarray(3)])
    const { message, record } = messageWith(recordTypes.TXT, parts)
    expect(textOf(message, record)).toBe('größer')
  })

  test.each<[string, number, Uint8Array]>([
    ['an address of five bytes', recordTypes.A, new Uint8Array(5)],
    ['an address of none', recordTypes.A, new Uint8Array(0)],
    ['an IPv6 address of four bytes', recordTypes.AAAA, new Uint8Array(4)],
    ['a text whose string is cut short', recordTypes.TXT, bytes(4, 'abc')],
    ['a type that has no text', recordTypes.SOA, new Uint8Array(20)],
  ])('are refused for %s', (_, type, data) => {
    const { message, record } = messageWith(type, data)
    expect(() => textOf(message, record)).toThrow(RangeError)
  })
})
