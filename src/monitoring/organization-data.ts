import { tierLimits } from '../account/limits.ts'
import type { OrganizationData } from '../account/organization/organization-data.ts'
import type { Database } from '../core/context.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'

const ofMonitors = (id: string) => Prisma.sql`"monitorId" IN (SELECT id FROM "Monitor" WHERE "organizationId" = ${id})`

/** What becomes of monitors and uptime when their organization is deleted, restored or moved to another time zone. */
export const monitoringData: OrganizationData = {
  stop: stopMonitoring,
  resume: resumeMonitoring,
  // Days now have other boundaries, so uptime days are computed again.
  moveDays: async (db, organizationId) => {
    await db.uptimeDay.deleteMany({ where: { organizationId } })
  },
  erased: [
    { table: 'ProbeResult', where: ofMonitors },
    { table: 'MonitorHour', where: ofMonitors },
    { table: 'MonitorInterval', where: ofMonitors },
    { table: 'MonitorGap', where: ofMonitors },
    { table: 'UptimeDay' },
    { table: 'Monitor' },
  ],
}

/** Stops all probes; paused monitors stay paused. Results of probes that are still running are ignored. */
async function stopMonitoring(db: Database, { id: organizationId }: Organization): Promise<void> {
  await db.watch.updateMany({ where: { monitor: { organizationId } }, data: { dueAt: null } })
}

/**
 * Resumes probes immediately. A heartbeat monitor that has reported before gets its interval and grace period until the next
 * report; for a heartbeat with a schedule, the scheduler computes when that is due.
 */
async function resumeMonitoring(db: Database, { id, tier }: Organization, now: Date): Promise<void> {
  const shortest = tierLimits[tier].minIntervalSeconds
  await db.$executeRaw`
    UPDATE "Watch" AS watch SET "dueAt" = CASE WHEN monitor.kind <> 'HEARTBEAT' OR monitor.options -> 'schedule' IS NOT NULL THEN ${now}::timestamptz
      ELSE ${now}::timestamptz + (greatest(monitor."intervalSeconds", ${shortest}::int)
        + coalesce((monitor.options ->> 'graceSeconds')::float8, 0)) * interval '1 second' END
    FROM "Monitor" AS monitor
    WHERE monitor.id = watch."monitorId" AND monitor."organizationId" = ${id} AND monitor."pausedBy" IS NULL
      AND (monitor.kind <> 'HEARTBEAT' OR watch."lastCheckedAt" IS NOT NULL)`
}
