import type { Page } from '../../account/page/page.ts'
import { selectPages } from '../../account/page/page.ts'
import type { Database } from '../../core/context.ts'
import { plainRows } from '../../database/transaction.ts'
import type { Incident } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { PageScope } from '../page-scope.ts'
import { isPublicIncident } from '../page-scope.ts'
import type { PageStatus } from '../service/shown-status.ts'
import type { PageCauses } from './page-status.ts'
import { pageCauses, statusOf } from './page-status.ts'

/** The subject of live events. */
interface LiveSubject {
  readonly organizationId: string
  /** The followed page, whose services are known; null: the first one of the organization. */
  readonly page: (PageScope & { readonly id: string }) | null
  /** Null: no incident is requested. */
  readonly incidentId: string | null
  /** Whether the status of the page is requested. */
  readonly withStatus: boolean
}

/** The current rows. */
interface LiveRows {
  readonly page: Page
  /** Null: not requested, or deleted. */
  readonly incident: Incident | null
  /** Null: not requested. */
  readonly status: PageStatus | null
}

/** A row in JSON, where times are text. */
type IncidentJson = {
  readonly [K in keyof Incident]: Incident[K] extends Date
    ? string
    : K extends 'resolvedAt' | 'importedAt'
      ? string | null
      : Incident[K]
}

/**
 * Reads the current rows of a page and an incident, and the status of the page. Uses one statement, because it runs for
 * every event of every watched page. Null: the page does not exist.
 */
export async function readLiveRows(
  db: Database,
  { organizationId, page: followed, incidentId, withStatus }: LiveSubject,
): Promise<LiveRows | null> {
  const incident = Prisma.sql`(SELECT to_json(incident) FROM "Incident" AS incident WHERE id = ${incidentId} AND ${isPublicIncident})`
  const causes = Prisma.sql`(SELECT to_json(causes) FROM (${pageCauses([organizationId], followed ?? undefined)}) AS causes)`
  const [row] = await plainRows<
    Page & { readonly incidentRow: IncidentJson | null; readonly statusCauses: PageCauses | null }
  >(
    db,
    Prisma.sql`
      SELECT page.*, ${incidentId === null ? Prisma.sql`NULL` : incident} AS "incidentRow",
        ${withStatus ? causes : Prisma.sql`NULL`} AS "statusCauses"
      FROM (${selectPages} WHERE own."organizationId" = ${organizationId} AND ${
        followed === null ? Prisma.sql`own."isFirst"` : Prisma.sql`own.id = ${followed.id}`
      }) AS page`,
  )
  if (row === undefined) return null
  const { incidentRow, statusCauses, ...page } = row
  return {
    page,
    incident: incidentRow && incidentOf(incidentRow),
    status: statusCauses && statusOf(statusCauses),
  }
}

/** Reads the current row of an incident. Null: it is deleted. */
export async function readIncidentRow(db: Database, id: string): Promise<Incident | null> {
  const [row] = await plainRows<Incident>(
    db,
    Prisma.sql`SELECT * FROM "Incident" WHERE id = ${id} AND ${isPublicIncident}`,
  )
  return row ?? null
}

function incidentOf({ startedAt, resolvedAt, createdAt, importedAt, ...row }: IncidentJson): Incident {
  return {
    ...row,
    startedAt: new Date(startedAt),
    resolvedAt: resolvedAt === null ? null : new Date(resolvedAt),
    createdAt: new Date(createdAt),
    importedAt: importedAt === null ? null : new Date(importedAt),
  }
}
