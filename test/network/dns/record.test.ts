import { type Answer, decode } from 'dns-packet'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeQuery, type RecordType, readReply } from '../../../src/network/dns/message.ts'
import { encodeReply } from '../../support/dns-server.ts'

const longest = 65_535
const name = 'a.test'
/** A pointer to the name in the question. */
const questionName = Buffer.from([0xc0, 12])
const root = Buffer.from([0])

/** Returns the wire form of names and single bytes. */
const bytes = (...parts: readonly (string | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part))))

const types: Readonly<Partial<Record<RecordType, number>>> = { A: 1, CNAME: 5, SOA: 6, MX: 15, TXT: 16, AAAA: 28 }

/** Returns a record of the question's name, or of another name. */
function recordOf(type: number, data: Uint8Array, owner: Uint8Array = questionName): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt32BE(300, 4)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([owner, fixed, data])
}

/** Returns a reply to a question of this type for `name`, with these bytes as answers and their count in the header. */
function replyOf(type: RecordType, records: readonly Uint8Array[], count = records.length): Buffer {
  const query = encodeQuery(7, { name, type })
  const message = Buffer.concat([query.subarray(0, query.indexOf(0, 12) + 5), ...records])
  message.writeUInt16BE(0x8180, 2)
  message.writeUInt16BE(count, 6)
  message.writeUInt16BE(0, 10)
  return message
}

const read = (message: Buffer, type: RecordType) => readReply(message, { name, type })

/** Reads a record of the question's name with these data. */
const readData = (type: RecordType, data: Uint8Array) => read(replyOf(type, [recordOf(types[type] ?? 0, data)]), type)

const malformed = { kind: 'failed', reason: 'malformed' }

/** Returns a message with as many of these records as fit. */
function filled(type: RecordType, first: readonly Uint8Array[], record: Uint8Array): Buffer {
  const used = replyOf(type, first).length
  const count = Math.floor((longest - used) / record.length)
  return replyOf(type, [...first, ...Array(count).fill(record)])
}

describe('the records of a message', () => {
  test('are read as sent', () => {
    const ttl = fc.integer({ min: 30, max: 3600 })
    const record = fc.record({ ttl, data: fc.ipV4() })
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 6 }), (records) => {
        const question = { name, type: 'A' } as const
        const packet = decode(encodeQuery(7, question))
        const query = { ...question, id: 7, transport: 'udp', port: 0, packet } as const
        const answers: Answer[] = records.map((each) => ({ ...each, type: 'A', name }))
        expect(read(encodeReply(query, question, { answers }), 'A')).toEqual({
          kind: 'answer',
          values: records.map(({ data }) => data),
          ttl: Math.min(...records.map((each) => each.ttl)),
        })
      }),
    )
  })

  const record = recordOf(1, bytes(127, 0, 0, 2))

  test('must fill it; otherwise the message is malformed', () => {
    const whole = replyOf('A', [record])
    for (let length = whole.length - record.length; length < whole.length; length++) {
      expect(read(whole.subarray(0, length), 'A')).toEqual(malformed)
    }
    expect(read(Buffer.concat([whole, Buffer.alloc(1)]), 'A')).toEqual(malformed)
  })

  test('must be as many as the header declares', () => {
    expect(read(replyOf('A', [record], 0xffff), 'A')).toEqual(malformed)
  })

  test('may be a thousand', () => {
    expect(read(replyOf('A', Array(1000).fill(record)), 'A')).toMatchObject({
      values: Array(1000).fill('127.0.0.2'),
    })
  })
})

describe('a name', () => {
  const alias = (data: Uint8Array) => readData('CNAME', data)

  test('is read as sent, through backward pointers', () => {
    expect(alias(bytes(4, 'MAIL', 0xc0, 12))).toMatchObject({ values: ['MAIL.a.test'] })
    expect(alias(bytes(0xc0, 14))).toMatchObject({ values: ['test'] })
  })

  test('may be the root', () => {
    expect(alias(root)).toMatchObject({ values: [''] })
    expect(readData('MX', bytes(0, 0, 0))).toMatchObject({ values: ['0 '] })
  })

  test('may contain invalid UTF-8 and dots', () => {
    expect(alias(bytes(3, 'b.c', 2, 'Zz', 0))).toMatchObject({ values: ['b.c.Zz'] })
    const owner = Buffer.from([1, 0xff, 0])
    expect(read(replyOf('A', [recordOf(1, bytes(1, 2, 3, 4), owner)]), 'A')).toMatchObject({ kind: 'none' })
  })

  test('ignores case in ASCII only', () => {
    // The Kelvin sign is a K in lower case.
    const query = { name: 'k.test', type: 'A' } as const
    const message = replyOf('A', [recordOf(1, bytes(1, 2, 3, 4), bytes(3, '\u212a', 4, 'test', 0))])
    expect(readReply(message, query)).toMatchObject({ kind: 'none' })
    const upper = replyOf('A', [recordOf(1, bytes(1, 2, 3, 4), bytes(1, 'K', 4, 'TEST', 0))])
    expect(readReply(upper, query)).toMatchObject({ values: ['1.2.3.4'] })
  })

  test('has at most 253 characters', () => {
    const long = (last: number) => {
      const three = [63, 'a'.repeat(63), 63, 'a'.repeat(63), 63, 'a'.repeat(63)]
      return bytes(...three, last, 'b'.repeat(last), 0)
    }
    expect(alias(long(61))).toMatchObject({ kind: 'answer' })
    expect(alias(long(62))).toEqual(malformed)
  })

  // The data start at 36, after 12 bytes of header, 12 of question and 12 of record.
  test.each<[string, Buffer]>([
    ['that points at itself', bytes(0xc0, 36)],
    ['that points forward', bytes(0xc0, 38, 0)],
    ['whose pointer is a loop', bytes(1, 'a', 0xc0, 36)],
    ['with a label of an unknown kind', bytes(0x40, 'a'.repeat(64), 0)],
    ['with a truncated label', bytes(3, 'ab')],
    ['with a truncated pointer', bytes(0xc0)],
    ['without an end', bytes(1, 'a')],
  ])('%s is malformed', (_, data) => {
    expect(alias(data)).toEqual(malformed)
  })
})

describe('a message crafted to be slow to read is malformed', () => {
  const longName = Buffer.concat([...Array(126).fill(bytes(1, 'a')), root])
  const toLongName = Buffer.from([0xc0, 24])
  /** Names of 8,000 pointers, each to the one before. */
  const pointers = Buffer.alloc(16_001)
  for (let at = 1; at + 1 < pointers.length; at += 2) pointers.writeUInt16BE(0xc000 | (at === 1 ? 35 : 33 + at), at)
  const endOfPointers = Buffer.from([0xc0 | (16_034 >> 8), 16_034 & 0xff])

  /** Windows of 2,040 types each. */
  const bitmap = Buffer.concat(Array(240).fill(bytes(0, 255, ...Array(255).fill(255))))

  test.each<[string, Buffer]>([
    ['long names', filled('TXT', [recordOf(16, root, longName)], recordOf(16, root, toLongName))],
    ['long names in data', filled('TXT', [recordOf(16, root, longName)], recordOf(5, toLongName, root))],
    ['pointers to pointers', filled('TXT', [recordOf(65_000, pointers, root)], recordOf(16, root, endOfPointers))],
    ['strings without characters', replyOf('TXT', [recordOf(16, Buffer.alloc(65_000), root)])],
    ['bitmaps of types', replyOf('TXT', [recordOf(47, Buffer.concat([root, bitmap]))])],
  ])('%s', (_, message) => {
    expect(message.length).toBeLessThanOrEqual(longest)
    expect(read(message, 'TXT')).toEqual(malformed)
  })
})

describe('the data of a record', () => {
  test('of addresses are in canonical form', () => {
    const six = (hex: string) => readData('AAAA', Buffer.from(hex, 'hex'))
    expect(six('20010db8000000000000000000000001')).toMatchObject({ values: ['2001:db8::1'] })
    expect(six('00000000000000000000ffff7f000002')).toMatchObject({ values: ['::ffff:7f00:2'] })
    expect(six('20010000000000010000000000000001')).toMatchObject({ values: ['2001:0:0:1::1'] })
  })

  test('of texts are joined before decoding as UTF-8', () => {
    const text = Buffer.from('größer')
    const parts = Buffer.concat([bytes(3), text.subarray(0, 3), bytes(0), bytes(text.length - 3), text.subarray(3)])
    expect(readData('TXT', parts)).toMatchObject({ values: ['größer'] })
  })

  test('may be a text as long as the message', () => {
    const text = Buffer.alloc(65_024, 'é')
    const strings = Array.from({ length: Math.ceil(text.length / 255) }, (_, index) => {
      const string = text.subarray(255 * index, 255 * (index + 1))
      return Buffer.concat([bytes(string.length), string])
    })
    expect(readData('TXT', Buffer.concat(strings))).toMatchObject({ values: [text.toString()] })
  })

  test.each<[string, RecordType, Uint8Array]>([
    ['an address of five bytes', 'A', new Uint8Array(5)],
    ['an address of none', 'A', new Uint8Array(0)],
    ['an IPv6 address of four bytes', 'AAAA', new Uint8Array(4)],
    ['a text with a truncated string', 'TXT', bytes(4, 'abc')],
    ['a start of authority without its last number', 'SOA', new Uint8Array(18)],
  ])('are refused for %s', (_, type, data) => {
    expect(readData(type, data)).toEqual(malformed)
  })
})
