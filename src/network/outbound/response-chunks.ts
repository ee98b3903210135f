import { NOT_STRICT } from './response-head.ts'

/** How many bytes the extensions of chunks and the trailers may have together. Node's parser has the same limit. */
const MAX_LINE_BYTES = 16 * 1024

const LF = 10
const CR = 13

/** What Node's parser refuses, instead of a line that curl would not read either. */
const UNREADABLE = 'unreadable\r\n'

/**
 * Creates a function that takes the bytes of a body in chunks in order, and returns the body in chunks that Node's parser
 * accepts: as few as possible, since each costs it much more than a byte, and without extensions (RFC 9112 §7.1.1). Reads
 * lines as curl does. Changes the bytes that it gets.
 * @param oddities gets what the body does that HTTP forbids, as phrases.
 */
export function createChunkReader(oddities: Set<string>): (bytes: Buffer) => Buffer {
  let part: 'size' | 'extension' | 'data' | 'end of data' | 'trailer' | 'over' = 'size'
  /** The size that the line states, and how many digits it has so far. */
  let size = 0
  let digits = 0
  /** How much of the data is still to come. */
  let dataBytes = 0
  /** What the line has so far, after the digits of a size. */
  let line = ''
  let lineBytes = 0
  /** What follows the data in the result. */
  let end = ''

  function refuse() {
    part = 'over'
    end += UNREADABLE
  }

  function takeDigit(byte: number) {
    const digit = hexDigit(byte)
    if (digit !== -1) {
      size = 16 * size + digit
      digits += 1
    } else if (digits === 0) {
      refuse()
    } else {
      part = 'extension'
      takeLineByte(byte)
    }
  }

  function takeLineByte(byte: number) {
    if (byte === LF) return endLine()
    if (byte !== CR) lineBytes += 1
    if (lineBytes > MAX_LINE_BYTES || line.length > MAX_LINE_BYTES) return refuse()
    line += String.fromCharCode(byte)
  }

  function endLine() {
    const isBare = !line.endsWith('\r')
    const text = isBare ? line : line.slice(0, -1)
    line = ''
    if (isBare) oddities.add(NOT_STRICT.lineEnd)
    if (part === 'extension') endSize(text)
    else if (part === 'end of data') endData(text)
    else endTrailer(text)
  }

  function endSize(extension: string) {
    if (!/^(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?$/.test(extension)) oddities.add(NOT_STRICT.chunks)
    part = size === 0 ? 'trailer' : 'data'
    if (size === 0) end += '0\r\n'
    dataBytes = size
    size = 0
    digits = 0
  }

  function endData(text: string) {
    if (/[^\r]/.test(text)) return refuse()
    if (text !== '') oddities.add(NOT_STRICT.chunks)
    part = 'size'
  }

  function endTrailer(text: string) {
    end += `${text}\r\n`
    if (text === '') part = 'over'
  }

  /** Moves the data at `at` to `to`, and returns where it ends. */
  function takeData(bytes: Buffer, at: number, to: number): number {
    const stop = Math.min(at + dataBytes, bytes.length)
    bytes.copyWithin(to, at, stop)
    dataBytes -= stop - at
    if (dataBytes === 0) part = 'end of data'
    return stop
  }

  return (bytes) => {
    end = ''
    let length = 0
    for (let at = 0; at < bytes.length && part !== 'over'; ) {
      if (part === 'data') {
        const stop = takeData(bytes, at, length)
        length += stop - at
        at = stop
        continue
      }
      const byte = bytes[at] ?? LF
      if (part === 'size') takeDigit(byte)
      else takeLineByte(byte)
      at += 1
    }
    const chunk = length === 0 ? [] : [Buffer.from(`${length.toString(16)}\r\n`), bytes.subarray(0, length), CRLF]
    return Buffer.concat([...chunk, Buffer.from(end, 'latin1')])
  }
}

const CRLF = Buffer.from('\r\n')

/** Returns the value of a hexadecimal digit; -1: the byte is none. */
function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1
}
