import type { Context } from '../../core/context.ts'
import { DELETE_BATCH } from '../../core/deleted-rows.ts'
import { DAY } from '../../core/time.ts'
import { Prisma } from '../../generated/prisma/client.ts'

/** How long ended deliveries are kept. */
export const RETENTION = 30 * DAY

/**
 * Deletes a batch of a table's deliveries that ended long ago, found by an index of `endedAt`. Returns their number.
 * @param table interpolated into SQL, so never pass user input.
 */
export function deleteEnded({ db, now }: Pick<Context, 'db' | 'now'>, table: string): Promise<number> {
  const rows = Prisma.raw(`"${table}"`)
  return db.$executeRaw`
    DELETE FROM ${rows} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${rows} WHERE "endedAt" < ${new Date(now().getTime() - RETENTION)} LIMIT ${DELETE_BATCH}))`
}
