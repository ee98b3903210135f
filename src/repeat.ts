import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'

/** Work that is done again and again. */
export interface Repetition {
  /** Has it done again at once, or after the least pause, for there may be something new to do. */
  wake(): void
  /** Ends it, after what is under way. */
  stop(): Promise<void>
}

export interface RepeatOptions {
  /** How long after work that failed it is done again, in milliseconds. */
  readonly retry: number
  /** How long it is not woken after it was done, in milliseconds, for many may wake it at about the same time; absent: not at all. */
  readonly leastPause?: number
  readonly log: Logger
  /** What is logged of work that failed. */
  readonly failed: string
}

/** Does `work` now, and again each time the milliseconds that it gives have passed. */
export function repeat(work: () => Promise<number>, options: RepeatOptions): Repetition {
  const { retry, leastPause = 0, log, failed } = options
  const stopping = new AbortController()
  let wake = () => {}

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const waking = new AbortController()
      wake = () => waking.abort()
      const wait = await work().catch((error: unknown) => {
        log.error({ err: error }, failed)
        return retry
      })
      const soonest = Math.min(wait, leastPause)
      await pause(soonest, stopping.signal)
      await pause(wait - soonest, AbortSignal.any([waking.signal, stopping.signal]))
    }
  }

  const running = run()
  return {
    wake: () => wake(),
    stop() {
      stopping.abort()
      return running
    },
  }
}

/** Ends early, without an error, when the signal says so. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal, ref: false }).catch(() => {})
}
