import { LONGEST_HISTORY_DAYS, tierLimits } from '../../account/limits.ts'
import { organizations } from '../../account/views.ts'
import type { Context } from '../../core/context.ts'
import type { CountDeleted } from '../../core/deleted-rows.ts'
import { DELETE_BATCH, uncounted } from '../../core/deleted-rows.ts'
import { DAY } from '../../core/time.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { deleteOldReceptions } from '../watch/reception.ts'

/** The number of days for which a region without workers is kept. */
const REGION_DAYS = 7

type Parts = Pick<Context, 'db' | 'now'>

/**
 * Deletes a batch of expired rows: probe results and hourly figures that are older than the tier keeps, intervals, gaps
 * and days that no tier shows, results of deleted monitors, and regions without workers. Returns whether there may be
 * more; pause before the next batch, so that other work can run. Two processes may do this at the same time.
 */
export async function deleteExpired(parts: Parts, count: CountDeleted = uncounted): Promise<boolean> {
  // One after the other, starting with the table that grows fastest.
  for (const forget of [deleteOldResults, deleteOldHours, deleteOldHistory, deleteOrphanedResults]) {
    if ((await forget(parts, count)) >= DELETE_BATCH) return true
  }
  await deleteOldRegions(parts)
  await deleteOldReceptions(parts)
  return false
}

type Forget = (parts: Parts, count: CountDeleted) => Promise<number>

const deleteOldResults: Forget = async (parts, count) => {
  const time = Prisma.sql`old.at`
  const deleted = await deleteBefore(parts, Prisma.sql`"ProbeResult"`, time, ({ resultDays }) => resultDays)
  count('ProbeResult', deleted)
  return deleted
}

const deleteOldHours: Forget = async (parts, count) => {
  const time = Prisma.sql`old.hour`
  const deleted = await deleteBefore(parts, Prisma.sql`"MonitorHour"`, time, ({ historyDays }) => historyDays)
  count('MonitorHour', deleted)
  return deleted
}

/** Deletes rows that are older than the organization's tier keeps. Finds them by their primary key. */
function deleteBefore(
  { db, now }: Parts,
  table: Prisma.Sql,
  time: Prisma.Sql,
  daysOf: (limits: (typeof tierLimits)[keyof typeof tierLimits]) => number,
): Promise<number> {
  const tiers = Object.keys(tierLimits)
  const cutoffs = Object.values(tierLimits).map((limits) => daysBefore(now(), daysOf(limits)))
  return db.$executeRaw`
    DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT rows.row FROM unnest(${tiers}::text[], ${cutoffs}::timestamptz[]) AS kept (tier, since)
      JOIN ${organizations} AS o ON o.tier::text = kept.tier
      JOIN "Monitor" m ON m."organizationId" = o.id
      CROSS JOIN LATERAL (
        SELECT old.ctid AS row FROM ${table} old WHERE old."monitorId" = m.id AND ${time} < kept.since LIMIT ${DELETE_BATCH}
      ) rows
      LIMIT ${DELETE_BATCH}))`
}

/** Deletes intervals, gaps and days that no tier shows. Keeps open intervals, which have no end. */
async function deleteOldHistory({ db, now }: Parts, count: CountDeleted): Promise<number> {
  const since = daysBefore(now(), LONGEST_HISTORY_DAYS)
  const ended = (table: Prisma.Sql) => db.$executeRaw`
    DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${table} WHERE "endedAt" < ${since} LIMIT ${DELETE_BATCH}))`
  const intervals = await ended(Prisma.sql`"MonitorInterval"`)
  const gaps = await ended(Prisma.sql`"MonitorGap"`)
  const days = await db.$executeRaw`
    DELETE FROM "UptimeDay" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "UptimeDay" WHERE day < ${since}::date LIMIT ${DELETE_BATCH}))`
  count('MonitorInterval', intervals)
  count('MonitorGap', gaps)
  count('UptimeDay', days)
  return Math.max(intervals, gaps, days)
}

/** Deletes results of deleted monitors. Skips from one monitor's results to the next, and reads one row of each. */
async function deleteOrphanedResults({ db }: Parts, count: CountDeleted): Promise<number> {
  const deleted = await db.$executeRaw`
    DELETE FROM "ProbeResult" WHERE ctid = ANY (ARRAY(
      WITH RECURSIVE known AS (
        SELECT min("monitorId") AS id FROM "ProbeResult"
        UNION ALL
        SELECT (SELECT min(r."monitorId") FROM "ProbeResult" r WHERE r."monitorId" > known.id)
        FROM known WHERE known.id IS NOT NULL
      )
      SELECT rows.row FROM known
      CROSS JOIN LATERAL (
        SELECT r.ctid AS row FROM "ProbeResult" r WHERE r."monitorId" = known.id LIMIT ${DELETE_BATCH}
      ) rows
      WHERE NOT EXISTS (SELECT 1 FROM "Monitor" m WHERE m.id = known.id)
      LIMIT ${DELETE_BATCH}))`
  count('ProbeResult', deleted)
  return deleted
}

/**
 * Deletes regions without workers if enough other regions watch the same monitors. Otherwise their last results are
 * kept, because they show how long monitors have been unknown.
 */
async function deleteOldRegions({ db, now }: Parts): Promise<void> {
  const since = daysBefore(now(), REGION_DAYS)
  await db.$executeRaw`
    DELETE FROM "Watch" w USING "Region" r, "Monitor" m
    WHERE r.name = w.region AND r."lastSeenAt" < ${since} AND m.id = w."monitorId" AND coalesce(m.agreement, 1) <= (
      SELECT count(*) FROM "Watch" other WHERE other."monitorId" = w."monitorId" AND other.region <> w.region
        AND (w."lastKnownAt" IS NULL OR other."lastKnownAt" >= w."lastKnownAt"))`
  await db.$executeRaw`
    DELETE FROM "Region" r WHERE r."lastSeenAt" < ${since}
      AND NOT EXISTS (SELECT 1 FROM "Watch" w WHERE w.region = r.name)`
}

function daysBefore(now: Date, days: number): Date {
  return new Date(now.getTime() - days * DAY)
}
