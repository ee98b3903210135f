/** Cached frames of a result: clients choose the ids, but all open pages choose the same one. */
const MAX_FRAMES = 20

/**
 * Returns the frames of the newest result by operation, created once for all clients with the same id.
 * @param messageOf returns the message of a result to an operation.
 */
export function createFrameCache(
  messageOf: (id: string, result: string) => string,
): (id: string, result: string) => Buffer {
  const frames = new Map<string, Buffer>()
  let newest: string | null = null
  return (id, result) => {
    if (result !== newest) frames.clear()
    newest = result
    const found = frames.get(id)
    if (found !== undefined) return found
    const frame = textFrame(messageOf(id, result))
    if (frames.size < MAX_FRAMES) frames.set(id, frame)
    return frame
  }
}

/** Returns a whole text message as a server's frame: final, unmasked, not compressed (RFC 6455 §5.2). */
export function textFrame(message: string): Buffer {
  const length = Buffer.byteLength(message)
  const start = length < 126 ? 2 : length <= 0xffff ? 4 : 10
  const frame = Buffer.allocUnsafe(start + length)
  frame[0] = 0x81
  if (start === 2) frame[1] = length
  else if (start === 4) {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 127
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
  frame.write(message, start)
  return frame
}
