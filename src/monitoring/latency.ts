import type { Database } from '../context.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { DAY, HOUR, MINUTE } from '../time.ts'
import { invalid } from '../validate.ts'
import { dayIn, daysUpTo, startOfDay } from '../zone.ts'
import { firstDayShown } from './day.ts'
import { mergeHistograms, quantile } from './histogram.ts'

/** How far back latencies are told, in milliseconds. */
const ranges = { HOURS_24: DAY, DAYS_7: 7 * DAY, DAYS_30: 30 * DAY, DAYS_90: 90 * DAY } as const
/** How much time one figure is of. Hours are those of UTC, days those of the organization's time zone. */
const resolutions = { MINUTES_5: 5 * MINUTE, HOUR, DAY } as const

export type LatencyRange = keyof typeof ranges
export type LatencyResolution = keyof typeof resolutions

export const latencyRanges = Object.keys(ranges) as readonly LatencyRange[]
export const latencyResolutions = Object.keys(resolutions) as readonly LatencyResolution[]

/** How long answers took in a piece of time. Those that did not come are not in it. */
export interface LatencyPoint {
  /** When it begins. */
  readonly at: Date
  /** How many answers there were. */
  readonly count: number
  /** The milliseconds that 50, 95 and 99 % of them did not exceed; null when there were none. */
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

/** More than a screen has room for. */
const MOST_POINTS = 800

/**
 * How long monitors, or all monitors of services, took to answer, by their ids: a point for every piece of the range, the
 * last one so far, and none from before the time that the tier shows. What a heartbeat's job took is its monitor's, and no
 * answer of its service. Exact in steps of five minutes, else right to 10 %. One statement.
 * @throws Invalid when these would be more than 800 points.
 */
export async function readLatencies(
  db: Database,
  organization: Pick<Organization, 'timeZone' | 'tier'>,
  ids: readonly string[],
  { range, resolution }: { readonly range: LatencyRange; readonly resolution: LatencyResolution },
  now: Date,
): Promise<Map<string, LatencyPoint[]>> {
  const count = ranges[range] / resolutions[resolution]
  if (count > MOST_POINTS) {
    throw invalid([{ path: ['resolution'], message: `is too fine for ${range}, which would be ${count} points` }])
  }
  const { timeZone } = organization
  const shownFrom = startOfDay(timeZone, firstDayShown(organization, now))
  const starts = startsOf(resolution, timeZone, count, now).filter((start) => start >= shownFrom)
  const read = resolution === 'MINUTES_5' ? readResults : readHours
  const found = await read(db, ids, starts)
  return new Map(ids.map((id) => [id, starts.map((at, index) => found.get(id)?.get(index) ?? { at, ...silence })]))
}

const silence = { count: 0, p50: null, p95: null, p99: null }

/** When the pieces of time up to now begin, the last of which holds it. */
function startsOf(resolution: LatencyResolution, timeZone: string, count: number, now: Date): Date[] {
  if (resolution === 'DAY') return daysUpTo(dayIn(timeZone, now), count).map((day) => startOfDay(timeZone, day))
  const size = resolutions[resolution]
  const last = Math.floor(now.getTime() / size) * size
  return Array.from({ length: count }, (_, index) => new Date(last - (count - 1 - index) * size))
}

/** Points of subjects by the places of their pieces of time. */
type Found = ReadonlyMap<string, ReadonlyMap<number, LatencyPoint>>

/** By what was counted in each hour; an hour that midnight is in the middle of is of the day in which it begins. */
async function readHours(db: Database, ids: readonly string[], starts: readonly Date[]): Promise<Found> {
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

/** By the results themselves, while they are kept. */
async function readResults(db: Database, ids: readonly string[], starts: readonly Date[]): Promise<Found> {
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
