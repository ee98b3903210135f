import type { Context, Database } from '../../core/context.ts'
import { transaction } from '../../core/context.ts'
import { errorCode } from '../../core/error-code.ts'
import { isPlanLost } from '../../database/statement.ts'
import { plainRows } from '../../database/transaction.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { MonitorState, ProbeOutcome } from '../../generated/prisma/enums.ts'
import { incidentMonitors, maintenanceServices, maintenances } from '../../status/views.ts'
import { BUCKETS, bucketOf } from '../uptime/histogram.ts'
import type { DueWatch } from '../watch/due-watch.ts'
import type { WatchMemory } from '../watch/judge.ts'
import type { WatchFreshness } from '../watch/staleness.ts'
import { isFresh, regionsNeeded, unknownTimeBefore } from '../watch/staleness.ts'
import type { MonitorFacts } from './after-result.ts'
import { lacksIncident, mayEndStaleness } from './after-result.ts'
import { followedMonitors } from './followed-monitors.ts'
import type { ProbeResult } from './probe-result.ts'

/** The database notification that announces monitors with new results. The payload has their ids, separated by spaces. */
export const RESULTS_NOTIFICATION = 'monitor_checks'

/** A probe result with the time at which the probe started. */
export interface TimedProbeResult {
  readonly at: Date
  readonly result: ProbeResult
}

/** A probe result and the new memory of its watch. */
export interface JudgedProbeResult {
  readonly watch: DueWatch
  readonly probe: TimedProbeResult
  readonly memory: WatchMemory
  /** When the watch is next due. */
  readonly dueAt: Date
}

/** The outcome of storing a result. */
export interface StoreOutcome {
  /** The state of its monitor. */
  readonly state: MonitorState
  /** Whether the monitor is down and has no incident, but should have one. */
  readonly lacksIncident: boolean
  /** Whether the monitor is marked as stale, and the result may end that. */
  readonly isMarkedStale: boolean
  /** The ids of monitors that depend on it and wait for its result. */
  readonly waiting: readonly string[]
}

/** What the database knows of the monitor of a stored result. */
interface StoredResult extends MonitorFacts {
  /** The id of the watch. */
  readonly id: string
  readonly waiting: readonly string[]
}

/**
 * Stores results of different monitors, and sets when their watches are next due. A result counts if its watch has not
 * changed since it was read. Each is written completely or not at all. Returns the outcomes of the results that
 * counted, by watch.
 * @throws the error of the database.
 */
export async function storeResults(
  ctx: Pick<Context, 'db'>,
  results: readonly JudgedProbeResult[],
): Promise<Map<string, StoreOutcome>> {
  const late = results.filter(isLate)
  const shared = late.filter(({ watch }) => regionsNeeded(watch.monitor.agreement) > 1)
  if (shared.length === 0) return storeWithGaps(ctx, results, late)
  return transaction(ctx, async (tx) => {
    await lockMonitors(tx, shared.map(monitorIdOf))
    return storeWithGaps(tx, results, late)
  })
}

const monitorIdOf = ({ watch }: JudgedProbeResult) => watch.monitor.id

/** Returns whether nothing was known of a watch before its known result. */
function isLate({ watch, probe: { at, result } }: JudgedProbeResult): boolean {
  return result.outcome !== 'UNKNOWN' && !isFresh(watch, watch.schedule, at)
}

async function storeWithGaps(
  { db }: Pick<Context, 'db'>,
  results: readonly JudgedProbeResult[],
  late: readonly JudgedProbeResult[],
): Promise<Map<string, StoreOutcome>> {
  const reports = late.length === 0 ? new Map<string, Report[]>() : await readReports(db, late.map(monitorIdOf))
  const gapOf = (judged: JudgedProbeResult) => gapBefore(judged, reports.get(monitorIdOf(judged)) ?? [])
  const gaps = new Map(late.map((judged) => [judged, gapOf(judged)]))
  const rows = results.map((judged) => ({ ...rowOf(judged), unknownFrom: gaps.get(judged)?.startedAt ?? null }))
  const stored = new Map((await store(db, rows)).map((row) => [row.id, row]))
  return new Map(
    results.flatMap(({ watch, probe }) => {
      const row = stored.get(watch.id)
      return row ? [[watch.id, outcomeOf(row, probe.result.outcome)]] : []
    }),
  )
}

function outcomeOf({ state, waiting, ...monitor }: StoredResult, outcome: ProbeOutcome): StoreOutcome {
  const facts = { ...monitor, state }
  return {
    state,
    waiting,
    lacksIncident: lacksIncident(facts, outcome),
    isMarkedStale: mayEndStaleness(facts, outcome),
  }
}

/** Returns the gap before a late result, by what the watches of its monitor reported before. */
function gapBefore({ watch, probe }: JudgedProbeResult, reports: readonly Report[]) {
  const { schedule, monitor } = watch
  const own = reports.find(({ id }) => id === watch.id)
  const others = reports.filter(({ id }) => id !== watch.id)
  return own ? unknownTimeBefore(probe.at, own, others, { schedule, agreement: monitor.agreement }) : null
}

/** A watch with the time of its last known result. */
interface Report extends WatchFreshness {
  readonly id: string
  readonly monitorId: string
}

async function readReports(db: Database, monitorIds: readonly string[]): Promise<Map<string, Report[]>> {
  const reports = await plainRows<Report>(
    db,
    Prisma.sql`SELECT id, "monitorId", "lastKnownAt", "unknownSince" FROM "Watch" WHERE "monitorId" = ANY (${monitorIds})`,
  )
  const ofMonitors = new Map<string, Report[]>()
  for (const report of reports) {
    const known = ofMonitors.get(report.monitorId)
    if (known) known.push(report)
    else ofMonitors.set(report.monitorId, [report])
  }
  return ofMonitors
}

/** The number of locks that all monitors share, because a server has room for some thousands in all. */
const LOCKS = 64
/** The first key of these locks, which tells them from those of other rooms. */
const LOCK_KEY = 0x6761_70

/**
 * Lets late results of regions that must agree be judged one after the other until the commit: each alone would find
 * that the others still lack one. Locks in order, so that transactions cannot deadlock.
 */
async function lockMonitors({ db }: Pick<Context, 'db'>, monitorIds: readonly string[]): Promise<void> {
  await db.$queryRaw`
    SELECT pg_advisory_xact_lock(${LOCK_KEY}::int, key)::text FROM (
      SELECT DISTINCT hashtext(id) & ${LOCKS - 1}::int AS key FROM unnest(${monitorIds}::text[]) AS id ORDER BY key
    ) AS keys`
}

/**
 * Writes the results whose watches have not changed since they were read, with one statement. Hours and gaps are
 * ordered by monitor, so that workers of several regions lock them in the same order.
 */
function store(db: Database, rows: readonly object[]): Promise<StoredResult[]> {
  return plainRows(
    db,
    Prisma.sql`
  WITH result AS (
    SELECT * FROM jsonb_to_recordset(${JSON.stringify(rows, storable)}::jsonb) AS result (
      id text, "monitorId" text, region text, fence timestamptz, "at" timestamptz, outcome "ProbeOutcome",
      "latencyMs" int, bucket int, message text, detail jsonb, state "MonitorState", "stateSince" timestamptz,
      recent jsonb, stability jsonb, "dueAt" timestamptz, "unknownFrom" timestamptz
    )
  ), accepted AS (
    UPDATE "Watch" AS watch SET
      "dueAt" = result."dueAt", state = result.state, "stateSince" = result."stateSince", recent = result.recent,
      stability = result.stability,
      "lastCheckedAt" = result."at", "lastOutcome" = result.outcome, "lastMessage" = result.message,
      "lastLatencyMs" = result."latencyMs",
      "lastKnownAt" = CASE WHEN result.outcome = 'UNKNOWN' THEN watch."lastKnownAt" ELSE result."at" END,
      "unknownSince" = CASE WHEN result.outcome = 'UNKNOWN' THEN coalesce(watch."unknownSince", result."at") END
    FROM result WHERE watch.id = result.id AND watch."dueAt" = result.fence
    RETURNING result.*
  ), gap AS (
    INSERT INTO "MonitorGap" AS gap ("monitorId", "startedAt", "endedAt")
    SELECT "monitorId", "unknownFrom", "at" FROM accepted WHERE "unknownFrom" IS NOT NULL ORDER BY "monitorId"
    ON CONFLICT ("monitorId", "startedAt") DO UPDATE SET "endedAt" = LEAST(gap."endedAt", EXCLUDED."endedAt")
  ), stored AS (
    INSERT INTO "ProbeResult" ("monitorId", "at", region, outcome, "latencyMs", message, detail)
    SELECT "monitorId", "at", region, outcome, "latencyMs", message, detail FROM accepted
    ON CONFLICT DO NOTHING
  ), counted AS (
    INSERT INTO "MonitorHour" AS hour ("monitorId", hour, up, degraded, down, unknown, latencies)
    SELECT "monitorId", date_trunc('hour', "at"), (outcome = 'UP')::int, (outcome = 'DEGRADED')::int,
      (outcome = 'DOWN')::int, (outcome = 'UNKNOWN')::int,
      CASE WHEN bucket IS NULL THEN array_fill(0, ARRAY[${Prisma.raw(String(BUCKETS))}])
        ELSE array_fill(0, ARRAY[bucket]) || 1 || array_fill(0, ARRAY[${Prisma.raw(String(BUCKETS - 1))} - bucket]) END
    FROM accepted ORDER BY "monitorId"
    ON CONFLICT ("monitorId", hour) DO UPDATE SET
      up = hour.up + EXCLUDED.up, degraded = hour.degraded + EXCLUDED.degraded, down = hour.down + EXCLUDED.down,
      unknown = hour.unknown + EXCLUDED.unknown,
      latencies = CASE WHEN array_position(EXCLUDED.latencies, 1) IS NULL THEN hour.latencies
        ELSE hour.latencies[:array_position(EXCLUDED.latencies, 1) - 1]
          || (hour.latencies[array_position(EXCLUDED.latencies, 1)] + 1)
          || hour.latencies[array_position(EXCLUDED.latencies, 1) + 1:] END
  ), announced AS (
    SELECT pg_notify(${RESULTS_NOTIFICATION}, string_agg("monitorId", ' '))
    FROM (
      SELECT "monitorId", (row_number() OVER ()) / 200 AS part FROM accepted JOIN ${followedMonitors} AS followed USING ("monitorId")
    ) AS parts GROUP BY part
  )
  SELECT accepted.id, monitor.state, monitor."serviceId" IS NOT NULL AS "hasService",
    monitor."unknownSince" IS NOT NULL AS "isStale", monitor."blockedSince" IS NOT NULL AS "isBlocked",
    monitor.state = 'DOWN' AND EXISTS (
      SELECT 1 FROM ${incidentMonitors} AS link WHERE link."monitorId" = monitor.id AND link."leftAt" IS NULL
    ) AS "isInIncident",
    monitor.state = 'DOWN' AND EXISTS (
      SELECT 1 FROM ${maintenanceServices} AS part JOIN ${maintenances} AS work ON work.id = part."maintenanceId"
      WHERE part."serviceId" = monitor."serviceId" AND work.status IN ('IN_PROGRESS', 'VERIFYING')
    ) AS "isUnderMaintenance",
    ARRAY(
      SELECT child.id FROM "MonitorDependency" AS dependency JOIN "Monitor" AS child ON child.id = dependency."monitorId"
      WHERE dependency."parentId" = monitor.id AND child."heldSince" IS NOT NULL) AS waiting
  FROM accepted JOIN "Monitor" AS monitor ON monitor.id = accepted."monitorId"
  WHERE (SELECT count(*) FROM announced) >= 0`,
  )
}

function rowOf({ watch, probe: { at, result }, memory, dueAt }: JudgedProbeResult) {
  const { outcome, message, detail } = result
  const latencyMs = result.latencyMs === null ? null : Math.round(result.latencyMs)
  return {
    id: watch.id,
    monitorId: watch.monitor.id,
    region: watch.region,
    fence: watch.dueAt,
    at,
    outcome,
    latencyMs,
    bucket: result.latencyMs === null ? null : bucketOf(result.latencyMs),
    message,
    detail,
    ...memory,
    dueAt,
  }
}

/** Replaces characters that PostgreSQL cannot store: zero characters and lone surrogates (manual, "JSON Types"). */
function storable(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '').replace(/\p{Cs}/gu, '\ufffd') : value
}

/**
 * Returns whether an error means that the database rejects the statement, rather than that it is stopping, overloaded
 * or unreachable (PostgreSQL manual, appendix A).
 */
export function isRefusal(error: unknown): boolean {
  const code = errorCode(error)
  return /^[0-9A-Z]{5}$/.test(code) && !/^(08|25|40|53|55|57|58|XX)/.test(code) && !isPlanLost(error)
}
