/** Returns the reason for a failed connection in a few words, from the innermost cause of the error. */
export function reasonOf(error: unknown): string {
  const { cause, code, errors } = error as {
    readonly cause?: unknown
    readonly code?: string
    readonly errors?: readonly unknown[]
  }
  if (cause !== undefined && cause !== null) return reasonOf(cause)
  // For a host with several addresses, Node.js throws one error per address, and one without a message around them.
  const [first] = errors ?? []
  if (first !== undefined) return reasonOf(first)
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'no answer in time'
  return ((error instanceof Error && error.message) || code || String(error)).replace(/(?<![.\s])[.\s]+$/, '')
}
