import type { PageSettings } from '../../account/page/page.ts'
import { pageSettings } from '../../account/page/page.ts'
import { organizations, pageServices, pages } from '../../account/views.ts'
import type { NewestEventJson } from '../../event-log/newest-events.ts'
import { newestEventsJson } from '../../event-log/newest-events.ts'
import type {
  Incident,
  Maintenance,
  MaintenanceSeries,
  Organization,
  Page,
  Service,
  ServiceGroup,
} from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { MonitorState, ServiceStatus } from '../../generated/prisma/enums.ts'
import type { IncidentHistoryJson } from '../incident/incident-effect-reader.ts'
import { incidentHistoryJson } from '../incident/incident-effect-reader.ts'
import { concerns, isPublicIncident } from '../page-scope.ts'
import type { TimelineBounds, TimelineJson } from '../timeline/timeline-reader.ts'
import { timelinesJson } from '../timeline/timeline-reader.ts'

/** A row in JSON, where times are text. */
type Json<T> = { readonly [K in keyof T]: T[K] extends Date ? string : T[K] extends Date | null ? string | null : T[K] }

/** How a maintenance repeats: the rule and first start of its series, in the series’ zone. */
export type Repetition = Pick<MaintenanceSeries, 'rule' | 'firstStart' | 'timeZone'>

/** The result of `pageStateQuery`. */
export interface PageStateJson {
  readonly organization: Json<
    PageSettings & Pick<Organization, 'id' | 'createdAt' | 'pageId'> & Pick<Page, 'allServices'>
  >
  readonly newestEvents: readonly NewestEventJson[]
  readonly groups: readonly Json<Pick<ServiceGroup, 'id' | 'name' | 'description' | 'createdAt'>>[]
  readonly services: readonly (Json<
    Pick<Service, 'id' | 'groupId' | 'name' | 'description' | 'createdAt' | 'statedAt'>
  > & {
    readonly watchedSince: string | null
    readonly causes: {
      readonly override: ServiceStatus | null
      /** The statuses that open, manual incidents give it. */
      readonly incidents: readonly ServiceStatus[]
      readonly monitors: readonly {
        readonly state: MonitorState
        readonly stateSince: string
        readonly unknownSince: string | null
      }[]
      /** The ids of its maintenances in progress. */
      readonly maintenances: readonly string[]
    }
  })[]
  readonly open: readonly Json<Incident>[]
  readonly openTimelines: readonly TimelineJson[]
  readonly recent: readonly Json<Incident>[]
  readonly recentTimelines: readonly TimelineJson[]
  readonly hasMoreRecent: boolean
  /** When the last of its incidents was resolved; null: never. */
  readonly lastResolvedAt: string | null
  /** The effects of incidents on services, by their index. */
  readonly incidentHistory: IncidentHistoryJson
  readonly maintenances: readonly (Json<Maintenance> & { readonly repeats: Repetition | null })[]
  readonly maintenanceTimelines: readonly TimelineJson[]
}

interface ListBounds {
  readonly items: number
  readonly timeline: TimelineBounds
}

/** How to find a page: by its own id or slug, or by its organization, whose first page then shows all services. */
export interface PageOwner {
  readonly by: 'organization' | 'page' | 'slug'
  readonly value: string
}

/**
 * Returns the statement that reads the state of a page: a row with `state`, a `PageStateJson` as text; no row if the
 * page does not exist. It reads nothing about services that the page does not show. An index provides each list, so a
 * long history does not slow it down.
 * @param since the earliest start of recent incidents, and of the days of services.
 */
export function pageStateQuery(
  owner: PageOwner,
  since: { readonly recent: Date; readonly history: Date },
  bounds: { readonly open: ListBounds; readonly recent: ListBounds; readonly maintenances: ListBounds },
): Prisma.Sql {
  const { open, recent, maintenances } = bounds
  const ordered = Prisma.sql`SELECT id, nth - 1 AS nth FROM shown`
  const isShown = Prisma.sql`"serviceId" IN (SELECT id FROM shown)`
  const isOnPage = (of: 'Incident' | 'Maintenance', id: string) =>
    Prisma.sql`(page."allServices" OR ${concerns(of, Prisma.raw(id), isShown)})`
  const rows = (list: string) => Prisma.raw(`(SELECT coalesce(json_agg(row ORDER BY nth), '[]') FROM ${list})`)
  return Prisma.sql`
    WITH page AS MATERIALIZED (
      SELECT owner.id, ${pageSettings}, own."createdAt", own.id AS "pageId",
        ${owner.by === 'organization'} OR own."allServices" AS "allServices"
      FROM ${pages} AS own JOIN ${organizations} AS owner ON owner.id = own."organizationId"
      WHERE ${found[owner.by](owner.value)} AND "deletedAt" IS NULL
    ), shown AS MATERIALIZED (
      SELECT service.id, row_number() OVER (ORDER BY CASE WHEN NOT page."allServices" THEN chosen.position END, service.position, service.id) AS nth
      FROM page JOIN "Service" AS service ON service."organizationId" = page.id
      LEFT JOIN ${pageServices} AS chosen ON chosen."pageId" = page."pageId" AND chosen."serviceId" = service.id
      WHERE page."allServices" OR chosen."serviceId" IS NOT NULL
    ), unresolved AS MATERIALIZED (
      SELECT incident.* FROM page JOIN "Incident" AS incident ON incident."organizationId" = page.id
      WHERE incident."resolvedAt" IS NULL AND incident.status <> 'RESOLVED' AND ${isPublicIncident} AND ${isOnPage('Incident', 'incident.id')}
    ), open AS MATERIALIZED (
      SELECT id, to_json(unresolved) AS row, row_number() OVER (ORDER BY "startedAt" DESC, id DESC) AS nth
      FROM unresolved ORDER BY nth LIMIT ${open.items}
    ), newest AS MATERIALIZED (
      SELECT incident.* FROM page CROSS JOIN LATERAL (
        SELECT * FROM "Incident" AS past WHERE "organizationId" = page.id AND status = 'RESOLVED' AND ${isPublicIncident} AND "startedAt" >= ${since.recent}
          AND ${isOnPage('Incident', 'past.id')}
        ORDER BY "startedAt" DESC, id DESC LIMIT ${recent.items + 1}
      ) AS incident
    ), recent AS MATERIALIZED (
      SELECT id, to_json(newest) AS row, row_number() OVER (ORDER BY "startedAt" DESC, id DESC) AS nth
      FROM newest ORDER BY nth LIMIT ${recent.items}
    ), ahead AS MATERIALIZED (
      SELECT maintenance.*, maintenance."tellSubscribers" AS "notifySubscribers", CASE WHEN series.id IS NOT NULL THEN json_build_object(
        'rule', series.rule, 'firstStart', series."firstStart", 'timeZone', series."timeZone") END AS repeats
      FROM page JOIN "Maintenance" AS maintenance ON maintenance."organizationId" = page.id
      LEFT JOIN "MaintenanceSeries" AS series ON series.id = maintenance."seriesId"
      WHERE maintenance.status IN ('SCHEDULED', 'IN_PROGRESS', 'VERIFYING') AND ${isOnPage('Maintenance', 'maintenance.id')}
    ), planned AS MATERIALIZED (
      SELECT id, to_json(ahead) AS row, row_number() OVER (ORDER BY "startsAt", id) AS nth
      FROM ahead ORDER BY nth LIMIT ${maintenances.items}
    ), impact AS (
      SELECT "serviceId", json_agg(link.status) AS statuses
      FROM unresolved JOIN "IncidentService" AS link ON link."incidentId" = unresolved.id
      WHERE NOT automatic GROUP BY 1
    ), monitor AS (
      SELECT "serviceId", json_agg(json_build_object(
        'state', state, 'stateSince', "stateSince", 'unknownSince', "unknownSince")) AS monitors, min("Monitor"."createdAt") AS since
      FROM page JOIN "Monitor" ON "organizationId" = page.id WHERE "serviceId" IS NOT NULL GROUP BY 1
    ), maintained AS (
      SELECT "serviceId", json_agg(ahead.id) AS maintenances
      FROM ahead JOIN "MaintenanceService" AS link ON link."maintenanceId" = ahead.id
      WHERE ahead.status <> 'SCHEDULED' GROUP BY 1
    ), service AS (
      SELECT json_build_object('id', service.id, 'groupId', "groupId", 'name', service.name,
        'description', service.description, 'createdAt', service."createdAt", 'statedAt', "statedAt", 'watchedSince', monitor.since,
        'causes', json_build_object(
          'override', "statusOverride", 'incidents', coalesce(impact.statuses, '[]'),
          'monitors', coalesce(monitor.monitors, '[]'), 'maintenances', coalesce(maintained.maintenances, '[]'))) AS row,
        shown.nth
      FROM shown JOIN "Service" AS service ON service.id = shown.id
      LEFT JOIN impact ON impact."serviceId" = service.id
      LEFT JOIN monitor ON monitor."serviceId" = service.id
      LEFT JOIN maintained ON maintained."serviceId" = service.id
    ), section AS (
      SELECT json_build_object('id', section.id, 'name', section.name, 'description', section.description,
        'createdAt', section."createdAt") AS row, row_number() OVER (ORDER BY position, section.id) AS nth
      FROM page JOIN "ServiceGroup" AS section ON section."organizationId" = page.id
      WHERE page."allServices" OR section.id IN (SELECT "groupId" FROM shown JOIN "Service" USING (id))
    )
    SELECT json_build_object('organization', to_json(page), 'newestEvents', ${newestEventsJson(Prisma.sql`page.id`)},
      'groups', ${rows('section')}, 'services', ${rows('service')},
      'open', ${rows('open')}, 'openTimelines', ${timelinesJson('Incident', Prisma.sql`open`, open.timeline, isShown)},
      'recent', ${rows('recent')}, 'recentTimelines', ${timelinesJson('Incident', Prisma.sql`recent`, recent.timeline, isShown)},
      'incidentHistory', ${incidentHistoryJson(Prisma.sql`page.id`, ordered, since.history)},
      'lastResolvedAt', (SELECT "resolvedAt" FROM "Incident" AS past WHERE "organizationId" = page.id AND "resolvedAt" IS NOT NULL
        AND ${isPublicIncident} AND ${isOnPage('Incident', 'past.id')} ORDER BY "resolvedAt" DESC LIMIT 1),
      'hasMoreRecent', (SELECT count(*) > ${recent.items} FROM newest),
      'maintenances', ${rows('planned')},
      'maintenanceTimelines', ${timelinesJson('Maintenance', Prisma.sql`planned`, maintenances.timeline, isShown)})::text AS state
    FROM page`
}

const found = {
  organization: (id: string) => Prisma.sql`own."organizationId" = ${id} AND own."isFirst"`,
  page: (id: string) => Prisma.sql`own.id = ${id}`,
  slug: (slug: string) => Prisma.sql`own.slug = ${slug}`,
} as const
