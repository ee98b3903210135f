import { Http2Failure } from './http2-failure.ts'

/** A frame (RFC 9113 §4.1). */
export interface Frame {
  readonly type: number
  readonly flags: number
  /** The number of the stream; 0: the connection. */
  readonly stream: number
  readonly payload: Buffer
}

/** The types of frames (RFC 9113 §6) that a client of one request distinguishes. */
export const frameType = {
  data: 0,
  headers: 1,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  continuation: 9,
} as const

/** The flags of frames (RFC 9113 §6). `ack` belongs to SETTINGS and PING, the others to HEADERS and DATA. */
export const frameFlag = { endStream: 0x01, ack: 0x01, endHeaders: 0x04, padded: 0x08, priority: 0x20 } as const

/** Returns whether a frame has a flag of `frameFlag`. */
export function hasFlag({ flags }: Pick<Frame, 'flags'>, flag: number): boolean {
  return (flags & flag) !== 0
}

const HEAD_BYTES = 9

/** The maximum length of a payload, in bytes, unless a client's settings allow more (RFC 9113 §4.2). */
const MAX_PAYLOAD_BYTES = 16_384

/** Encodes a frame. */
export function writeFrame({ type, flags = 0, stream = 0, payload = Buffer.alloc(0) }: Partial<Frame>): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type ?? 0, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/**
 * Creates a function that takes the received bytes in order, and yields the frames that they complete.
 * @throws Http2Failure `protocol` when a frame is too long, as bytes of other protocols usually are.
 */
export function createFrameReader(): (chunk: Buffer) => Generator<Frame> {
  let received = Buffer.alloc(0)
  return function* read(chunk) {
    received = Buffer.concat([received, chunk])
    while (received.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + received.readUIntBE(0, 3)
      if (end - HEAD_BYTES > MAX_PAYLOAD_BYTES) throw new Http2Failure('protocol')
      if (received.length < end) return
      const frame = received.subarray(0, end)
      received = received.subarray(end)
      // The highest bit of the stream is reserved.
      const stream = frame.readUInt32BE(5) & 0x7fff_ffff
      yield { type: frame.readUInt8(3), flags: frame.readUInt8(4), stream, payload: frame.subarray(HEAD_BYTES) }
    }
  }
}

/**
 * Returns the payload of a DATA or HEADERS frame without its padding and priority (RFC 9113 §6.1, §6.2).
 * @throws Http2Failure `protocol` when it is too short for them.
 */
export function contentOf(frame: Frame): Buffer {
  const { type, payload } = frame
  const isPadded = hasFlag(frame, frameFlag.padded)
  const hasPriority = type === frameType.headers && hasFlag(frame, frameFlag.priority)
  const start = (isPadded ? 1 : 0) + (hasPriority ? 5 : 0)
  const end = payload.length - (isPadded ? (payload[0] ?? 0) : 0)
  if (start > end) throw new Http2Failure('protocol')
  return payload.subarray(start, end)
}
