import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { type Attempt, awaiting, Stop } from './attempt.ts'
import { createDecoders } from './content-encoding.ts'

/** By how many bytes the encoded form of a short body may be longer than the body. */
const MAX_OVERHEAD_BYTES = 16 * 1024

const CLOSED_EARLY = 'Connection closed before the response was complete'

/**
 * Reads and decodes the body of a response, up to `limit` bytes. Neither its length nor its decoded size can exhaust
 * memory.
 * @throws Stop
 */
export function readBody(
  answer: IncomingMessage,
  limit: number,
  state: Attempt,
): Promise<{ readonly body: Buffer; readonly complete: boolean }> {
  state.awaited = 'complete answer'
  return awaiting(state, (resolve, reject) => {
    const decoders = createDecoders(answer.headers)
    const decoded = createCollector(limit)
    // Chunks that arrived together are still delivered after this has ended.
    let isOver = false

    function giveUp() {
      isOver = true
      answer.destroy()
      for (const decoder of decoders) decoder.destroy()
    }
    const finish = (complete: boolean) => {
      giveUp()
      resolve({ body: decoded.bytes(), complete })
    }
    const fail = (stop: Stop) => {
      giveUp()
      reject(stop)
    }

    /** Encoded data is hardly ever larger than decoded data. Without this limit, it could go on forever. */
    function limitEncoded(encoded: Readable) {
      let received = 0
      encoded.on('data', ({ length }: Buffer) => {
        received += length
        if (!isOver && received > 2 * limit + MAX_OVERHEAD_BYTES) fail(undecodable())
      })
      // An empty body cannot be decoded.
      encoded.on('end', () => !isOver && received === 0 && finish(true))
    }

    const failOfAnswer = () => {
      if (isOver) return
      const { errored } = answer
      fail(errored instanceof Stop ? errored : new Stop('closed', 'theirs', CLOSED_EARLY))
    }
    answer.on('error', failOfAnswer)
    // What fails together with the head has failed before this listens.
    if (answer.destroyed) process.nextTick(failOfAnswer)
    let body: Readable = answer
    for (const decoder of decoders) {
      limitEncoded(body)
      body = body.pipe(decoder.on('error', () => !isOver && fail(undecodable())))
    }
    body.on('data', (chunk: Buffer) => {
      if (!isOver && !decoded.add(chunk)) finish(false)
    })
    body.on('end', () => !isOver && finish(true))
    return giveUp
  })
}

/** How much of a body that nobody asked for is received, and for how long. */
const MAX_UNREAD_BYTES = 64 * 1024
const MAX_UNREAD_MS = 500

/**
 * Receives a body that nobody asked for, so that servers of short ones do not log an aborted request. Neither its
 * content nor its end matters.
 */
export function discardBody(answer: IncomingMessage, { signal }: Attempt): Promise<void> {
  return new Promise((resolve) => {
    let received = 0
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, MAX_UNREAD_MS)
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
    answer.on('error', done).on('close', done).on('end', done)
    answer.on('data', ({ length }: Buffer) => {
      received += length
      if (received > MAX_UNREAD_BYTES) done()
    })
  })
}

/** The initial size of a collector's buffer, in bytes. */
const COLLECTED_BYTES = 16 * 1024

/** Collects up to `limit` bytes, in linear time and memory even if the chunks are small. */
function createCollector(limit: number) {
  let buffer = Buffer.allocUnsafeSlow(Math.min(limit, COLLECTED_BYTES))
  let length = 0
  return {
    /** Returns false when the limit is exceeded. */
    add(chunk: Buffer): boolean {
      const end = Math.min(length + chunk.length, limit)
      const fits = length + chunk.length <= limit
      if (end > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(Math.min(limit, Math.max(2 * buffer.length, end)))
        buffer.copy(larger, 0, 0, length)
        buffer = larger
      }
      length += chunk.copy(buffer, length, 0, end - length)
      return fits
    },
    bytes: () => buffer.subarray(0, length),
  }
}

function undecodable(): Stop {
  return new Stop('protocol', 'theirs', 'The response body cannot be decoded')
}
