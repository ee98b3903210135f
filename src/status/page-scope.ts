import { Prisma } from '../generated/prisma/client.ts'

/** The part of an organization that a page shows. */
export interface PageScope {
  readonly organizationId: string
  /** The services that it shows; null: all, including later ones. */
  readonly serviceIds: readonly string[] | null
}

/** Stands for all services in an event that concerns every page: its incident or maintenance affects no service. */
const EVERY_PAGE = '*'

/**
 * Returns the `serviceIds` of an event that removes something from pages.
 * @param former the services that it had before; null: it keeps them.
 */
export function formerServices(former: readonly { readonly serviceId: string }[] | null): readonly string[] {
  if (former === null) return []
  return former.length === 0 ? [EVERY_PAGE] : former.map(({ serviceId }) => serviceId)
}

/**
 * Returns a filter of the incidents or maintenances on a page: those that affect one of its services, or none at all.
 */
export function onPage({ organizationId, serviceIds }: PageScope) {
  if (serviceIds === null) return { organizationId }
  const own = { some: { serviceId: { in: [...serviceIds] } } }
  return { organizationId, OR: [{ services: { none: {} } }, { services: own }] }
}

/** Returns a filter of the public incidents on a page. */
export function incidentsOnPage(scope: PageScope) {
  return { ...onPage(scope), visibility: 'PUBLIC' } as const
}

/** The same condition as SQL, without that of the page. */
export const isPublicIncident = Prisma.sql`visibility = 'PUBLIC'`

/** The tables that link incidents and maintenances with services. */
const links = {
  Incident: { table: Prisma.raw('"IncidentService"'), owner: Prisma.raw('"incidentId"') },
  Maintenance: { table: Prisma.raw('"MaintenanceService"'), owner: Prisma.raw('"maintenanceId"') },
} as const

/**
 * Returns the condition of a page as SQL.
 * @param id an SQL expression: the id of the incident or maintenance.
 * @param shown an SQL condition on "serviceId".
 */
export function concerns(of: keyof typeof links, id: Prisma.Sql, shown: Prisma.Sql): Prisma.Sql {
  const { table, owner } = links[of]
  return Prisma.sql`(NOT EXISTS (SELECT 1 FROM ${table} WHERE ${owner} = ${id})
    OR EXISTS (SELECT 1 FROM ${table} WHERE ${owner} = ${id} AND ${shown}))`
}

/** Returns an SQL condition on "serviceId": the page shows the service; null: it shows all. */
export function shownCondition({ serviceIds }: Pick<PageScope, 'serviceIds'>): Prisma.Sql | null {
  return serviceIds === null ? null : Prisma.sql`"serviceId" = ANY (${[...serviceIds]}::text[])`
}

/** Returns whether a page shows a service. */
export function shows({ serviceIds }: Pick<PageScope, 'serviceIds'>, serviceId: string): boolean {
  return serviceIds === null || serviceIds.includes(serviceId)
}

/** Returns whether an event about these services concerns a page. @param serviceIds as stored with the event. */
export function concernsPage(page: Pick<PageScope, 'serviceIds'>, serviceIds: readonly string[]): boolean {
  return page.serviceIds === null || serviceIds.some((id) => id === EVERY_PAGE || shows(page, id))
}
