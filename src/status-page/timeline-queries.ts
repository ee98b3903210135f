import type { Database } from '../core/context.ts'
import { textAsHtml } from '../core/markdown/markdown.ts'
import type { Incident, Maintenance, MaintenanceSeries } from '../generated/prisma/client.ts'
import type { Catalogue } from '../language/catalogue.ts'
import { wordsOf } from '../language/catalogue.ts'
import type { PageScope } from '../status/page-scope.ts'
import { incidentsOnPage, onPage } from '../status/page-scope.ts'

/** Reads the newest incidents of a page with any status, at most `limit`, latest start first. */
export function readNewestIncidents(db: Database, scope: PageScope, limit: number): Promise<Incident[]> {
  return db.incident.findMany({
    where: incidentsOnPage(scope),
    orderBy: [{ startedAt: 'desc' }, { id: 'desc' }],
    take: limit,
  })
}

/** Reads the newest maintenances of a page with any status, at most `limit`, latest start first. */
export function readNewestMaintenances(db: Database, scope: PageScope, limit: number): Promise<Maintenance[]> {
  return db.maintenance.findMany({
    where: onPage(scope),
    orderBy: [{ startsAt: 'desc' }, { id: 'desc' }],
    take: limit,
  })
}

/** Reads the repeating maintenances of a page, oldest first: an organization has few. */
export function readSeries(db: Database, scope: PageScope): Promise<SeriesWithServices[]> {
  return db.maintenanceSeries.findMany({
    where: onPage(scope),
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    include: { services: { select: { serviceId: true } } },
  })
}

/** A repeating maintenance and the services that it affects. */
export type SeriesWithServices = MaintenanceSeries & { readonly services: readonly { readonly serviceId: string }[] }

/** Returns the path of a maintenance's page, after the owner's base. */
export function maintenancePath(id: string): string {
  return `/maintenance/${id}`
}

/**
 * Returns when an incident or a maintenance last changed, by its events and its updates: an update may be written
 * shortly after its event.
 */
export function lastChangeOf({ id, createdAt, updates }: WithTimeline, changes: ReadonlyMap<string, Date>): Date {
  const updated = updates.map((update) => update.editedAt ?? update.createdAt)
  return new Date(Math.max(...[createdAt, changes.get(id) ?? createdAt, ...updated].map((at) => at.getTime())))
}

interface WithTimeline {
  readonly id: string
  readonly createdAt: Date
  readonly updates: readonly { readonly createdAt: Date; readonly editedAt: Date | null }[]
}

/** The text of an update; null: not read. */
interface UpdateContent {
  readonly status: string
  readonly body: string | null
}

/** Returns the text of an update, or a default for its status: scheduled maintenances start and end without a text. */
export function updateText({ status, body }: UpdateContent, { maintenance }: Catalogue = wordsOf('EN')): string {
  return body || (Object.entries(maintenance.updates).find(([name]) => name === status)?.[1] ?? '')
}

/** Returns the HTML of an update that was read as HTML, or a default for its status. */
export function updateHtml(update: UpdateContent, words?: Catalogue): string {
  return update.body || textAsHtml(updateText(update, words))
}
