import { createFairQueue } from './fair-queue.ts'

/** How long an owner may run before it yields the event loop. */
const TIME_SLICE_MS = 8

/** The owner of work that takes turns; texts with the same content are the same owner. */
type Owner = object | string

const waiting = createFairQueue<Owner, () => void>()
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
export function nextTimeSlice(owner: Owner): Promise<void> {
  return new Promise((resolve) => {
    waiting.add(owner, resolve)
    if (waiting.size === 1) setImmediate(runSlice)
  })
}

/** Waits for the owner's next time slice if the current one is over. */
export async function yieldAfterTimeSlice(owner: Owner): Promise<void> {
  if (isTimeSliceOver()) await nextTimeSlice(owner)
}

function startSlice(): void {
  sliceStart = performance.now()
  setImmediate(() => {
    sliceStart = null
  })
}

function runSlice(): void {
  startSlice()
  resumeNext()
}

function resumeNext(): void {
  waiting.next()?.()
  if (waiting.size === 0) return
  // After the work that follows in microtasks.
  void Promise.resolve().then(() => process.nextTick(isTimeSliceOver() ? () => setImmediate(runSlice) : resumeNext))
}
