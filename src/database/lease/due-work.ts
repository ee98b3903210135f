import type { Context } from '../../core/context.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { earliestOf } from './agenda.ts'
import type { LeaseOptions } from './lease.ts'
import { claimDue } from './lease.ts'

type DueContext = Pick<Context, 'db' | 'now' | 'log'>

/** One unit of work: a claimed row, or several. */
interface Work {
  /** Its id in the log. */
  readonly id: string
}

interface Options<W extends Work> extends LeaseOptions {
  /** Does a unit of work and sets its next due time. A unit that fails is due again when its lease ends. */
  readonly each: (work: W) => Promise<unknown>
  /** Whether all units run at once; absent: one after another. */
  readonly isParallel?: boolean
  /** The log field of a unit's id, such as `invoice`, and the message that is logged when a unit fails. */
  readonly subject: string
  readonly failureMessage: string
  /** The level of the failure; absent: error. */
  readonly level?: 'warn'
}

/** A claimed row. While its due time is `until`, no other worker has claimed or changed it. */
export interface ClaimedRow extends Work {
  readonly until: Date
}

/** Claims the due rows and works on each. Logs failures. Returns when the next row is due; null: none. */
export function runDue(ctx: DueContext, options: Options<ClaimedRow>): Promise<Date | null> {
  return runDueTogether(ctx, { ...options, read: async (ids, until) => ids.map((id) => ({ id, until })) })
}

/** Like `runDue`, for units that consist of several rows. @param options.read reads the units of claimed rows. */
export async function runDueTogether<W extends Work>(
  ctx: DueContext,
  options: Options<W> & { readonly read: (ids: readonly string[], until: Date) => Promise<readonly W[]> },
): Promise<Date | null> {
  const { table, dueColumn, where, each, subject, failureMessage, level = 'error', isParallel = false } = options
  const { taken, until } = await claimDue(ctx, options)
  const run = (work: W) =>
    each(work).catch((error: unknown) => ctx.log[level]({ err: error, [subject]: work.id }, failureMessage))
  const claimed =
    taken.length === 0
      ? []
      : await options.read(
          taken.map(({ id }) => id),
          until,
        )
  if (isParallel) await Promise.all(claimed.map(run))
  else for (const work of claimed) await run(work)
  const [next] = await ctx.db.$queryRaw<{ at: Date | null }[]>`
    SELECT (${earliestOf(table, where ?? Prisma.sql`TRUE`, dueColumn)}) AS at`
  return next?.at ?? null
}
