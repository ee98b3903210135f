import type { Socket } from 'node:net'

/** How many pieces are sent in one turn of the event loop: a reader that keeps up would never let it continue. */
const IN_A_TURN = 32

/** Sends a piece repeatedly, as fast as it is read, until the client hangs up. */
export function flood(socket: Socket, piece: Buffer): void {
  const send = () => {
    for (let sent = 0; sent < IN_A_TURN; sent++) if (socket.destroyed || !socket.write(piece)) return
    setImmediate(send)
  }
  socket.on('drain', send)
  send()
}

/**
 * Sends a piece again once it is written, until the client hangs up or the pieces have been sent. A failed write ends it:
 * Node reports the failure of each piece that waits before it destroys the socket, so a piece that is added then fails in
 * the same loop, which would not end.
 */
export function sendOneByOne(socket: Socket, piece: string, left = Number.POSITIVE_INFINITY): void {
  if (left <= 0 || socket.destroyed) return
  socket.write(piece, (error) => {
    if (!error) sendOneByOne(socket, piece, left - 1)
  })
}
