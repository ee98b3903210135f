import { MINUTE } from '../time.ts'

/** How much is done of what has one key, such as one destination. */
export interface TurnLimits {
  readonly atOnce: number
  /** How much begins within any minute at most; absent: as much as there is. */
  readonly perMinute?: number
}

/** Lets work be done in turn, so much at once and a minute for each key; more waits, in the order in which it came. */
export interface Turns {
  /**
   * Does `work` as soon as it is its turn. Gives null, and does nothing, when that was not within `waitMs` milliseconds or
   * before the signal came.
   */
  use<T>(key: string, limits: Waiting, work: () => Promise<T>): Promise<T | null>
  /** Takes a turn that is free now; gives what ends it. Null: there is none. */
  take(key: string): (() => void) | null
  /** In how many milliseconds there may be a turn, as far as the minute is concerned. */
  pausedFor(key: string): number
}

interface Waiting {
  readonly waitMs: number
  readonly signal: AbortSignal
}

/** What is done and waits for one key. */
interface Line {
  running: number
  /** How much may begin at once, and when that was reckoned. */
  credit: number
  at: number
  readonly waiting: Set<(isTaken: boolean) => void>
  timer: NodeJS.Timeout | undefined
}

/** Of so many keys the idle ones are forgotten. */
const KEPT = 1000
/** A sixth of a minute's share may begin together; the rest comes evenly, so that no minute has more than its share. */
const TOGETHER = 1 / 6

/** Turns, all free. */
export function createTurns({ atOnce, perMinute = Number.POSITIVE_INFINITY }: TurnLimits): Turns {
  const lines = new Map<string, Line>()
  const isPaced = Number.isFinite(perMinute)
  const most = isPaced ? Math.max(1, Math.floor(perMinute * TOGETHER)) : 1
  const perMs = isPaced ? Math.max(perMinute - most, 1) / MINUTE : 1

  function lineOf(key: string): Line {
    const known = lines.get(key)
    if (known) return known
    if (lines.size >= KEPT) forgetIdle()
    const line: Line = { running: 0, credit: most, at: performance.now(), waiting: new Set(), timer: undefined }
    lines.set(key, line)
    return line
  }

  function forgetIdle(): void {
    for (const [key, line] of lines) {
      reckon(line)
      if (line.running === 0 && line.waiting.size === 0 && line.credit >= most) lines.delete(key)
    }
  }

  function reckon(line: Line): void {
    const now = performance.now()
    line.credit = Math.min(most, line.credit + (now - line.at) * perMs)
    line.at = now
  }

  function begin(line: Line): boolean {
    reckon(line)
    if (line.running >= atOnce || (isPaced && line.credit < 1)) return false
    line.running += 1
    if (isPaced) line.credit -= 1
    return true
  }

  /** Turns go to who has waited longest. */
  function serve(line: Line): void {
    for (const next of line.waiting) {
      if (!begin(line)) break
      line.waiting.delete(next)
      next(true)
    }
    clearTimeout(line.timer)
    const pause = pauseOf(line)
    if (line.waiting.size > 0 && pause > 0) line.timer = setTimeout(() => serve(line), pause).unref()
  }

  function pauseOf(line: Line): number {
    return isPaced && line.credit < 1 ? Math.ceil((1 - line.credit) / perMs) : 0
  }

  function endOf(line: Line): () => void {
    let ended = false
    return () => {
      if (ended) return
      ended = true
      line.running -= 1
      serve(line)
    }
  }

  function wait(line: Line, { waitMs, signal }: Waiting): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isTaken: boolean) => {
        line.waiting.delete(end)
        clearTimeout(timer)
        signal.removeEventListener('abort', giveUp)
        resolve(isTaken)
      }
      const giveUp = () => end(false)
      const timer = setTimeout(giveUp, waitMs)
      signal.addEventListener('abort', giveUp)
      line.waiting.add(end)
      if (signal.aborted) giveUp()
      else serve(line)
    })
  }

  return {
    async use(key, limits, work) {
      const line = lineOf(key)
      // What need not wait begins before this gives its promise.
      const isFirst = !limits.signal.aborted && line.waiting.size === 0 && begin(line)
      if (!isFirst && !(await wait(line, limits))) return null
      const end = endOf(line)
      try {
        if (limits.signal.aborted) return null
        return await work()
      } finally {
        end()
      }
    },
    take(key) {
      const line = lineOf(key)
      return line.waiting.size === 0 && begin(line) ? endOf(line) : null
    },
    pausedFor(key) {
      const line = lineOf(key)
      reckon(line)
      return pauseOf(line)
    },
  }
}
