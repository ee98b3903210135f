/** Returns the reason of a failed connection in a few words: that of the cause if the error only wraps one. */
export function reasonOf(error: unknown): string {
  const { cause, code, errors } = error as {
    readonly cause?: unknown
    readonly code?: string
    readonly errors?: readonly unknown[]
  }
  if (cause !== undefined && cause !== null) return reasonOf(cause)
  // A host with several addresses fails with an error for each, and an empty message.
  const [first] = errors ?? []
  if (first !== undefined) return reasonOf(first)
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'no answer in time'
  return ((error instanceof Error && error.message) || code || String(error)).replace(/[.\s]+$/, '')
}
