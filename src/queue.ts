/** Values pushed by one side and iterated by the other, once. */
export interface Queue<T> extends AsyncIterableIterator<T, undefined> {
  /** Adds a value; ignored once the queue has ended. */
  push(value: T): void
  /** Ends the queue: what is in it is still delivered. */
  end(): void
  /** Ends the queue with an error, which the reader is given after what is in it. */
  fail(error: unknown): void
  /** Leaves the queue: what is in it is dropped, and a reader that waits is released at once. */
  return(): Promise<IteratorResult<T, undefined>>
}

/**
 * A queue for one reader. Unlike an async generator it can be left while it waits for a value.
 * @param onReturn called once when the reader leaves before the end.
 * @param most how many values wait for the reader at most; when more come, the oldest are dropped.
 */
export function createQueue<T>(onReturn: () => void = () => {}, most = Number.POSITIVE_INFINITY): Queue<T> {
  const done = { done: true, value: undefined } as const
  const values: T[] = []
  const readers: ((result: IteratorResult<T, undefined> | Promise<never>) => void)[] = []
  let failure: { readonly error: unknown } | null = null
  let ended = false

  const end = () => {
    ended = true
    for (const release of readers.splice(0)) release(last())
  }
  /** What the reader is given when nothing is left; an error is given once. */
  const last = () => {
    const failed = failure
    failure = null
    return failed ? Promise.reject(failed.error) : done
  }
  return {
    push(value) {
      if (ended) return
      const reader = readers.shift()
      if (reader) reader({ done: false, value })
      else values.push(value)
      if (values.length > most) values.shift()
    },
    end,
    fail(error) {
      if (ended) return
      failure = { error }
      end()
    },
    async next() {
      if (values.length > 0) return { done: false, value: values.shift() as T }
      if (ended) return last()
      return new Promise((resolve) => readers.push(resolve))
    },
    async return() {
      const early = !ended || values.length > 0
      values.length = 0
      failure = null
      end()
      if (early) onReturn()
      return done
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
