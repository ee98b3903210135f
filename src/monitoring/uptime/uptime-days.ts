import { historyDaysOf, LONGEST_HISTORY_DAYS } from '../../account/limits.ts'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import { organizations } from '../../account/views.ts'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { Context, Database } from '../../core/context.ts'
import { DAY } from '../../core/time.ts'
import { dayIn, daysUpTo, startOfDay } from '../../core/time-zone.ts'
import { invalid } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { maintenances } from '../../status/views.ts'
import type { Condition, Span, Tally } from './uptime.ts'
import { nothing, stretches, tallies } from './uptime.ts'
import type { History } from './uptime-history.ts'
import { readHistories, readMaintenance } from './uptime-history.ts'

/** The uptime of a calendar day in the organization's time zone. Today ends now. */
export interface DayUptime extends Span {
  /** The date, as midnight UTC. */
  readonly day: Date
  readonly tally: Tally
}

/** Returns the start of the history that an organization's tier shows: the start of a day. Today counts as a day. */
export function historyStart({ timeZone, tier }: Pick<Organization, 'timeZone' | 'tier'>, now: Date): Date {
  return startOfDay(timeZone, new Date(dayIn(timeZone, now).getTime() - (historyDaysOf(tier) - 1) * DAY))
}

/** The span that a caller requests. */
export interface RequestedSpan {
  /** Default: 30 days before the end. */
  readonly from?: Date | null | undefined
  /** Default: now. */
  readonly to?: Date | null | undefined
}

/** The default span, in milliseconds. */
const DEFAULT_SPAN_MS = 30 * DAY

/**
 * Returns the requested span, limited to the history that an organization's tier shows.
 * @throws Invalid when it ends before it starts.
 */
export function visibleSpan(
  organization: Pick<Organization, 'timeZone' | 'tier'>,
  requested: RequestedSpan,
  now: Date,
): Span {
  const to = requested.to && requested.to < now ? requested.to : now
  const from = requested.from ?? new Date(to.getTime() - DEFAULT_SPAN_MS)
  if (from > to) throw invalid([{ path: ['from'], message: 'must not be after the end' }])
  return { from: new Date(Math.min(+to, Math.max(+from, +historyStart(organization, now)))), to }
}

/**
 * Reads the last `count` days of monitors and services of an organization by id, within the history of its tier; the
 * last is today, up to now. Reads closed days and computes the others. Days before monitoring started contain only
 * maintenance. Runs three statements for any number of ids, and one more if ids have no monitors.
 */
export async function readDays(
  db: Database,
  { timeZone, tier }: Pick<Organization, 'timeZone' | 'tier'>,
  ids: readonly string[],
  count: number,
  now: Date,
): Promise<Map<string, DayUptime[]>> {
  const spans = daySpans({ timeZone, tier }, count, now)
  const days = spans.map(({ day }) => day)
  const closed = await readClosed(db, ids, days)
  const wanted = ids.map((id) => ({ id, since: spans[(closed.get(id)?.last ?? -1) + 1]?.from ?? now }))
  const first = spans[0]?.from ?? now
  const histories = await readHistories(
    db,
    wanted.map((each) => ({ ...each, maintainedSince: first })),
    now,
  )
  const begun = ids.filter((id) => (closed.get(id)?.first ?? 0) > 0 && !histories.has(id))
  const maintenance = await readMaintenance(db, begun, first, now)
  const owner = {}
  const found = new Map<string, DayUptime[]>()
  for (const { id, since } of wanted) {
    await yieldAfterTimeSlice(owner)
    const computed = tallyEach(
      histories.get(id),
      spans.filter(({ from }) => from >= since),
    )
    const known = spans.slice(0, spans.length - computed.length)
    const before = tallyEach(
      { monitors: [], maintenance: histories.get(id)?.maintenance ?? maintenance.get(id) ?? [] },
      known.slice(0, closed.get(id)?.first),
    )
    const tallied = [
      ...known.map((span, index) => closed.get(id)?.days.get(index) ?? before[index] ?? unknownAll(span)),
      ...computed,
    ]
    found.set(
      id,
      spans.map((span, index) => ({ ...span, tally: tallied[index] ?? unknownAll(span) })),
    )
  }
  return found
}

/** Returns the last `count` days of an organization, within the history of its tier; the last is today, up to now. */
export function daySpans(
  { timeZone, tier }: Pick<Organization, 'timeZone' | 'tier'>,
  count: number,
  now: Date,
): Omit<DayUptime, 'tally'>[] {
  return spansOf(timeZone, daysUpTo(dayIn(timeZone, now), Math.min(count, historyDaysOf(tier))), now)
}

/** Returns the spans of calendar days. The last span ends now. */
function spansOf(timeZone: string, days: readonly Date[], now: Date) {
  const starts = days.map((day) => startOfDay(timeZone, day))
  return days.map((day, index) => ({ day, from: starts[index] ?? now, to: starts[index + 1] ?? now }))
}

/** Tallies each of several consecutive spans. */
function tallyEach(past: History | undefined, spans: readonly Span[]): Tally[] {
  const [first, last] = [spans[0], spans.at(-1)]
  if (!past || !first || !last) return spans.map(unknownAll)
  return tallies(stretches(past.monitors, past.maintenance, { from: first.from, to: last.to }), spans)
}

function unknownAll({ from, to }: Span): Tally {
  return { ...nothing, unknown: to.getTime() - from.getTime() }
}

/** A subject's closed days, by their index among the requested days. The subject did not exist before the first. */
interface Closed {
  readonly days: ReadonlyMap<number, Tally>
  readonly first: number
  readonly last: number
}

/** A closed day in JSON: its index and its tally. */
type DayJson = readonly [number, number, number, number, number, number]

/**
 * Reads closed days as one row per subject, because transferring thousands of rows would cost more than reading them.
 */
async function readClosed(db: Database, ids: readonly string[], days: readonly Date[]): Promise<Map<string, Closed>> {
  const [first, last] = [days[0], days.at(-1)]
  const rows = await db.$queryRaw<{ id: string; days: string }[]>`
    SELECT "subjectId" AS id,
      json_agg(json_build_array(day - ${first}::date, up, degraded, down, unknown, maintenance))::text AS days
    FROM "UptimeDay" WHERE "subjectId" = ANY (${ids}) AND day BETWEEN ${first}::date AND ${last}::date
    GROUP BY "subjectId"`
  const owner = {}
  const closed = new Map<string, Closed>()
  for (const { id, days: found } of rows) {
    await yieldAfterTimeSlice(owner)
    const places = new Map<number, Tally>()
    for (const [place, up, degraded, down, unknown, maintenance] of JSON.parse(found) as DayJson[]) {
      places.set(place, { ...nothing, up, degraded, down, unknown, maintenance })
    }
    closed.set(id, { days: places, first: Math.min(...places.keys()), last: Math.max(...places.keys()) })
  }
  return closed
}

/** The maximum number of subjects whose days are closed per call, and per transaction of an organization. */
const AT_ONCE = 1000
const PER_TRANSACTION = 50

/**
 * Closes past days: stores their uptime, so that it does not have to be computed again. A day can be closed once a
 * known result after it exists, because a gap before that result is then stored too. A later change of the past, for
 * example an outage that started on that day, deletes this and all following closed days under the same lock. Safe to
 * run in several processes. Returns whether there may be more days to close.
 */
export async function closeDays(ctx: ChangeContext): Promise<boolean> {
  const zones = await ctx.db.$queryRaw<{ timeZone: string }[]>`
    SELECT DISTINCT o."timeZone" FROM ${organizations} AS o
    WHERE EXISTS (SELECT 1 FROM "Monitor" m WHERE m."organizationId" = o.id)`
  let [found, closed] = [0, 0]
  for (const { timeZone } of zones) {
    const unclosed = await readUnclosed(ctx.db, yesterdayOf(timeZone, ctx.now()), AT_ONCE, null)
    found = Math.max(found, unclosed.length)
    for (const organizationId of new Set(unclosed.map((subject) => subject.organizationId))) {
      closed += await change(ctx, organizationId, async (tx) => [await closeSome(tx, organizationId)]).catch(
        (error) => {
          ctx.log.error({ err: error, organization: organizationId }, 'monitoring: could not close days')
          return 0
        },
      )
    }
  }
  return closed > 0 && (found === AT_ONCE || closed >= PER_TRANSACTION)
}

interface Yesterday {
  readonly timeZone: string
  readonly day: Date
  readonly end: Date
}

function yesterdayOf(timeZone: string, now: Date): Yesterday {
  const today = dayIn(timeZone, now)
  return { timeZone, day: new Date(today.getTime() - DAY), end: startOfDay(timeZone, today) }
}

/** Closes days of some subjects of an organization. The caller must lock its row. Returns the number of subjects. */
async function closeSome({ db, now }: Context, organizationId: string): Promise<number> {
  const { timeZone } = await readOrganization({ db }, organizationId)
  const yesterday = yesterdayOf(timeZone, now())
  // Read the results before the gaps, because a gap is written with the result that ends it.
  const subjects = await readUnclosed(db, yesterday, PER_TRANSACTION, organizationId)
  const daysOf = ({ begun, closedUpTo }: Unclosed) => {
    const first = closedUpTo === null ? dayIn(timeZone, begun).getTime() : closedUpTo.getTime() + DAY
    return daysUpTo(yesterday.day, Math.min((yesterday.day.getTime() - first) / DAY + 1, LONGEST_HISTORY_DAYS))
  }
  const open = subjects.map((subject) => ({ ...subject, spans: spansOf(timeZone, daysOf(subject), yesterday.end) }))
  const wanted = open.map(({ id, spans }) => ({ id, since: spans[0]?.from ?? yesterday.end }))
  const histories = await readHistories(db, wanted, now())
  await insertDays(
    db,
    organizationId,
    open.flatMap(({ id, spans }) =>
      tallyEach(histories.get(id), spans).map((of, index) => [id, spans[index]?.day, of] as const),
    ),
  )
  return subjects.length
}

/** Inserts days in one statement with one array per column, because there may be tens of thousands. */
async function insertDays(
  db: Database,
  organizationId: string,
  days: readonly (readonly [string, Date | undefined, Tally])[],
): Promise<void> {
  const of = (condition: Condition) => days.map(([, , tally]) => tally[condition])
  await db.$executeRaw`
    INSERT INTO "UptimeDay" ("subjectId", day, "organizationId", up, degraded, down, unknown, maintenance)
    SELECT id, day, ${organizationId}, up, degraded, down, unknown, maintenance
    FROM unnest(${days.map(([id]) => id)}::text[], ${days.map(([, day]) => day)}::date[], ${of('up')}::int[],
      ${of('degraded')}::int[], ${of('down')}::int[], ${of('unknown')}::int[], ${of('maintenance')}::int[])
      AS closed (id, day, up, degraded, down, unknown, maintenance)
    ON CONFLICT DO NOTHING`
}

interface Unclosed {
  readonly id: string
  readonly organizationId: string
  /** When monitoring started. */
  readonly begun: Date
  /** Its last closed day; null: none. */
  readonly closedUpTo: Date | null
}

/**
 * Reads the monitors and services of an organization (null: of a time zone) whose last day can be closed but is still
 * open. Paused monitors, pending monitors and groups have no results to wait for. Maintenance that is overdue must
 * first start or end.
 */
function readUnclosed(
  db: Database,
  { timeZone, day, end }: Yesterday,
  limit: number,
  organizationId: string | null,
): Promise<Unclosed[]> {
  const of = organizationId === null ? Prisma.sql`o."timeZone" = ${timeZone}` : Prisma.sql`o.id = ${organizationId}`
  return db.$queryRaw<Unclosed[]>`
    WITH watched AS (
      SELECT m.id, m."serviceId", m."organizationId", m."createdAt",
        m.state IN ('PENDING', 'PAUSED') OR m.kind = 'GROUP'
          OR (SELECT count(*) FROM "Watch" w WHERE w."monitorId" = m.id AND w."lastKnownAt" >= ${end})
            >= coalesce(m.agreement, 1) AS final
      FROM "Monitor" m JOIN ${organizations} AS o ON o.id = m."organizationId"
      WHERE ${of} AND m."createdAt" < ${end} AND NOT EXISTS (
        SELECT 1 FROM ${maintenances} AS n WHERE n."organizationId" = o.id
          AND (n.status = 'SCHEDULED' AND n."startsAt" < ${end}
            OR n.status IN ('IN_PROGRESS', 'VERIFYING') AND n."endsAt" < ${end}))
    ), subject AS (
      SELECT id, "organizationId", "createdAt", final FROM watched
      UNION ALL
      SELECT "serviceId", "organizationId", min("createdAt"), bool_and(final)
      FROM watched WHERE "serviceId" IS NOT NULL GROUP BY 1, 2
    )
    SELECT id, "organizationId", "createdAt" AS begun,
      (SELECT max(d.day) FROM "UptimeDay" d WHERE d."subjectId" = subject.id) AS "closedUpTo"
    FROM subject
    WHERE final AND NOT EXISTS (
      SELECT 1 FROM "UptimeDay" d WHERE d."subjectId" = subject.id AND d.day = ${day}::date)
    ORDER BY "organizationId", id LIMIT ${limit}`
}

/** Forgets the uptime of an organization from a day on, so that it is computed again. */
export async function forgetUptimeSince(db: Database, organizationId: string, day: Date): Promise<void> {
  await db.uptimeDay.deleteMany({ where: { organizationId, day: { gte: day } } })
}
