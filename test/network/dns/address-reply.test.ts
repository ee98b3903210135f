import { decode } from 'dns-packet'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AddressReply, readAddressReply } from '../../../src/network/dns/address-reply.ts'
import { encodeQuery } from '../../../src/network/dns/message.ts'

const name = '2.0.0.127.bl.test'
const query = encodeQuery(7, { name, type: 'A' }, true)
const questionEnd = query.length

/** A pointer to the name in the question, and one to its last two labels, `bl.test`. */
const questionPointer = [0xc0, 12]
const zonePointer = [0xc0, 12 + '2.0.0.127.'.length]

const bytes16 = (value: number) => [value >> 8, value & 255]
const bytes32 = (value: number) => [...bytes16(value >>> 16), ...bytes16(value & 0xffff)]
const text = (label: string) => [label.length, ...Buffer.from(label)]

function record(owner: readonly number[], type: number, ttl: number, data: readonly number[]): number[] {
  return [...owner, ...bytes16(type), ...bytes16(1), ...bytes32(ttl), ...bytes16(data.length), ...data]
}

const address = (ttl: number, last: number) => record(questionPointer, 1, ttl, [127, 0, 0, last])
const soa = (ttl: number, minimum: number) =>
  record(zonePointer, 6, ttl, [
    ...[...text('ns'), ...zonePointer],
    ...[...text('hostmaster'), ...text('example'), 0],
    ...[1, 3600, 600, 86_400, minimum].flatMap(bytes32),
  ])
const opt = (extendedRcode = 0, options: readonly number[] = []) => [
  ...[0, ...bytes16(41), ...bytes16(1232), extendedRcode, 0, 0, 0],
  ...[...bytes16(options.length), ...options],
]

/** A reply to the query as servers write it, with pointers instead of repeated names. */
function message(answers: number[][], authorities: number[][] = [], additionals: number[][] = [], more: number[] = []) {
  const reply = Buffer.concat([
    query,
    Buffer.from([...answers, ...authorities, ...additionals].flat()),
    Buffer.from(more),
  ])
  reply.writeUInt16BE(0x8180, 2)
  for (const [index, section] of [answers, authorities, additionals].entries()) {
    reply.writeUInt16BE(section.length, 6 + 2 * index)
  }
  return reply
}

const read = (reply: Buffer) => readAddressReply(reply, questionEnd)

/** What `dns-packet` reads in a reply. */
function decoded(reply: Buffer): AddressReply {
  const { answers = [], authorities = [] } = decode(reply)
  const found = authorities.flatMap((each) => (each.type === 'SOA' ? [each] : []))[0]
  return {
    addresses: answers.map((answer) => String('data' in answer && answer.data)),
    ttl: Math.min(...answers.map((answer) => ('ttl' in answer && answer.ttl) || 0)),
    absenceTtl: found === undefined ? null : Math.min(found.ttl ?? 0, found.data.minimum ?? 0),
  }
}

describe('a reply that is read', () => {
  test.each([
    ['an address', message([address(60, 2)]), { addresses: ['127.0.0.2'], ttl: 60, absenceTtl: null }],
    [
      'addresses, with EDNS',
      message([address(60, 2), address(30, 10)], [], [opt()]),
      { addresses: ['127.0.0.2', '127.0.0.10'], ttl: 30, absenceTtl: null },
    ],
    ['nothing', message([]), { addresses: [], ttl: Number.POSITIVE_INFINITY, absenceTtl: null }],
    [
      'an SOA record',
      message([], [soa(900, 150)], [opt()]),
      { addresses: [], ttl: Number.POSITIVE_INFINITY, absenceTtl: 150 },
    ],
  ])('has %s', (_what, reply, expected) => {
    expect(read(reply)).toEqual(expected)
    expect(decoded(reply)).toEqual(expected)
  })
})

describe('a reply that is left to the general decoder', () => {
  const foreignOwner = record([...text('other'), 0], 1, 60, [127, 0, 0, 2])
  const alias = record(questionPointer, 5, 60, [...text('other'), ...zonePointer])
  const soaThatPointsForward = record(zonePointer, 6, 900, [0xc0, 200, 0, ...Array<number>(20).fill(0)])
  test.each([
    ['an address of another name', message([foreignOwner])],
    ['an alias', message([alias])],
    ['a text', message([record(questionPointer, 16, 60, text('why'))])],
    ['an address of three bytes', message([record(questionPointer, 1, 60, [127, 0, 0])])],
    ['an address of another class', message([address(60, 2).with(5, 3)])],
    ['name servers', message([], [record(zonePointer, 2, 60, [...text('ns'), ...zonePointer])])],
    ['an SOA record that lacks a number', message([], [soa(900, 150).slice(0, -4).with(11, 47)])],
    ['an SOA record whose name points forward', message([], [soaThatPointsForward])],
    ['an extended response code', message([], [], [opt(1)])],
    ['an EDNS option', message([], [], [opt(0, [0, 3, 0, 0])])],
    ['more bytes than records', message([address(60, 2)], [], [], [0])],
    ['fewer records than announced', message([address(60, 2)]).subarray(0, -16)],
    ['half a record', message([address(60, 2)]).subarray(0, -1)],
  ])('has %s', (_what, reply) => {
    expect(read(reply)).toBeNull()
  })
})

test('whatever is read is what the general decoder reads, also in damaged replies', () => {
  const replies = fc.constantFrom(
    message([address(60, 2), address(30, 10)], [], [opt()]),
    message([], [soa(900, 150)], [opt()]),
    message([], [soa(900, 150)]),
  )
  const damages = fc.array(fc.tuple(fc.nat({ max: 120 }), fc.nat({ max: 255 })), { maxLength: 3 })
  let accepted = 0
  fc.assert(
    fc.property(replies, damages, (whole, damaged) => {
      const reply = Buffer.from(whole)
      // The header and the question are checked by others.
      for (const [at, byte] of damaged) if (questionEnd + at < reply.length) reply[questionEnd + at] = byte
      const found = read(reply)
      if (found === null) return
      accepted += 1
      expect(decoded(reply)).toEqual(found)
    }),
    { numRuns: 5000 },
  )
  expect(accepted).toBeGreaterThan(500)
})
