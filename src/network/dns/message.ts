import { type ResourceRecord, readName, readSections, recordTypes, textOf } from './record.ts'

/** The record types that can be asked for. */
export const queryTypes = ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'TXT', 'SOA', 'SRV', 'CAA', 'PTR'] as const

export type RecordType = (typeof queryTypes)[number]

/** What is asked: a name in lower case that `isQueryable` accepts, and a type; the class is always IN. */
export interface Question {
  readonly name: string
  readonly type: RecordType
}

/**
 * What became of a query. `ttl` is how many seconds the result may be kept, at least 0.
 * - `answer`: at least one record of the asked type. Addresses in their text form; TXT gives one string per record, other
 *   types what a zone file has, names without a final dot: `10 mail.example.com`.
 * - `none`: there is no such name (`nxdomain`), or it has no record of the type.
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

/** Where the question starts: behind the header (RFC 1035 §4.1.1). */
const headerLength = 12
/** What a query's header holds behind its id: recursion desired, one question, one additional record. */
const queryHeader = Buffer.from('01000001000000000001', 'hex')
/** Offers answers of 1232 bytes over UDP, below every usual path's MTU (RFC 6891 §6.1.2, DNS Flag Day 2020). */
const optRecord = Buffer.from('00002904d0000000000000', 'hex')
const classInternet = 1
const dot = 0x2e
/** Response bit and operation code of the flags, and what they are in the answer to a query. */
const responseMask = 0xf800
const queryResponse = 0x8000
const truncatedBit = 0x0200
const authoritativeBit = 0x0400
const rcodeMask = 0x000f
const rcodes = { noError: 0, nameError: 3, refused: 5 } as const
/** The longest chain of CNAMEs that is followed; resolvers stop at about the same length. */
const longestChain = 16
/** How long answers are kept, in seconds, whatever their TTL says. */
const positiveTtl = { least: 30, most: 3600 } as const
const negativeTtl = { least: 15, most: 900, withoutSoa: 30 } as const

/** Whether a name can be asked for: labels of 1 to 63 letters, digits, - and _, at most 253 characters, no final dot. */
export function isQueryable(name: string): boolean {
  return name.length <= 253 && /^[a-z\d_-]{1,63}(?:\.[a-z\d_-]{1,63})*$/i.test(name)
}

/** The query as it goes over the wire (RFC 1035 §4.1): recursion desired, EDNS. */
export function encodeQuery(id: number, { name, type }: Question): Buffer {
  const nameEnd = headerLength + 1 + name.length
  const query = Buffer.allocUnsafe(nameEnd + 5 + optRecord.length)
  query.writeUInt16BE(id, 0)
  queryHeader.copy(query, 2)
  query.write(`.${name}`, headerLength, 'latin1')
  // Where a dot is, the length of the label behind it belongs.
  for (let at = nameEnd - 1, length = 0; at >= headerLength; at--) {
    if (query[at] !== dot) length++
    else {
      query[at] = length
      length = 0
    }
  }
  query[nameEnd] = 0
  query.writeUInt16BE(recordTypes[type], nameEnd + 1)
  query.writeUInt16BE(classInternet, nameEnd + 3)
  optRecord.copy(query, nameEnd + 5)
  return query
}

/**
 * Whether a message claims to answer a query of `encodeQuery`: same id, a response to a query, and the question echoed,
 * letters of either case. What fails this was not sent for us, or by somebody else (RFC 5452 §9.1).
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
 * What a message says about the question it answers. TTLs are bounded: 30 s to 1 h for answers, 15 s to 15 min for their
 * absence by RFC 2308 §5, 30 s when no SOA says. `truncated` asks for TCP.
 */
export function readReply(message: Buffer, question: Question): DnsResult | 'truncated' {
  const flags = message.readUInt16BE(2)
  if (flags & truncatedBit) return 'truncated'
  const rcode = flags & rcodeMask
  if (rcode === rcodes.refused) return { kind: 'failed', reason: 'refused' }
  if (rcode !== rcodes.noError && rcode !== rcodes.nameError) return { kind: 'failed', reason: 'servfail' }

  try {
    return readRecords(message, question)
  } catch (error) {
    if (error instanceof RangeError) return { kind: 'failed', reason: 'malformed' }
    throw error
  }
}

/** @throws RangeError when a record is broken. */
function readRecords(message: Buffer, question: Question): DnsResult {
  const flags = message.readUInt16BE(2)
  const nxdomain = (flags & rcodeMask) === rcodes.nameError
  const { answers, authorities, additionals } = readSections(message, endOfQuestion(message))
  if (additionals.some(hasExtendedRcode)) return { kind: 'failed', reason: 'servfail' }

  const found = follow(message, answers, question)
  if (!nxdomain && found.values.length > 0) {
    return { kind: 'answer', values: found.values, ttl: clamp(found.ttl, positiveTtl.least, positiveTtl.most) }
  }
  if (!nxdomain && isReferral(flags, authorities)) return { kind: 'failed', reason: 'servfail' }
  const ttl = Math.min(found.ttl, absenceTtl(message, authorities))
  return { kind: 'none', nxdomain, ttl: clamp(ttl, negativeTtl.least, negativeTtl.most) }
}

/** Where the question ends: behind the first zero byte, for its name is not compressed, and its type and class. */
function endOfQuestion(message: Buffer): number {
  return message.indexOf(0, headerLength) + 5
}

/** Compares bytes `from` to `to`. Only ASCII letters differ by case; the lengths of labels are below them. */
function sameIgnoringCase(left: Buffer, right: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    if (lowerCase(left[at] ?? 0) !== lowerCase(right[at] ?? 0)) return false
  }
  return true
}

function lowerCase(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte
}

/** Codes above 15, such as BADVERS, have their upper bits in the OPT record's TTL (RFC 6891 §6.1.3). */
function hasExtendedRcode({ type, ttl }: ResourceRecord): boolean {
  return type === recordTypes.OPT && ttl >>> 24 !== 0
}

/** The asked records, through the CNAMEs that lead to them, and the least TTL of all that were used. */
function follow(message: Buffer, answers: readonly ResourceRecord[], { name, type }: Question) {
  const records = answers.map((record) => ({ ...record, owner: readName(message, record.name).toLowerCase() }))
  let owner = name
  let ttl = Number.POSITIVE_INFINITY
  for (let hop = 0; hop <= longestChain; hop++) {
    const owned = records.filter((record) => record.owner === owner)
    const asked = owned.filter((record) => record.type === recordTypes[type])
    const alias = owned.find((record) => record.type === recordTypes.CNAME)
    if (asked.length > 0) {
      return { values: asked.map((record) => textOf(message, record)), ttl: asked.reduce(lesserTtl, ttl) }
    }
    if (alias === undefined) break
    ttl = lesserTtl(ttl, alias)
    owner = readName(message, alias.data).toLowerCase()
  }
  return { values: [], ttl }
}

function lesserTtl(ttl: number, record: ResourceRecord): number {
  return Math.min(ttl, record.ttl)
}

/** NS without SOA in an answer that is not authoritative: "ask those", not "there is nothing" (RFC 2308 §2.2.1). */
function isReferral(flags: number, authorities: readonly ResourceRecord[]): boolean {
  return (
    (flags & authoritativeBit) === 0 &&
    authorities.some(({ type }) => type === recordTypes.NS) &&
    !authorities.some(({ type }) => type === recordTypes.SOA)
  )
}

/** The lesser of the SOA's own TTL and its MINIMUM, which are its last four bytes. */
function absenceTtl(message: Buffer, authorities: readonly ResourceRecord[]): number {
  const soa = authorities.find(({ type }) => type === recordTypes.SOA)
  return soa === undefined ? negativeTtl.withoutSoa : Math.min(soa.ttl, message.readUInt32BE(soa.end - 4))
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value))
}
