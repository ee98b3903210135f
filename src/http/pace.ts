import type { IncomingMessage, ServerResponse } from 'node:http'
import { SECOND } from '../core/time.ts'
import { cutOff } from './response/cut-off.ts'

/** How often the pace of a request is judged. */
const WINDOW_MS = 30 * SECOND
/**
 * The least rate, in bytes a second: a phone on EDGE sends and receives about twice as much. A smaller body or answer
 * has a whole window.
 */
const LEAST_RATE = 8 * 1024
const LEAST_BYTES = (LEAST_RATE * WINDOW_MS) / SECOND

/**
 * Closes the connection of a request whose body arrives more slowly than 240 KiB in 30 s, whose answer leaves more
 * slowly, or that still sends its body 30 s after its answer. What reads the body then sees the connection close. The
 * time in which we do not read does not count.
 */
export function requirePace(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  let received = socket.bytesRead
  /** How many windows an answer that waits to be received still has; null: it is not complete yet. */
  let windowsLeft: number | null = null

  function judge(): void {
    if (socket.destroyed) return
    if (request.complete ? isTakenTooSlowly() : isSentTooSlowly()) end()
    else timer.refresh()
  }

  function isSentTooSlowly(): boolean {
    const arrived = socket.bytesRead - received
    received = socket.bytesRead
    if (response.writableFinished) return true
    const waitsForUs = request.readableLength >= request.readableHighWaterMark
    return !waitsForUs && arrived < LEAST_BYTES
  }

  function isTakenTooSlowly(): boolean {
    if (!response.writableEnded) return false
    windowsLeft ??= Math.ceil(socket.writableLength / LEAST_BYTES) + 1
    windowsLeft -= 1
    return windowsLeft === 0
  }

  function end(): void {
    // RFC 9110 §15.5.9.
    cutOff(request, response, { status: 408, code: 'REQUEST_TOO_SLOW', message: 'The request arrived too slowly.' })
  }

  // After a pause of our own, what has arrived in the meantime comes first.
  const timer = setTimeout(() => setImmediate(judge), WINDOW_MS).unref()
  response.once('close', () => {
    if (request.complete || socket.destroyed) clearTimeout(timer)
  })
}
