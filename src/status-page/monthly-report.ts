import { LRUCache } from 'lru-cache'
import type { Page } from '../account/page/page.ts'
import { createLimiter } from '../core/concurrency/limiter.ts'
import { yieldAfterTimeSlice } from '../core/concurrency/time-slice.ts'
import type { Context, Database } from '../core/context.ts'
import { NotFound } from '../core/errors.ts'
import { DAY, HOUR, MINUTE } from '../core/time.ts'
import type { Maintenance, Organization, Prisma, UptimeCorrection } from '../generated/prisma/client.ts'
import type { IncidentImpact, UptimeSource } from '../generated/prisma/enums.ts'
import { budgetOf, isMet, WHOLE } from '../monitoring/objective/budget.ts'
import type { ObjectiveTally } from '../monitoring/objective/objective-tally.ts'
import { countedStretches, objectiveTally } from '../monitoring/objective/objective-tally.ts'
import { readCorrections } from '../monitoring/objective/standing.ts'
import { monthAt, monthOf } from '../monitoring/objective/window.ts'
import { readServiceStretches } from '../monitoring/uptime/service-uptime.ts'
import type { Span } from '../monitoring/uptime/uptime.ts'
import { historyStart } from '../monitoring/uptime/uptime-days.ts'
import { upTo } from '../monitoring/uptime/uptime-history.ts'
import { incidentsOnPage, onPage } from '../status/page-scope.ts'

/** The report of a page for a calendar month in the organization's time zone. */
export interface MonthlyReport extends Span {
  /** Such as 2026-10. */
  readonly month: string
  readonly timeZone: string
  /** Whether the month is over. */
  readonly isClosed: boolean
  readonly services: readonly ServiceReport[]
  readonly incidents: readonly ReportedIncident[]
  readonly maintenances: readonly Pick<Maintenance, 'id' | 'title' | 'titles' | 'startedAt' | 'endedAt'>[]
  readonly corrections: readonly ReportedCorrection[]
  readonly acknowledgement: MeanTime
  readonly recovery: MeanTime
}

/** A service in a report. */
export interface ServiceReport {
  readonly id: string
  readonly name: string
  readonly source: UptimeSource
  /** The share of the known time that was good, in percent, rounded down; null: no data. */
  readonly percent: number | null
  readonly coverage: number | null
  readonly tally: ObjectiveTally
  /** Its objectives: their targets, in thousandths of a percent, and whether the month met them; null: no data. */
  readonly objectives: readonly { readonly target: number; readonly isMet: boolean | null }[]
}

/** An incident in a report. */
interface ReportedIncident {
  readonly id: string
  readonly title: string
  /** In other languages. */
  readonly titles: Prisma.JsonValue
  readonly impact: IncidentImpact
  readonly startedAt: Date
  /** Null: it continues. */
  readonly resolvedAt: Date | null
}

/** A correction in a report, with the name of its service. */
type ReportedCorrection = Omit<UptimeCorrection, 'organizationId'> & { readonly service: string }

/** The mean of a number of times. */
export interface MeanTime {
  readonly count: number
  /** In milliseconds, rounded down; null: there are none. */
  readonly meanMs: number | null
}

/** The page of the report. */
export type ReportedPage = Pick<Page, 'id' | 'organizationId' | 'serviceIds' | 'uptimeSource' | 'lastSeq'>

/** The maximum number of incidents, maintenances and corrections in a report. */
const MAX_LISTED = 500

/**
 * Reads the report of a page for a month. Runs at most thirteen statements for any number of services.
 * @param month such as 2026-10. @throws NotFound for an invalid month, or a month outside the history of the tier.
 */
export async function readReport(
  { db, now }: Pick<Context, 'db' | 'now'>,
  organization: Pick<Organization, 'id' | 'timeZone' | 'tier' | 'createdAt'>,
  page: ReportedPage,
  month: string,
): Promise<MonthlyReport> {
  const readAt = now()
  const whole = spanOfMonth(organization, month, readAt)
  const key = `${page.id} ${page.lastSeq} ${organization.tier} ${month}`
  const known = closedReports.get(key)
  if (known !== undefined) return known
  if (readAt < whole.to) return computeReport(db, { organization, page, month, whole, readAt })
  const running = runningReports.get(key)
  if (running !== undefined) return running
  const computed = computeReport(db, { organization, page, month, whole, readAt }).finally(() =>
    runningReports.delete(key),
  )
  runningReports.set(key, computed)
  const report = await computed
  closedReports.set(key, report)
  return report
}

/** Reports of past months in progress, so that concurrent requests for the page and its files share one. */
const runningReports = new Map<string, Promise<MonthlyReport>>()

/** The maximum size of the cached reports in characters of JSON, which take about two bytes each. */
const MAX_CACHED_LENGTH = 8 * 1024 * 1024

/**
 * Reports of past months, until the log of their organization moves. Late data, such as a gap, appear in them a little
 * later.
 */
const closedReports = new LRUCache<string, MonthlyReport>({
  maxSize: MAX_CACHED_LENGTH,
  sizeCalculation: (report) => JSON.stringify(report).length,
  ttl: 10 * MINUTE,
})

/**
 * Reports are computed one by one, in turns of their organizations: each reads the whole history of up to a thousand services. No caller is in a
 * transaction.
 */
const oneAtATime = createLimiter({ atOnce: 1 })

const computeReport = (db: Database, about: ReportSubject) =>
  oneAtATime(() => computeNow(db, about), about.organization.id)

/** The subject of a report. */
interface ReportSubject {
  readonly organization: Pick<Organization, 'id' | 'timeZone' | 'tier'>
  readonly page: ReportedPage
  readonly month: string
  readonly whole: Span
  readonly readAt: Date
}

async function computeNow(db: Database, about: ReportSubject): Promise<MonthlyReport> {
  const { organization, page, month, whole, readAt } = about
  const span = upTo(readAt, whole)
  const services = await db.service.findMany({
    where: { organizationId: organization.id, ...(page.serviceIds && { id: { in: [...page.serviceIds] } }) },
    include: { objectives: { orderBy: [{ target: 'desc' }, { id: 'asc' }] } },
    orderBy: [{ position: 'asc' }, { id: 'asc' }],
  })
  const ids = services.map(({ id }) => id)
  const settings = { ...organization, uptimeSource: page.uptimeSource }
  const queries = ids.map((id) => ({ id, since: span.from }))
  const histories = await readServiceStretches(db, settings, queries, readAt)
  const corrections = await readCorrections(db, ids, span.to)
  const owner = {}
  const found: ServiceReport[] = []
  for (const { id, name, objectives } of services) {
    await yieldAfterTimeSlice(owner)
    const history = histories.get(id)
    if (history === undefined) continue
    const counted = countedStretches(history.stretches, corrections.get(id) ?? [])
    const tally = objectiveTally(counted, span)
    const { percent, coverage } = budgetOf(counted, {
      target: WHOLE,
      window: span,
      begunAt: history.begunAt,
      now: span.to,
    })
    const targets = objectives.map(({ target }) => ({ target, isMet: isMet(tally, target) }))
    found.push({ id, name, source: history.source, percent, coverage, tally, objectives: targets })
  }
  const names = new Map(services.map(({ id, name }) => [id, name]))
  const incidents = await readIncidents(db, page, span)
  return {
    ...whole,
    month,
    timeZone: organization.timeZone,
    isClosed: readAt >= whole.to,
    services: found,
    incidents,
    maintenances: await readMaintenances(db, page, span),
    corrections: [...corrections.values()]
      .flat()
      .filter(({ startsAt, endsAt }) => startsAt < span.to && endsAt > span.from)
      .slice(0, MAX_LISTED)
      .map(({ organizationId: _, from: _from, to: _to, ...each }) => ({
        ...each,
        service: names.get(each.serviceId) ?? '',
      })),
    acknowledgement: await readAcknowledgement(db, ids, span),
    recovery: meanOf(
      incidents.flatMap(({ startedAt, resolvedAt }) =>
        resolvedAt === null || startedAt < span.from ? [] : [resolvedAt.getTime() - startedAt.getTime()],
      ),
    ),
  }
}

/**
 * Returns the months that have a report, newest first, such as 2026-10: the current one, the last, and those in the
 * tier's history.
 */
export function reportMonths(
  { timeZone, tier, createdAt }: Pick<Organization, 'timeZone' | 'tier' | 'createdAt'>,
  now: Date,
): string[] {
  const months: string[] = []
  const since = historyStart({ timeZone, tier }, now)
  for (let { from } = monthAt(timeZone, now); months.length < 2 || from >= since; ) {
    months.push(nameOfMonth(from))
    if (from <= createdAt) return months
    from = monthAt(timeZone, new Date(from.getTime() - 1)).from
  }
  return months
}

/** Names the month that begins at a time in some zone. Two days later, no zone is in the month before. */
const nameOfMonth = (from: Date) => new Date(from.getTime() + 2 * DAY).toISOString().slice(0, 'yyyy-mm'.length)

/**
 * How long after the end of a month its report is complete, because a worker that was cut off stores its results late.
 */
const SETTLING = 6 * HOUR

/** Returns the months whose report is complete, newest first. */
export function completeMonths(organization: Parameters<typeof reportMonths>[0], now: Date): string[] {
  const last = lastCompleteMonth(organization.timeZone, now)
  return reportMonths(organization, now).filter((month) => month <= last)
}

/** Returns the last month whose report is complete in a time zone, such as 2026-10. */
export function lastCompleteMonth(timeZone: string, now: Date): string {
  const { from } = monthAt(timeZone, new Date(now.getTime() - SETTLING))
  return nameOfMonth(monthAt(timeZone, new Date(from.getTime() - 1)).from)
}

/** @throws NotFound for an invalid month, or one without a report. */
function spanOfMonth(organization: Parameters<typeof reportMonths>[0], month: string, now: Date): Span {
  if (!reportMonths(organization, now).includes(month)) throw new NotFound('There is no report of this month.')
  return spanOf(organization.timeZone, month)
}

function spanOf(timeZone: string, month: string): Span {
  const [year, number] = month.split('-').map(Number)
  return monthOf(timeZone, year ?? 0, number ?? 0)
}

function readIncidents(db: Database, page: ReportedPage, { from, to }: Span): Promise<ReportedIncident[]> {
  return db.incident.findMany({
    where: {
      AND: [
        incidentsOnPage(page),
        { startedAt: { lt: to } },
        { OR: [{ resolvedAt: null }, { resolvedAt: { gt: from } }] },
      ],
    },
    select: { id: true, title: true, titles: true, impact: true, startedAt: true, resolvedAt: true },
    orderBy: [{ startedAt: 'asc' }, { id: 'asc' }],
    take: MAX_LISTED,
  })
}

function readMaintenances(db: Database, page: ReportedPage, { from, to }: Span) {
  return db.maintenance.findMany({
    where: { AND: [onPage(page), { startedAt: { lt: to } }, { OR: [{ endedAt: null }, { endedAt: { gt: from } }] }] },
    select: { id: true, title: true, titles: true, startedAt: true, endedAt: true },
    orderBy: [{ startedAt: 'asc' }, { id: 'asc' }],
    take: MAX_LISTED,
  })
}

/** Reads the times until the alerts of the month were acknowledged, for those that were. */
async function readAcknowledgement(db: Database, serviceIds: readonly string[], { from, to }: Span): Promise<MeanTime> {
  const [row] = await db.$queryRaw<{ count: number; mean: number | null }[]>`
    SELECT count(*)::int AS count,
      floor(avg(extract(epoch FROM alert."acknowledgedAt" - alert."openedAt")) * 1000)::float8 AS mean
    FROM "Alert" AS alert JOIN "Monitor" AS monitor ON monitor.id = alert."monitorId"
    WHERE monitor."serviceId" = ANY (${[...serviceIds]}::text[]) AND alert."acknowledgedAt" IS NOT NULL
      AND alert."openedAt" >= ${from} AND alert."openedAt" < ${to}`
  return { count: row?.count ?? 0, meanMs: row?.mean ?? null }
}

function meanOf(times: readonly number[]): MeanTime {
  const sum = times.reduce((total, each) => total + each, 0)
  return { count: times.length, meanMs: times.length === 0 ? null : Math.floor(sum / times.length) }
}
