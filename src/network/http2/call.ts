/**
 * Sends one request over an HTTP/2 connection, for servers that tenants name. Does not use node:http2: on Node.js 20 and
 * 24, a server that breaks off a header block crashes the process, because the destructor of the session fails an
 * assertion (`current_nghttp2_memory_ == 0`).
 */
import type { Socket } from 'node:net'
import { contentOf, createFrameReader, type Frame, frameFlag, frameType, hasFlag, writeFrame } from './frame.ts'
import { createHeaderDecoder, type HeaderField, writeHeaderBlock } from './header-block.ts'
import { Http2Failure, type Http2FailureReason } from './http2-failure.ts'

/** The maximum number of bytes and frames that a server may send in all. A usual answer has a hundred, in five. */
const MAX_BYTES = 256 * 1024
const MAX_FRAMES = 1000

/** The maximum size of a header block, encoded and decoded, in bytes. */
const MAX_HEADER_BYTES = 16 * 1024

/** The first bytes of a client (RFC 9113 §3.4). */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** The number of the only stream. */
const STREAM = 1

/** The answer to a call over HTTP/2. Headers and trailers have the first value of each name. */
export interface Http2Answer {
  readonly headers: ReadonlyMap<string, string>
  /** The trailers (RFC 9113 §8.1). */
  readonly trailers: ReadonlyMap<string, string>
  readonly body: Buffer
}

interface Http2Call {
  /** The header fields. `:method`, `:scheme`, `:authority` and `:path` come first. */
  readonly headers: readonly HeaderField[]
  /** At most 16 KiB, which one frame and every server's window hold. */
  readonly body: Buffer
  readonly maxBodyBytes: number
}

/**
 * Sends one request over an HTTP/2 connection. Returns the reason if there is no answer. The caller destroys the
 * socket, which also limits the time.
 */
export async function callHttp2(
  socket: Socket,
  { headers, body, maxBodyBytes }: Http2Call,
): Promise<Http2Answer | Http2FailureReason> {
  const receive = createReceiver(maxBodyBytes, (frame) => socket.write(writeFrame(frame)))
  let stopListening = () => {}
  try {
    return await new Promise<Http2Answer>((resolve, reject) => {
      const onData = (chunk: Buffer) => {
        try {
          const answer = receive(chunk)
          if (answer !== null) resolve(answer)
        } catch (error) {
          reject(error)
        }
      }
      const onClose = () => reject(new Http2Failure('closed'))
      stopListening = () => void socket.off('data', onData).off('close', onClose).pause()
      socket.on('data', onData).on('close', onClose)
      if (socket.destroyed) onClose()
      socket.write(requestOf(headers, body))
    })
  } catch (error) {
    if (!(error instanceof Http2Failure)) throw error
    return error.reason
  } finally {
    stopListening()
    if (socket.writable) socket.write(writeFrame({ type: frameType.goAway, payload: Buffer.alloc(8) }))
  }
}

/** Encodes the beginning of a connection, and the request. */
function requestOf(headers: readonly HeaderField[], body: Buffer): Buffer {
  const [ENABLE_PUSH, MAX_HEADER_LIST_SIZE] = [2, 6]
  // No pushed responses, and the maximum size of headers (RFC 9113 §6.5.2).
  const settings = Buffer.alloc(12)
  settings.writeUInt16BE(ENABLE_PUSH, 0)
  settings.writeUInt16BE(MAX_HEADER_LIST_SIZE, 6)
  settings.writeUInt32BE(MAX_HEADER_BYTES, 8)
  const { endHeaders, endStream } = frameFlag
  return Buffer.concat([
    PREFACE,
    writeFrame({ type: frameType.settings, payload: settings }),
    writeFrame({ type: frameType.headers, flags: endHeaders, stream: STREAM, payload: writeHeaderBlock(headers) }),
    writeFrame({ type: frameType.data, flags: endStream, stream: STREAM, payload: body }),
  ])
}

/**
 * Creates a function that takes the received bytes in order, and returns the answer once it is complete; null before.
 * @param reply sends a frame.
 * @throws Http2Failure when there will be no answer.
 */
function createReceiver(
  maxBodyBytes: number,
  reply: (frame: Partial<Frame>) => void,
): (chunk: Buffer) => Http2Answer | null {
  const readFrames = createFrameReader()
  const response = createResponse(maxBodyBytes)
  let bytes = 0
  let frames = 0

  /** Takes a frame; returns whether the answer is complete. */
  function take(frame: Frame): boolean {
    frames += 1
    if (frames > MAX_FRAMES) throw new Http2Failure('too much')
    if (frames === 1 && frame.type !== frameType.settings) throw new Http2Failure('protocol')
    if (!response.take(frame)) takeControl(frame, reply)
    return response.isComplete()
  }

  return (chunk) => {
    bytes += chunk.length
    for (const frame of readFrames(chunk)) if (take(frame)) return response.answer()
    if (bytes > MAX_BYTES) throw new Http2Failure('too much')
    return null
  }
}

/**
 * Handles a frame of the connection. Ignores unknown ones (RFC 9113 §5.5), priorities and windows: the request fits
 * into the first window of every server.
 * @throws Http2Failure
 */
function takeControl(frame: Frame, reply: (frame: Partial<Frame>) => void): void {
  const { type, stream, payload } = frame
  const isAck = hasFlag(frame, frameFlag.ack)
  const refuseUnless = (isValid: boolean) => {
    if (stream !== 0 || !isValid) throw new Http2Failure('protocol')
  }
  switch (type) {
    case frameType.settings:
      refuseUnless(payload.length % 6 === 0)
      if (!isAck) reply({ type, flags: frameFlag.ack })
      break
    case frameType.ping:
      refuseUnless(payload.length === 8)
      if (!isAck) reply({ type, flags: frameFlag.ack, payload })
      break
    case frameType.goAway:
      refuseUnless(payload.length >= 8)
      if ((payload.readUInt32BE(0) & 0x7fff_ffff) < STREAM || payload.readUInt32BE(4) !== 0)
        throw new Http2Failure('closed')
      break
    case frameType.pushPromise:
      throw new Http2Failure('protocol')
  }
}

interface HeaderBlock {
  readonly bytes: Buffer
  /** Whether it ends the stream. */
  readonly isLast: boolean
}

interface Response {
  /** Takes a frame of the stream; returns false for one of the connection. @throws Http2Failure. */
  take(frame: Frame): boolean
  isComplete(): boolean
  /** Returns the complete answer. */
  answer(): Http2Answer
}

/** The types of frames that belong to the stream. */
const ofStream: readonly number[] = [frameType.data, frameType.headers, frameType.continuation, frameType.resetStream]

/** Creates the response of the stream: interim responses, headers, a body and trailers (RFC 9113 §8.1). */
function createResponse(maxBodyBytes: number): Response {
  const decode = createHeaderDecoder(MAX_HEADER_BYTES)
  /** The header block that is being received; null: none. */
  let block: HeaderBlock | null = null
  let headers: Http2Answer['headers'] | null = null
  let trailers: Http2Answer['trailers'] = new Map()
  let body = Buffer.alloc(0)
  let isComplete = false

  /** Takes the first or next part of a header block. */
  function takeBlock(frame: Frame): void {
    const isLast = block?.isLast ?? hasFlag(frame, frameFlag.endStream)
    const bytes = block === null ? contentOf(frame) : Buffer.concat([block.bytes, frame.payload])
    if (bytes.length > MAX_HEADER_BYTES) throw new Http2Failure('too long')
    const isWhole = hasFlag(frame, frameFlag.endHeaders)
    block = isWhole ? null : { bytes, isLast }
    if (isWhole) takeFields(firstValues(decode(bytes)), isLast)
  }

  function takeFields(fields: Http2Answer['headers'], isLast: boolean): void {
    if (headers !== null) {
      if (!isLast) throw new Http2Failure('protocol')
      trailers = fields
    } else if (!isInterim(fields)) headers = fields
    else if (isLast) throw new Http2Failure('protocol')
    isComplete = isLast
  }

  function takeData(frame: Frame): void {
    if (headers === null) throw new Http2Failure('protocol')
    body = Buffer.concat([body, contentOf(frame)])
    if (body.length > maxBodyBytes) throw new Http2Failure('too long')
    isComplete = hasFlag(frame, frameFlag.endStream)
  }

  return {
    take(frame) {
      const { type, stream } = frame
      // No other frame comes between the frames of a header block (RFC 9113 §4.3).
      if ((block !== null) !== (type === frameType.continuation)) throw new Http2Failure('protocol')
      if (!ofStream.includes(type)) return false
      if (stream !== STREAM) throw new Http2Failure('protocol')
      if (type === frameType.resetStream) throw new Http2Failure('closed')
      if (type === frameType.data) takeData(frame)
      else takeBlock(frame)
      return true
    },
    isComplete: () => isComplete,
    answer: () => ({ headers: headers ?? new Map(), trailers, body }),
  }
}

/** Returns the first value of each name. */
function firstValues(fields: readonly HeaderField[]): ReadonlyMap<string, string> {
  return new Map(fields.toReversed())
}

/** Returns whether headers are those of an interim response. @throws Http2Failure `protocol` without a status. */
function isInterim(headers: Http2Answer['headers']): boolean {
  const status = headers.get(':status')
  if (status === undefined) throw new Http2Failure('protocol')
  return /^1\d\d$/.test(status)
}
