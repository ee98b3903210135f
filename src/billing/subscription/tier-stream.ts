import { MINUTE, SECOND } from '../../core/time.ts'
import type { Follower } from '../../event-log/tail.ts'

/** The interval of comments that detect a closed connection. */
const KEEPALIVE_INTERVAL_MS = 15 * SECOND
/** The maximum duration of a stream, after which the browser reconnects. */
const MAX_STREAM_DURATION_MS = 10 * MINUTE

/** Streams server-sent events. Sends one `changed` event when the tier changes, then ends. */
export function streamTierChanges(changes: Follower, closing: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const unsubscribe = () => void changes.return()
  const timers: NodeJS.Timeout[] = []
  const end = () => {
    for (const timer of timers) clearInterval(timer)
    closing.removeEventListener('abort', unsubscribe)
    unsubscribe()
  }
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(encoder.encode(':\n\n'))
      closing.addEventListener('abort', unsubscribe)
      if (closing.aborted) unsubscribe()
      timers.push(
        setInterval(() => controller.enqueue(encoder.encode(':\n\n')), KEEPALIVE_INTERVAL_MS).unref(),
        setTimeout(unsubscribe, MAX_STREAM_DURATION_MS).unref(),
      )
      // Not awaited, so that the first bytes are sent immediately.
      void changes
        .next()
        .then(({ done }) => {
          if (!done) controller.enqueue(encoder.encode('event: changed\ndata:\n\n'))
        })
        .catch(() => {})
        .finally(() => {
          end()
          controller.close()
        })
        // The browser has already disconnected.
        .catch(() => {})
    },
    cancel: end,
  })
}
