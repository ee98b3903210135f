/** A queue with one producer and one consumer, which iterates the values. */
export interface AsyncQueue<T> extends AsyncIterableIterator<T, undefined> {
  /** Adds a value; ignored once the queue has ended. */
  push(value: T): void
  /** Ends the queue after the values in it. */
  end(): void
  /** Ends the queue with an error after the values in it. */
  fail(error: unknown): void
  /** Drops the values in the queue and releases a waiting reader at once. */
  return(): Promise<IteratorResult<T, undefined>>
}

/**
 * Creates a queue for one reader. Unlike an async generator, it can be closed while it waits for a value.
 * @param onReturn called once when the reader returns before the end.
 * @param maxSize the maximum number of waiting values; the queue drops the oldest above it.
 */
export function createAsyncQueue<T>(
  onReturn: () => void = () => {},
  maxSize = Number.POSITIVE_INFINITY,
): AsyncQueue<T> {
  const done = { done: true, value: undefined } as const
  const values: T[] = []
  const readers: ((result: IteratorResult<T, undefined> | Promise<never>) => void)[] = []
  let failure: { readonly error: unknown } | null = null
  let hasEnded = false

  const end = () => {
    hasEnded = true
    for (const release of readers.splice(0)) release(finalResult())
  }
  /** Returns the result after the last value; rejects once after `fail`. */
  const finalResult = () => {
    const failed = failure
    failure = null
    return failed ? Promise.reject(failed.error) : done
  }
  return {
    push(value) {
      if (hasEnded) return
      const reader = readers.shift()
      if (reader) reader({ done: false, value })
      else values.push(value)
      if (values.length > maxSize) values.shift()
    },
    end,
    fail(error) {
      if (hasEnded) return
      failure = { error }
      end()
    },
    async next() {
      if (values.length > 0) return { done: false, value: values.shift() as T }
      if (hasEnded) return finalResult()
      return new Promise((resolve) => readers.push(resolve))
    },
    async return() {
      const early = !hasEnded || values.length > 0
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
