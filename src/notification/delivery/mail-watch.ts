import type pg from 'pg'
import type { Context } from '../../core/context.ts'
import type { SendOutcome } from '../channel/channel.ts'
import type { Attempt } from '../queue/attempt.ts'
import { LEASE } from '../queue/lease.ts'
import type { DueDelivery } from './delivery.ts'

/** What the watch needs of the result of a delivery. */
interface Result {
  readonly delivery: Pick<DueDelivery, 'subscriber'>
  readonly attempt: Attempt | null
  readonly outcome: SendOutcome | null
}

/**
 * Creates a function that follows the results of deliveries: whether our email is refused for a reason that only the
 * operator can mend. Once an email is delivered again, the others that were refused no longer wait for their pauses,
 * which grow to hours.
 */
export function createMailWatch({ log, now }: Pick<Context, 'log' | 'now'>, pool: Pick<pg.Pool, 'query'>) {
  // Before the first email, another process may have seen refusals.
  let isRefused: boolean | null = null
  return async (batch: readonly Result[]): Promise<void> => {
    const mails = batch.filter(({ delivery }) => delivery.subscriber.channel === 'EMAIL')
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
    const { rowCount } = await pool.query(RESUME_MAILS, [now(), new Date(now().getTime() + LEASE)])
    if (isRefused) log.info({ deliveries: rowCount }, 'notification: the mail server accepts our email again')
    isRefused = false
  }
}

/** Leaves what is due soon, which a worker may have claimed. */
const RESUME_MAILS = `
  UPDATE "Delivery" SET "dueAt" = $1
  WHERE channel = 'EMAIL' AND status = 'PENDING' AND "dueAt" > $2 AND attempts -> -1 ->> 'isOurs' = 'true'`
