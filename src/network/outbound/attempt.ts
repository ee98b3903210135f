import { setMaxListeners } from 'node:events'
import { performance } from 'node:perf_hooks'
import { SECOND } from '../../core/time.ts'
import type { Certificate, Failure, FailureReason, Fault, Phases } from './failure.ts'
import { hundredths } from './failure.ts'
import type { Limits } from './outbound.ts'

/** Ends an attempt. Thrown only inside the outbound client, which returns it as a `Failure`. */
export class Stop extends Error {
  readonly reason: FailureReason
  readonly fault: Fault

  constructor(reason: FailureReason, fault: Fault, message: string) {
    super(message)
    this.reason = reason
    this.fault = fault
  }
}

type Phase = Exclude<keyof Phases, 'total'>

/** The state of an attempt. */
export interface Attempt {
  readonly phases: Record<Phase, number | null>
  address: string | null
  certificate: Certificate | null
  /** What the attempt is waiting for, such as `connection`; the message at the deadline names it. */
  awaited: string
  /** Aborts with a `Stop` at the deadline or when the caller's signal aborts. */
  readonly signal: AbortSignal
  readonly started: number
  /** Who asks (`Limits`); undefined: we. */
  readonly owner: string | undefined
  /** Whose permission for private networks holds: the owner's, if the owner chose the destination; null: no one's. */
  readonly responsible: string | null
  /** How long the attempt has been paused, and how long it may still be paused, in milliseconds. */
  pausedMs: number
  maxPauseMs: number
  /** Runs `work` for which the target is not responsible. Its time extends the deadline and counts for no phase. */
  pauseDuring<T>(work: () => Promise<T>): Promise<T>
}

/** The default maximum wait for rate limits, in milliseconds. */
const MAX_WAIT_MS = 5 * SECOND

/**
 * Runs an attempt within its limits. `work` must stop waiting when the attempt's signal aborts. A thrown `Stop` becomes
 * the failure. Any other error is a bug and is rethrown.
 */
export async function attempt<T>(
  { timeoutMs, signal, waitMs = MAX_WAIT_MS, owner, chosenBy = 'owner' }: Limits,
  work: (attempt: Attempt) => Promise<T>,
): Promise<T | Failure> {
  const ending = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let leftMs = timeoutMs
  let resumedAt = performance.now()
  const resume = () => {
    resumedAt = performance.now()
    timer = setTimeout(onTimer, leftMs)
  }
  /** What came while the process was busy is read first: timers run before sockets. */
  const onTimer = () => {
    const own = timer
    setImmediate(() => {
      if (timer === own) onDeadline()
    })
  }
  const state: Attempt = {
    phases: { dns: null, connect: null, tls: null, firstByte: null },
    address: null,
    certificate: null,
    awaited: 'answer',
    signal: ending.signal,
    started: resumedAt,
    owner,
    responsible: chosenBy === 'owner' ? (owner ?? null) : null,
    pausedMs: 0,
    maxPauseMs: waitMs,
    async pauseDuring(work) {
      const pausedAt = performance.now()
      clearTimeout(timer)
      timer = undefined
      leftMs = Math.max(0, leftMs - (pausedAt - resumedAt))
      try {
        return await work()
      } finally {
        const elapsed = performance.now() - pausedAt
        state.pausedMs += elapsed
        state.maxPauseMs = Math.max(0, state.maxPauseMs - elapsed)
        resume()
      }
    },
  }
  const onDeadline = () =>
    ending.abort(new Stop('timeout', 'unclear', `No ${state.awaited} within ${inSeconds(timeoutMs)}`))
  const onAbort = () => ending.abort(new Stop('aborted', 'ours', 'The probe was aborted'))
  resume()
  try {
    if (signal !== undefined) listenToAbort(signal, onAbort)
    ending.signal.throwIfAborted()
    return await work(state)
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    const { reason, fault, message } = error
    const { address, certificate } = state
    return { kind: 'failed', reason, fault, message, phases: phasesOf(state), address, certificate }
  } finally {
    clearTimeout(timer)
    timer = undefined
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Returns the phases of an attempt so far, without pauses. */
export function phasesOf({ phases, started, pausedMs }: Attempt): Phases {
  return { ...phases, total: hundredths(performance.now() - started - pausedMs) }
}

/** Runs the work of a phase and adds its duration, without pauses, to the phase. */
export async function inPhase<T>(state: Attempt, phase: Phase, awaited: string, work: () => Promise<T>): Promise<T> {
  state.awaited = awaited
  const started = performance.now() - state.pausedMs
  try {
    return await work()
  } finally {
    state.phases[phase] = hundredths((state.phases[phase] ?? 0) + performance.now() - state.pausedMs - started)
  }
}

/**
 * Waits for an operation, and cancels it when the attempt ends.
 * @param start starts the operation and returns a function that cancels it. Must not settle it synchronously.
 * @throws Stop
 */
export function awaiting<T>(
  { signal }: Attempt,
  start: (resolve: (value: T) => void, reject: (stop: Stop) => void) => () => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const giveUp = start(
      (value) => {
        signal.removeEventListener('abort', onAbort)
        resolve(value)
      },
      (stop) => {
        signal.removeEventListener('abort', onAbort)
        reject(stop)
      },
    )
    const onAbort = () => {
      giveUp()
      reject(signal.reason)
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}

function listenToAbort(signal: AbortSignal, onAbort: () => void) {
  if (signal.aborted) onAbort()
  // One signal may end all attempts of a process. Node.js 20 warns of a leak above ten listeners.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', onAbort)
}

function inSeconds(ms: number): string {
  return `${Number((ms / SECOND).toPrecision(3))} s`
}
