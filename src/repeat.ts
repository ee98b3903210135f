import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { within } from './deadline.ts'
import { MINUTE, SECOND } from './time.ts'

/** How a loop does: `failing`, its last turn failed; `stopped`, its turn takes so long that it most likely hangs. */
export type LoopState = 'ok' | 'failing' | 'stopped'

/**
 * How long a turn may take, in milliseconds, before its loop counts as stopped: on a machine that has too much to do some
 * take seconds. A database that does not answer is found sooner, by asking it.
 */
export const SLOW_TURN = 5 * SECOND

/** Work that is done again and again. */
export interface Repetition {
  state(): LoopState
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
  /** How long the work may take, in milliseconds; then it is given up as hanging, and done again. Absent: a minute. */
  readonly patience?: number
  readonly log: Logger
  /** What is logged of work that failed. */
  readonly failed: string
}

/** Does `work` now, and again each time the milliseconds that it gives have passed. */
export function repeat(work: () => Promise<number>, options: RepeatOptions): Repetition {
  const { retry, leastPause = 0, patience = MINUTE, log, failed } = options
  const stopping = new AbortController()
  let wake = () => {}
  /** When the turn under way began, by a clock that nobody sets. */
  let begun: number | null = null
  let hasFailed = false

  async function turn(): Promise<number> {
    begun = performance.now()
    try {
      const wait = await within(patience, 'A turn', work())
      hasFailed = false
      return wait
    } catch (error) {
      hasFailed = true
      log.error({ err: error }, failed)
      return retry
    } finally {
      begun = null
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const waking = new AbortController()
      wake = () => waking.abort()
      const wait = await turn()
      const soonest = Math.min(wait, leastPause)
      await pause(soonest, stopping.signal)
      await pause(wait - soonest, AbortSignal.any([waking.signal, stopping.signal]))
    }
  }

  const running = run()
  return {
    state: () => loopState(begun, hasFailed),
    wake: () => wake(),
    stop() {
      stopping.abort()
      return running
    },
  }
}

/** The state of a loop whose turn began then; null: none is under way. */
export function loopState(begun: number | null, hasFailed: boolean): LoopState {
  if (begun !== null && performance.now() - begun > SLOW_TURN) return 'stopped'
  return hasFailed ? 'failing' : 'ok'
}

/** Ends early, without an error, when the signal says so. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal, ref: false }).catch(() => {})
}
