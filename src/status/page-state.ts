import type { PageLink } from '../account/page-settings.ts'
import { linksOf } from '../account/page-settings.ts'
import type { Database } from '../context.ts'
import { inTransaction } from '../context.ts'
import { NotFound } from '../errors.ts'
import { cursorOf } from '../eventlog/event.ts'
import type { Incident, Maintenance, Organization, Prisma, Service, ServiceGroup } from '../generated/prisma/client.ts'
import { typeOfId } from '../id.ts'
import { DAY } from '../time.ts'
import type { PageStatus, Shown } from './shown-status.ts'
import { byPeople, causesOfStatus, pageStatus, shownBy } from './shown-status.ts'

/** What the public page shows of an organization itself. */
export interface PageSettings
  extends Pick<
    Organization,
    'id' | 'slug' | 'name' | 'description' | 'timeZone' | 'accentColor' | 'logoUrl' | 'customDomain'
  > {
  readonly links: readonly PageLink[]
}

/** A service and what it shows. */
export interface ServiceState
  extends Pick<Service, 'id' | 'groupId' | 'name' | 'description' | 'position' | 'createdAt'>,
    Shown {}

/** Everything the public page shows, as of one position in its log; what was said of incidents and maintenances is in `story.ts`. */
export interface PageState {
  readonly organization: PageSettings
  /** Events after this one are not in the state yet. */
  readonly cursor: string
  readonly status: PageStatus
  /** In their order on the page. */
  readonly groups: readonly Pick<ServiceGroup, 'id' | 'name' | 'description' | 'position' | 'createdAt'>[]
  /** In their order on the page, across groups. */
  readonly services: readonly ServiceState[]
  /** Not resolved; the newest first. */
  readonly incidents: readonly Incident[]
  /** Running and planned; the soonest first. */
  readonly maintenances: readonly Maintenance[]
  /** Resolved and started within the last two weeks; the newest first. */
  readonly recentIncidents: readonly Incident[]
}

/** How far back the page itself tells of incidents; what is older is history. */
export const RECENT_DAYS = 14

/** The most of each list that is shown: what nobody would read must not make the page slow. */
const MOST = 100

/**
 * What the public page of an organization, named by its id or its slug, shows. Read in one snapshot, so that the parts
 * agree with each other and with the cursor; in the caller's transaction when one is open already.
 * @throws NotFound when there is no such organization.
 */
export function readPageState(db: Database, idOrSlug: string, now: Date): Promise<PageState> {
  if (inTransaction(db)) return readParts(db, idOrSlug, now)
  return db.$transaction((snapshot) => readParts(snapshot, idOrSlug, now), { isolationLevel: 'RepeatableRead' })
}

/** The organization comes first, so that the cursor is never newer than the rest, whatever the isolation. */
async function readParts(db: Database, idOrSlug: string, now: Date): Promise<PageState> {
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
    take: MOST,
  })
  const recentIncidents = await db.incident.findMany({
    where: { ...of, status: 'RESOLVED', startedAt: { gte: new Date(now.getTime() - RECENT_DAYS * DAY) } },
    orderBy: newestFirst,
    take: MOST,
  })
  const maintenances = await db.maintenance.findMany({
    where: { ...of, status: { in: ['SCHEDULED', 'IN_PROGRESS', 'VERIFYING'] } },
    orderBy: [{ startsAt: 'asc' }, { id: 'asc' }],
    take: MOST,
  })
  const { lastSeq, links: _, ...settings } = organization
  return {
    organization: { ...settings, links: linksOf(organization) },
    cursor: cursorOf(lastSeq),
    status: pageStatus(
      services,
      incidents.filter(({ automatic }) => automatic === byPeople.automatic).map(({ impact }) => impact),
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
  const possible = /^[a-z0-9_-]{1,63}$/.test(idOrSlug)
  const organization = possible
    ? await db.organization.findUnique({ where: { ...where, deletedAt: null }, select: pageSettings })
    : null
  if (!organization) throw new NotFound('There is no such status page.')
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
      ...causesOfStatus,
    },
    orderBy: { position: 'asc' },
  })
  return services.map(({ statusOverride, incidents, monitors, maintenances, ...service }, position) => ({
    ...service,
    position,
    ...shownBy({ statusOverride, incidents, monitors, maintenances }),
  }))
}
