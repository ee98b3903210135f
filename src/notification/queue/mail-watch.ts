import type pg from 'pg'
import type { Context } from '../../core/context.ts'
import { MAIL } from '../channel/email.ts'
import type { DeliveryResult, DueRow } from './kind.ts'
import { LEASE } from './lease.ts'

/**
 * Creates a function that follows the results of a table's deliveries: whether our email is refused for a reason that only
 * the operator can mend. Once an email is delivered again, the others that were refused no longer wait for their pauses,
 * which grow to hours.
 * @param table interpolated into SQL, so never pass user input.
 */
export function createMailWatch(
  { log, now }: Pick<Context, 'log' | 'now'>,
  pool: Pick<pg.Pool, 'query'>,
  table: string,
): (batch: readonly DeliveryResult<DueRow>[]) => Promise<void> {
  // Before the first email, another process may have seen refusals.
  let isRefused: boolean | null = null
  return async (batch) => {
    const mails = batch.filter(({ delivery }) => delivery.destination === MAIL)
    const refusal = mails.findLast(({ attempt }) => attempt?.isOurs === true)?.attempt
    if (refusal) {
      if (isRefused !== true) {
        const { status, message } = refusal
        log.error({ status, reason: message }, 'notification: the mail server refuses our email; deliveries wait')
      }
      isRefused = true
      return
    }
    if (isRefused === false || !mails.some(({ outcome }) => outcome?.kind === 'delivered')) return
    const { rowCount } = await pool.query(resumeMails(table), [now(), new Date(now().getTime() + LEASE), MAIL])
    if (isRefused) log.info({ deliveries: rowCount }, 'notification: the mail server accepts our email again')
    isRefused = false
  }
}

/** Leaves what is due soon, which a worker may have claimed. */
const resumeMails = (table: string) => `
  UPDATE "${table}" SET "dueAt" = $1
  WHERE destination = $3 AND status = 'PENDING' AND "dueAt" > $2 AND attempts -> -1 ->> 'isOurs' = 'true'`
