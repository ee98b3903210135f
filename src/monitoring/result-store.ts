import type pg from 'pg'
import type { MonitorState } from '../generated/prisma/enums.ts'
import type { DueWatch } from './due-watch.ts'
import type { Finding } from './finding.ts'
import { BUCKETS, bucketOf } from './histogram.ts'
import type { Memory } from './judge.ts'
import { allowanceMs, vouchedMs, vouchersNeeded } from './vouching.ts'

/** The channel on which it is told which monitors have new results; the payload is their ids, with spaces between. */
export const CHECKS_CHANNEL = 'monitor_checks'

/** What one check found, and when it began. */
export interface Check {
  readonly at: Date
  readonly finding: Finding
}

/** A check that has been judged. */
export interface Result {
  readonly watch: DueWatch
  readonly check: Check
  readonly memory: Memory
  /** When the watch is due next. */
  readonly dueAt: Date
}

/** What became of a result. */
export interface Stored {
  /** The watch. */
  readonly id: string
  /** The state of its monitor, as shown. */
  readonly state: MonitorState
  /** Whether the monitor is down, and no incident tells of it that should. */
  readonly untold: boolean
  /** Whether it has been told that nothing is known of the monitor. */
  readonly silent: boolean
}

/**
 * Writes results ($1, of different monitors) as far as nobody has changed their watches since: one statement, so that all of
 * a result is there or nothing. A gap is written when a result makes the regions that know something of the monitor enough
 * again: from when they were too few, as vouching.ts has it. Hours come in the order of their monitors, so that workers of several regions lock them in the same order.
 */
const INSERT = `
  WITH result AS (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS result (
      id text, "monitorId" text, region text, fence timestamptz, "at" timestamptz, outcome "ProbeOutcome",
      "latencyMs" int, bucket int, message text, detail jsonb, state "MonitorState", "stateSince" timestamptz,
      recent jsonb, steadiness jsonb, "dueAt" timestamptz, late boolean, needed int, vouched float8, allowance float8
    )
  ), accepted AS (
    UPDATE "Watch" AS watch SET
      "dueAt" = result."dueAt", state = result.state, "stateSince" = result."stateSince", recent = result.recent,
      steadiness = result.steadiness,
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
        FROM "Watch" AS watch, LATERAL (SELECT watch."lastKnownAt" + vouched * interval '1 millisecond' AS ends) AS vouch
        WHERE watch."monitorId" = accepted."monitorId" AND watch."lastKnownAt" IS NOT NULL
      ) AS each
    ) AS vouching, LATERAL (SELECT vouching.ends[needed] AS until) AS before
    WHERE late AND before.until < "at" AND vouching.others >= needed - 1
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
  ), told AS (
    SELECT pg_notify('${CHECKS_CHANNEL}', string_agg("monitorId", ' '))
    FROM (SELECT "monitorId", (row_number() OVER ()) / 200 AS part FROM accepted) AS parts GROUP BY part
  )
  SELECT accepted.id, monitor.state,
    monitor.state = 'DOWN' AND accepted.outcome = 'DOWN' AND monitor."serviceId" IS NOT NULL
      AND NOT EXISTS (
        SELECT 1 FROM "IncidentMonitor" AS member
        WHERE member."monitorId" = monitor.id AND member."leftAt" IS NULL)
      AND NOT EXISTS (
        SELECT 1 FROM "MaintenanceService" AS part JOIN "Maintenance" AS work ON work.id = part."maintenanceId"
        WHERE part."serviceId" = monitor."serviceId" AND work.status IN ('IN_PROGRESS', 'VERIFYING')
      ) AS untold,
    monitor."unknownSince" IS NOT NULL AND accepted.outcome <> 'UNKNOWN' AS silent
  FROM accepted JOIN "Monitor" AS monitor ON monitor.id = accepted."monitorId"
  WHERE (SELECT count(*) FROM told) >= 0`

/**
 * Stores results of different monitors, in one statement, and sets when their watches are next due. Gives those that counted,
 * by watch. @throws what the database says.
 */
export async function storeResults(
  pool: Pick<pg.Pool, 'query'>,
  results: readonly Result[],
): Promise<Map<string, Stored>> {
  const text = JSON.stringify(results.map(rowOf), storable)
  // Named, so that each connection parses and plans it once.
  const { rows } = await pool.query<Stored>({ name: 'record checks', text: INSERT, values: [text] })
  return new Map(rows.map((row) => [row.id, row]))
}

function rowOf({ watch, check: { at, finding }, memory, dueAt }: Result) {
  const { outcome, message, detail } = finding
  const latencyMs = finding.latencyMs === null ? null : Math.round(finding.latencyMs)
  const { lastKnownAt, unknownSince } = watch
  const allowance = allowanceMs(watch.rhythm)
  return {
    id: watch.id,
    monitorId: watch.monitor.id,
    region: watch.region,
    fence: watch.dueAt,
    at,
    outcome,
    latencyMs,
    bucket: finding.latencyMs === null ? null : bucketOf(finding.latencyMs),
    message,
    detail,
    ...memory,
    dueAt,
    late: outcome !== 'UNKNOWN' && (lastKnownAt === null || unknownSince !== null || +at - +lastKnownAt > allowance),
    needed: vouchersNeeded(watch.monitor.agreement),
    vouched: vouchedMs(watch.rhythm),
    allowance,
  }
}

/** Text that PostgreSQL takes: without the character 0 and halves of characters (manual, "JSON Types"). */
function storable(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '').replace(/\p{Cs}/gu, '\ufffd') : value
}

/** Whether the database understood a statement and refuses it: not when it stops, waits, or lacks means (PostgreSQL manual, appendix A). */
export function isRefusal(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^[0-9A-Z]{5}$/.test(code) && !/^(08|25|40|53|55|57|58|XX)/.test(code)
}
