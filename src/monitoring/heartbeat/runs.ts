import type { Context, Database } from '../../core/context.ts'
import { transaction } from '../../core/context.ts'
import { SECOND } from '../../core/time.ts'
import { invalid } from '../../core/validation.ts'
import type { Watch } from '../../generated/prisma/client.ts'
import { heartbeatDue, runEndOf } from '../watch/heartbeat-due.ts'
import type { Schedule } from '../watch/staleness.ts'

/** A run of a job that has started and not ended. */
interface OpenRun {
  /** The UUID that the job chose; empty: none. */
  readonly id: string
  readonly startedAt: Date
}

/** The number of open runs of a job. When another one starts, the oldest one is forgotten. */
export const MAX_OPEN_RUNS = 100
/** The time, in milliseconds, within which repeated signals are accepted and ignored. */
const MIN_INTERVAL_MS = SECOND
/** The id of runs that the job does not tell apart. */
const NO_ID = ''
const RUN_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/**
 * Returns a run id in lower case. Unlike healthchecks.io, accepts capital letters, as `uuidgen` prints them on macOS.
 * @throws Invalid at `rid` when it is no UUID in its usual form, as healthchecks.io refuses it.
 */
export function parseRunId(text: string): string {
  if (!RUN_ID.test(text)) {
    const example = '123e4567-e89b-42d3-a456-426614174000'
    throw invalid([{ path: ['rid'], message: `must be a UUID such as ${example}` }])
  }
  return text.toLowerCase()
}

/** Returns whether a time is close to now. It may be in the future, if the clock was set back. */
export function isRecent(time: Date | null | undefined, now: Date): boolean {
  return !!time && Math.abs(now.getTime() - time.getTime()) < MIN_INTERVAL_MS
}

/**
 * Records the start of a run, after which the job is late when the first of its open runs exceeds the time limit. A
 * concurrent result that the job is late is discarded. A run that has the same id starts again.
 * @param runId null: the job does not tell its runs apart.
 */
export async function startRun(ctx: Context, watchId: string, runId: string | null, schedule: Schedule): Promise<void> {
  const id = runId ?? NO_ID
  const now = ctx.now()
  await transaction(ctx, async (tx) => {
    const watch = await lockWatch(tx, watchId)
    if (watch === undefined) return
    const open = await openRuns(tx.db, watchId, watch.startedAt)
    if (isRecent(open.find((run) => run.id === id)?.startedAt, now)) return
    if (open.length >= MAX_OPEN_RUNS && isRecent(open[0]?.startedAt, now)) return
    const others = open.filter((run) => run.id !== id && !isReported(run, watch, schedule)).slice(1 - MAX_OPEN_RUNS)
    const starts = [...others.map((run) => run.startedAt), now]
    const hasLimit = schedule.maxRunSeconds !== null
    const dueAt = hasLimit
      ? heartbeatDue(schedule, { reportedAt: watch.lastProbedAt ?? new Date(0), runs: starts })
      : null
    await tx.db.$queryRaw`
      WITH forgotten AS (
        DELETE FROM "HeartbeatRun" WHERE "watchId" = ${watchId}
          AND "runId" <> ALL (${[id, ...others.map((run) => run.id)]}::text[])
      ), started AS (
        INSERT INTO "HeartbeatRun" ("watchId", "runId", "startedAt") VALUES (${watchId}, ${id}, ${now})
        ON CONFLICT ("watchId", "runId") DO UPDATE SET "startedAt" = EXCLUDED."startedAt"
      )
      UPDATE "Watch" SET "startedAt" = ${earliest(starts)}, "dueAt" = coalesce(${dueAt}, "dueAt") WHERE id = ${watchId}`
  })
}

/**
 * Ends a run, and no other one. An id that is not open means the run without an id: one of both signals had none, or an
 * earlier version took the start, which knew no ids. Returns when the run started; null: none was open.
 * @param runId null: the job does not tell its runs apart.
 */
export async function endRun(ctx: Context, watchId: string, runId: string | null): Promise<Date | null> {
  return transaction(ctx, async (tx) => {
    const watch = await lockWatch(tx, watchId)
    const open = await openRuns(tx.db, watchId, watch?.startedAt ?? null)
    const ended = open.find((run) => run.id === runId) ?? open.find((run) => run.id === NO_ID)
    if (ended === undefined) return null
    const rest = open.filter((run) => run !== ended).map((run) => run.startedAt)
    await tx.db.$queryRaw`
      WITH ended AS (DELETE FROM "HeartbeatRun" WHERE "watchId" = ${watchId} AND "runId" = ${ended.id})
      UPDATE "Watch" SET "startedAt" = ${earliest(rest)}::timestamptz WHERE id = ${watchId}`
    return ended.startedAt
  })
}

/** Locks a watch, so that its runs start and end one by one. */
async function lockWatch({ db }: Context, id: string) {
  const [watch] = await db.$queryRaw<Pick<Watch, 'startedAt' | 'lastProbedAt'>[]>`
    SELECT "startedAt", "lastCheckedAt" AS "lastProbedAt" FROM "Watch" WHERE id = ${id} FOR UPDATE`
  return watch
}

/**
 * Returns the open runs of a watch, oldest first. An instance of a version without run ids knows only when the watch
 * started: it ends runs by clearing that time, and starts one that has no row.
 */
export async function openRuns(db: Database, watchId: string, startedAt: Date | null): Promise<OpenRun[]> {
  if (startedAt === null) return []
  const runs = await db.$queryRaw<OpenRun[]>`
    SELECT "runId" AS id, "startedAt" FROM "HeartbeatRun"
    WHERE "watchId" = ${watchId} AND "startedAt" >= ${startedAt} ORDER BY "startedAt", "runId"`
  const isOldest = runs[0]?.startedAt.getTime() === startedAt.getTime()
  return isOldest ? runs : [{ id: NO_ID, startedAt }, ...runs.filter((run) => run.id !== NO_ID)]
}

/** Returns whether a result has reported that a run exceeded its limit. */
function isReported(
  { startedAt }: OpenRun,
  { lastProbedAt }: Pick<Watch, 'lastProbedAt'>,
  schedule: Schedule,
): boolean {
  const end = runEndOf(schedule, startedAt)
  return end !== null && lastProbedAt !== null && end <= lastProbedAt
}

function earliest(times: readonly Date[]): Date | null {
  return times.length === 0 ? null : new Date(Math.min(...times.map(Number)))
}
