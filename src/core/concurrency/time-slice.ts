import { createFairQueue } from './fair-queue.ts'

/** How long an owner may run before it yields the event loop. */
const TIME_SLICE_MS = 8
/** How long waiting work lets connections be accepted, of which the event loop accepts one in each of its turns. */
const ARRIVALS_MS = 8

/** The owner of work that takes turns; texts with the same content are the same owner. */
type Owner = object | string

/**
 * Whether work has begun. What an owner has begun comes before what it has not: of hundreds of requests that arrive
 * together, a few at a time are in memory as parsed documents and results, instead of all in the same stage.
 */
type Stage = 'new' | 'begun'

const waiting = createFairQueue<Owner, { readonly owner: Owner; readonly resume: () => void }>()
/** Whether the event loop is to call `endTurn`. */
let isScheduled = false
/** Whether a connection was accepted in this turn of the event loop. */
let isArriving = false
/** Since when work has been waiting for connections to be accepted; null: it has not. */
let arrivalsStart: number | null = null
/** Whose turn it is in the running time slice; null: nobody's yet. */
let current: Owner | null = null
/** When the current time slice began, on the monotonic clock; null: none is running. */
let sliceStart: number | null = null

/** Returns whether the current time slice is over. */
export function isTimeSliceOver(): boolean {
  if (sliceStart === null) startSlice()
  return performance.now() - (sliceStart ?? 0) > TIME_SLICE_MS
}

/**
 * Resolves when the owner's next time slice begins. Work that follows synchronously or in microtasks runs before any
 * other owner's. Owners take turns, so an owner with much work delays another one by a single slice.
 */
export function nextTimeSlice(owner: Owner, stage: Stage = 'begun'): Promise<void> {
  return new Promise((resolve) => {
    waiting.add(owner, { owner, resume: resolve }, stage === 'begun')
    schedule()
  })
}

/** Waits for the owner's next time slice if the current one is over. */
export async function yieldAfterTimeSlice(owner: Owner): Promise<void> {
  if (isTimeSliceOver()) await nextTimeSlice(owner)
}

/**
 * Returns what to wait for until it is the turn of an owner: the current slice is over, or work of the owner waits that
 * comes before. Undefined: it is. Do not await undefined: others would find the same slice open before the work has begun.
 * @param owner returns the owner; called only if something waits, or has to.
 */
export function turnOf(owner: () => Owner, stage: Stage = 'begun'): Promise<void> | undefined {
  if (isTimeSliceOver()) return nextTimeSlice(owner(), stage)
  if (waiting.size === 0) return undefined
  const known = owner()
  const earlier = stage === 'begun' ? waiting.firstOf(known) : waiting.sizeOf(known)
  return earlier === 0 ? undefined : nextTimeSlice(known, stage)
}

/** Does work at once, or as soon as it is the turn of its owner. @param owner as for `turnOf`. */
export function inTurn(owner: () => Owner, work: () => void, stage: Stage = 'begun'): void {
  const turn = turnOf(owner, stage)
  if (turn === undefined) work()
  else void turn.then(work)
}

/**
 * Says that a connection was accepted, so that more may wait. They come first: a thousand of one client would otherwise
 * keep another's waiting for as many time slices, before anyone knows whose they are.
 */
export function noteArrival(): void {
  isArriving = true
}

function startSlice(): void {
  sliceStart = performance.now()
  schedule()
}

function schedule(): void {
  if (isScheduled) return
  isScheduled = true
  setImmediate(endTurn)
}

/** Runs at the end of a turn of the event loop: begins the next time slice, unless more connections are arriving. */
function endTurn(): void {
  isScheduled = false
  const now = performance.now()
  arrivalsStart = isArriving ? (arrivalsStart ?? now) : null
  isArriving = false
  if (arrivalsStart !== null && now - arrivalsStart < ARRIVALS_MS) {
    schedule()
    return
  }
  arrivalsStart = null
  sliceStart = null
  if (waiting.size === 0) return
  startSlice()
  current = null
  resumeNext()
}

function resumeNext(): void {
  nextPiece()?.resume()
  if (waiting.size === 0) return
  // After the work that follows in microtasks.
  void Promise.resolve().then(() => process.nextTick(isTimeSliceOver() ? endSlice : resumeNext))
}

/** Removes the next piece of work. An owner goes on until its slice is over, so that many short pieces pass a long one. */
function nextPiece() {
  const next = (current === null ? undefined : waiting.nextOf(current)) ?? waiting.next()
  current = next?.owner ?? null
  return next
}

/** Lets the event loop continue. What arrives has a time slice of its own, unless earlier work of its owner waits. */
function endSlice(): void {
  sliceStart = null
}
