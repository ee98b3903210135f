import { frameType } from '../http2/frame.ts'

/** The limits of a response head, as in curl (`MAX_HTTP_RESP_HEADER_SIZE`, `CURL_MAX_HTTP_HEADER`), in bytes. */
export const MAX_HEAD_BYTES = 300 * 1024
const MAX_LINE_BYTES = 100 * 1024

/** The maximum number of header lines, as in curl (`MAX_HTTP_RESP_HEADER_COUNT`). */
export const MAX_HEADERS = 5000

/** The size of a head from which on many clients and proxies refuse it: Node's default, in bytes. */
const LARGE_HEAD_BYTES = 16 * 1024

/** A response head that curl would not read either. The message is a sentence without a full stop. */
export class UnreadableHead extends Error {}

/** The message about a server that answers HTTP/1.1 with HTTP/2. */
export const ONLY_HTTP2 = 'The server speaks only HTTP/2'

/** The message about an answer in another protocol. */
export const NOT_HTTP = 'The response is not valid HTTP'

export interface ReadHead {
  /** The head as RFC 9112 wants it, with the empty line at its end. */
  readonly head: Buffer
  /** The received bytes after the head. */
  readonly rest: Buffer
  readonly status: number
  /** Whether the body, if there is one, is sent in chunks (RFC 9112 §6.3). */
  readonly isChunked: boolean
  /** What the server does that RFC 9112 forbids, or that many clients refuse, as phrases. */
  readonly oddities: readonly string[]
}

/**
 * Creates a function that takes the received bytes in order. It returns null until the head is complete. Reads heads
 * that break HTTP as curl reads them.
 * @throws UnreadableHead
 */
export function createHeadReader(): (chunk: Buffer) => ReadHead | null {
  const lines: Buffer[] = []
  const takeLine = createLineReader()
  let first = Buffer.alloc(0)

  /** Returns whether the line is the empty one at the end. */
  function isLast(line: Buffer): boolean {
    const isEmpty = line.length === 1 || (line.length === 2 && line[0] === CR)
    // Some servers send an empty line too many after the response before.
    if (isEmpty && lines.length === 0) return false
    lines.push(line)
    if (lines.length > MAX_HEADERS + 2) throw new UnreadableHead(`The response has more than ${MAX_HEADERS} headers`)
    return isEmpty
  }

  return (chunk) => {
    if (first.length < FRAME_HEAD_BYTES) {
      first = Buffer.concat([first, chunk.subarray(0, FRAME_HEAD_BYTES - first.length)])
      requireHttp1(first)
    }
    for (let rest = chunk; ; ) {
      const end = rest.indexOf(LF) + 1
      const line = takeLine(end === 0 ? rest : rest.subarray(0, end), end > 0)
      if (line === null) return null
      rest = rest.subarray(end)
      if (isLast(line)) return { ...readLines(lines), rest }
    }
  }
}

/** Creates a function that takes pieces of lines, and returns the line that a piece ends. */
function createLineReader(): (piece: Buffer, isEnd: boolean) => Buffer | null {
  let pieces: Buffer[] = []
  let lineBytes = 0
  let totalBytes = 0
  return (piece, isEnd) => {
    pieces.push(piece)
    lineBytes += piece.length
    totalBytes += piece.length
    if (totalBytes > MAX_HEAD_BYTES) throw new UnreadableHead('The response headers exceed 300 KiB')
    if (lineBytes > MAX_LINE_BYTES) throw new UnreadableHead('A response header exceeds 100 KiB')
    if (!isEnd) return null
    const line = pieces.length === 1 ? piece : Buffer.concat(pieces)
    pieces = []
    lineBytes = 0
    return line
  }
}

const LF = 10
const CR = 13
const FRAME_HEAD_BYTES = 9

/** @throws UnreadableHead when the first bytes cannot begin a response in HTTP/1. */
function requireHttp1(first: Buffer): void {
  // A server begins with SETTINGS (RFC 9113 §3.4); some send only GOAWAY.
  const isFrame =
    first.length === FRAME_HEAD_BYTES &&
    (first[3] === frameType.settings || first[3] === frameType.goAway) &&
    first.readUIntBE(0, 3) <= 16_384 &&
    first.readUInt32BE(5) === 0
  if (isFrame) throw new UnreadableHead(ONLY_HTTP2)
  const text = first.toString('latin1').replace(/^[\r\n]+/, '')
  if (first[0] !== 0 && !'HTTP/'.startsWith(text.slice(0, 5).toUpperCase())) throw notHttp()
  if (first[0] === 0 && first.length === FRAME_HEAD_BYTES) throw notHttp()
}

function notHttp(): UnreadableHead {
  return new UnreadableHead(NOT_HTTP)
}

/** Characters that no header may have (RFC 9110 §5.5). Those from 0x80 on are bytes of any charset. */
const CONTROL = /[^\t\x20-\x7e\x80-\xff]/g

/** What responses do that RFC 9112 forbids, as phrases. */
export const NOT_STRICT = {
  lineEnd: 'lines end without a carriage return',
  status: 'the status line has an unusual form',
  folded: 'a header continues on the next line',
  name: 'the name of a header has invalid characters',
  value: 'a header has control characters',
  length: 'the length of the body is stated more than once or in an unusual form',
  chunks: 'the chunks of the body have an unusual form',
}

/** @throws UnreadableHead */
function readLines(lines: readonly Buffer[]): Omit<ReadHead, 'rest'> {
  const oddities = new Set<string>()
  const bytes = lines.reduce((sum, { length }) => sum + length, 0)
  const texts = lines.map((line) => {
    const text = line.toString('latin1', 0, line.length - 1)
    if (!text.endsWith('\r')) oddities.add(NOT_STRICT.lineEnd)
    return text.slice(0, text.length - returnsAtEnd(text))
  })
  const { status, statusLine } = readStatus(texts[0] ?? '', oddities)
  const headers = readHeaders(texts.slice(1, -1), oddities)
  const framed = withOneLength(headers, oddities)
  const head =
    oddities.size === 0
      ? Buffer.concat(lines)
      : Buffer.from(
          [statusLine, ...framed.map(({ name, value }) => `${name}: ${value}`), '', ''].join('\r\n'),
          'latin1',
        )
  // A large head is unusual, but breaks no rule.
  if (bytes > LARGE_HEAD_BYTES) oddities.add(`the headers have ${Math.ceil(bytes / 1024)} KiB`)
  return { head, status, isChunked: endsInChunks(framed), oddities: [...oddities] }
}

function readStatus(text: string, oddities: Set<string>) {
  const [, version = '', code = '', reason = ''] = /^HTTP\/([\d.]+)[ \t]+(\d{3})(?!\d)(.*)$/i.exec(text) ?? []
  if (code === '') throw notHttp()
  const isUsual = /^HTTP\/(?:1\.[01]|2\.0) \d{3}(?: .*)?$/.test(text) && !text.match(CONTROL)
  if (!isUsual) oddities.add(NOT_STRICT.status)
  const clean = reason.replace(CONTROL, ' ').trim()
  return { status: Number(code), statusLine: `HTTP/${version === '1.0' ? '1.0' : '1.1'} ${code} ${clean}` }
}

interface Header {
  readonly name: string
  readonly value: string
}

function readHeaders(texts: readonly string[], oddities: Set<string>): readonly Header[] {
  const headers: { name: string; values: string[] }[] = []
  for (const text of texts) {
    const last = headers.at(-1)
    if (/^[ \t]/.test(text) && last !== undefined) {
      oddities.add(NOT_STRICT.folded)
      last.values.push(text.trim())
      continue
    }
    const colon = text.indexOf(':')
    if (colon === -1) throw new UnreadableHead('The response is not valid HTTP: a header has no colon')
    if (text.includes('\0')) throw new UnreadableHead('The response is not valid HTTP: a header has a NUL character')
    headers.push({ name: text.slice(0, colon), values: [text.slice(colon + 1).trim()] })
  }
  return headers.flatMap(({ name: given, values }) => {
    const name = given.trim()
    const value = values.join(' ')
    if (value.match(CONTROL)) oddities.add(NOT_STRICT.value)
    const isName = /^[\w!#$%&'*+.^`|~-]+$/.test(name)
    if (!isName || name !== given) oddities.add(NOT_STRICT.name)
    return isName ? [{ name, value: value.replace(CONTROL, ' ') }] : []
  })
}

function endsInChunks(headers: readonly Header[]): boolean {
  const transfers = headers.filter(({ name }) => name.toLowerCase() === 'transfer-encoding')
  const last = transfers.at(-1)?.value.split(',').at(-1) ?? ''
  return last.trim().toLowerCase() === 'chunked'
}

/** Returns the headers with one statement of the length of the body (RFC 9112 §6.3), as curl understands it. */
function withOneLength(headers: readonly Header[], oddities: Set<string>): readonly Header[] {
  const isLength = ({ name }: Header) => name.toLowerCase() === 'content-length'
  const isTransfer = ({ name }: Header) => name.toLowerCase() === 'transfer-encoding'
  const lengths = headers.filter(isLength)
  const transfers = headers.filter(isTransfer).filter(({ value }) => value.toLowerCase() !== 'identity')
  const hasIdentity = headers.filter(isTransfer).length > transfers.length
  const isPlain = lengths.every(({ value }) => /^\d+$/.test(value))
  const others = headers.filter((each) => !isLength(each) && !isTransfer(each))
  if (lengths.length <= 1 && isPlain && !hasIdentity && !(lengths.length > 0 && transfers.length > 0)) return headers
  oddities.add(NOT_STRICT.length)
  if (transfers.length > 0) return [...others, ...transfers]
  const [, length] = /^\+?(\d+)(?:\s*,.*)?$/.exec(lengths.at(-1)?.value ?? '') ?? []
  if (length === undefined && lengths.length > 0)
    throw new UnreadableHead('The response is not valid HTTP: its Content-Length is not a number')
  return length === undefined ? others : [...others, { name: 'Content-Length', value: length }]
}

/** Counts the carriage returns at the end of a line. */
function returnsAtEnd(text: string): number {
  let count = 0
  while (text.charAt(text.length - 1 - count) === '\r') count += 1
  return count
}
