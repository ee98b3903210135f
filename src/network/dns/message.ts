import {
  type Answer,
  type DecodedPacket,
  decode,
  encode,
  type OptAnswer,
  RECURSION_DESIRED,
  type StringAnswer,
} from 'dns-packet'
import { readAddressReply } from './address-reply.ts'
import { textOf } from './record.ts'

/** The record types that can be queried. */
export const queryTypes = ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'TXT', 'SOA', 'SRV', 'CAA', 'PTR'] as const

export type RecordType = (typeof queryTypes)[number]

/** A question: a lower-case name that `isQueryable` accepts, and a record type. The class is always IN. */
export interface Question {
  readonly name: string
  readonly type: RecordType
}

/**
 * The result of a query. `ttl` is the number of seconds for which it may be cached, at least 0.
 * - `answer`: there is at least one record of the requested type. `values` are addresses in canonical form, one string
 * per TXT record, or other types in zone file format, with names without a final dot: `10 mail.example.com`.
 * - `none`: the name does not exist (`nxdomain`), or has no record of the type.
 * - `failed`: there is no usable answer. `formerr` and `notimp`: the resolver does not understand the query, also
 * without EDNS. `invalid-name`: nothing was asked, because the name does not fit into a query.
 */
export type DnsResult =
  | { readonly kind: 'answer'; readonly values: readonly string[]; readonly ttl: number }
  | { readonly kind: 'none'; readonly nxdomain: boolean; readonly ttl: number }
  | {
      readonly kind: 'failed'
      readonly reason:
        | 'timeout'
        | 'refused'
        | 'servfail'
        | 'formerr'
        | 'notimp'
        | 'unreachable'
        | 'malformed'
        | 'aborted'
        | 'withheld'
        | 'invalid-name'
    }

export type DnsFailure = Extract<DnsResult, { kind: 'failed' }>

/** The length of the header, after which the question starts, in bytes (RFC 1035 §4.1.1). */
const headerLength = 12
/** Accepts answers of 1232 bytes over UDP, which fit the MTU of usual paths (RFC 6891 §6.1.2, DNS Flag Day 2020). */
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
/** The mask of the response bit and the operation code in the flags, and their value in an answer to a query. */
const responseMask = 0xf800
const queryResponse = 0x8000
const truncatedBit = 0x0200
const rcodeMask = 0x000f
const rcodes = { noError: 0, nameError: 3 } as const
/** The failures that response codes report (RFC 1035 §4.1.1). Codes that are not here are failures of the server. */
const failureByRcode: Readonly<Record<number, DnsFailure['reason']>> = {
  1: 'formerr',
  2: 'servfail',
  4: 'notimp',
  5: 'refused',
}
/** The maximum length of a chain of CNAMEs. Resolvers have about the same limit. */
const longestChain = 16
/** The limits of the time for which answers are cached, in seconds, regardless of their TTL. */
const positiveTtl = { least: 30, most: 3600 } as const
const negativeTtl = { least: 15, most: 900, withoutSoa: 30 } as const

/**
 * Returns whether a name can be queried: it has labels of 1 to 63 letters, digits, - and _, at most 253 characters, and
 * no final dot.
 */
export function isQueryable(name: string): boolean {
  return name.length <= 253 && /^[a-z\d_-]{1,63}(?:\.[a-z\d_-]{1,63})*$/i.test(name)
}

/** Returns the wire format of a query (RFC 1035 §4.1), with recursion desired and, unless it is `plain`, EDNS. */
export function encodeQuery(id: number, question: Question, isPlain = false): Buffer {
  const additionals = isPlain ? [] : [optRecord]
  return encode({ type: 'query', id, flags: RECURSION_DESIRED, questions: [question], additionals })
}

/**
 * Returns whether a query that failed should be repeated without EDNS: the server does not understand it (RFC 6891 §7).
 */
export function rejectsEdns(result: DnsResult | 'truncated'): boolean {
  return (
    result !== 'truncated' && result.kind === 'failed' && (result.reason === 'formerr' || result.reason === 'notimp')
  )
}

/**
 * Returns whether a message claims to answer a query of `encodeQuery`: it is a response with the same id and the same
 * question, whose letters may differ in case. A server that does not understand a query may report its failure without a
 * question. Other messages are not for us, or are forged (RFC 5452 §9.1).
 */
export function answersQuery(message: Buffer, query: Buffer): boolean {
  const isResponse =
    message.length >= headerLength &&
    message.readUInt16BE(0) === query.readUInt16BE(0) &&
    (message.readUInt16BE(2) & responseMask) === queryResponse
  if (!isResponse) return false
  const questions = message.readUInt16BE(4)
  if (questions === 0) return failureByRcode[message.readUInt16BE(2) & rcodeMask] !== undefined
  const questionEnd = endOfQuestion(query)
  const echoes = message.length >= questionEnd && sameIgnoringCase(message, query, headerLength, questionEnd)
  return questions === 1 && echoes
}

/**
 * Reads the result of a question from a message; `truncated`: repeat the query over TCP. TTLs are bounded: 30 s to 1 h
 * for answers, and 15 s to 15 min for their absence (RFC 2308 §5), which is cached for 30 s without an SOA record. A TTL
 * of 0 stays 0 (RFC 1035 §3.2.1): the result must not be cached.
 */
export function readReply(message: Buffer, question: Question): DnsResult | 'truncated' {
  const flags = message.readUInt16BE(2)
  if (flags & truncatedBit) return 'truncated'
  const rcode = flags & rcodeMask
  if (rcode !== rcodes.noError && rcode !== rcodes.nameError)
    return { kind: 'failed', reason: failureByRcode[rcode] ?? 'servfail' }

  const nxdomain = rcode === rcodes.nameError
  const plain = question.type === 'A' ? readAddressReply(message, endOfQuestion(message)) : null
  if (plain !== null) return resultOf(plain.addresses, plain.ttl, plain.absenceTtl, nxdomain)
  const packet = decoded(message)
  return packet === null ? { kind: 'failed', reason: 'malformed' } : readRecords(packet, nxdomain, question)
}

function readRecords(packet: DecodedPacket, nxdomain: boolean, question: Question): DnsResult {
  const { answers = [], authorities = [], additionals = [] } = packet
  if (additionals.some(hasExtendedRcode)) return { kind: 'failed', reason: 'servfail' }

  const found = follow(answers, question)
  const isAnswer = !nxdomain && found.values.length > 0
  if (!isAnswer && !nxdomain && !packet.flag_aa && isReferral(authorities))
    return { kind: 'failed', reason: 'servfail' }
  return resultOf(found.values, found.ttl, absenceTtl(authorities), nxdomain)
}

/** @param ttl the TTL of the values and of the aliases that led to them. @param absence that of the SOA; null: none. */
function resultOf(values: readonly string[], ttl: number, absence: number | null, nxdomain: boolean): DnsResult {
  if (!nxdomain && values.length > 0) return { kind: 'answer', values, ttl: boundedTtl(ttl, positiveTtl) }
  return { kind: 'none', nxdomain, ttl: boundedTtl(Math.min(ttl, absence ?? negativeTtl.withoutSoa), negativeTtl) }
}

/** Decodes a message; null: it is malformed, does not end with its last record, or takes too long to read. */
function decoded(message: Buffer): DecodedPacket | null {
  try {
    const packet = decode(message.length > alwaysQuick ? withBudget(message) : message)
    return decode.bytes === message.length ? packet : null
  } catch {
    // Whatever the library throws, the cause is the data of the message.
    return null
  }
}

/**
 * Returns a message that throws after too many reads. 64 KB have room for names that take seconds to decompress (2.5 s
 * measured): thousands of records whose names are thousands of pointers. `decode` reads labels with `toString`, strings
 * with `subarray`, pointers and types with `readUInt16BE`, and bitmaps of eight types with `readUInt8`.
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

/** The length of messages that are read at once in any case, in bytes: at most 200 pointers for each of 40 records. */
const alwaysQuick = 512
/** The maximum number of reads: enough for two thousand addresses of a name with five labels. */
const mostReads = 20_000

/**
 * Returns the end of the question. Its name is not compressed, so the first zero byte ends it; type and class follow.
 */
function endOfQuestion(message: Buffer): number {
  return message.indexOf(0, headerLength) + 5
}

/** Compares the bytes `from` to `to`, ignoring the case of ASCII letters. Lengths of labels are less than letters. */
function sameIgnoringCase(left: Buffer, right: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    if (lowerCase(left[at] ?? 0) !== lowerCase(right[at] ?? 0)) return false
  }
  return true
}

function lowerCase(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte
}

/** Returns whether an OPT record has the upper bits of a response code above 15, such as BADVERS (RFC 6891 §6.1.3). */
function hasExtendedRcode(record: Answer): boolean {
  return record.type === 'OPT' && record.extendedRcode !== 0
}

/** Returns the requested records, following CNAMEs, and the minimum TTL of all records used. */
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

/** Converts a name to lower case. Only ASCII letters have a case in DNS (RFC 4343). */
function foldCase(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function lesserTtl(ttl: number, record: Answer): number {
  return record.type === 'OPT' ? ttl : Math.min(ttl, record.ttl ?? 0)
}

/**
 * Returns whether an answer that is not authoritative refers to other servers: it has NS records but no SOA (RFC 2308
 * §2.2.1). It does not mean that there are no records.
 */
function isReferral(authorities: readonly Answer[]): boolean {
  return authorities.some(({ type }) => type === 'NS') && !authorities.some(({ type }) => type === 'SOA')
}

/** Returns the lesser of the SOA's own TTL and its field MINIMUM; null: there is no SOA. */
function absenceTtl(authorities: readonly Answer[]): number | null {
  const soa = authorities.find((record) => record.type === 'SOA')
  return soa === undefined ? null : Math.min(soa.ttl ?? 0, soa.data.minimum ?? 0)
}

function boundedTtl(ttl: number, { least, most }: { readonly least: number; readonly most: number }): number {
  return ttl === 0 ? 0 : Math.max(least, Math.min(most, ttl))
}
