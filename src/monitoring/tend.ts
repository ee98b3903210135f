import { ofLiving } from '../account/deletion.ts'
import { tierLimits } from '../account/plan.ts'
import type { Context } from '../context.ts'
import { SECOND } from '../time.ts'
import { ANYWHERE } from './watch.ts'

/** Over how long, in seconds, the first checks of a region that is new are spread. */
const SPREAD = 30

/** A tier may make an interval as long as that, whatever its monitor's is. */
const LONGEST_MINIMUM = Math.max(...Object.values(tierLimits).map((limits) => limits.minIntervalSeconds))

/**
 * Looks after the watches of a worker's region as a whole: says that the region has workers, has every monitor watched from
 * it that is probed, and makes due what lies further ahead than its rhythm can have put it, as when the clock was set back; a heartbeat is
 * then late when its interval and grace have passed anew.
 * @param leaseMs how far ahead a lease puts a watch.
 */
export async function tendWatches({ db, now, config }: Context, leaseMs: number): Promise<void> {
  const region = config.REGION
  const lastSeenAt = now()
  await db.region.upsert({ where: { name: region }, create: { name: region, lastSeenAt }, update: { lastSeenAt } })
  await db.$executeRaw`
    INSERT INTO "Watch" (id, "monitorId", region, "dueAt", "stateSince")
    SELECT monitor.id || '@' || place.region, monitor.id, place.region,
      ${lastSeenAt}::timestamptz + random() * least(monitor."intervalSeconds", ${SPREAD}::int) * interval '1 second',
      ${lastSeenAt}::timestamptz
    FROM "Monitor" AS monitor, LATERAL (
      SELECT CASE WHEN monitor.kind = 'BLACKLIST' THEN ${ANYWHERE}::text ELSE ${region}::text END AS region
    ) AS place
    WHERE monitor."pausedBy" IS NULL AND monitor.kind <> 'HEARTBEAT' AND monitor.${ofLiving}
      AND NOT EXISTS (SELECT 1 FROM "Watch" AS watch WHERE watch.id = monitor.id || '@' || place.region)
    ON CONFLICT (id) DO NOTHING`
  const slackMs = leaseMs + SECOND
  await db.$executeRaw`
    UPDATE "Watch" AS watch SET "dueAt" = CASE WHEN monitor.kind = 'HEARTBEAT' THEN furthest.at ELSE ${lastSeenAt}::timestamptz END
    FROM "Monitor" AS monitor, LATERAL (
      SELECT ${lastSeenAt}::timestamptz + ${slackMs}::float8 * interval '1 millisecond'
        + (greatest(monitor."intervalSeconds", ${LONGEST_MINIMUM}::int) + coalesce((monitor.options ->> 'graceSeconds')::float8, 0)) * interval '1 second' AS at
    ) AS furthest
    WHERE monitor.id = watch."monitorId" AND watch.region IN (${region}, ${ANYWHERE})
      AND watch."dueAt" > ${new Date(lastSeenAt.getTime() + slackMs)} AND watch."dueAt" > furthest.at`
}
