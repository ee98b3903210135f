import { DAY } from '../core/time.ts'
import type { Query, Row } from './sqlite.ts'
import { type DayCounts, type Draft, keyOf, within } from './translation.ts'
import { PREFIX } from './uptime-kuma.ts'

/** The maximum number of days of a history, the same as version 2 keeps. */
const MAX_DAYS = 365
/** The maximum number of rows to read, enough for 500 monitors over a year. */
const MAX_ROWS = 200_000
/** The maximum number of checks per day. */
const MAX_CHECKS = 1_000_000

/**
 * Adds the daily counts of imported services. Version 2 has them in `stat_daily`, by UTC day, with checks during maintenance in
 * `extras` (server/uptime-calculator.js). Version 1 has single heartbeats: status 0 is down, 1 up, 2 pending, which counts as
 * neither, and 3 maintenance (src/util.js).
 */
export function addHistories(draft: Draft, columnsOf: (table: string) => readonly string[], query: Query): void {
  const daily = columnsOf('stat_daily')
  const isDaily = ['monitor_id', 'timestamp', 'up', 'down'].every((name) => daily.includes(name))
  const counted = isDaily ? readDaily(query, daily.includes('extras')) : []
  const heartbeats = columnsOf('heartbeat')
  const isOld = counted.length === 0 && ['monitor_id', 'time', 'status'].every((name) => heartbeats.includes(name))
  addAll(draft, isOld ? readHeartbeats(query) : counted)
}

function readDaily(query: Query, hasExtras: boolean): readonly Row[] {
  const maintenance = hasExtras
    ? `CASE WHEN typeof(extras) = 'text' AND length(extras) < 1000 AND json_valid(extras) THEN json_extract(extras, '$.maintenance') END`
    : '0'
  return query(
    `SELECT monitor_id AS monitor, date(timestamp, 'unixepoch') AS day, up, down, ${maintenance} AS maintenance
     FROM stat_daily WHERE typeof(timestamp) = 'integer'
       AND timestamp > (SELECT max(timestamp) FROM stat_daily WHERE typeof(timestamp) = 'integer') - ? * 86400
     ORDER BY monitor_id, timestamp LIMIT ?`,
    [MAX_DAYS, MAX_ROWS],
  )
}

function readHeartbeats(query: Query): readonly Row[] {
  return query(
    `SELECT monitor_id AS monitor, substr(time, 1, 10) AS day, sum(status = 1) AS up, sum(status = 0) AS down,
       sum(status = 3) AS maintenance
     FROM heartbeat WHERE typeof(time) = 'text'
       AND time > date((SELECT max(time) FROM heartbeat WHERE typeof(time) = 'text' AND time GLOB '20[0-9][0-9]-*'), ?)
     GROUP BY 1, 2 ORDER BY 1, 2 LIMIT ?`,
    [`-${MAX_DAYS - 1} days`, MAX_ROWS],
  )
}

function addAll(draft: Draft, rows: readonly Row[]): void {
  const byMonitor = new Map<string, Row[]>()
  for (const row of rows) {
    const key = keyOf(PREFIX, String(row['monitor']))
    if (!draft.objects.services.has(key)) continue
    const own = byMonitor.get(key)
    if (own) own.push(row)
    else byMonitor.set(key, [row])
  }
  for (const [key, own] of byMonitor) {
    const days = countsOf(own)
    if (days !== null) draft.records.histories.push({ key, days: JSON.stringify(days) })
  }
}

const count = (value: unknown) => (typeof value === 'number' ? within(0, MAX_CHECKS, value) : 0)

/** Returns the counts of consecutive days up to the newest. Null if there are none. */
function countsOf(rows: readonly Row[]): DayCounts | null {
  const days = new Map<number, readonly [up: number, down: number, maintenance: number]>()
  for (const { day, up, down, maintenance } of rows) {
    const at = typeof day === 'string' && /^20\d\d-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN
    const counts = [count(up), count(down), count(maintenance)] as const
    if (!Number.isNaN(at) && counts.some((each) => each > 0)) days.set(at, counts)
  }
  if (days.size === 0) return null
  const last = Math.max(...days.keys())
  const first = Math.max(Math.min(...days.keys()), last - (MAX_DAYS - 1) * DAY)
  const all = Array.from({ length: (last - first) / DAY + 1 }, (_, index) => days.get(first + index * DAY))
  return {
    since: new Date(first).toISOString().slice(0, 10),
    up: all.map((day) => day?.[0] ?? 0),
    down: all.map((day) => day?.[1] ?? 0),
    maintenance: all.map((day) => day?.[2] ?? 0),
  }
}
