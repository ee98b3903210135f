import { tierLimits } from '../../account/limits.ts'
import { notDeleted } from '../../account/not-deleted.ts'
import type { Context } from '../../core/context.ts'
import { SECOND } from '../../core/time.ts'
import { MAX_GAP_MS } from '../watch/cron.ts'
import { ANYWHERE } from '../watch/live-region.ts'

/** The time over which to spread the first probes of a new region, in seconds. */
const SPREAD_SECONDS = 30

/** The maximum time between two runs of a schedule, in seconds. */
const MAX_CRON_SECONDS = MAX_GAP_MS / SECOND

/** The maximum interval that a tier enforces, in seconds. */
const MAX_TIER_INTERVAL_SECONDS = Math.max(...Object.values(tierLimits).map((limits) => limits.minIntervalSeconds))

/**
 * Reconciles the watches of a worker's region: marks the region as alive, creates missing watches, and corrects due
 * times that are too far ahead, as after a clock was set back. Such a heartbeat gets another interval and grace; one
 * with a schedule is due now, because only the scheduler can evaluate schedules. Uses one statement, because it runs
 * periodically. Returns whether watches have changed.
 * @param leaseMs by how many milliseconds a lease moves the due time.
 */
export async function reconcileWatches({ db, now, config }: Context, leaseMs: number): Promise<boolean> {
  const region = config.REGION
  const lastSeenAt = now()
  const slackMs = leaseMs + SECOND
  const changed = await db.$queryRaw<unknown[]>`
    WITH seen AS (
      INSERT INTO "Region" (name, "lastSeenAt") VALUES (${region}, ${lastSeenAt}::timestamptz)
      ON CONFLICT (name) DO UPDATE SET "lastSeenAt" = EXCLUDED."lastSeenAt"
    ), created AS (
    INSERT INTO "Watch" (id, "monitorId", region, "dueAt", "stateSince")
    SELECT monitor.id || '@' || place.region, monitor.id, place.region,
      ${lastSeenAt}::timestamptz + random() * least(monitor."intervalSeconds", ${SPREAD_SECONDS}::int) * interval '1 second',
      ${lastSeenAt}::timestamptz
    FROM "Monitor" AS monitor, LATERAL (
      SELECT CASE WHEN monitor.kind = 'BLACKLIST' THEN ${ANYWHERE}::text ELSE ${region}::text END AS region
    ) AS place
    WHERE monitor."pausedBy" IS NULL AND monitor.kind NOT IN ('HEARTBEAT', 'GROUP') AND monitor.${notDeleted}
      AND NOT EXISTS (SELECT 1 FROM "Watch" AS watch WHERE watch.id = monitor.id || '@' || place.region)
    ON CONFLICT (id) DO NOTHING RETURNING id
    ), moved AS (
    UPDATE "Watch" AS watch SET "dueAt" = CASE WHEN monitor.kind = 'HEARTBEAT' AND monitor.options -> 'schedule' IS NULL THEN furthest.at ELSE ${lastSeenAt}::timestamptz END
    FROM "Monitor" AS monitor, LATERAL (
      SELECT ${lastSeenAt}::timestamptz + ${slackMs}::float8 * interval '1 millisecond'
        + (greatest(monitor."intervalSeconds", ${MAX_TIER_INTERVAL_SECONDS}::int, CASE WHEN monitor.options -> 'schedule' IS NOT NULL THEN ${MAX_CRON_SECONDS}::int END)
          + greatest(coalesce((monitor.options ->> 'graceSeconds')::float8, 0), coalesce((monitor.options ->> 'maxRunSeconds')::float8, 0))) * interval '1 second' AS at
    ) AS furthest
    WHERE monitor.id = watch."monitorId" AND watch.region IN (${region}, ${ANYWHERE})
      AND watch."dueAt" > ${new Date(lastSeenAt.getTime() + slackMs)} AND watch."dueAt" > furthest.at
    RETURNING watch.id
    )
    SELECT id FROM created UNION ALL SELECT id FROM moved LIMIT 1`
  return changed.length > 0
}
