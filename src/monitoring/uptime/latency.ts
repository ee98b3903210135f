import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { Database } from '../../core/context.ts'
import { DAY, HOUR, MINUTE } from '../../core/time.ts'
import { dayIn, daysUpTo, startOfDay } from '../../core/time-zone.ts'
import { invalid } from '../../core/validation.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import { mergeHistograms, quantile } from './histogram.ts'
import { historyStart } from './uptime-days.ts'

/** The ranges of latency queries, in milliseconds. */
const ranges = { HOURS_24: DAY, DAYS_7: 7 * DAY, DAYS_30: 30 * DAY, DAYS_90: 90 * DAY } as const
/** The time that a point covers, in milliseconds. Hours are in UTC, days in the organization's time zone. */
const resolutions = { MINUTES_5: 5 * MINUTE, HOUR, DAY } as const

export type LatencyRange = keyof typeof ranges
export type LatencyResolution = keyof typeof resolutions

export const latencyRanges = Object.keys(ranges) as readonly LatencyRange[]
export const latencyResolutions = Object.keys(resolutions) as readonly LatencyResolution[]

/** The response times within an interval, without failed requests. */
export interface LatencyPoint {
  /** When the interval starts. */
  readonly at: Date
  /** The number of responses. */
  readonly count: number
  /** The 50th, 95th and 99th percentile in milliseconds; null: no responses. */
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

/** The maximum number of points: more than fit on a screen. */
const MAX_POINTS = 800

/** Returns the number of points of a range, at most 800. */
export function pointCount(range: LatencyRange, resolution: LatencyResolution): number {
  return Math.min(MAX_POINTS, pointsIn(range, resolution))
}

const pointsIn = (range: LatencyRange, resolution: LatencyResolution) => ranges[range] / resolutions[resolution]

/** The number of points to read per statement. Parsing their rows blocks for about 10 ms. */
const POINTS_AT_ONCE = 8000

/**
 * Reads the response times of monitors, or of all monitors of services, by id: a point for each interval of the range
 * up to now, within the history that the tier shows. The duration of a heartbeat counts for its monitor but not for its
 * service. The percentiles are exact for points of five minutes, else accurate to 10 %. Reads a limited number of
 * monitors per statement, so that other work can run in between.
 * @throws Invalid for more than 800 points.
 */
export async function readLatencies(
  db: Database,
  organization: Pick<Organization, 'timeZone' | 'tier'>,
  ids: readonly string[],
  { range, resolution }: { readonly range: LatencyRange; readonly resolution: LatencyResolution },
  now: Date,
): Promise<Map<string, LatencyPoint[]>> {
  const count = pointsIn(range, resolution)
  if (count > MAX_POINTS) {
    throw invalid([
      {
        path: ['resolution'],
        message: `is too high for ${range}: it returns ${count} points, and at most ${MAX_POINTS} are allowed`,
      },
    ])
  }
  const { timeZone } = organization
  const shownFrom = historyStart(organization, now)
  const starts = startTimesOf(resolution, timeZone, count, now).filter((start) => start >= shownFrom)
  const read = resolution === 'MINUTES_5' ? readResults : readHours
  const points = new Map<string, LatencyPoint[]>()
  const atOnce = Math.ceil(POINTS_AT_ONCE / count)
  const owner = {}
  for (let start = 0; start < ids.length; start += atOnce) {
    await yieldAfterTimeSlice(owner)
    const some = ids.slice(start, start + atOnce)
    const found = await read(db, some, starts)
    for (const id of some)
      points.set(
        id,
        starts.map((at, index) => found.get(id)?.get(index) ?? { at, ...emptyPoint }),
      )
  }
  return points
}

const emptyPoint = { count: 0, p50: null, p95: null, p99: null }

/** Returns the starts of the intervals. The last interval contains now. */
function startTimesOf(resolution: LatencyResolution, timeZone: string, count: number, now: Date): Date[] {
  if (resolution === 'DAY') return daysUpTo(dayIn(timeZone, now), count).map((day) => startOfDay(timeZone, day))
  const size = resolutions[resolution]
  const last = Math.floor(now.getTime() / size) * size
  return Array.from({ length: count }, (_, index) => new Date(last - (count - 1 - index) * size))
}

/** Points by subject id and interval index. */
type PointsById = ReadonlyMap<string, ReadonlyMap<number, LatencyPoint>>

/** Reads the points from hourly histograms. An hour that contains midnight belongs to the day in which it starts. */
async function readHours(db: Database, ids: readonly string[], starts: readonly Date[]): Promise<PointsById> {
  const rows = await db.$queryRaw<{ of: string; hour: Date; latencies: string }[]>`
    SELECT wanted.id AS of, h.hour, array_to_json(h.latencies)::text AS latencies
    FROM unnest(${ids}::text[]) AS wanted (id)
    JOIN "Monitor" m ON m.id = wanted.id OR (m."serviceId" = wanted.id AND m.kind <> 'HEARTBEAT')
    JOIN "MonitorHour" h ON h."monitorId" = m.id AND h.hour >= ${starts[0]}::timestamptz
    ORDER BY h.hour`
  const histograms = new Map<string, Map<number, number[][]>>()
  let place = 0
  for (const { of, hour, latencies } of rows) {
    for (let next = starts[place + 1]; next !== undefined && next <= hour; next = starts[place + 1]) place += 1
    const places = histograms.get(of) ?? new Map<number, number[][]>()
    histograms.set(of, places)
    places.set(place, [...(places.get(place) ?? []), JSON.parse(latencies) as number[]])
  }
  const points = (places: ReadonlyMap<number, number[][]>) =>
    new Map([...places].map(([index, found]) => [index, pointOf(starts[index] ?? new Date(0), found)]))
  return new Map([...histograms].map(([id, places]) => [id, points(places)]))
}

function pointOf(at: Date, histograms: readonly number[][]): LatencyPoint {
  const histogram = mergeHistograms(histograms)
  const count = histogram.reduce((sum, each) => sum + each, 0)
  return { at, count, p50: quantile(histogram, 0.5), p95: quantile(histogram, 0.95), p99: quantile(histogram, 0.99) }
}

/** Reads the points from stored probe results. */
async function readResults(db: Database, ids: readonly string[], starts: readonly Date[]): Promise<PointsById> {
  const size = resolutions.MINUTES_5 / 1000
  const rows = await db.$queryRaw<{ of: string; place: number; count: number; quantiles: number[] }[]>`
    SELECT wanted.id AS of, floor(extract(epoch FROM r.at - ${starts[0]}::timestamptz) / ${size})::int AS place,
      count(*)::int AS count,
      percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY r."latencyMs") AS quantiles
    FROM unnest(${ids}::text[]) AS wanted (id)
    JOIN "Monitor" m ON m.id = wanted.id OR (m."serviceId" = wanted.id AND m.kind <> 'HEARTBEAT')
    JOIN "ProbeResult" r ON r."monitorId" = m.id AND r.at >= ${starts[0]}::timestamptz
    WHERE r."latencyMs" IS NOT NULL
    GROUP BY 1, 2`
  const found = new Map<string, Map<number, LatencyPoint>>()
  for (const { of, place, count, quantiles } of rows) {
    const at = starts[place]
    if (at === undefined) continue
    const [p50 = null, p95 = null, p99 = null] = quantiles
    found.set(of, (found.get(of) ?? new Map<number, LatencyPoint>()).set(place, { at, count, p50, p95, p99 }))
  }
  return found
}
