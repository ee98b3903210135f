import type { Database } from '../../core/context.ts'
import { plainRows } from '../../database/transaction.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { IncidentImpact, MonitorState, ServiceStatus } from '../../generated/prisma/enums.ts'
import type { PageScope } from '../page-scope.ts'
import { concerns, isPublicIncident, shownCondition } from '../page-scope.ts'
import type { PageStatus } from '../service/shown-status.ts'
import { pageStatus, shownServiceOf } from '../service/shown-status.ts'

/** The causes of a page's status. */
export interface PageCauses {
  readonly id: string
  readonly services: readonly {
    readonly override: ServiceStatus | null
    readonly statedAt: string | null
    readonly incidents: readonly ServiceStatus[]
    readonly monitors: readonly {
      readonly state: MonitorState
      readonly stateSince: string
      readonly unknownSince: string | null
    }[]
    readonly maintenances: readonly string[]
  }[]
  /** The impacts of open, manual incidents. */
  readonly impacts: readonly IncidentImpact[]
}

/**
 * Reads the overall status of pages, in their order: with one statement for all pages that show every service, and one
 * for each of the others.
 */
export async function readPageStatuses(db: Database, pages: readonly PageScope[]): Promise<PageStatus[]> {
  const whole = pages.flatMap(({ serviceIds, organizationId }) => (serviceIds === null ? [organizationId] : []))
  const found = whole.length === 0 ? [] : await plainRows<PageCauses>(db, pageCauses(whole))
  const byId = new Map(found.map((causes) => [causes.id, statusOf(causes)]))
  return Promise.all(
    pages.map(async (page) => {
      if (page.serviceIds === null) return byId.get(page.organizationId) ?? pageStatus([], [])
      const [causes] = await plainRows<PageCauses>(db, pageCauses([page.organizationId], page))
      return causes === undefined ? pageStatus([], []) : statusOf(causes)
    }),
  )
}

/** Computes the status of a page from its causes. */
export function statusOf({ services, impacts }: PageCauses): PageStatus {
  const shown = services.map(({ override, statedAt, incidents, monitors, maintenances }) =>
    shownServiceOf({
      statusOverride: override,
      statedAt: statedAt === null ? null : new Date(statedAt),
      incidents: incidents.map((status) => ({ status })),
      monitors: monitors.map(({ state, stateSince, unknownSince }) => ({
        state,
        stateSince: new Date(stateSince),
        unknownSince: unknownSince === null ? null : new Date(unknownSince),
      })),
      maintenances: maintenances.map((maintenanceId) => ({ maintenanceId })),
    }),
  )
  return pageStatus(shown, impacts)
}

/**
 * Returns the statement that reads `PageCauses`. It starts from open incidents, so a long history does not slow it
 * down. It takes a single organization as a value, not in an array, so that PostgreSQL keeps its plan.
 * @param page the services on the page of the single organization; by default, all.
 */
export function pageCauses(
  organizationIds: readonly string[],
  page: Pick<PageScope, 'serviceIds'> = { serviceIds: null },
): Prisma.Sql {
  const shown = shownCondition(page)
  const isOnPage =
    shown === null ? Prisma.empty : Prisma.sql`AND ${concerns('Incident', Prisma.sql`"Incident".id`, shown)}`
  const isShown =
    shown === null ? Prisma.empty : Prisma.sql`AND service.id = ANY (${[...(page.serviceIds ?? [])]}::text[])`
  const [first, ...others] = [...new Set(organizationIds)]
  const isOne = first !== undefined && others.length === 0
  const ids = isOne ? Prisma.sql`(${first}::text)` : Prisma.sql`ANY (${[...new Set(organizationIds)]}::text[])`
  const owners = isOne
    ? Prisma.sql`(SELECT ${first}::text AS id)`
    : Prisma.sql`unnest(${[...new Set(organizationIds)]}::text[])`
  return Prisma.sql`
    WITH open AS (
      SELECT id, "organizationId", impact FROM "Incident"
      WHERE "organizationId" = ${ids} AND status <> 'RESOLVED' AND NOT automatic AND ${isPublicIncident} ${isOnPage}
    ), impaired AS (
      SELECT link."serviceId", json_agg(link.status) AS statuses
      FROM open JOIN "IncidentService" AS link ON link."incidentId" = open.id GROUP BY 1
    ), watched AS (
      SELECT "serviceId", json_agg(json_build_object('state', state, 'stateSince', "stateSince", 'unknownSince', "unknownSince")) AS monitors
      FROM "Monitor" WHERE "organizationId" = ${ids} AND "serviceId" IS NOT NULL GROUP BY 1
    ), maintained AS (
      SELECT link."serviceId", json_agg(link."maintenanceId") AS maintenances
      FROM "Maintenance" AS maintenance JOIN "MaintenanceService" AS link ON link."maintenanceId" = maintenance.id
      WHERE maintenance."organizationId" = ${ids} AND maintenance.status IN ('IN_PROGRESS', 'VERIFYING') GROUP BY 1
    )
    SELECT owner.id, (
      SELECT coalesce(json_agg(json_build_object('override', service."statusOverride",
        'statedAt', service."statedAt", 'incidents', coalesce(impaired.statuses, '[]'), 'monitors', coalesce(watched.monitors, '[]'),
        'maintenances', coalesce(maintained.maintenances, '[]'))), '[]')
      FROM "Service" AS service
      LEFT JOIN impaired ON impaired."serviceId" = service.id
      LEFT JOIN watched ON watched."serviceId" = service.id
      LEFT JOIN maintained ON maintained."serviceId" = service.id
      WHERE service."organizationId" = owner.id ${isShown}
    ) AS services, (
      SELECT coalesce(json_agg(open.impact), '[]') FROM open WHERE open."organizationId" = owner.id
    ) AS impacts
    FROM ${owners} AS owner (id)`
}
