import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { MINUTE, SECOND } from '../time.ts'
import { waitAtMost, withDeadline } from './deadline.ts'
import { OURS, onBehalfOf } from './owner.ts'

/**
 * The state of a loop. `busy`: the current run is slow, because it has much to do or waits; `failing`: the last run
 * failed; `stopped`: the current run is so slow that it probably hangs.
 */
export type LoopState = 'ok' | 'busy' | 'failing' | 'stopped'

/** The duration of a run after which the loop is busy. */
export const BUSY_AFTER_MS = 0.5 * SECOND

/**
 * The duration of a run after which the loop counts as stopped: on an overloaded machine, runs take seconds. The
 * queries themselves detect an unavailable database sooner.
 */
export const STOPPED_AFTER_MS = 5 * SECOND

/** How long `check` waits for a run, until it counts as busy. */
export const CHECK_PATIENCE_MS = BUSY_AFTER_MS + 50
/** The maximum age of the last run for `check`. */
const CHECK_AGE_MS = SECOND

/** A loop that runs work repeatedly. */
export interface PollLoop {
  state(): LoopState
  /** Starts the next run at once, or after the minimum pause. */
  wake(): void
  /**
   * Runs now, unless a run ended within the last second, and waits for its end, but only until it counts as busy;
   * afterwards `state` is up to date.
   */
  check(): Promise<void>
  /** Stops the loop after the current run. */
  stop(): Promise<void>
}

export interface PollLoopOptions {
  /** The delay after a failed run. */
  readonly retryMs: number
  /** The minimum pause between runs, which merges many calls of `wake`; default 0. */
  readonly minPauseMs?: number
  /** The time limit of a run, after which it is abandoned and retried; default one minute. */
  readonly timeoutMs?: number
  readonly log: Logger
  /** The log message for a failed run. */
  readonly failureMessage: string
}

/** Runs `work` now, and again after the milliseconds that it returns. */
export function startPollLoop(work: () => Promise<number>, options: PollLoopOptions): PollLoop {
  const { retryMs, minPauseMs = 0, timeoutMs = MINUTE, log, failureMessage } = options
  const stopping = new AbortController()
  let wake = () => {}
  /** When the current run started, on the monotonic clock; null: no run is in progress. */
  let startedAt: number | null = null
  let endedAt = Number.NEGATIVE_INFINITY
  let hasFailed = false
  const waiters = new Set<() => void>()

  async function runOnce(): Promise<number> {
    startedAt = performance.now()
    try {
      const wait = await withDeadline(timeoutMs, 'The run', work())
      hasFailed = false
      return wait
    } catch (error) {
      hasFailed = true
      log.error({ err: error }, failureMessage)
      return retryMs
    } finally {
      startedAt = null
      endedAt = performance.now()
      for (const resolve of waiters) resolve()
      waiters.clear()
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const waking = new AbortController()
      wake = () => waking.abort()
      const wait = await runOnce()
      const soonest = Math.min(wait, minPauseMs)
      await pause(soonest, stopping.signal)
      await pause(wait - soonest, AbortSignal.any([waking.signal, stopping.signal]))
    }
  }

  const running = onBehalfOf(() => OURS, run)
  return {
    state: () => loopState(startedAt, hasFailed),
    wake: () => wake(),
    async check() {
      if (startedAt === null && performance.now() - endedAt < CHECK_AGE_MS) return
      wake()
      const ended = new Promise<void>((resolve) => waiters.add(resolve))
      await waitAtMost(CHECK_PATIENCE_MS, ended)
    },
    stop() {
      stopping.abort()
      return running
    },
  }
}

/** Returns the state of a loop. @param startedAt when the current run started, on the monotonic clock; null: none. */
export function loopState(startedAt: number | null, hasFailed: boolean): LoopState {
  const tookMs = startedAt === null ? 0 : performance.now() - startedAt
  if (tookMs > STOPPED_AFTER_MS) return 'stopped'
  if (hasFailed) return 'failing'
  return tookMs > BUSY_AFTER_MS ? 'busy' : 'ok'
}

const bySeverity = ['ok', 'busy', 'failing', 'stopped'] as const satisfies readonly LoopState[]

/** Returns the worse of two states. */
export function worseState(one: LoopState, other: LoopState): LoopState {
  return bySeverity.indexOf(one) > bySeverity.indexOf(other) ? one : other
}

/** Waits; resolves early when the signal aborts. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal, ref: false }).catch(() => {})
}
