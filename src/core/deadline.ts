/** The work exceeded its time limit. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded'
}

/**
 * Returns the result of `work`, which goes on unobserved after the deadline.
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
