/** The request that opens a websocket with the protocol graphql-transport-ws, with the key of RFC 6455 §1.3. */
export const upgradeRequest =
  'GET /graphql HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n'

/** Returns a message as a client's frame (RFC 6455 §5.2), masked with zeros. */
export function frameOf(message: object): Buffer {
  const payload = Buffer.from(JSON.stringify(message))
  const length =
    payload.length < 126 ? [payload.length | 0x80] : [126 | 0x80, payload.length >> 8, payload.length & 0xff]
  return Buffer.concat([Buffer.from([0x81, ...length, 0, 0, 0, 0]), payload])
}

/**
 * The first byte of a ping, and the frame that answers it (RFC 6455 §5.5.2); clients that do not answer are
 * disconnected.
 */
export const PING = 0x89
export const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])

/** Returns the text of a server's frame that arrived whole. Its length may contain the byte of a brace. */
export function textOf(frame: Buffer): string {
  const length = frame[1] ?? 0
  return frame.toString('latin1', length < 126 ? 2 : length === 126 ? 4 : 10)
}

/** Returns the data after the pings at the start of a chunk, which may contain a ping and an event; empty: none. */
export function afterPings(chunk: Buffer): Buffer {
  let start = 0
  while (chunk[start] === PING) start += 2 + (chunk[start + 1] ?? 0)
  return chunk.subarray(start)
}
