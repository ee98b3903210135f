import { createLruMap } from '../lru-map.ts'

/**
 * Counts attempts per key within a window that begins with the first one; once it is full, all further attempts are
 * refused until it ends.
 */
export interface AttemptWindow {
  /** Returns the number of attempts that a key has left. */
  left(key: string, now: Date): number
  /** Returns when the window of a key ends; without attempts, now. */
  endsAt(key: string, now: Date): Date
  /** Counts an attempt. */
  count(key: string, now: Date): void
}

/** The maximum number of remembered keys; beyond it, the least recently used one starts over. */
const MAX_KEYS = 10_000

/** Creates the windows of this process: at most `max` attempts per key within `windowMs`. */
export function createAttemptWindow({
  max,
  windowMs,
}: {
  readonly max: number
  readonly windowMs: number
}): AttemptWindow {
  const windows = createLruMap<{ readonly start: number; readonly count: number }>(MAX_KEYS)
  const current = (key: string, now: Date) => {
    const window = windows.get(key)
    // Setting a clock back must not lock anyone out.
    const isCurrent = window !== undefined && Math.abs(now.getTime() - window.start) < windowMs
    return isCurrent ? window : null
  }
  return {
    left: (key, now) => Math.max(0, max - (current(key, now)?.count ?? 0)),
    endsAt(key, now) {
      const window = current(key, now)
      return window === null ? now : new Date(window.start + windowMs)
    },
    count(key, now) {
      const { start, count } = current(key, now) ?? { start: now.getTime(), count: 0 }
      windows.set(key, { start, count: count + 1 })
    },
  }
}
