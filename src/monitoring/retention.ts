import { tierLimits } from '../account/plan.ts'
import type { Context } from '../context.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { DAY } from '../time.ts'

/** How many rows one statement deletes at most: so few that nobody waits for it. */
const BATCH = 5000

/** For how long a region without workers is remembered. */
const REGION_DAYS = 7

/** No tier shows more days; a tier that falls keeps its history, which is small. */
const LONGEST = Math.max(...Object.values(tierLimits).map(({ historyDays }) => historyDays))

type Parts = Pick<Context, 'db' | 'now'>

/**
 * Deletes a batch of what is kept no longer: results of single checks and hourly figures after the time that the tier gives
 * them, states, gaps and days when no tier would show them, what deleted monitors have left, and regions that are gone.
 * Gives whether there may be more: pause before the next batch, so that others get their turn. It does no harm to do this
 * in two processes at a time.
 */
export async function forgetOld(parts: Parts): Promise<boolean> {
  // One after the other, and each one to its end, so that what grows fastest goes first.
  for (const forget of [oldResults, oldHours, oldHistory, orphanedResults]) {
    if ((await forget(parts)) >= BATCH) return true
  }
  await oldRegions(parts)
  return false
}

function oldResults(parts: Parts): Promise<number> {
  return ofMonitors(parts, Prisma.sql`"ProbeResult"`, Prisma.sql`old.at`, ({ resultDays }) => resultDays)
}

function oldHours(parts: Parts): Promise<number> {
  return ofMonitors(parts, Prisma.sql`"MonitorHour"`, Prisma.sql`old.hour`, ({ historyDays }) => historyDays)
}

/** Rows of monitors from before the time that the organization's tier gives them, found through their primary key. */
function ofMonitors(
  { db, now }: Parts,
  table: Prisma.Sql,
  time: Prisma.Sql,
  daysOf: (limits: (typeof tierLimits)[keyof typeof tierLimits]) => number,
): Promise<number> {
  const tiers = Object.keys(tierLimits)
  const cutoffs = Object.values(tierLimits).map((limits) => before(now(), daysOf(limits)))
  return db.$executeRaw`
    DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT rows.row FROM unnest(${tiers}::text[], ${cutoffs}::timestamptz[]) AS kept (tier, since)
      JOIN "Organization" o ON o.tier::text = kept.tier
      JOIN "Monitor" m ON m."organizationId" = o.id
      CROSS JOIN LATERAL (
        SELECT old.ctid AS row FROM ${table} old WHERE old."monitorId" = m.id AND ${time} < kept.since LIMIT ${BATCH}
      ) rows
      LIMIT ${BATCH}))`
}

/** What lasts to this day has no end and stays. */
async function oldHistory({ db, now }: Parts): Promise<number> {
  const since = before(now(), LONGEST)
  const ended = (table: Prisma.Sql) => db.$executeRaw`
    DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${table} WHERE "endedAt" < ${since} LIMIT ${BATCH}))`
  const intervals = await ended(Prisma.sql`"MonitorInterval"`)
  const gaps = await ended(Prisma.sql`"MonitorGap"`)
  const days = await db.$executeRaw`
    DELETE FROM "UptimeDay" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "UptimeDay" WHERE day < ${since}::date LIMIT ${BATCH}))`
  return Math.max(intervals, gaps, days)
}

/** Results of monitors that are no more. Steps from one monitor's results to the next's, and so reads one row of each. */
async function orphanedResults({ db }: Parts): Promise<number> {
  return db.$executeRaw`
    DELETE FROM "ProbeResult" WHERE ctid = ANY (ARRAY(
      WITH RECURSIVE known AS (
        SELECT min("monitorId") AS id FROM "ProbeResult"
        UNION ALL
        SELECT (SELECT min(r."monitorId") FROM "ProbeResult" r WHERE r."monitorId" > known.id)
        FROM known WHERE known.id IS NOT NULL
      )
      SELECT rows.row FROM known
      CROSS JOIN LATERAL (
        SELECT r.ctid AS row FROM "ProbeResult" r WHERE r."monitorId" = known.id LIMIT ${BATCH}
      ) rows
      WHERE NOT EXISTS (SELECT 1 FROM "Monitor" m WHERE m.id = known.id)
      LIMIT ${BATCH}))`
}

/** Regions without workers, when enough others watch what they did: else their last checks still tell how long ago it was. */
async function oldRegions({ db, now }: Parts): Promise<void> {
  const since = before(now(), REGION_DAYS)
  await db.$executeRaw`
    DELETE FROM "Watch" w USING "Region" r, "Monitor" m
    WHERE r.name = w.region AND r."lastSeenAt" < ${since} AND m.id = w."monitorId" AND coalesce(m.agreement, 1) <= (
      SELECT count(*) FROM "Watch" other WHERE other."monitorId" = w."monitorId" AND other.region <> w.region
        AND (w."lastKnownAt" IS NULL OR other."lastKnownAt" >= w."lastKnownAt"))`
  await db.$executeRaw`
    DELETE FROM "Region" r WHERE r."lastSeenAt" < ${since}
      AND NOT EXISTS (SELECT 1 FROM "Watch" w WHERE w.region = r.name)`
}

function before(now: Date, days: number): Date {
  return new Date(now.getTime() - days * DAY)
}
