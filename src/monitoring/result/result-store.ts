import type pg from 'pg'
import { errorCode } from '../../core/error-code.ts'
import type { MonitorState } from '../../generated/prisma/enums.ts'
import { incidentMonitors, maintenanceServices, maintenances } from '../../status/views.ts'
import { BUCKETS, bucketOf } from '../uptime/histogram.ts'
import type { DueWatch } from '../watch/due-watch.ts'
import type { WatchMemory } from '../watch/judge.ts'
import { freshMs, regionsNeeded, staleAfterMs } from '../watch/staleness.ts'
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
  /** The id of the watch. */
  readonly id: string
  /** The state of its monitor. */
  readonly state: MonitorState
  /** Whether the monitor is down and has no incident, but should have one. */
  readonly lacksIncident: boolean
  /** Whether the monitor is marked as stale. */
  readonly isMarkedStale: boolean
  /** The ids of monitors that depend on it and wait for its result. */
  readonly waiting: readonly string[]
}

/**
 * Writes the results ($1, of different monitors) whose watches have not changed since they were read. It is one
 * statement, so that each result is written completely or not at all. If a result makes enough regions known again,
 * also writes a gap from the time when too few became known (see staleness.ts). Hours are ordered by monitor, so that
 * workers of several regions lock them in the same order.
 */
const INSERT = `
  WITH result AS (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS result (
      id text, "monitorId" text, region text, fence timestamptz, "at" timestamptz, outcome "ProbeOutcome",
      "latencyMs" int, bucket int, message text, detail jsonb, state "MonitorState", "stateSince" timestamptz,
      recent jsonb, stability jsonb, "dueAt" timestamptz, late boolean, needed int, fresh float8, allowance float8
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
    SELECT "monitorId", before.until, "at"
    FROM accepted, LATERAL (
      SELECT array_agg(until ORDER BY until DESC) AS ends, count(*) FILTER (WHERE until = 'infinity' AND id <> accepted.id) AS others
      FROM (
        SELECT watch.id, CASE
          WHEN watch."unknownSince" IS NOT NULL THEN greatest(least(watch."unknownSince", ends), watch."lastKnownAt")
          WHEN watch."lastKnownAt" + allowance * interval '1 millisecond' >= accepted."at" THEN 'infinity'
          ELSE ends END AS until
        FROM "Watch" AS watch, LATERAL (SELECT watch."lastKnownAt" + fresh * interval '1 millisecond' AS ends) AS fresh_until
        WHERE watch."monitorId" = accepted."monitorId" AND watch."lastKnownAt" IS NOT NULL
      ) AS each
    ) AS known_ends, LATERAL (SELECT known_ends.ends[needed] AS until) AS before
    WHERE late AND before.until < "at" AND known_ends.others >= needed - 1
    ORDER BY "monitorId"
    ON CONFLICT ("monitorId", "startedAt") DO UPDATE SET "endedAt" = LEAST(gap."endedAt", EXCLUDED."endedAt")
  ), stored AS (
    INSERT INTO "ProbeResult" ("monitorId", "at", region, outcome, "latencyMs", message, detail)
    SELECT "monitorId", "at", region, outcome, "latencyMs", message, detail FROM accepted
    ON CONFLICT DO NOTHING
  ), counted AS (
    INSERT INTO "MonitorHour" AS hour ("monitorId", hour, up, degraded, down, unknown, latencies)
    SELECT "monitorId", date_trunc('hour', "at"), (outcome = 'UP')::int, (outcome = 'DEGRADED')::int,
      (outcome = 'DOWN')::int, (outcome = 'UNKNOWN')::int,
      CASE WHEN bucket IS NULL THEN array_fill(0, ARRAY[${BUCKETS}])
        ELSE array_fill(0, ARRAY[bucket]) || 1 || array_fill(0, ARRAY[${BUCKETS - 1} - bucket]) END
    FROM accepted ORDER BY "monitorId"
    ON CONFLICT ("monitorId", hour) DO UPDATE SET
      up = hour.up + EXCLUDED.up, degraded = hour.degraded + EXCLUDED.degraded, down = hour.down + EXCLUDED.down,
      unknown = hour.unknown + EXCLUDED.unknown,
      latencies = CASE WHEN array_position(EXCLUDED.latencies, 1) IS NULL THEN hour.latencies
        ELSE hour.latencies[:array_position(EXCLUDED.latencies, 1) - 1]
          || (hour.latencies[array_position(EXCLUDED.latencies, 1)] + 1)
          || hour.latencies[array_position(EXCLUDED.latencies, 1) + 1:] END
  ), announced AS (
    SELECT pg_notify('${RESULTS_NOTIFICATION}', string_agg("monitorId", ' '))
    FROM (SELECT "monitorId", (row_number() OVER ()) / 200 AS part FROM accepted) AS parts GROUP BY part
  )
  SELECT accepted.id, monitor.state,
    monitor.state = 'DOWN' AND accepted.outcome = 'DOWN' AND monitor."serviceId" IS NOT NULL
      AND NOT EXISTS (
        SELECT 1 FROM ${incidentMonitors.sql} AS link
        WHERE link."monitorId" = monitor.id AND link."leftAt" IS NULL)
      AND NOT EXISTS (
        SELECT 1 FROM ${maintenanceServices.sql} AS part JOIN ${maintenances.sql} AS work ON work.id = part."maintenanceId"
        WHERE part."serviceId" = monitor."serviceId" AND work.status IN ('IN_PROGRESS', 'VERIFYING')
      ) AS "lacksIncident",
    monitor."unknownSince" IS NOT NULL AND monitor."blockedSince" IS NULL AND accepted.outcome <> 'UNKNOWN' AS "isMarkedStale",
    ARRAY(
      SELECT child.id FROM "MonitorDependency" AS dependency JOIN "Monitor" AS child ON child.id = dependency."monitorId"
      WHERE dependency."parentId" = monitor.id AND child."heldSince" IS NOT NULL) AS waiting
  FROM accepted JOIN "Monitor" AS monitor ON monitor.id = accepted."monitorId"
  WHERE (SELECT count(*) FROM announced) >= 0`

/**
 * Stores results of different monitors in one statement, and sets when their watches are next due. Returns the outcomes
 * of the results that counted, by watch.
 * @throws the error of the database.
 */
export async function storeResults(
  pool: Pick<pg.Pool, 'query'>,
  results: readonly JudgedProbeResult[],
): Promise<Map<string, StoreOutcome>> {
  const text = JSON.stringify(results.map(rowOf), storable)
  // The statement has a name, so each connection parses and plans it only once.
  const { rows } = await pool.query<StoreOutcome>({ name: 'store probe results', text: INSERT, values: [text] })
  return new Map(rows.map((row) => [row.id, row]))
}

function rowOf({ watch, probe: { at, result }, memory, dueAt }: JudgedProbeResult) {
  const { outcome, message, detail } = result
  const latencyMs = result.latencyMs === null ? null : Math.round(result.latencyMs)
  const { lastKnownAt, unknownSince } = watch
  const known = lastKnownAt ?? at
  const allowance = staleAfterMs(watch.schedule, known)
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
    late: outcome !== 'UNKNOWN' && (lastKnownAt === null || unknownSince !== null || +at - +lastKnownAt > allowance),
    needed: regionsNeeded(watch.monitor.agreement),
    fresh: freshMs(watch.schedule, known),
    allowance,
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
  return /^[0-9A-Z]{5}$/.test(code) && !/^(08|25|40|53|55|57|58|XX)/.test(code)
}
