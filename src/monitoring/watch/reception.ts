import type pg from 'pg'
import { startPollLoop } from '../../core/concurrency/poll-loop.ts'
import type { Context } from '../../core/context.ts'
import { randomText } from '../../core/id.ts'
import { DAY, SECOND } from '../../core/time.ts'

/**
 * Records when heartbeats could be received. A job whose heartbeat met no instance, or was refused, must not be found
 * down for it, however soon an instance runs again.
 */
export interface Reception {
  /** Begins to sign, once this instance receives heartbeats. Until then, heartbeats may have been lost. */
  start(): Promise<void>
  /** Signs once. @throws the error of the database. */
  sign(): Promise<void>
  /** Records that this instance refused a heartbeat for a reason of its own. Does not wait for the database. */
  noteRefusal(): void
  /** Stores refusals that were noted. @throws the error of the database. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** The interval of signs, and the time after the last one from which an instance counts as away, in milliseconds. */
const SIGN_MS = 20 * SECOND
const AWAY_MS = 50 * SECOND

/**
 * Signs for the instance $1 at the time $2. If nobody had signed recently ($3), or the instance has just started ($4),
 * or it refused heartbeats since $5, inserts a gap. Removes gaps in which another instance was there all the time: it
 * signed before and after them. All parts of the statement see the tables as they were before it. Signs of a time that
 * is still to come, as after the clock was set back, count for nothing.
 */
const SIGN = `
  WITH signed AS (
    INSERT INTO "HeartbeatReceiver" AS receiver (id, since, "lastAt") VALUES ($1, $2, $2)
    ON CONFLICT (id) DO UPDATE SET "lastAt" = EXCLUDED."lastAt",
      since = CASE WHEN receiver."lastAt" BETWEEN $3 AND $2 THEN receiver.since ELSE EXCLUDED.since END
  ), covered AS (
    DELETE FROM "HeartbeatGap" AS gap USING "HeartbeatReceiver" AS receiver
    WHERE NOT gap."isRefusal" AND receiver.since <= gap."startedAt" AND receiver."lastAt" >= gap."endedAt"
  )
  INSERT INTO "HeartbeatGap" AS gap ("startedAt", "endedAt", "isRefusal")
  SELECT "startedAt", $2::timestamptz, bool_or("isRefusal") FROM (
    SELECT max("lastAt") AS "startedAt", FALSE AS "isRefusal" FROM "HeartbeatReceiver" WHERE "lastAt" <= $2
    HAVING max("lastAt") < $2 AND ($4::boolean OR max("lastAt") < $3)
    UNION ALL SELECT $5::timestamptz, TRUE WHERE $5::timestamptz IS NOT NULL
  ) AS found GROUP BY "startedAt"
  ON CONFLICT ("startedAt") DO UPDATE SET "endedAt" = greatest(gap."endedAt", EXCLUDED."endedAt"),
    "isRefusal" = gap."isRefusal" OR EXCLUDED."isRefusal"`

/** Creates the reception of one instance. */
export function createReception({
  pool,
  now,
  log,
}: Pick<Context, 'now' | 'log'> & { readonly pool: Pick<pg.Pool, 'query'> }): Reception {
  const id = randomText(16)
  let refusedAt: Date | null = null
  let loop: ReturnType<typeof startPollLoop> | null = null
  let isFirst = true

  async function sign(): Promise<number> {
    const at = now()
    const refused = refusedAt
    const away = new Date(at.getTime() - AWAY_MS)
    await pool.query({ name: 'sign for heartbeats', text: SIGN, values: [id, at, away, isFirst, refused] })
    isFirst = false
    // Another heartbeat may have been refused in the meantime.
    if (refusedAt === refused) refusedAt = null
    return SIGN_MS
  }

  return {
    async sign() {
      await sign()
    },
    async start() {
      await sign()
      const options = { retryMs: SECOND, minPauseMs: SECOND, log }
      loop = startPollLoop(sign, {
        ...options,
        failureMessage: 'monitoring: could not record the reception of heartbeats',
      })
    },
    noteRefusal() {
      refusedAt ??= now()
      loop?.wake()
    },
    async flush() {
      if (refusedAt !== null) await sign()
    },
    async stop() {
      await loop?.stop()
    },
  }
}

/** Whether heartbeats were received in a period; `unrecorded`: no instance has ever signed. */
export type Received = 'all' | 'perhaps not all' | 'unrecorded'

/** Returns whether every heartbeat of a period was received. */
export async function receivedWithin(
  { db, now }: Pick<Context, 'db' | 'now'>,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<Received> {
  const { _max } = await db.heartbeatReceiver.aggregate({ where: { lastAt: { lte: now() } }, _max: { lastAt: true } })
  if (_max.lastAt === null) return 'unrecorded'
  const isAway = _max.lastAt.getTime() < now().getTime() - AWAY_MS
  if (isAway && _max.lastAt <= to) return 'perhaps not all'
  const gap = await db.heartbeatGap.findFirst({ where: { startedAt: { lte: to }, endedAt: { gte: from } } })
  return gap === null ? 'all' : 'perhaps not all'
}

/** How long gaps are kept: longer than the longest interval of a heartbeat, 31 days, with its grace period. */
const KEPT_DAYS = 40

/** Deletes old gaps, and instances that have ended, except the last one to sign. */
export async function deleteOldReceptions({ db, now }: Pick<Context, 'db' | 'now'>): Promise<void> {
  const since = new Date(now().getTime() - KEPT_DAYS * DAY)
  await db.heartbeatGap.deleteMany({ where: { endedAt: { lt: since } } })
  await db.$executeRaw`
    DELETE FROM "HeartbeatReceiver" WHERE "lastAt" < ${new Date(now().getTime() - DAY)}
      AND "lastAt" < (SELECT max("lastAt") FROM "HeartbeatReceiver")`
}
