/** The types of records that mean something to us (RFC 1035 §3.2.2, RFC 2782, RFC 3596, RFC 6891, RFC 8659). */
export const recordTypes = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  OPT: 41,
  CAA: 257,
} as const

/** A resource record (RFC 1035 §4.1.3). Its name and data stay where they are in the message: few are ever looked at. */
export interface ResourceRecord {
  /** Where its name begins. */
  readonly name: number
  readonly type: number
  readonly ttl: number
  /** Where its data begin, and where they end. */
  readonly data: number
  readonly end: number
}

/** The records of a message, section by section. */
export interface Sections {
  readonly answers: readonly ResourceRecord[]
  readonly authorities: readonly ResourceRecord[]
  readonly additionals: readonly ResourceRecord[]
}

/**
 * The records that follow the question, which ends at `from`.
 * @throws RangeError when they do not end where the message ends.
 */
export function readSections(message: Buffer, from: number): Sections {
  let at = from
  const section = (count: number) => {
    const records: ResourceRecord[] = []
    while (records.length < count) {
      const record = readRecord(message, at)
      records.push(record)
      at = record.end
    }
    return records
  }
  const answers = section(message.readUInt16BE(6))
  const authorities = section(message.readUInt16BE(8))
  const additionals = section(message.readUInt16BE(10))
  if (at !== message.length) throw new RangeError('A message does not end with its last record')
  return { answers, authorities, additionals }
}

function readRecord(message: Buffer, name: number): ResourceRecord {
  const fixed = endOfName(message, name)
  const data = fixed + 10
  const end = data + message.readUInt16BE(fixed + 8)
  if (end > message.length) throw new RangeError('The data of a record end behind the message')
  return { name, type: message.readUInt16BE(fixed), ttl: message.readUInt32BE(fixed + 4), data, end }
}

/** Where a name ends: behind the empty label, or behind a pointer to the rest of it (RFC 1035 §4.1.4). */
function endOfName(message: Buffer, from: number): number {
  let at = from
  for (;;) {
    const length = message.readUInt8(at)
    if (length === 0) return at + 1
    if (length >= pointerMark) return at + 2
    at += 1 + labelLength(length)
  }
}

const pointerMark = 0xc0
/** The longest name in text form (RFC 1035 §2.3.4). */
const longestName = 253

/**
 * The name at `from` as it was sent, without a final dot.
 * @throws RangeError when it is no name. A pointer leads further back each time, so that there is no going round.
 */
export function readName(message: Buffer, from: number): string {
  let name = ''
  let at = from
  let earliest = from
  for (;;) {
    const length = message.readUInt8(at)
    if (length === 0) return name
    if (length >= pointerMark) {
      at = message.readUInt16BE(at) & 0x3fff
      if (at >= earliest) throw new RangeError('A name points forward')
      earliest = at
    } else {
      const end = at + 1 + labelLength(length)
      name += (name && '.') + message.toString('latin1', at + 1, end)
      if (end > message.length || name.length > longestName) throw new RangeError('A name is too long')
      at = end
    }
  }
}

function labelLength(length: number): number {
  if (length >= 0x40) throw new RangeError('A label is of an unknown kind')
  return length
}

/**
 * The data of a record as text: an address in its usual form, the strings of a TXT record, joined, or what a zone file has,
 * names without a final dot: `10 mail.example.com`.
 * @throws RangeError when they are not what their type says.
 */
export function textOf(message: Buffer, { type, data, end }: ResourceRecord): string {
  const bytes = message.subarray(data, end)
  switch (type) {
    case recordTypes.A:
      return ipv4Text(bytes)
    case recordTypes.AAAA:
      return ipv6Text(bytes)
    case recordTypes.TXT:
      return stringsText(bytes)
    case recordTypes.CNAME:
    case recordTypes.NS:
    case recordTypes.PTR:
      return readName(message, data)
    case recordTypes.MX:
      return `${bytes.readUInt16BE(0)} ${readName(message, data + 2)}`
    case recordTypes.SRV:
      return `${bytes.readUInt16BE(0)} ${bytes.readUInt16BE(2)} ${bytes.readUInt16BE(4)} ${readName(message, data + 6)}`
    case recordTypes.SOA:
      return soaText(message, data)
    case recordTypes.CAA:
      return caaText(bytes)
    default:
      throw new RangeError(`Records of type ${type} have no text form`)
  }
}

function ipv4Text(bytes: Buffer): string {
  if (bytes.length !== 4) throw new RangeError('An IPv4 address has four bytes')
  return bytes.join('.')
}

function ipv6Text(bytes: Buffer): string {
  if (bytes.length !== 16) throw new RangeError('An IPv6 address has sixteen bytes')
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16))
  // The URL standard's serializer writes RFC 5952.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

/** Two names, then five numbers: serial, refresh, retry, expire, minimum (RFC 1035 §3.3.13). */
function soaText(message: Buffer, data: number): string {
  const mailbox = endOfName(message, data)
  const numbers = endOfName(message, mailbox)
  const values = [0, 4, 8, 12, 16].map((offset) => message.readUInt32BE(numbers + offset))
  return [readName(message, data), readName(message, mailbox), ...values].join(' ')
}

/** Flags, the length of the tag, the tag, and the value to the end (RFC 8659 §4.1). */
function caaText(bytes: Buffer): string {
  const value = 2 + bytes.readUInt8(1)
  if (value > bytes.length) throw new RangeError('A tag ends behind its record')
  return `${bytes.readUInt8(0)} ${bytes.toString('latin1', 2, value)} "${bytes.toString('utf8', value)}"`
}

/** Strings follow their lengths; a character of UTF-8 may begin in one and end in the next. */
function stringsText(bytes: Buffer): string {
  const strings: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + bytes.readUInt8(at)
    if (end > bytes.length) throw new RangeError('A string ends behind its record')
    strings.push(bytes.subarray(at + 1, end))
    at = end
  }
  return Buffer.concat(strings).toString('utf8')
}
