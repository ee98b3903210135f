import { randomBytes, randomInt } from 'node:crypto'
import type { Behaviour, Reply, SeenQuery } from '../support/dns-server.ts'
import { answer, encodeReply, truncated } from '../support/dns-server.ts'

/**
 * Names below `{kind}.hostile.example.org` are answered according to their kind, also when a blacklist is queried about
 * them.
 */
const ZONE = 'hostile.example.org'
const LARGEST = 65_535
/** The possible targets of a compression pointer. */
const POINTABLE = 16_380

/** The address that the zone's names resolve to: one of this machine that nothing else uses. */
export const hostileAddress = ['127', ...Array.from({ length: 3 }, () => randomInt(1, 255))].join('.')

const address = () => record(1, Buffer.from(hostileAddress.split('.').map(Number)))

/** The answers of one kind of zone. */
const kinds = {
  'thousands of addresses': (query) => overTcp(query, () => records(query, 16, address)),
  'thousands of texts': (query) =>
    overTcp(query, () => records(query, 24, () => record(16, Buffer.from('\x0bhostile tex')))),
  'one text of 32,000 strings': (query) =>
    overTcp(query, () => records(query, LARGEST, () => record(16, Buffer.from('\x01x'.repeat(32_000))))),
  'texts of 64 kB': (query) =>
    overTcp(query, () =>
      records(query, 5100, () => record(16, Buffer.from(`\xff${'x'.repeat(255)}`.repeat(19), 'latin1'))),
    ),
  'names of chained pointers': (query) => overTcp(query, () => chained(query)),
  'aliases of aliases': (query) => overTcp(query, () => aliases(query, 'end')),
  'aliases in a circle': (query) => overTcp(query, () => aliases(query, 'circle')),
  'other ids only': ({ id }) => Array.from({ length: 500 }, (_, n): Reply => ({ id: (id + 1 + n) % 0x10000 })),
  'the same a hundred times': (query) => Array.from({ length: 100 }, () => answer(query, addressOf(query))),
  'what is no message': (query) => ({ bytes: Buffer.concat([headOf(query), randomBytes(1000)]) }),
  'half a message': (query) => overTcp(query, () => records(query, 16, address).subarray(0, 30_000)),
  'one address': (query) => answer(query, addressOf(query)),
  'a byte at a time': (query) =>
    query.transport === 'udp' ? truncated : { bytes: records(query, 16, address), drips: true },
} as const satisfies Readonly<Record<string, (query: SeenQuery) => Reply | readonly Reply[]>>

/** The kinds of zones. */
export const zoneKinds = Object.keys(kinds) as (keyof typeof kinds)[]

/** Returns an unused name of a zone of this kind. */
export function nameIn(kind: keyof typeof kinds): string {
  return `n${randomBytes(6).toString('hex')}.k${zoneKinds.indexOf(kind)}.${ZONE}`
}

/** The behaviour of a DNS server for the hostile zones, with `others` for every other name. */
export function hostileZones(others: Behaviour): Behaviour {
  return (query) => {
    const index = new RegExp(`\\.k(\\d+)\\.${ZONE.replaceAll('.', '\\.')}`).exec(query.name)?.[1]
    const kind = zoneKinds[Number(index)]
    return index === undefined || kind === undefined ? others(query) : kinds[kind](query)
  }
}

function overTcp({ transport }: SeenQuery, bytes: () => Buffer): Reply {
  return transport === 'udp' ? truncated : { bytes: bytes() }
}

const addressOf = ({ type }: SeenQuery) => (type === 'A' ? [hostileAddress] : [])

/** A record of the question's name, by a pointer to the question. */
function record(type: number, data: Buffer, name: number = 12): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc000 | name, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(60, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

/** A message with as many records of this size as fit. */
function records(query: SeenQuery, size: number, each: () => Buffer): Buffer {
  const head = headOf(query)
  const count = Math.max(1, Math.floor((LARGEST - head.length) / size))
  return message(head, count, Array.from({ length: count }, each))
}

/** Names made of as many pointers, each to the next, as fit into a message. */
function chained(query: SeenQuery): Buffer {
  const head = headOf(query)
  const links = Buffer.alloc(Math.floor((POINTABLE - head.length - 12) / 2) * 2)
  const start = head.length + 12
  for (let at = 0; at < links.length; at += 2) links.writeUInt16BE(0xc000 | (at === 0 ? 12 : start + at - 2), at)
  const last = start + links.length - 2
  const room = LARGEST - start - links.length
  const named = Array.from({ length: Math.floor(room / 16) }, () => record(1, Buffer.from([127, 0, 0, 9]), last))
  return message(head, named.length + 1, [record(16, links), ...named])
}

/** A chain of a thousand aliases. */
function aliases(query: SeenQuery, end: 'end' | 'circle'): Buffer {
  const head = headOf(query)
  const names = Array.from({ length: 1000 }, (_, n) => `a${n}.x`)
  const answers = [query.name, ...names].map((name, n, all) => ({
    ...{ name, type: 'CNAME' as const, ttl: 60, class: 'IN' as const },
    data: all[n + 1] ?? (end === 'circle' ? query.name : 'nowhere.x'),
  }))
  const [question] = query.packet.questions ?? []
  return question ? encodeReply(query, question, { answers }) : head
}

function headOf(query: SeenQuery): Buffer {
  const [question] = query.packet.questions ?? []
  if (question === undefined) throw new Error('A query without a question')
  return encodeReply(query, question, {})
}

function message(head: Buffer, count: number, parts: readonly Buffer[]): Buffer {
  const whole = Buffer.concat([head, ...parts])
  whole.writeUInt16BE(count, 6)
  return whole
}
