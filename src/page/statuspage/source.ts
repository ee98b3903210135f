import type { Database } from '../../context.ts'
import type { IncidentState, MaintenanceState, PageState } from '../../status/page-state.ts'
import { readLastChange, readLastChanges } from '../changes.ts'
import type { Zone } from '../zone.ts'
import { zoneOf } from '../zone.ts'

/** What Statuspage's documents are written of. */
export interface StatuspageSource {
  readonly state: PageState
  /** The incidents and maintenances to tell of. */
  readonly incidents: readonly IncidentState[]
  readonly maintenances: readonly MaintenanceState[]
  /** The public address of the page, without a slash at its end. */
  readonly url: string
  readonly zone: Zone
  /** When the page last changed, and each thing on it, by its id. */
  readonly changedAt: Date
  readonly changes: ReadonlyMap<string, Date>
  /** The ids of those services that are monitored. */
  readonly watched: ReadonlySet<string>
}

/** Reads what the page's state does not tell of its services and of the given incidents and maintenances. */
export async function readSource(
  db: Database,
  told: Pick<StatuspageSource, 'state' | 'incidents' | 'maintenances' | 'url'>,
): Promise<StatuspageSource> {
  const { organization, services, groups } = told.state
  const organizationId = organization.id
  const things = [...services, ...groups, ...told.incidents, ...told.maintenances]
  const watched = await db.monitor.findMany({
    where: { organizationId, serviceId: { not: null } },
    select: { serviceId: true },
    distinct: ['serviceId'],
  })
  return {
    ...told,
    zone: zoneOf(organization.timeZone),
    changedAt: await readLastChange(db, organizationId),
    changes: await readLastChanges(
      db,
      organizationId,
      things.map(({ id }) => id),
    ),
    watched: new Set(watched.flatMap(({ serviceId }) => serviceId ?? [])),
  }
}
