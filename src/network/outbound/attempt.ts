import { setMaxListeners } from 'node:events'
import { performance } from 'node:perf_hooks'
import { SECOND } from '../../time.ts'
import type { Limits } from '../outbound.ts'
import type { Certificate, Failure, FailureReason, Fault, Phases } from './failure.ts'
import { hundredths } from './failure.ts'

/** Ends an attempt: thrown in this room only, and given to its callers as a `Failure`. */
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

/** What is known of an attempt so far. */
export interface Attempt {
  readonly phases: Record<Phase, number | null>
  address: string | null
  certificate: Certificate | null
  /** What the deadline would find missing, such as `connection`. */
  awaited: string
  /** Aborted with a `Stop` when the deadline or the caller's signal comes. */
  readonly signal: AbortSignal
  readonly started: number
}

/**
 * Makes an attempt that ends by its limits; `work` has to give up whatever it waits for when the attempt's signal comes.
 * A `Stop` that it throws becomes the failure; anything else is a bug and is thrown on.
 */
export async function attempt<T>(
  { timeoutMs, signal }: Limits,
  work: (attempt: Attempt) => Promise<T>,
): Promise<T | Failure> {
  const ending = new AbortController()
  const state: Attempt = {
    phases: { dns: null, connect: null, tls: null, firstByte: null },
    address: null,
    certificate: null,
    awaited: 'answer',
    signal: ending.signal,
    started: performance.now(),
  }
  const onDeadline = () =>
    ending.abort(new Stop('timeout', 'unclear', `No ${state.awaited} within ${inSeconds(timeoutMs)}`))
  const onAbort = () => ending.abort(new Stop('aborted', 'ours', 'Ended before its time'))
  const timer = setTimeout(onDeadline, timeoutMs)
  try {
    if (signal !== undefined) listen(signal, onAbort)
    ending.signal.throwIfAborted()
    return await work(state)
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    const { reason, fault, message } = error
    const { address, certificate } = state
    return { kind: 'failed', reason, fault, message, phases: phasesOf(state), address, certificate }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

/** The phases of an attempt until now. */
export function phasesOf({ phases, started }: Attempt): Phases {
  return { ...phases, total: hundredths(performance.now() - started) }
}

/** Does the work of a phase and adds its time; `awaited` is what the deadline would find missing. */
export async function inPhase<T>(state: Attempt, phase: Phase, awaited: string, work: () => Promise<T>): Promise<T> {
  state.awaited = awaited
  const started = performance.now()
  try {
    return await work()
  } finally {
    state.phases[phase] = hundredths((state.phases[phase] ?? 0) + performance.now() - started)
  }
}

/**
 * Waits for what `start` begins; the end of the attempt gives it up.
 * @param start begins it, settles it later and never at once, and gives what gives it up.
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

function listen(signal: AbortSignal, onAbort: () => void) {
  if (signal.aborted) onAbort()
  // One signal may end all the attempts of a process; Node 20 takes more than ten listeners for a leak.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', onAbort)
}

function inSeconds(ms: number): string {
  return `${Number((ms / SECOND).toPrecision(3))} s`
}
