/** What had to be done did not end in time. */
export class Overdue extends Error {
  override readonly name = 'Overdue'
}

/**
 * Gives what `work` gives, unless that takes too long. Work that is overdue is not waited for any more: whether it can be
 * ended is for the caller to know.
 * @param what the subject of the error's sentence. @throws Overdue after so many milliseconds.
 */
export async function within<T>(milliseconds: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const overdue = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Overdue(`${what} did not end within ${milliseconds / 1000} s`)), milliseconds)
  })
  // What it says once nobody waits for it any more is of no use.
  work.catch(() => {})
  try {
    return await Promise.race([work, overdue])
  } finally {
    clearTimeout(timer)
  }
}
