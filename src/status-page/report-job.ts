import { readOrganization, timeZonesInUse } from '../account/organization/organization-queries.ts'
import { readPage } from '../account/page/page.ts'
import { advanceReportedMonth, recordReportedMonth } from '../account/page/page-rows.ts'
import { organizations, pages } from '../account/views.ts'
import type { Context } from '../core/context.ts'
import { NotFound } from '../core/errors.ts'
import type { ChangeContext } from '../event-log/change.ts'
import { change } from '../event-log/change.ts'
import type { ReportContent } from '../notification/content/payload.ts'
import { storeReportContent } from '../notification/content/report-content.ts'
import { pagesWithReportReaders } from '../notification/subscriber/report-subscription.ts'
import type { MonthlyReport, ReportedPage } from './monthly-report.ts'
import { completeMonths, lastCompleteMonth, readReport } from './monthly-report.ts'

/** The maximum number of pages per run. */
const BATCH = 50

/** A page with complete reports that were not announced yet. */
interface DuePage {
  readonly id: string
  readonly organizationId: string
  /** The last announced month; null: the page is new. */
  readonly reportedMonth: string | null
  readonly last: string
}

/**
 * Appends an event for each month of a page whose report has become complete and which has subscribers, with its
 * figures, in one transaction: the dispatcher sends them. Work that a killed worker had begun is repeated, but nothing
 * is sent twice. Returns whether there may be more.
 */
export async function createReports(ctx: ChangeContext): Promise<boolean> {
  const names = await timeZonesInUse(ctx)
  const months = names.map((timeZone) => lastCompleteMonth(timeZone, ctx.now()))
  const due = await ctx.db.$queryRaw<DuePage[]>`
    SELECT page.id, page."organizationId", page."reportedMonth", zone.month AS last
    FROM ${pages} AS page JOIN ${organizations} AS owner ON owner.id = page."organizationId"
    JOIN unnest(${names}::text[], ${months}::text[]) AS zone (name, month) ON zone.name = owner."timeZone"
    WHERE owner."deletedAt" IS NULL AND (page."reportedMonth" IS NULL OR page."reportedMonth" < zone.month)
    ORDER BY page."reportedMonth" NULLS FIRST, page.id LIMIT ${BATCH}`
  if (due.length === 0) return false
  const wanted = await pagesWithReportReaders(
    ctx,
    due.map(({ id }) => id),
  )
  let failed = 0
  for (const page of due) {
    try {
      await createReportsOf(ctx, page, wanted.has(page.id))
    } catch (error) {
      failed += 1
      ctx.log.error({ err: error, page: page.id }, 'status-page: could not create a monthly report')
    }
  }
  return due.length === BATCH && failed === 0
}

async function createReportsOf(ctx: ChangeContext, due: DuePage, isWanted: boolean): Promise<void> {
  // Subscribers who come later get the next report.
  if (due.reportedMonth === null || !isWanted) return skipTo(ctx, due)
  const [page, organization] = await Promise.all([
    readPage(ctx.db, 'id', due.id),
    readOrganization(ctx, due.organizationId),
  ])
  if (page === null) return
  const { reportedMonth } = due
  // Skips months before the history of its tier.
  const months = completeMonths(organization, ctx.now()).filter((month) => month > reportedMonth)
  if (months.length === 0) return skipTo(ctx, due)
  for (const month of months.toReversed()) {
    const report = await readReport(ctx, organization, page, month)
    const path = `/console/${organization.slug}/reports/${page.id}?month=${month}`
    await storeReport(ctx, page, report, contentOf(report, path))
  }
}

async function storeReport(
  ctx: ChangeContext,
  page: ReportedPage & { readonly name: string },
  report: MonthlyReport,
  content: ReportContent,
) {
  const { month } = report
  try {
    await change(ctx, page.organizationId, async (tx) => {
      // Another worker may have done this already.
      if (!(await advanceReportedMonth(tx, page.id, month))) return [undefined]
      await storeReportContent(tx, page.id, month, content)
      return [undefined, { kind: 'REPORT_CREATED', subjectId: page.id, subjectName: page.name, reportMonth: month }]
    })
  } catch (error) {
    // The organization was deleted meanwhile.
    if (!(error instanceof NotFound)) throw error
  }
}

async function skipTo(ctx: Context, { id, reportedMonth, last }: DuePage): Promise<void> {
  await recordReportedMonth(ctx, { id, before: reportedMonth, month: last })
}

function contentOf({ services, incidents, recovery }: MonthlyReport, consolePath: string): ReportContent {
  return {
    consolePath,
    services: services.map(({ id, name, percent, tally }) => ({
      id,
      name,
      percent,
      downMs: tally.bad,
      maintenanceMs: tally.maintenance,
    })),
    incidents: incidents.length,
    recoveryMs: recovery.meanMs,
  }
}
