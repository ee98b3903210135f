/** The work exceeded its time limit. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded'
}

/**
 * Returns the result of `work`, which continues unobserved after the deadline.
 * @param what the subject of the error message, such as `The run`. @throws DeadlineExceeded after `milliseconds`.
 */
export async function withDeadline<T>(milliseconds: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const overdue = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new DeadlineExceeded(`${what} did not end within ${milliseconds / 1000} s`)),
      milliseconds,
    )
  })
  // Prevents an unhandled rejection after the deadline.
  work.catch(() => {})
  try {
    return await Promise.race([work, overdue])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Waits until `work` has ended, or `milliseconds` have passed. Ignores errors of the work, and doesn't keep the process
 * running.
 */
export async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const overdue = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds).unref()
  })
  await Promise.race([work.catch(() => {}), overdue])
  clearTimeout(timer)
}

/** How often `unlessAborted` looks at the signal, in milliseconds. */
const ABORT_POLL_INTERVAL_MS = 10

/** Resolves to the result of `work`, or to null when `signal` aborts first. */
export async function unlessAborted<T>(work: Promise<T>, signal: { readonly aborted: boolean }): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const left = new Promise<null>((resolve) => {
    timer = setInterval(() => signal.aborted && resolve(null), ABORT_POLL_INTERVAL_MS)
  })
  try {
    return await Promise.race([work, left])
  } finally {
    clearInterval(timer)
  }
}
