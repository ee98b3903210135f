import type { NewestEventJson } from '../event-log/newest-events.ts'
import { newestEventsJson } from '../event-log/newest-events.ts'
import type { Incident, Maintenance, Organization, Service, ServiceGroup } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { MonitorState, ServiceStatus } from '../generated/prisma/enums.ts'
import type { IncidentPastJson } from './incident-effect-reader.ts'
import { incidentPastJson } from './incident-effect-reader.ts'
import type { TimelineBounds, TimelineJson } from './timeline-reader.ts'
import { timelinesJson } from './timeline-reader.ts'

/** A row in JSON, where times are text. */
type Json<T> = { readonly [K in keyof T]: T[K] extends Date ? string : T[K] extends Date | null ? string | null : T[K] }

/** What `pageStateQuery` reads. */
export interface PageStateJson {
  readonly organization: Json<
    Pick<
      Organization,
      | 'id'
      | 'slug'
      | 'name'
      | 'description'
      | 'timeZone'
      | 'accentColor'
      | 'logoUrl'
      | 'customDomain'
      | 'links'
      | 'uptimeSource'
      | 'tier'
      | 'lastSeq'
      | 'createdAt'
    >
  >
  readonly newestEvents: readonly NewestEventJson[]
  readonly groups: readonly Json<Pick<ServiceGroup, 'id' | 'name' | 'description' | 'createdAt'>>[]
  readonly services: readonly (Json<Pick<Service, 'id' | 'groupId' | 'name' | 'description' | 'createdAt'>> & {
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
  /** What incidents said of the services, by their index. */
  readonly incidentPast: IncidentPastJson
  readonly maintenances: readonly Json<Maintenance>[]
  readonly maintenanceTimelines: readonly TimelineJson[]
}

interface ListBounds {
  readonly items: number
  readonly timeline: TimelineBounds
}

/**
 * Returns the statement that reads the state of a page: a row with `state`, a `PageStateJson` as text; none when there is no
 * such organization. Each list begins at an index, so its time does not grow with the history.
 * @param owner how the organization is found. @param since when the recent incidents began, and
 * the time since which the days of services are shown.
 */
export function pageStateQuery(
  owner: { readonly column: 'id' | 'slug'; readonly value: string },
  since: { readonly recent: Date; readonly past: Date },
  bounds: { readonly open: ListBounds; readonly recent: ListBounds; readonly maintenances: ListBounds },
): Prisma.Sql {
  const { open, recent, maintenances } = bounds
  const ordered = Prisma.sql`
    SELECT id, row_number() OVER (ORDER BY position, id) - 1 AS nth FROM "Service" WHERE "organizationId" = page.id`
  const rows = (list: string) => Prisma.raw(`(SELECT coalesce(json_agg(row ORDER BY nth), '[]') FROM ${list})`)
  return Prisma.sql`
    WITH page AS MATERIALIZED (
      SELECT id, slug, name, description, "timeZone", "accentColor", "logoUrl", "customDomain", links, "uptimeSource", tier,
        "lastSeq", "createdAt"
      FROM "Organization" WHERE ${Prisma.raw(owner.column)} = ${owner.value} AND "deletedAt" IS NULL
    ), unresolved AS MATERIALIZED (
      SELECT incident.* FROM page JOIN "Incident" AS incident ON incident."organizationId" = page.id
      WHERE incident."resolvedAt" IS NULL AND incident.status <> 'RESOLVED'
    ), open AS MATERIALIZED (
      SELECT id, to_json(unresolved) AS row, row_number() OVER (ORDER BY "startedAt" DESC, id DESC) AS nth
      FROM unresolved ORDER BY nth LIMIT ${open.items}
    ), newest AS MATERIALIZED (
      SELECT incident.* FROM page CROSS JOIN LATERAL (
        SELECT * FROM "Incident" WHERE "organizationId" = page.id AND status = 'RESOLVED' AND "startedAt" >= ${since.recent}
        ORDER BY "startedAt" DESC, id DESC LIMIT ${recent.items + 1}
      ) AS incident
    ), recent AS MATERIALIZED (
      SELECT id, to_json(newest) AS row, row_number() OVER (ORDER BY "startedAt" DESC, id DESC) AS nth
      FROM newest ORDER BY nth LIMIT ${recent.items}
    ), ahead AS MATERIALIZED (
      SELECT maintenance.* FROM page JOIN "Maintenance" AS maintenance ON maintenance."organizationId" = page.id
      WHERE maintenance.status IN ('SCHEDULED', 'IN_PROGRESS', 'VERIFYING')
    ), planned AS MATERIALIZED (
      SELECT id, to_json(ahead) AS row, row_number() OVER (ORDER BY "startsAt", id) AS nth
      FROM ahead ORDER BY nth LIMIT ${maintenances.items}
    ), impact AS (
      SELECT "serviceId", json_agg(link.status) AS statuses
      FROM unresolved JOIN "IncidentService" AS link ON link."incidentId" = unresolved.id
      WHERE NOT automatic GROUP BY 1
    ), monitor AS (
      SELECT "serviceId", json_agg(json_build_object(
        'state', state, 'stateSince', "stateSince", 'unknownSince', "unknownSince")) AS monitors
      FROM page JOIN "Monitor" ON "organizationId" = page.id WHERE "serviceId" IS NOT NULL GROUP BY 1
    ), maintained AS (
      SELECT "serviceId", json_agg(ahead.id) AS maintenances
      FROM ahead JOIN "MaintenanceService" AS link ON link."maintenanceId" = ahead.id
      WHERE ahead.status <> 'SCHEDULED' GROUP BY 1
    ), service AS (
      SELECT json_build_object('id', service.id, 'groupId', "groupId", 'name', service.name,
        'description', service.description, 'createdAt', service."createdAt", 'causes', json_build_object(
          'override', "statusOverride", 'incidents', coalesce(impact.statuses, '[]'),
          'monitors', coalesce(monitor.monitors, '[]'), 'maintenances', coalesce(maintained.maintenances, '[]'))) AS row,
        row_number() OVER (ORDER BY position, service.id) AS nth
      FROM page JOIN "Service" AS service ON service."organizationId" = page.id
      LEFT JOIN impact ON impact."serviceId" = service.id
      LEFT JOIN monitor ON monitor."serviceId" = service.id
      LEFT JOIN maintained ON maintained."serviceId" = service.id
    ), section AS (
      SELECT json_build_object('id', section.id, 'name', section.name, 'description', section.description,
        'createdAt', section."createdAt") AS row, row_number() OVER (ORDER BY position, section.id) AS nth
      FROM page JOIN "ServiceGroup" AS section ON section."organizationId" = page.id
    )
    SELECT json_build_object('organization', to_json(page), 'newestEvents', ${newestEventsJson(Prisma.sql`page.id`)},
      'groups', ${rows('section')}, 'services', ${rows('service')},
      'open', ${rows('open')}, 'openTimelines', ${timelinesJson('Incident', Prisma.sql`open`, open.timeline)},
      'recent', ${rows('recent')}, 'recentTimelines', ${timelinesJson('Incident', Prisma.sql`recent`, recent.timeline)},
      'incidentPast', ${incidentPastJson(Prisma.sql`page.id`, ordered, since.past)},
      'hasMoreRecent', (SELECT count(*) > ${recent.items} FROM newest),
      'maintenances', ${rows('planned')},
      'maintenanceTimelines', ${timelinesJson('Maintenance', Prisma.sql`planned`, maintenances.timeline)})::text AS state
    FROM page`
}
