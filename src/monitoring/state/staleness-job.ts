import { notDeleted } from '../../account/not-deleted.ts'
import type { Context } from '../../core/context.ts'
import { MINUTE, SECOND } from '../../core/time.ts'
import { plainRows } from '../../database/transaction.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { ANYWHERE, hasLiveRegion } from '../watch/live-region.ts'
import { MAX_HOLD_MS } from './dependency.ts'
import { reconcileMonitors } from './reconcile-monitors.ts'

/** The maximum number of monitors per transaction. */
const MAX_BATCH = 50

/** The monitors to examine: all, or those that an index knows to be overdue or unknown. */
export type StalenessScope = 'ALL' | 'OVERDUE'

/**
 * Reconciles monitors that became stale or known, if no other process has just done so. Every process calls it, so that
 * the loss of all workers is noticed. Returns whether there are active monitors.
 */
export async function reconcileStalenessInTurn(ctx: ChangeContext): Promise<boolean> {
  if (!(await hasActiveMonitor(ctx))) return false
  const scope = await claimScan(ctx)
  if (scope !== null) await reconcileStaleness(ctx, scope)
  return true
}

/** Reconciles monitors that became stale or known. */
export async function reconcileStaleness(ctx: ChangeContext, scope: StalenessScope = 'ALL'): Promise<void> {
  for (const [organizationId, ids] of await readChanged(ctx, scope)) {
    for (let index = 0; index < ids.length; index += MAX_BATCH) {
      await reconcileMonitors(ctx, organizationId, ids.slice(index, index + MAX_BATCH))
    }
  }
}

async function hasActiveMonitor({ db }: Pick<Context, 'db'>): Promise<boolean> {
  return (await db.monitor.findFirst({ where: { pausedBy: null }, select: { id: true } })) !== null
}

/**
 * Returns the ids of monitors whose staleness or blocking by parents may have changed, by organization;
 * `reconcileMonitors` decides. Always includes monitors that wait for the members of a group, because the results of
 * the members do not reconcile them.
 */
async function readChanged(
  { db, now }: Pick<Context, 'db' | 'now'>,
  scope: StalenessScope,
): Promise<Map<string, string[]>> {
  const at = now()
  // No monitor becomes stale before its interval plus this slack, or before its interval if no worker runs. A schedule
  // may run every minute.
  const slackMs = (await hasLiveRegion(db, at)) ? MINUTE : 0
  const rows = await plainRows<{ id: string; organizationId: string }>(
    db,
    Prisma.sql`
    SELECT m.id, m."organizationId" FROM "Monitor" m
    LEFT JOIN "Watch" w ON w."monitorId" = m.id AND w."lastKnownAt" >= coalesce(m."unknownSince",
      ${at}::timestamptz - CASE WHEN m.options -> 'schedule' IS NULL THEN m."intervalSeconds" ELSE 60 END * interval '1 second' - ${slackMs}::float8 * interval '1 millisecond')
    WHERE m."pausedBy" IS NULL AND m."blockedSince" IS NULL AND m.kind <> 'GROUP' AND m.${notDeleted}
      AND ${scope === 'ALL' ? Prisma.sql`TRUE` : Prisma.sql`m.id IN (${overdueOrUnknown(new Date(at.getTime() - slackMs))})`}
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
        WHERE d."monitorId" = m.id AND p."pausedBy" IS NULL AND (p.state = 'DOWN' OR p."blockedSince" IS NOT NULL)))`,
  )
  const changed = new Map<string, string[]>()
  for (const { id, organizationId } of rows) {
    const ids = changed.get(organizationId)
    if (ids) ids.push(id)
    else changed.set(organizationId, [id])
  }
  return changed
}

/**
 * Selects the monitors that an index knows to be without a known result: those with a watch whose probe is overdue, or
 * whose last result is UNKNOWN, and those that are marked as stale. A stale monitor is not among them only while
 * workers claim its watch again and again without storing a result, or if it has no watch.
 * @param before the due time of an overdue probe.
 */
const overdueOrUnknown = (before: Date) => Prisma.sql`
  SELECT watch."monitorId" FROM (SELECT name FROM "Region" UNION SELECT ${ANYWHERE}) AS region (name)
    JOIN "Watch" AS watch ON watch.region = region.name AND watch."dueAt" < ${before}::timestamptz
  UNION SELECT "monitorId" FROM "Watch" WHERE "unknownSince" IS NOT NULL
  UNION SELECT id FROM "Monitor" WHERE "unknownSince" IS NOT NULL`

/** How often monitors that are overdue or unknown are examined, and how often all are, in milliseconds. */
const SCAN_MS = 4 * SECOND
const WHOLE_SCAN_MS = MINUTE

/**
 * Claims the next examination for this process. Returns its scope; null: it is not due, because another process has
 * examined the monitors. A time that is too far ahead means that the clock was set back.
 */
async function claimScan({ db, now }: Pick<Context, 'db' | 'now'>): Promise<StalenessScope | null> {
  const at = now()
  const [next, whole] = [SCAN_MS, WHOLE_SCAN_MS].map((ms) => new Date(at.getTime() + ms))
  const isDue = (column: string, end: Date | undefined) =>
    Prisma.sql`scan.${Prisma.raw(`"${column}"`)} NOT BETWEEN ${at}::timestamptz + interval '1 ms' AND ${end}::timestamptz`
  const [claimed] = await plainRows<{ isWhole: boolean }>(
    db,
    Prisma.sql`
    INSERT INTO "StalenessScan" AS scan (id, "dueAt", "wholeDueAt") VALUES (1, ${next}, ${whole})
    ON CONFLICT (id) DO UPDATE SET "dueAt" = EXCLUDED."dueAt",
      "wholeDueAt" = CASE WHEN ${isDue('wholeDueAt', whole)} THEN EXCLUDED."wholeDueAt" ELSE scan."wholeDueAt" END
    WHERE ${isDue('dueAt', next)}
    RETURNING "wholeDueAt" = ${whole}::timestamptz AS "isWhole"`,
  )
  if (!claimed) return null
  return claimed.isWhole ? 'ALL' : 'OVERDUE'
}
