import type { Database } from '../context.ts'
import type { Incident, Maintenance } from '../generated/prisma/client.ts'
import { textAsHtml } from '../markdown.ts'
import type { Zone } from './zone.ts'
import { monthKey, monthOf } from './zone.ts'

/** The newest incidents of an organization, whatever their status: at most `most`, the last to begin first. */
export function readNewestIncidents(db: Database, organizationId: string, most: number): Promise<Incident[]> {
  return db.incident.findMany({
    where: { organizationId },
    orderBy: [{ startedAt: 'desc' }, { id: 'desc' }],
    take: most,
  })
}

/** The newest maintenances of an organization, whatever their status: at most `most`, the last to begin first. */
export function readNewestMaintenances(db: Database, organizationId: string, most: number): Promise<Maintenance[]> {
  return db.maintenance.findMany({
    where: { organizationId },
    orderBy: [{ startsAt: 'desc' }, { id: 'desc' }],
    take: most,
  })
}

/**
 * Where a maintenance is told of, after the page's address: on the page itself while it is announced, in its month's history
 * once it ran. Of one that was called off before nothing is left to see there.
 */
export function maintenancePath(
  { id, status, startsAt, startedAt }: Pick<Maintenance, 'id' | 'status' | 'startsAt' | 'startedAt'>,
  zone: Zone,
): string {
  if (status !== 'COMPLETED' && status !== 'CANCELLED') return `#${id}`
  return startedAt === null ? '' : `/history?month=${monthKey(monthOf(startsAt, zone))}#${id}`
}

/** When an incident or a maintenance last changed: by the log, or by its timeline, for an entry may come a moment after its event. */
export function lastChangeOf({ id, createdAt, updates }: Told, changes: ReadonlyMap<string, Date>): Date {
  const entries = updates.map((update) => update.editedAt ?? update.createdAt)
  return new Date(Math.max(...[createdAt, changes.get(id) ?? createdAt, ...entries].map((at) => at.getTime())))
}

interface Told {
  readonly id: string
  readonly createdAt: Date
  readonly updates: readonly { readonly createdAt: Date; readonly editedAt: Date | null }[]
}

/** An entry, as far as what it says goes. */
interface Said {
  readonly status: string
  readonly said: string | null
}

/** What an entry of a timeline says, also where nobody wrote anything: maintenance starts and ends by itself. */
export function saidIn({ status, said }: Said): string {
  return said || (unwritten[status] ?? '')
}

/** The same of an entry that was read as HTML. */
export function htmlSaidIn(entry: Said): string {
  return entry.said || textAsHtml(saidIn(entry))
}

const unwritten: Readonly<Record<string, string>> = {
  SCHEDULED: 'The maintenance is planned.',
  IN_PROGRESS: 'The maintenance has started.',
  VERIFYING: 'The maintenance is done, and is being verified.',
  COMPLETED: 'The maintenance is over.',
  CANCELLED: 'The maintenance is cancelled.',
}
