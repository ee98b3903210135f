import type { Logger } from 'pino'
import { DeadlineExceeded, withDeadline } from '../core/concurrency/deadline.ts'
import { SECOND } from '../core/time.ts'

/** Functions that close the parts of the service, in the order in which these were opened. */
export type Closers = (() => Promise<void> | void)[]

/** The time limits of stopping: in total, of current requests, and of any other part. */
const STOP_TIMEOUT = 9.5 * SECOND
export const REQUEST_GRACE = 5 * SECOND
const PART_TIMEOUT = 3 * SECOND
/** The minimum time for each remaining part. */
const MIN_PART_TIMEOUT = 0.1 * SECOND

/**
 * Closes parts one after the other, the last one first, each within its time limit and all within `STOP_TIMEOUT`; the
 * end of the process cuts the rest. Returns the names of the parts that were cut.
 */
export async function closeAll(opened: Readonly<Closers>, log: Logger): Promise<readonly string[]> {
  const end = performance.now() + STOP_TIMEOUT - opened.length * MIN_PART_TIMEOUT
  const cut: string[] = []
  for (const close of opened.toReversed()) {
    const name = close.name || 'a part'
    const most = name === 'requests' ? REQUEST_GRACE + MIN_PART_TIMEOUT : PART_TIMEOUT
    const milliseconds = Math.round(Math.max(MIN_PART_TIMEOUT, Math.min(most, end - performance.now())))
    try {
      await withDeadline(milliseconds, name, Promise.resolve(close()))
    } catch (error) {
      // Continues with the other parts.
      log.error({ err: error }, `stop: could not close ${name}`)
      if (error instanceof DeadlineExceeded) cut.push(name)
    }
  }
  return cut
}
