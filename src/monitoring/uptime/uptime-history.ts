import { organizations } from '../../account/views.ts'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { Database } from '../../core/context.ts'
import type { Monitor } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { MonitorState, Tier } from '../../generated/prisma/enums.ts'
import { maintenanceServices, maintenances } from '../../status/views.ts'
import { freshUntil, scheduleOf } from '../watch/staleness.ts'
import type { MonitorHistory, Outage, Span, StateInterval, Tally } from './uptime.ts'
import { coveragePercent, outagesOf, stretches, tally, uptimePercent } from './uptime.ts'

/** The stored history of a monitor, or of all monitors of a service, with the maintenance of the service. */
export interface History {
  readonly monitors: readonly MonitorHistory[]
  readonly maintenance: readonly Span[]
}

/** A monitor or service, and the start of the history to read. */
export interface HistoryQuery {
  readonly id: string
  readonly since: Date
  /** The start of the maintenance to read. Default: `since`. */
  readonly maintainedSince?: Date
  /** The only parts of the history to read; default: all since `since`. */
  readonly parts?: readonly Span[]
}

/** The uptime of a span. */
export interface Uptime extends Span {
  readonly tally: Tally
  /** See `uptimePercent`. Null: no data. */
  readonly percent: number | null
  /** See `coveragePercent`. Null: only maintenance. */
  readonly coverage: number | null
}

/** A monitor or service, and a span. */
export interface SpanQuery extends Span {
  readonly id: string
}

/** Reads the uptime of spans up to now, in the order of the queries. Runs two statements. */
export async function readUptimes(db: Database, asked: readonly SpanQuery[], now: Date): Promise<Uptime[]> {
  const histories = await readHistories(
    db,
    asked.map(({ id, from }) => ({ id, since: from })),
    now,
  )
  return mapInSlices(asked, ({ id, ...query }) => {
    const { monitors, maintenance } = histories.get(id) ?? noHistory
    const span = upTo(now, query)
    const of = tally(stretches(monitors, maintenance, span), span)
    return { ...span, tally: of, percent: uptimePercent(of), coverage: coveragePercent(of) }
  })
}

/** Reads the outages of monitors that overlap spans, newest first, in the order of the queries. Runs two statements. */
export async function readOutages(db: Database, asked: readonly SpanQuery[], now: Date): Promise<Outage[][]> {
  const histories = await readHistories(
    db,
    asked.map(({ id, from }) => ({ id, since: from })),
    now,
  )
  return mapInSlices(asked, ({ id, ...query }) => {
    const {
      monitors: [monitor],
      maintenance,
    } = histories.get(id) ?? noHistory
    return monitor ? outagesOf(monitor, maintenance, upTo(now, query)) : []
  })
}

/** Maps items in time slices, because processing the histories of a large organization takes longer than one slice. */
async function mapInSlices<T, U>(items: readonly T[], map: (item: T) => U): Promise<U[]> {
  const owner = {}
  const mapped: U[] = []
  for (const item of items) {
    await yieldAfterTimeSlice(owner)
    mapped.push(map(item))
  }
  return mapped
}

/** The history of a subject without monitors. */
export const noHistory: History = { monitors: [], maintenance: [] }

/** Returns the part of a span up to now. */
export function upTo(now: Date, { from, to }: Span): Span {
  const end = to < now ? to : now
  return { from: from < end ? from : end, to: end }
}

/** Reads the histories of monitors and services by id. Unknown ids have none. Runs two statements. */
export async function readHistories(
  db: Database,
  wanted: readonly HistoryQuery[],
  now: Date,
): Promise<Map<string, History>> {
  const watched = await readWatched(db, wanted)
  if (watched.length === 0) return new Map()
  const ofMonitors = partsOf(watched, wanted)
  const maintainedSince = new Map(wanted.map((each) => [each.id, each.maintainedSince ?? each.since]))
  const ofServices = earliest(
    watched.flatMap(({ serviceId: id, of, since }) =>
      id === null ? [] : [{ id, since: maintainedSince.get(of) ?? since }],
    ),
  )
  const { intervals, gaps, maintenance } = await readStretches(db, ofMonitors, ofServices, now)
  const owner = {}
  const histories = new Map<string, { monitors: MonitorHistory[]; maintenance: readonly Span[] }>()
  for (const monitor of watched) {
    await yieldAfterTimeSlice(owner)
    const own = intervals.get(monitor.id) ?? []
    const history = { intervals: own, gaps: gaps.get(monitor.id) ?? [], staleSince: staleSinceOf(monitor, now) }
    const known = histories.get(monitor.of)
    if (known) known.monitors.push(history)
    else histories.set(monitor.of, { monitors: [history], maintenance: maintenance.get(monitor.serviceId ?? '') ?? [] })
  }
  return histories
}

/**
 * Returns when a monitor became stale: when it had too few fresh results or was marked as stale; null: it is not stale.
 * A group has no results.
 */
function staleSinceOf(monitor: Watched, now: Date): Date | null {
  const { kind, watches, tier, unknownSince } = monitor
  if (kind === 'GROUP') return unknownSince
  const freshness = watches.map(([known, unknown]) => ({ lastKnownAt: dateOf(known), unknownSince: dateOf(unknown) }))
  const endedAt = freshUntil(freshness, { ...monitor, schedule: scheduleOf(monitor, tier) }, now)
  if (endedAt === null || unknownSince === null) return endedAt ?? unknownSince
  return new Date(Math.min(+endedAt, +unknownSince))
}

const dateOf = (time: number | null) => (time === null ? null : new Date(time))

/** A row with the id of its subject or monitor. */
type Of<T> = T & { readonly of: string }

interface Watched
  extends Of<
    Pick<
      Monitor,
      | 'id'
      | 'serviceId'
      | 'kind'
      | 'intervalSeconds'
      | 'timeoutMs'
      | 'options'
      | 'agreement'
      | 'stateSince'
      | 'unknownSince'
    >
  > {
  readonly since: Date
  readonly tier: Tier
  /** The last known result and the start of UNKNOWN results of each watch, in epoch milliseconds. */
  readonly watches: readonly (readonly [known: number | null, unknown: number | null])[]
}

/** Reads the given monitors and the monitors of the given services, with only the options that affect the schedule. */
function readWatched(db: Database, wanted: readonly HistoryQuery[]): Promise<Watched[]> {
  const ids = wanted.map(({ id }) => id)
  const since = wanted.map((each) => each.since)
  return db.$queryRaw<Watched[]>`
    SELECT wanted.id AS of, wanted.since, m.id, m."serviceId", m.kind, m."intervalSeconds", m."timeoutMs", o.tier::text AS tier,
      jsonb_build_object('graceSeconds', coalesce(m.options -> 'graceSeconds', '0'), 'schedule', m.options -> 'schedule',
        'timeZone', m.options -> 'timeZone', 'maxRunSeconds', m.options -> 'maxRunSeconds') AS options,
      m.agreement, m."stateSince", m."unknownSince", coalesce((
        SELECT jsonb_agg(jsonb_build_array(
          (extract(epoch FROM w."lastKnownAt") * 1000)::float8, (extract(epoch FROM w."unknownSince") * 1000)::float8))
        FROM "Watch" w WHERE w."monitorId" = m.id), '[]') AS watches
    FROM (
      SELECT id, min(since) AS since FROM unnest(${ids}::text[], ${since}::timestamptz[]) AS each (id, since) GROUP BY id
    ) wanted
    JOIN "Monitor" m ON m.id = wanted.id OR m."serviceId" = wanted.id
    JOIN ${organizations} AS o ON o.id = m."organizationId"
    ORDER BY m.id`
}

/** A span of a subject in JSON: the id, and the start and end in epoch milliseconds. */
type SpanJson = readonly [of: string, from: number, to: number]
type IntervalJson = readonly [of: string, from: number, to: number | null, state: MonitorState, cause: string]

/**
 * Reads the intervals and gaps of monitors and the actual (not planned) maintenance of services, each from a given
 * time. Finds past intervals by their start, because intervals are contiguous. Runs one statement that returns JSON,
 * because transferring thousands of rows would cost more than reading them.
 */
async function readStretches(
  db: Database,
  ofMonitors: readonly HistoryPart[],
  ofServices: ReadonlyMap<string, Date>,
  now: Date,
) {
  const wanted = (since: ReadonlyMap<string, Date>) =>
    Prisma.sql`unnest(${[...since.keys()]}::text[], ${[...since.values()]}::timestamptz[]) AS wanted (id, since)`
  const parts = Prisma.sql`unnest(${ofMonitors.map(({ id }) => id)}::text[],
    ${ofMonitors.map(({ since }) => since)}::timestamptz[], ${ofMonitors.map(({ until }) => until)}::timestamptz[]
    ) AS wanted (id, since, until)`
  const time = (column: string) => Prisma.raw(`(extract(epoch FROM ${column}) * 1000)::float8`)
  const [row] = await db.$queryRaw<{ intervals: string; gaps: string; maintenance: string }[]>`
    SELECT (
      SELECT coalesce(json_agg(json_build_array(
        i."monitorId", ${time('i."startedAt"')}, ${time('i."endedAt"')}, i.state, i.cause) ORDER BY i."startedAt"), '[]')::text
      FROM ${parts} JOIN "MonitorInterval" i ON i."monitorId" = wanted.id AND i."startedAt" >= coalesce((
        SELECT max(before."startedAt") FROM "MonitorInterval" before
        WHERE before."monitorId" = wanted.id AND before."startedAt" <= wanted.since), '-infinity')
        AND i."startedAt" < coalesce(wanted.until, 'infinity')
      WHERE i."endedAt" IS NULL OR i."endedAt" > wanted.since
    ) AS intervals, (
      SELECT coalesce(json_agg(json_build_array(g."monitorId", ${time('g."startedAt"')}, ${time('g."endedAt"')})), '[]')::text
      FROM ${parts} JOIN "MonitorGap" g ON g."monitorId" = wanted.id AND g."endedAt" > wanted.since
        AND g."startedAt" < coalesce(wanted.until, 'infinity')
    ) AS gaps, (
      SELECT coalesce(json_agg(json_build_array(s."serviceId", ${time('m."startedAt"')},
        ${time(`coalesce(m."endedAt", now.now)`)})), '[]')::text
      FROM (SELECT ${now}::timestamptz AS now) AS now, ${wanted(ofServices)}
      JOIN ${maintenanceServices} AS s ON s."serviceId" = wanted.id
      JOIN ${maintenances} AS m ON m.id = s."maintenanceId"
      WHERE m."startedAt" IS NOT NULL AND (m."endedAt" IS NULL OR m."endedAt" > wanted.since)
    ) AS maintenance`
  const spans = (text = '[]') =>
    grouped((JSON.parse(text) as SpanJson[]).map(([of, from, to]) => ({ of, from: new Date(from), to: new Date(to) })))
  const intervals = (JSON.parse(row?.intervals ?? '[]') as IntervalJson[]).map(
    ([of, from, to, state, cause]): Of<StateInterval> => ({
      ...{ of, startedAt: new Date(from), endedAt: dateOf(to), state, cause },
    }),
  )
  return { intervals: grouped(intervals), gaps: spans(row?.gaps), maintenance: spans(row?.maintenance) }
}

/**
 * Reads the maintenance of monitors and services from a given time, by id. A monitor has the maintenance of its
 * service. Runs one statement.
 */
export async function readMaintenance(
  db: Database,
  ids: readonly string[],
  since: Date,
  now: Date,
): Promise<Map<string, Span[]>> {
  if (ids.length === 0) return new Map()
  return grouped(
    await db.$queryRaw<Of<Span>[]>`
      SELECT wanted.id AS of, m."startedAt" AS from, coalesce(m."endedAt", ${now}::timestamptz) AS to
      FROM unnest(${[...ids]}::text[]) AS wanted (id)
      LEFT JOIN "Monitor" watching ON watching.id = wanted.id
      JOIN ${maintenanceServices} AS s ON s."serviceId" = coalesce(watching."serviceId", wanted.id)
      JOIN ${maintenances} AS m ON m.id = s."maintenanceId"
      WHERE m."startedAt" IS NOT NULL AND (m."endedAt" IS NULL OR m."endedAt" > ${since})`,
  )
}

/** A part of the history of a monitor; `until` null: up to now. */
interface HistoryPart {
  readonly id: string
  readonly since: Date
  readonly until: Date | null
}

/** Returns the parts of the histories of monitors to read. An interval may be in several of them, and counts once. */
function partsOf(watched: readonly Watched[], wanted: readonly HistoryQuery[]): HistoryPart[] {
  const parts = new Map(wanted.map((each) => [each.id, each.parts]))
  const whole = earliest(watched.filter(({ of }) => parts.get(of) === undefined))
  return [
    ...Array.from(whole, ([id, since]) => ({ id, since, until: null })),
    ...watched.flatMap(({ id, of }) => (parts.get(of) ?? []).map(({ from, to }) => ({ id, since: from, until: to }))),
  ]
}

/** Returns the earliest time needed for each id. */
function earliest(wanted: readonly HistoryQuery[]): Map<string, Date> {
  const times = new Map<string, Date>()
  for (const { id, since } of wanted) {
    const known = times.get(id)
    if (known === undefined || since < known) times.set(id, since)
  }
  return times
}

function grouped<T extends { readonly of: string }>(rows: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const row of rows) {
    const group = groups.get(row.of)
    if (group) group.push(row)
    else groups.set(row.of, [row])
  }
  return groups
}
