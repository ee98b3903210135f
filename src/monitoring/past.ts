import type { Database } from '../context.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import type { MonitorState, Tier } from '../generated/prisma/enums.ts'
import type { MonitorPast, Outage, Span, StateInterval, Tally } from './uptime.ts'
import { coveragePercent, outagesOf, stretches, tally, uptimePercent } from './uptime.ts'
import { rhythmOf, unvouchedSince } from './vouching.ts'

/** What has been written of a monitor, or of a service: of all its monitors, and of its maintenance. */
export interface Past {
  readonly monitors: readonly MonitorPast[]
  readonly maintenance: readonly Span[]
}

/** A monitor or a service by its id, and from when on its past is wanted. */
export interface Wanted {
  readonly id: string
  readonly since: Date
}

/** What a span of time was like. */
export interface Uptime extends Span {
  readonly tally: Tally
  /** `uptimePercent`: null when nothing is known. */
  readonly percent: number | null
  /** `coveragePercent`: null when maintenance is all there was. */
  readonly coverage: number | null
}

/** A monitor or a service, and a span of its time. */
export interface Asked extends Span {
  readonly id: string
}

/** How spans of time were, in the order in which they are asked; what of them lies ahead is left out. Four statements. */
export async function readUptimes(db: Database, asked: readonly Asked[], now: Date): Promise<Uptime[]> {
  const pasts = await readPasts(
    db,
    asked.map(({ id, from }) => ({ id, since: from })),
    now,
  )
  return asked.map(({ id, ...asked }) => {
    const { monitors, maintenance } = pasts.get(id) ?? noPast
    const span = upTo(now, asked)
    const of = tally(stretches(monitors, maintenance, span), span)
    return { ...span, tally: of, percent: uptimePercent(of), coverage: coveragePercent(of) }
  })
}

/** The outages of monitors that touch spans of time, newest first, in the order in which they are asked. Four statements. */
export async function readOutages(db: Database, asked: readonly Asked[], now: Date): Promise<Outage[][]> {
  const pasts = await readPasts(
    db,
    asked.map(({ id, from }) => ({ id, since: from })),
    now,
  )
  return asked.map(({ id, ...asked }) => {
    const {
      monitors: [monitor],
      maintenance,
    } = pasts.get(id) ?? noPast
    return monitor ? outagesOf(monitor, maintenance, upTo(now, asked)) : []
  })
}

const noPast: Past = { monitors: [], maintenance: [] }

function upTo(now: Date, { from, to }: Span): Span {
  const end = to < now ? to : now
  return { from: from < end ? from : end, to: end }
}

/** The pasts of many monitors and services by their ids, in four statements. Ids of nothing have none. */
export async function readPasts(db: Database, wanted: readonly Wanted[], now: Date): Promise<Map<string, Past>> {
  const watched = await readWatched(db, wanted)
  const ofMonitors = earliest(watched.map(({ id, since }) => ({ id, since })))
  const ofServices = earliest(watched.flatMap(({ serviceId: id, since }) => (id === null ? [] : [{ id, since }])))
  const intervals = grouped(await readIntervals(db, ofMonitors))
  const gaps = grouped(await readGaps(db, ofMonitors))
  const maintenance = grouped(await readMaintained(db, ofServices, now))
  const pasts = new Map<string, { monitors: MonitorPast[]; maintenance: readonly Span[] }>()
  for (const monitor of watched) {
    const own = intervals.get(monitor.id) ?? []
    const past = { intervals: own, gaps: gaps.get(monitor.id) ?? [], silentSince: silenceOf(monitor, now) }
    const known = pasts.get(monitor.of)
    if (known) known.monitors.push(past)
    else pasts.set(monitor.of, { monitors: [past], maintenance: maintenance.get(monitor.serviceId ?? '') ?? [] })
  }
  return pasts
}

/** A state that too few checks stand for tells nothing; nor does one whose silence has been told. */
function silenceOf(monitor: Watched, now: Date): Date | null {
  const { watches, tier, unknownSince } = monitor
  const vouchers = watches.map(([known, unknown]) => ({ lastKnownAt: dateOf(known), unknownSince: dateOf(unknown) }))
  const unvouched = unvouchedSince(vouchers, { ...monitor, rhythm: rhythmOf(monitor, tier) }, now)
  if (unvouched === null || unknownSince === null) return unvouched ?? unknownSince
  return new Date(Math.min(+unvouched, +unknownSince))
}

const dateOf = (time: number | null) => (time === null ? null : new Date(time))

/** A row of a subject, or of a monitor. */
type Of<T> = T & { readonly of: string }

interface Watched
  extends Of<
    Pick<
      Monitor,
      'id' | 'serviceId' | 'intervalSeconds' | 'timeoutMs' | 'options' | 'agreement' | 'stateSince' | 'unknownSince'
    >
  > {
  readonly since: Date
  readonly tier: Tier
  /** When each watch last knew something, and since when it finds nothing out, in epoch milliseconds. */
  readonly watches: readonly (readonly [known: number | null, unknown: number | null])[]
}

/** The monitors that are named, and those of the services that are. Of options, what tells the rhythm. */
function readWatched(db: Database, wanted: readonly Wanted[]): Promise<Watched[]> {
  const ids = wanted.map(({ id }) => id)
  const since = wanted.map((each) => each.since)
  return db.$queryRaw<Watched[]>`
    SELECT wanted.id AS of, wanted.since, m.id, m."serviceId", m."intervalSeconds", m."timeoutMs", o.tier::text AS tier,
      jsonb_build_object('graceSeconds', coalesce(m.options -> 'graceSeconds', '0')) AS options,
      m.agreement, m."stateSince", m."unknownSince", coalesce((
        SELECT jsonb_agg(jsonb_build_array(
          (extract(epoch FROM w."lastKnownAt") * 1000)::float8, (extract(epoch FROM w."unknownSince") * 1000)::float8))
        FROM "Watch" w WHERE w."monitorId" = m.id), '[]') AS watches
    FROM (
      SELECT id, min(since) AS since FROM unnest(${ids}::text[], ${since}::timestamptz[]) AS each (id, since) GROUP BY id
    ) wanted
    JOIN "Monitor" m ON m.id = wanted.id OR m."serviceId" = wanted.id
    JOIN "Organization" o ON o.id = m."organizationId"
    ORDER BY m.id`
}

function readIntervals(db: Database, since: ReadonlyMap<string, Date>) {
  return db.$queryRaw<(Of<Omit<StateInterval, 'state'>> & { readonly state: MonitorState })[]>`
    SELECT i."monitorId" AS of, i."startedAt", i."endedAt", i.state::text AS state, i.cause
    FROM unnest(${[...since.keys()]}::text[], ${[...since.values()]}::timestamptz[]) AS wanted (id, since)
    JOIN "MonitorInterval" i ON i."monitorId" = wanted.id
    WHERE i."endedAt" IS NULL OR i."endedAt" > wanted.since
    ORDER BY i."monitorId", i."startedAt"`
}

function readGaps(db: Database, since: ReadonlyMap<string, Date>) {
  return db.$queryRaw<Of<Span>[]>`
    SELECT g."monitorId" AS of, g."startedAt" AS from, g."endedAt" AS to
    FROM unnest(${[...since.keys()]}::text[], ${[...since.values()]}::timestamptz[]) AS wanted (id, since)
    JOIN "MonitorGap" g ON g."monitorId" = wanted.id AND g."endedAt" > wanted.since`
}

/** When monitors and services by their ids were maintained since a moment; a monitor is with its service. One statement. */
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
      JOIN "MaintenanceService" s ON s."serviceId" = coalesce(watching."serviceId", wanted.id)
      JOIN "Maintenance" m ON m.id = s."maintenanceId"
      WHERE m."startedAt" IS NOT NULL AND (m."endedAt" IS NULL OR m."endedAt" > ${since})`,
  )
}

/** When services were maintained: as it was, and not as it was planned. */
function readMaintained(db: Database, since: ReadonlyMap<string, Date>, now: Date) {
  return db.$queryRaw<Of<Span>[]>`
    SELECT s."serviceId" AS of, m."startedAt" AS from, coalesce(m."endedAt", ${now}::timestamptz) AS to
    FROM unnest(${[...since.keys()]}::text[], ${[...since.values()]}::timestamptz[]) AS wanted (id, since)
    JOIN "MaintenanceService" s ON s."serviceId" = wanted.id
    JOIN "Maintenance" m ON m.id = s."maintenanceId"
    WHERE m."startedAt" IS NOT NULL AND (m."endedAt" IS NULL OR m."endedAt" > wanted.since)`
}

/** From when on something is wanted of each, by whoever wants the most. */
function earliest(wanted: readonly Wanted[]): Map<string, Date> {
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
