import { readOrganization } from '../account/organization/organization-queries.ts'
import type { Database } from '../core/context.ts'
import { NotFound } from '../core/errors.ts'
import { decodeCursor } from '../event-log/event.ts'
import type { PageState } from '../status/page/page-state.ts'
import type { MonthlyReport } from './monthly-report.ts'
import { completeMonths, readReport } from './monthly-report.ts'

/**
 * Returns the months whose report the readers of a page can read, newest first.
 * @throws NotFound when there are none.
 */
export async function readPublishedMonths(db: Database, state: PageState): Promise<string[]> {
  return completeMonths(await ownerOf(db, state), state.readAt)
}

/**
 * Reads the report of a month for the readers of a page. It contains private data: show at most its `publicReportJson`.
 * @throws NotFound when readers cannot read the report of this month.
 */
export async function readPublishedReport(db: Database, state: PageState, month: string): Promise<MonthlyReport> {
  const owner = await ownerOf(db, state)
  if (!completeMonths(owner, state.readAt).includes(month)) throw new NotFound('There is no report of this month.')
  const { organization, scope, cursor, readAt } = state
  const page = {
    id: organization.pageId,
    organizationId: organization.id,
    serviceIds: scope.serviceIds,
    uptimeSource: organization.uptimeSource,
    lastSeq: decodeCursor(cursor) ?? 0,
  }
  return readReport({ db, now: () => readAt }, owner, page, month)
}

async function ownerOf(db: Database, { organization, tier }: PageState) {
  const { id, timeZone, publishesReports } = organization
  if (!publishesReports) throw new NotFound('This page publishes no reports.')
  const { createdAt } = await readOrganization({ db }, id)
  return { id, timeZone, tier, createdAt }
}
