import { type Answer, type DecodedPacket, decode, encode, RECURSION_DESIRED, type StringAnswer } from 'dns-packet'

/** The record types that are asked for. */
export type RecordType = 'A' | 'AAAA' | 'TXT'

/** What is asked: a name in lower case that `isQueryable` accepts, and a type; the class is always IN. */
export interface Question {
  readonly name: string
  readonly type: RecordType
}

/**
 * What became of a query. `ttl` is how many seconds the result may be kept, at least 0.
 * - `answer`: at least one record of the asked type. Addresses in their text form; TXT gives one string per record.
 * - `none`: there is no such name (`nxdomain`), or it has no record of the type.
 * - `failed`: nothing is known.
 */
export type DnsResult =
  | { readonly kind: 'answer'; readonly values: readonly string[]; readonly ttl: number }
  | { readonly kind: 'none'; readonly nxdomain: boolean; readonly ttl: number }
  | {
      readonly kind: 'failed'
      readonly reason: 'timeout' | 'refused' | 'servfail' | 'unreachable' | 'malformed' | 'aborted'
    }

export type DnsFailure = Extract<DnsResult, { kind: 'failed' }>

/** The largest UDP answer asked for: below every usual path's MTU (DNS Flag Day 2020). */
const udpPayloadSize = 1232
/** Where the question starts: behind the header (RFC 1035 §4.1.1). */
const headerLength = 12
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

/** The query as it goes over the wire: recursion desired, EDNS (RFC 6891). */
export function encodeQuery(id: number, question: Question): Buffer {
  return encode({
    type: 'query',
    id,
    flags: RECURSION_DESIRED,
    questions: [{ name: question.name, type: question.type, class: 'IN' }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  })
}

/**
 * Whether a message claims to answer a query of `encodeQuery`: same id, a response to a query, and the question echoed,
 * letters of either case. What fails this was not sent for us, or by somebody else (RFC 5452 §9.1).
 */
export function answersQuery(message: Buffer, query: Buffer): boolean {
  const questionEnd = query.indexOf(0, headerLength) + 5
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

  const packet = decodeWhole(message)
  if (packet === null) return { kind: 'failed', reason: 'malformed' }
  if (hasExtendedRcode(packet)) return { kind: 'failed', reason: 'servfail' }

  const found = follow(packet.answers ?? [], question)
  if (rcode === rcodes.noError && found.values.length > 0) {
    return { kind: 'answer', values: found.values, ttl: clamp(found.ttl, positiveTtl.least, positiveTtl.most) }
  }
  const authorities = packet.authorities ?? []
  if (rcode === rcodes.noError && isReferral(flags, authorities)) return { kind: 'failed', reason: 'servfail' }
  const ttl = Math.min(found.ttl, absenceTtl(authorities))
  return { kind: 'none', nxdomain: rcode === rcodes.nameError, ttl: clamp(ttl, negativeTtl.least, negativeTtl.most) }
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

/** dns-packet believes lengths without checking that they stay inside; a message that does not end where it ends is broken. */
function decodeWhole(message: Buffer): DecodedPacket | null {
  try {
    const packet = decode(message)
    return decode.bytes === message.length ? packet : null
  } catch {
    return null
  }
}

/** Codes above 15, such as BADVERS, have their upper bits in the OPT record (RFC 6891 §6.1.3). */
function hasExtendedRcode(packet: DecodedPacket): boolean {
  return packet.additionals?.some((record) => record.type === 'OPT' && record.extendedRcode !== 0) ?? false
}

/** The asked records, through the CNAMEs that lead to them, and the least TTL of all that were used. */
function follow(answers: readonly Answer[], question: Question): { values: string[]; ttl: number } {
  const records = answers.filter((record) => record.type !== 'OPT')
  let owner = question.name
  let ttl = Number.POSITIVE_INFINITY
  for (let hop = 0; hop <= longestChain; hop++) {
    const owned = records.filter((record) => record.name.toLowerCase() === owner)
    const asked = owned.filter((record) => record.type === question.type)
    const alias = owned.find(isAlias)
    if (asked.length > 0) return { values: asked.map(textOf), ttl: asked.reduce(lesserTtl, ttl) }
    if (alias === undefined) break
    ttl = lesserTtl(ttl, alias)
    owner = alias.data.toLowerCase()
  }
  return { values: [], ttl }
}

function isAlias(record: Answer): record is StringAnswer {
  return record.type === 'CNAME'
}

function lesserTtl(ttl: number, record: { readonly ttl?: number | undefined }): number {
  return Math.min(ttl, record.ttl ?? 0)
}

function textOf(record: Exclude<Answer, { type: 'OPT' }>): string {
  if (record.type !== 'TXT') return String(record.data)
  // dns-packet decodes every TXT record to a list of buffers; its type also covers what it encodes.
  return Buffer.concat(record.data as Buffer[]).toString('utf8')
}

/** NS without SOA in an answer that is not authoritative: "ask those", not "there is nothing" (RFC 2308 §2.2.1). */
function isReferral(flags: number, authorities: readonly Answer[]): boolean {
  return (
    (flags & authoritativeBit) === 0 &&
    authorities.some((record) => record.type === 'NS') &&
    !authorities.some((record) => record.type === 'SOA')
  )
}

/** The lesser of the SOA's own TTL and its MINIMUM field. */
function absenceTtl(authorities: readonly Answer[]): number {
  const soa = authorities.find((record) => record.type === 'SOA')
  return soa ? Math.min(soa.ttl ?? 0, soa.data.minimum ?? 0) : negativeTtl.withoutSoa
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value))
}
