import {
  type Answer,
  type DecodedPacket,
  decode,
  encode,
  type OptAnswer,
  RECURSION_DESIRED,
  type StringAnswer,
} from 'dns-packet'
import { textOf } from './record.ts'

/** The record types that can be queried. */
export const queryTypes = ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'TXT', 'SOA', 'SRV', 'CAA', 'PTR'] as const

export type RecordType = (typeof queryTypes)[number]

/** A question: a name in lower case that `isQueryable` accepts, and a type; the class is always IN. */
export interface Question {
  readonly name: string
  readonly type: RecordType
}

/**
 * The result of a query. `ttl` is how many seconds it may be cached, at least 0.
 * - `answer`: at least one record of the requested type. Addresses in canonical form, TXT as one string per record, other
 *   types in zone file format, names without a final dot: `10 mail.example.com`.
 * - `none`: the name does not exist (`nxdomain`), or has no record of the type.
 * - `failed`: nothing is known.
 */
export type DnsResult =
  | { readonly kind: 'answer'; readonly values: readonly string[]; readonly ttl: number }
  | { readonly kind: 'none'; readonly nxdomain: boolean; readonly ttl: number }
  | {
      readonly kind: 'failed'
      readonly reason: 'timeout' | 'refused' | 'servfail' | 'unreachable' | 'malformed' | 'aborted' | 'withheld'
    }

export type DnsFailure = Extract<DnsResult, { kind: 'failed' }>

/** The start of the question, after the header (RFC 1035 §4.1.1). */
const headerLength = 12
/** Offers answers of 1232 bytes over UDP, below every usual path's MTU (RFC 6891 §6.1.2, DNS Flag Day 2020). */
const optRecord = {
  type: 'OPT',
  name: '.',
  udpPayloadSize: 1232,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
} as const satisfies OptAnswer
/** The response bit and operation code of the flags, and their values in the answer to a query. */
const responseMask = 0xf800
const queryResponse = 0x8000
const truncatedBit = 0x0200
const rcodeMask = 0x000f
const rcodes = { noError: 0, nameError: 3, refused: 5 } as const
/** The maximum length of a chain of CNAMEs; resolvers have about the same limit. */
const longestChain = 16
/** How long answers are cached, in seconds, whatever their TTL. */
const positiveTtl = { least: 30, most: 3600 } as const
const negativeTtl = { least: 15, most: 900, withoutSoa: 30 } as const

/** Whether a name can be queried: labels of 1 to 63 letters, digits, - and _, at most 253 characters, no final dot. */
export function isQueryable(name: string): boolean {
  return name.length <= 253 && /^[a-z\d_-]{1,63}(?:\.[a-z\d_-]{1,63})*$/i.test(name)
}

/** The wire format of a query (RFC 1035 §4.1): recursion desired, EDNS. */
export function encodeQuery(id: number, question: Question): Buffer {
  return encode({ type: 'query', id, flags: RECURSION_DESIRED, questions: [question], additionals: [optRecord] })
}

/**
 * Whether a message claims to answer a query of `encodeQuery`: same id, a response to a query, and the question echoed,
 * letters of either case. Other messages are not for us, or are forged (RFC 5452 §9.1).
 */
export function answersQuery(message: Buffer, query: Buffer): boolean {
  const questionEnd = endOfQuestion(query)
  return (
    message.length >= questionEnd &&
    message.readUInt16BE(0) === query.readUInt16BE(0) &&
    (message.readUInt16BE(2) & responseMask) === queryResponse &&
    message.readUInt16BE(4) === 1 &&
    sameIgnoringCase(message, query, headerLength, questionEnd)
  )
}

/**
 * The result of a message for its question. TTLs are bounded: 30 s to 1 h for answers, 15 s to 15 min for their absence by
 * RFC 2308 §5, 30 s without an SOA record. `truncated` requires TCP.
 */
export function readReply(message: Buffer, question: Question): DnsResult | 'truncated' {
  const flags = message.readUInt16BE(2)
  if (flags & truncatedBit) return 'truncated'
  const rcode = flags & rcodeMask
  if (rcode === rcodes.refused) return { kind: 'failed', reason: 'refused' }
  if (rcode !== rcodes.noError && rcode !== rcodes.nameError) return { kind: 'failed', reason: 'servfail' }

  const packet = decoded(message)
  if (packet === null) return { kind: 'failed', reason: 'malformed' }
  return readRecords(packet, rcode === rcodes.nameError, question)
}

function readRecords(packet: DecodedPacket, nxdomain: boolean, question: Question): DnsResult {
  const { answers = [], authorities = [], additionals = [] } = packet
  if (additionals.some(hasExtendedRcode)) return { kind: 'failed', reason: 'servfail' }

  const found = follow(answers, question)
  if (!nxdomain && found.values.length > 0) {
    return { kind: 'answer', values: found.values, ttl: clamp(found.ttl, positiveTtl.least, positiveTtl.most) }
  }
  if (!nxdomain && !packet.flag_aa && isReferral(authorities)) return { kind: 'failed', reason: 'servfail' }
  const ttl = Math.min(found.ttl, absenceTtl(authorities))
  return { kind: 'none', nxdomain, ttl: clamp(ttl, negativeTtl.least, negativeTtl.most) }
}

/** The content of a message; null if it is malformed, does not end with its last record, or takes too long to read. */
function decoded(message: Buffer): DecodedPacket | null {
  try {
    const packet = decode(withBudget(message))
    return decode.bytes === message.length ? packet : null
  } catch {
    // Whatever the library throws, the sent data is the cause.
    return null
  }
}

/**
 * A message that throws after too many reads. 64 KB have room for names whose compression takes seconds to follow (2.5 s
 * measured): thousands of records whose names are thousands of pointers. `decode` reads labels by `toString`, strings by
 * `subarray`, pointers and types by `readUInt16BE`, and bitmaps of eight types by `readUInt8`.
 */
function withBudget(message: Buffer): Buffer {
  let left = mostReads
  const spend = (reads: number) => {
    left -= reads
    if (left < 0) throw new RangeError('A message takes too long to read')
  }
  return Object.assign(message.subarray(), {
    toString(encoding?: BufferEncoding, start?: number, end?: number) {
      spend(1)
      return message.toString(encoding, start, end)
    },
    subarray(start?: number, end?: number) {
      spend(1)
      return message.subarray(start, end)
    },
    readUInt16BE(offset?: number) {
      spend(1)
      return message.readUInt16BE(offset)
    },
    readUInt8(offset?: number) {
      spend(8)
      return message.readUInt8(offset)
    },
  })
}

/** Enough for two thousand addresses of a name of five labels. */
const mostReads = 20_000

/** The end of the question: after the first zero byte, because its name is not compressed, and its type and class. */
function endOfQuestion(message: Buffer): number {
  return message.indexOf(0, headerLength) + 5
}

/** Compares the bytes `from` to `to`. Only ASCII letters differ by case; the lengths of labels are below them. */
function sameIgnoringCase(left: Buffer, right: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    if (lowerCase(left[at] ?? 0) !== lowerCase(right[at] ?? 0)) return false
  }
  return true
}

function lowerCase(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte
}

/** Codes above 15, such as BADVERS, have their upper bits in the OPT record (RFC 6891 §6.1.3). */
function hasExtendedRcode(record: Answer): boolean {
  return record.type === 'OPT' && record.extendedRcode !== 0
}

/** The requested records, through the CNAMEs that lead to them, and the minimum TTL of all that were used. */
function follow(answers: readonly Answer[], { name, type }: Question) {
  const records = answers.map((record) => ({ record, owner: foldCase(record.name) }))
  let owner = name
  let ttl = Number.POSITIVE_INFINITY
  for (let hop = 0; hop <= longestChain; hop++) {
    const owned = records.filter((each) => each.owner === owner).map(({ record }) => record)
    const asked = owned.filter((record) => record.type === type)
    const alias = owned.find(isAlias)
    if (asked.length > 0) return { values: asked.map(textOf), ttl: asked.reduce(lesserTtl, ttl) }
    if (alias === undefined) break
    ttl = lesserTtl(ttl, alias)
    owner = foldCase(alias.data)
  }
  return { values: [], ttl }
}

function isAlias(record: Answer): record is StringAnswer {
  return record.type === 'CNAME'
}

/** Only ASCII letters have a case in DNS (RFC 4343). */
function foldCase(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function lesserTtl(ttl: number, record: Answer): number {
  return record.type === 'OPT' ? ttl : Math.min(ttl, record.ttl ?? 0)
}

/** NS without SOA in an answer that is not authoritative: "ask those", not "there is nothing" (RFC 2308 §2.2.1). */
function isReferral(authorities: readonly Answer[]): boolean {
  return authorities.some(({ type }) => type === 'NS') && !authorities.some(({ type }) => type === 'SOA')
}

/** The minimum of the SOA's own TTL and its MINIMUM. */
function absenceTtl(authorities: readonly Answer[]): number {
  const soa = authorities.find((record) => record.type === 'SOA')
  return soa === undefined ? negativeTtl.withoutSoa : Math.min(soa.ttl ?? 0, soa.data.minimum ?? 0)
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value))
}
