import type { Follower } from '../eventlog/tail.ts'
import { MINUTE, SECOND } from '../time.ts'

/** How often something is sent, so that a browser that has gone is noticed. */
const HEARTBEAT = 15 * SECOND
/** How long a stream is open at most; a browser that still waits asks again. */
const LONGEST = 10 * MINUTE

/** Server-sent events: `changed` once the tier has changed, and nothing after it. */
export function tierChanges(changes: Follower, closing: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const leave = () => void changes.return()
  const timers: NodeJS.Timeout[] = []
  const end = () => {
    for (const timer of timers) clearInterval(timer)
    closing.removeEventListener('abort', leave)
    leave()
  }
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(encoder.encode(':\n\n'))
      closing.addEventListener('abort', leave)
      if (closing.aborted) leave()
      timers.push(
        setInterval(() => controller.enqueue(encoder.encode(':\n\n')), HEARTBEAT).unref(),
        setTimeout(leave, LONGEST).unref(),
      )
      // Not awaited: what has been sent so far is to go out at once.
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
        // The browser has left already.
        .catch(() => {})
    },
    cancel: end,
  })
}
