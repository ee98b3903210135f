import type { Context } from '../context.ts'
import { transaction } from '../context.ts'
import { NotFound } from '../errors.ts'
import type { NewEvent } from './event.ts'
import { append } from './event.ts'

/** What a change gives, and then what has happened by it, in order. */
export type Changed<T> = readonly [result: T, ...events: NewEvent[]]

/**
 * Makes a change to an organization: one transaction, at whose end the events that `work` gives are appended to the log.
 * Changes to one organization run one at a time, in all processes together, because its row is locked first: what
 * `work` reads stays true until the commit, and no two changes can wait for each other.
 * @throws NotFound when there is no such organization.
 */
export function change<T>(
  ctx: Context,
  organizationId: string,
  work: (ctx: Context) => Promise<Changed<T>>,
): Promise<T> {
  return transaction(ctx, async (tx) => {
    const locked = await tx.db.$queryRaw<unknown[]>`
      SELECT 1 FROM "Organization" WHERE id = ${organizationId} FOR NO KEY UPDATE`
    if (locked.length === 0) throw new NotFound('There is no such organization.')
    const [result, ...events] = await work(tx)
    await append(tx, organizationId, events)
    return result
  })
}
