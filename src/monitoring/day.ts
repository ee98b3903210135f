import { tierLimits } from '../account/plan.ts'
import type { Context, Database } from '../context.ts'
import { change } from '../eventlog/change.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { DAY } from '../time.ts'
import { dayIn, daysUpTo, startOfDay } from '../zone.ts'
import type { Past } from './past.ts'
import { readMaintenance, readPasts } from './past.ts'
import type { Condition, Span, Tally } from './uptime.ts'
import { stretches, tallies } from './uptime.ts'

/** How a calendar day of the organization's time zone was, as far as it has passed. */
export interface DayUptime extends Span {
  /** The midnight in UTC of the date. */
  readonly day: Date
  readonly tally: Tally
}

/** The first calendar day of its past that an organization is shown: its tier says how many there are, today included. */
export function firstDayShown({ timeZone, tier }: Pick<Organization, 'timeZone' | 'tier'>, now: Date): Date {
  return new Date(dayIn(timeZone, now).getTime() - (tierLimits[tier].historyDays - 1) * DAY)
}

/**
 * The last `count` days of monitors and services of an organization by their ids, or as many as its tier shows; the last is
 * today, up to now. Days that are closed are read, those after them are computed, and those before them too, of which only
 * maintenance is known: six statements for any number of ids.
 */
export async function readDays(
  db: Database,
  { timeZone, tier }: Pick<Organization, 'timeZone' | 'tier'>,
  ids: readonly string[],
  count: number,
  now: Date,
): Promise<Map<string, DayUptime[]>> {
  const days = daysUpTo(dayIn(timeZone, now), Math.min(count, tierLimits[tier].historyDays))
  const spans = spansOf(timeZone, days, now)
  const closed = await readClosed(db, ids, days)
  const wanted = ids.map((id) => ({ id, since: spans[(closed.get(id)?.last ?? -1) + 1]?.from ?? now }))
  const pasts = await readPasts(db, wanted, now)
  const first = spans[0]?.from ?? now
  const begun = ids.filter((id) => (closed.get(id)?.first ?? 0) > 0)
  const maintenance = await readMaintenance(db, begun, first, now)
  return new Map(
    wanted.map(({ id, since }) => {
      const computed = tallyEach(
        pasts.get(id),
        spans.filter(({ from }) => from >= since),
      )
      const known = spans.slice(0, spans.length - computed.length)
      const before = tallyEach(
        { monitors: [], maintenance: maintenance.get(id) ?? [] },
        known.slice(0, closed.get(id)?.first),
      )
      const tallied = [
        ...known.map((span, index) => closed.get(id)?.days.get(index) ?? before[index] ?? unknownAll(span)),
        ...computed,
      ]
      return [id, spans.map((span, index) => ({ ...span, tally: tallied[index] ?? unknownAll(span) }))]
    }),
  )
}

/** When calendar days in order began and ended, the last of them so far. */
function spansOf(timeZone: string, days: readonly Date[], now: Date) {
  const starts = days.map((day) => startOfDay(timeZone, day))
  return days.map((day, index) => ({ day, from: starts[index] ?? now, to: starts[index + 1] ?? now }))
}

/** How each of the spans was, which are in order and follow each other. */
function tallyEach(past: Past | undefined, spans: readonly Span[]): Tally[] {
  const [first, last] = [spans[0], spans.at(-1)]
  if (!past || !first || !last) return spans.map(unknownAll)
  return tallies(stretches(past.monitors, past.maintenance, { from: first.from, to: last.to }), spans)
}

function unknownAll({ from, to }: Span): Tally {
  return { up: 0, degraded: 0, down: 0, unknown: to.getTime() - from.getTime(), maintenance: 0 }
}

/** A subject's closed days by their place among those asked for. Days before them were before its time. */
interface Closed {
  readonly days: ReadonlyMap<number, Tally>
  readonly first: number
  readonly last: number
}

/** One line for each subject: thousands of rows would cost more to receive than to read. */
async function readClosed(db: Database, ids: readonly string[], days: readonly Date[]): Promise<Map<string, Closed>> {
  const [first, last] = [days[0], days.at(-1)]
  const rows = await db.$queryRaw<{ id: string; days: string }[]>`
    SELECT "subjectId" AS id,
      string_agg(concat_ws(' ', day - ${first}::date, up, degraded, down, unknown, maintenance), ',') AS days
    FROM "UptimeDay" WHERE "subjectId" = ANY (${ids}) AND day BETWEEN ${first}::date AND ${last}::date
    GROUP BY "subjectId"`
  return new Map(
    rows.map(({ id, days: found }) => {
      const places = new Map<number, Tally>()
      for (const line of found.split(',')) {
        const [place = 0, up = 0, degraded = 0, down = 0, unknown = 0, maintenance = 0] = line.split(' ').map(Number)
        places.set(place, { up, degraded, down, unknown, maintenance })
      }
      return [id, { days: places, first: Math.min(...places.keys()), last: Math.max(...places.keys()) }]
    }),
  )
}

/** How many subjects are closed at once, and how many of one organization in one transaction. */
const AT_ONCE = 1000
const PER_TRANSACTION = 50

/**
 * Closes days that are over: keeps how they were, so that they need not be computed again. A day is over when nothing can
 * be written into it any more: a check made after it has been known, so that a gap up to that check is there too. What
 * does change a day later, such as an outage found to have begun in it, forgets it and all that follow, in the same lock.
 * Gives whether there may be more to close at once. It does no harm to do this twice, or in two processes at a time.
 */
export async function closeDays(ctx: Context): Promise<boolean> {
  const zones = await ctx.db.$queryRaw<{ timeZone: string }[]>`
    SELECT DISTINCT o."timeZone" FROM "Organization" o
    WHERE EXISTS (SELECT 1 FROM "Monitor" m WHERE m."organizationId" = o.id)`
  let [found, closed] = [0, 0]
  for (const { timeZone } of zones) {
    const unclosed = await readUnclosed(ctx.db, yesterdayOf(timeZone, ctx.now()), AT_ONCE, null)
    found = Math.max(found, unclosed.length)
    for (const organizationId of new Set(unclosed.map((subject) => subject.organizationId))) {
      closed += await change(ctx, organizationId, async (tx) => [await closeSome(tx, organizationId)]).catch(
        (error) => {
          ctx.log.error({ err: error, organization: organizationId }, 'monitoring: days are not closed')
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

/** Closes days of some subjects of an organization, whose row is locked. Gives how many subjects there were. */
async function closeSome({ db, now }: Context, organizationId: string): Promise<number> {
  const { timeZone } = await db.organization.findUniqueOrThrow({ where: { id: organizationId } })
  const yesterday = yesterdayOf(timeZone, now())
  // The checks are read before the gaps, and a gap is written with the check that ends it.
  const subjects = await readUnclosed(db, yesterday, PER_TRANSACTION, organizationId)
  const daysOf = ({ begun, closedUpTo }: Unclosed) => {
    const first = closedUpTo === null ? dayIn(timeZone, begun).getTime() : closedUpTo.getTime() + DAY
    return daysUpTo(yesterday.day, Math.min((yesterday.day.getTime() - first) / DAY + 1, LONGEST))
  }
  const open = subjects.map((subject) => ({ ...subject, spans: spansOf(timeZone, daysOf(subject), yesterday.end) }))
  const wanted = open.map(({ id, spans }) => ({ id, since: spans[0]?.from ?? yesterday.end }))
  const pasts = await readPasts(db, wanted, now())
  await insertDays(
    db,
    organizationId,
    open.flatMap(({ id, spans }) =>
      tallyEach(pasts.get(id), spans).map((of, index) => [id, spans[index]?.day, of] as const),
    ),
  )
  return subjects.length
}

/** In one statement with one parameter a column: there may be tens of thousands. */
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

/** No tier shows more days. */
const LONGEST = Math.max(...Object.values(tierLimits).map(({ historyDays }) => historyDays))

interface Unclosed {
  readonly id: string
  readonly organizationId: string
  /** Since when it has been watched. */
  readonly begun: Date
  /** The last day of it that is closed; null: none is. */
  readonly closedUpTo: Date | null
}

/**
 * Monitors and services of a time zone whose yesterday can be closed and is not; of one organization, or (null) of all. A
 * paused or pending monitor has nothing to be known; maintenance that should have started or ended by then first has to.
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
        m.state IN ('PENDING', 'PAUSED')
          OR (SELECT count(*) FROM "Watch" w WHERE w."monitorId" = m.id AND w."lastKnownAt" >= ${end})
            >= coalesce(m.agreement, 1) AS settled
      FROM "Monitor" m JOIN "Organization" o ON o.id = m."organizationId"
      WHERE ${of} AND m."createdAt" < ${end} AND NOT EXISTS (
        SELECT 1 FROM "Maintenance" n WHERE n."organizationId" = o.id
          AND (n.status = 'SCHEDULED' AND n."startsAt" < ${end}
            OR n.status IN ('IN_PROGRESS', 'VERIFYING') AND n."endsAt" < ${end}))
    ), subject AS (
      SELECT id, "organizationId", "createdAt", settled FROM watched
      UNION ALL
      SELECT "serviceId", "organizationId", min("createdAt"), bool_and(settled)
      FROM watched WHERE "serviceId" IS NOT NULL GROUP BY 1, 2
    )
    SELECT id, "organizationId", "createdAt" AS begun,
      (SELECT max(d.day) FROM "UptimeDay" d WHERE d."subjectId" = subject.id) AS "closedUpTo"
    FROM subject
    WHERE settled AND NOT EXISTS (
      SELECT 1 FROM "UptimeDay" d WHERE d."subjectId" = subject.id AND d.day = ${day}::date)
    ORDER BY "organizationId", id LIMIT ${limit}`
}
