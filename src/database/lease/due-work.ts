import type { Context } from '../../core/context.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { earliestOf } from './agenda.ts'
import type { LeaseOptions } from './lease.ts'
import { claimDue } from './lease.ts'

type DueContext = Pick<Context, 'db' | 'now' | 'log'>

/** A claimed row, or several that are worked on together. */
interface Work {
  /** Names it in the log. */
  readonly id: string
}

interface Options<W extends Work> extends LeaseOptions {
  /** Works on a piece and sets when it is due again. A piece that fails is due again when its lease ends. */
  readonly each: (work: W) => Promise<unknown>
  /** Whether all pieces run at once; absent: one after another. */
  readonly isParallel?: boolean
  /** What the ids of pieces name, such as `invoice`, and what the log says of one that failed. */
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

/** Does the same with rows that are worked on together. @param options.read reads claimed rows by their ids. */
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
