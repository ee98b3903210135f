import type { Context } from '../../core/context.ts'
import type { Incident, IncidentService, Prisma, Service } from '../../generated/prisma/client.ts'
import type { PageScope } from '../page-scope.ts'
import { incidentsOnPage } from '../page-scope.ts'

type Db = Pick<Context, 'db'>

/** An incident in a list of choices. */
export type NamedIncident = Pick<Incident, 'id' | 'title' | 'startedAt' | 'visibility'>

/** How many services of a suggestion or a draft are read, by name. */
const MAX_HIDDEN_SERVICES = 20

const withServices = {
  services: {
    select: { status: true, service: { select: { id: true, name: true } } },
    orderBy: [{ service: { name: 'asc' as const } }, { serviceId: 'asc' as const }],
    take: MAX_HIDDEN_SERVICES,
  },
  _count: { select: { services: true } },
} satisfies Prisma.IncidentInclude

/** A suggestion or a draft, with the services that it would publish. */
export type HiddenIncident = Prisma.IncidentGetPayload<{ include: typeof withServices }>

/** Returns the open suggestions and drafts of an organization, newest first. */
export function listHiddenIncidents({ db }: Db, organizationId: string, limit: number): Promise<HiddenIncident[]> {
  return db.incident.findMany({
    where: { organizationId, visibility: { in: ['DRAFT', 'SUGGESTED'] }, status: { not: 'RESOLVED' } },
    include: withServices,
    orderBy: [{ startedAt: 'desc' }, { id: 'desc' }],
    take: limit,
  })
}

const asChoices = {
  select: { id: true, title: true, startedAt: true, visibility: true } as const,
  orderBy: [{ startedAt: 'desc' as const }, { id: 'asc' as const }],
}

type Own = Pick<Incident, 'id' | 'organizationId' | 'visibility'>

/** Returns the public incidents that an incident can be merged into, newest first. */
export function listMergeTargets({ db }: Db, { id, organizationId }: Own, limit: number): Promise<NamedIncident[]> {
  const where = { organizationId, visibility: 'PUBLIC', id: { not: id } } as const
  return db.incident.findMany({ ...asChoices, where, take: limit })
}

/**
 * Returns the open incidents that a service of an incident can move to, newest first; from a public incident, only
 * public ones.
 */
export function listMoveTargets(
  { db }: Db,
  { id, organizationId, visibility }: Own,
  limit: number,
): Promise<NamedIncident[]> {
  const shown = visibility === 'PUBLIC' ? visibility : ({ not: 'MERGED' } as const)
  const where = { organizationId, visibility: shown, status: { not: 'RESOLVED' }, id: { not: id } } as const
  return db.incident.findMany({ ...asChoices, where, take: limit })
}

/** A service that an incident impairs. */
export interface ImpairedService extends Pick<IncidentService, 'status'> {
  readonly service: Pick<Service, 'id' | 'name'>
}

/** Returns the services that an incident currently impairs, in page order. */
export function listImpairedServices({ db }: Db, incidentId: string): Promise<ImpairedService[]> {
  return db.incidentService.findMany({
    where: { incidentId, status: { not: 'OPERATIONAL' } },
    select: { status: true, service: { select: { id: true, name: true } } },
    orderBy: [{ service: { position: 'asc' } }, { serviceId: 'asc' }],
  })
}

/** Returns when an update of an incident was posted, or null if the incident does not have it. */
export async function readUpdateTime({ db }: Db, incidentId: string, updateId: string): Promise<Date | null> {
  const where = { id: updateId, incidentId }
  return (await db.incidentUpdate.findUnique({ where, select: { createdAt: true } }))?.createdAt ?? null
}

/** Returns whether a page shows an incident. */
export async function isOnPage({ db }: Db, page: PageScope, id: string): Promise<boolean> {
  return (await db.incident.count({ where: { ...incidentsOnPage(page), id } })) > 0
}
