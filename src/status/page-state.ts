import type { PageLink } from '../account/page-settings.ts'
import { linksOf } from '../account/page-settings.ts'
import type { Database } from '../core/context.ts'
import { inTransaction } from '../core/context.ts'
import { NotFound } from '../core/errors.ts'
import { typeOfId } from '../core/id.ts'
import { DAY } from '../core/time.ts'
import { encodeCursor } from '../event-log/event.ts'
import type { Incident, Maintenance, Organization, Prisma, Service, ServiceGroup } from '../generated/prisma/client.ts'
import type { PageStatus, ShownService } from './shown-status.ts'
import { manualIncidents, pageStatus, shownServiceOf, statusCausesSelect } from './shown-status.ts'

/** The organization's data that the public page shows. */
interface PageSettings
  extends Pick<
    Organization,
    'id' | 'slug' | 'name' | 'description' | 'timeZone' | 'accentColor' | 'logoUrl' | 'customDomain'
  > {
  readonly links: readonly PageLink[]
}

/** A service and its shown status. */
export interface ServiceState
  extends Pick<Service, 'id' | 'groupId' | 'name' | 'description' | 'position' | 'createdAt'>,
    ShownService {}

/** What the public page shows, as of one position in the event log, without the timelines (`timeline-reader.ts`). */
export interface PageState {
  readonly organization: PageSettings
  /** Later events are not yet part of the state. */
  readonly cursor: string
  readonly status: PageStatus
  /** In page order. */
  readonly groups: readonly Pick<ServiceGroup, 'id' | 'name' | 'description' | 'position' | 'createdAt'>[]
  /** In page order, across groups. */
  readonly services: readonly ServiceState[]
  /** Open incidents, newest first. */
  readonly incidents: readonly Incident[]
  /** Running and scheduled maintenance, by start time. */
  readonly maintenances: readonly Maintenance[]
  /** Incidents resolved and started within the last `RECENT_DAYS`, newest first. */
  readonly recentIncidents: readonly Incident[]
}

/** The period of incidents on the page itself; older ones are in the history. */
export const RECENT_DAYS = 14

/** The maximum length of each list, so that a long one does not slow the page down. */
const MAX_ITEMS = 100

/**
 * Reads what the public page of an organization shows, by its id or slug. Reads one snapshot, or in the caller's open
 * transaction, so that all parts agree with the cursor.
 * @throws NotFound when there is no such organization.
 */
export function readPageState(db: Database, idOrSlug: string, now: Date): Promise<PageState> {
  if (inTransaction(db)) return readPageParts(db, idOrSlug, now)
  return db.$transaction((snapshot) => readPageParts(snapshot, idOrSlug, now), { isolationLevel: 'RepeatableRead' })
}

/** Reads the organization first, so that the cursor is never newer than the rest, at any isolation level. */
async function readPageParts(db: Database, idOrSlug: string, now: Date): Promise<PageState> {
  const organization = await findOrganization(db, idOrSlug)
  const of = { organizationId: organization.id }
  const groups = await db.serviceGroup.findMany({
    where: of,
    select: { id: true, name: true, description: true, position: true, createdAt: true },
    orderBy: { position: 'asc' },
  })
  const services = await readServices(db, organization.id)
  const incidents = await db.incident.findMany({
    where: { ...of, status: { not: 'RESOLVED' } },
    orderBy: newestFirst,
    take: MAX_ITEMS,
  })
  const recentIncidents = await db.incident.findMany({
    where: { ...of, status: 'RESOLVED', startedAt: { gte: new Date(now.getTime() - RECENT_DAYS * DAY) } },
    orderBy: newestFirst,
    take: MAX_ITEMS,
  })
  const maintenances = await db.maintenance.findMany({
    where: { ...of, status: { in: ['SCHEDULED', 'IN_PROGRESS', 'VERIFYING'] } },
    orderBy: [{ startsAt: 'asc' }, { id: 'asc' }],
    take: MAX_ITEMS,
  })
  const { lastSeq, links: _, ...settings } = organization
  return {
    organization: { ...settings, links: linksOf(organization) },
    cursor: encodeCursor(lastSeq),
    status: pageStatus(
      services,
      incidents.filter(({ automatic }) => automatic === manualIncidents.automatic).map(({ impact }) => impact),
    ),
    groups: groups.map((group, position) => ({ ...group, position })),
    services,
    incidents,
    maintenances,
    recentIncidents,
  }
}

const newestFirst = [{ startedAt: 'desc' }, { id: 'desc' }] satisfies Prisma.IncidentOrderByWithRelationInput[]

const pageSettings = {
  id: true,
  slug: true,
  name: true,
  description: true,
  timeZone: true,
  accentColor: true,
  logoUrl: true,
  customDomain: true,
  links: true,
  lastSeq: true,
} satisfies Prisma.OrganizationSelect

async function findOrganization(db: Database, idOrSlug: string) {
  const where = typeOfId(idOrSlug) === 'Organization' ? { id: idOrSlug } : { slug: idOrSlug }
  const isPossibleName = /^[a-z0-9_-]{1,63}$/.test(idOrSlug)
  const organization = isPossibleName
    ? await db.organization.findUnique({ where: { ...where, deletedAt: null }, select: pageSettings })
    : null
  if (!organization) throw new NotFound('Status page not found.')
  return organization
}

async function readServices(db: Database, organizationId: string): Promise<ServiceState[]> {
  const services = await db.service.findMany({
    where: { organizationId },
    select: {
      id: true,
      groupId: true,
      name: true,
      description: true,
      position: true,
      createdAt: true,
      ...statusCausesSelect,
    },
    orderBy: { position: 'asc' },
  })
  return services.map(({ statusOverride, incidents, monitors, maintenances, ...service }, position) => ({
    ...service,
    position,
    ...shownServiceOf({ statusOverride, incidents, monitors, maintenances }),
  }))
}
