/** Lets so much work be done at once; more waits, in the order in which it came. */
export interface Places {
  /**
   * Does `work` as soon as there is a place. Gives null, and does nothing, when there was none within `waitMs` milliseconds
   * or before the signal came.
   */
  use<T>(limits: Waiting, work: () => Promise<T>): Promise<T | null>
}

interface Waiting {
  readonly waitMs: number
  readonly signal: AbortSignal
}

/** So many places, all free. */
export function createPlaces(count: number): Places {
  let free = count
  const waiting = new Set<(isTaken: boolean) => void>()

  function take({ waitMs, signal }: Waiting): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isTaken: boolean) => {
        waiting.delete(end)
        clearTimeout(timer)
        signal.removeEventListener('abort', giveUp)
        resolve(isTaken)
      }
      const giveUp = () => end(false)
      const timer = setTimeout(giveUp, waitMs)
      signal.addEventListener('abort', giveUp)
      if (signal.aborted) giveUp()
      else if (free === 0) waiting.add(end)
      else {
        free -= 1
        end(true)
      }
    })
  }

  /** The place goes to who has waited longest. */
  function leave(): void {
    const [next] = waiting
    if (next === undefined) free += 1
    else next(true)
  }

  return {
    async use(limits, work) {
      if (!(await take(limits))) return null
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}
