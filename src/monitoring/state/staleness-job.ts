import { notDeleted } from '../../account/not-deleted.ts'
import type { Context } from '../../core/context.ts'
import { MINUTE } from '../../core/time.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { hasLiveRegion } from '../watch/live-region.ts'
import { MAX_HOLD_MS } from './dependency.ts'
import { reconcileMonitors } from './reconcile-monitors.ts'

/** The maximum number of monitors per transaction. */
const MAX_BATCH = 50

/**
 * Reconciles monitors that became stale or known. Every process runs it, so that the loss of all workers is noticed.
 * Returns whether there are active monitors.
 */
export async function reconcileStaleness(ctx: ChangeContext): Promise<boolean> {
  if (!(await hasActiveMonitor(ctx))) return false
  for (const [organizationId, ids] of await readChanged(ctx)) {
    for (let index = 0; index < ids.length; index += MAX_BATCH) {
      await reconcileMonitors(ctx, organizationId, ids.slice(index, index + MAX_BATCH))
    }
  }
  return true
}

async function hasActiveMonitor({ db }: Context): Promise<boolean> {
  return (await db.monitor.findFirst({ where: { pausedBy: null }, select: { id: true } })) !== null
}

/**
 * Returns the ids of monitors whose staleness or blocking by parents may have changed, by organization;
 * `reconcileMonitors` decides. Always includes monitors that wait for the members of a group, because the results of
 * the members do not reconcile them.
 */
async function readChanged({ db, now }: Context): Promise<Map<string, string[]>> {
  const at = now()
  // No monitor becomes stale before its interval plus this slack, or before its interval if no worker runs. A schedule
  // may run every minute.
  const slackMs = (await hasLiveRegion(db, at)) ? MINUTE : 0
  const rows = await db.$queryRaw<{ id: string; organizationId: string }[]>`
    SELECT m.id, m."organizationId" FROM "Monitor" m
    LEFT JOIN "Watch" w ON w."monitorId" = m.id AND w."lastKnownAt" >= coalesce(m."unknownSince",
      ${at}::timestamptz - CASE WHEN m.options -> 'schedule' IS NULL THEN m."intervalSeconds" ELSE 60 END * interval '1 second' - ${slackMs}::float8 * interval '1 millisecond')
    WHERE m."pausedBy" IS NULL AND m."blockedSince" IS NULL AND m.kind <> 'GROUP' AND m.${notDeleted}
    GROUP BY m.id
    HAVING (count(w.id) >= coalesce(m.agreement, 1)) = (m."unknownSince" IS NOT NULL)
    UNION
    SELECT m.id, m."organizationId" FROM "Monitor" m
    WHERE m."pausedBy" IS NULL AND m.${notDeleted}
      AND (m."blockedSince" IS NOT NULL OR m.id IN (SELECT "monitorId" FROM "MonitorDependency"))
      AND (m."heldSince" <= ${new Date(at.getTime() - MAX_HOLD_MS)}
        OR (m."heldSince" IS NOT NULL AND EXISTS (
          SELECT 1 FROM "MonitorDependency" d JOIN "Monitor" p ON p.id = d."parentId" AND p.kind = 'GROUP' WHERE d."monitorId" = m.id))
        OR (m."blockedSince" IS NOT NULL) <> EXISTS (
        SELECT 1 FROM "MonitorDependency" d JOIN "Monitor" p ON p.id = d."parentId"
        WHERE d."monitorId" = m.id AND p."pausedBy" IS NULL AND (p.state = 'DOWN' OR p."blockedSince" IS NOT NULL)))`
  const changed = new Map<string, string[]>()
  for (const { id, organizationId } of rows) {
    const ids = changed.get(organizationId)
    if (ids) ids.push(id)
    else changed.set(organizationId, [id])
  }
  return changed
}
