import type { PageLink } from '../../account/page/page-settings.ts'
import { linksOf } from '../../account/page/page-settings.ts'
import type { Database } from '../../core/context.ts'
import { NotFound } from '../../core/errors.ts'
import { typeOfId } from '../../core/id.ts'
import { DAY } from '../../core/time.ts'
import { plainRows } from '../../database/transaction.ts'
import { encodeCursor } from '../../event-log/event.ts'
import type { Organization, Service, ServiceGroup } from '../../generated/prisma/client.ts'
import type { IncidentHistory } from '../incident/incident-effect-reader.ts'
import { incidentHistoryOf } from '../incident/incident-effect-reader.ts'
import type { PageScope } from '../page-scope.ts'
import type { PageStatus, ShownService } from '../service/shown-status.ts'
import { manualIncidents, pageStatus, shownServiceOf } from '../service/shown-status.ts'
import type { IncidentWithTimeline, MaintenanceWithTimeline, TimelineJson } from '../timeline/timeline-reader.ts'
import { timelinesOf } from '../timeline/timeline-reader.ts'
import type { PagePosition } from './page-position.ts'
import { pagePosition, publicChangeTime } from './page-position.ts'
import type { PageStateJson, Repetition } from './page-state-query.ts'
import { pageStateQuery } from './page-state-query.ts'

/** The organization's data on the public page: its own, unless the page overrides it. */
interface PageSettings
  extends Pick<
    Organization,
    | 'id'
    | 'pageId'
    | 'slug'
    | 'name'
    | 'description'
    | 'timeZone'
    | 'accentColor'
    | 'logoUrl'
    | 'uptimeSource'
    | 'languages'
    | 'defaultLanguage'
  > {
  readonly customDomain: string | null
  /** The origins of sites that may embed its status line. */
  readonly embedOrigins: readonly string[]
  /** Whether its readers can read its monthly reports. */
  readonly publishesReports: boolean
  readonly links: readonly PageLink[]
}

/** A service and its shown status. */
export interface ServiceState
  extends Pick<Service, 'id' | 'groupId' | 'name' | 'description' | 'position' | 'createdAt' | 'statedAt'>,
    ShownService {
  /** Whether it has monitors, active or paused. */
  readonly monitored: boolean
  /** When its first monitor was created; null: it has none. */
  readonly watchedSince: Date | null
}

/** The content of the public page, as of one position in the event log. It is shared and immutable. */
export interface PageState {
  readonly organization: PageSettings
  /** The part of its organization that it shows. */
  readonly scope: PageScope
  readonly tier: Organization['tier']
  /** Later events are not yet included. */
  readonly cursor: string
  readonly position: PagePosition
  /** The time of the newest public event, or of the organization's creation. */
  readonly changedAt: Date
  /** When it was read. */
  readonly readAt: Date
  /** The number of characters that were read, which approximates its size. */
  readonly size: number
  readonly status: PageStatus
  /** In page order. */
  readonly groups: readonly Pick<ServiceGroup, 'id' | 'name' | 'description' | 'position' | 'createdAt'>[]
  /** In page order, across groups. */
  readonly services: readonly ServiceState[]
  /** Open incidents, newest first, with their newest updates. */
  readonly incidents: readonly IncidentWithTimeline[]
  /** Running and scheduled maintenance, by start time, with its newest updates. */
  readonly maintenances: readonly (MaintenanceWithTimeline & { readonly repeats: Repetition | null })[]
  /** Incidents resolved and started within the last `RECENT_DAYS`, newest first, with their last update. */
  readonly recentIncidents: readonly IncidentWithTimeline[]
  /** Whether there are more recent incidents than these. */
  readonly hasMoreRecent: boolean
  /**
   * When its last incident was resolved, or the page was created, whichever is later. Meaningless while an incident is
   * open.
   */
  readonly withoutIncidentSince: Date
  /** The effects of incidents on the services within 90 days. */
  readonly incidentHistory: IncidentHistory
}

/** The period of incidents on the page itself; older ones are in the history. */
export const RECENT_DAYS = 14

/** The number of days of services on the page, and a margin for their time zone. */
const HISTORY_DAYS = 92

/** The limits of the lists and of the texts in them, so that long ones do not slow the page down. */
const bounds = {
  open: { items: 100, timeline: { form: 'HTML', updates: 5, bytes: 400_000, services: 50 } },
  recent: { items: 25, timeline: { form: 'HTML', updates: 1, bytes: 100_000, services: 50 } },
  maintenances: { items: 100, timeline: { form: 'HTML', updates: 5, bytes: 200_000, services: 50 } },
} as const

/**
 * Reads the content of a public page, by its id or slug, with one statement, so that all parts agree with the cursor.
 * Given the id of an organization, reads its first page with all services.
 * @param previous an earlier state of the page, whose older effects of incidents are reused.
 * @throws NotFound when the page does not exist.
 */
export async function readPageState(
  db: Database,
  idOrSlug: string,
  now: Date,
  previous: PageState | null = null,
): Promise<PageState> {
  const isPossibleName = /^[a-z0-9_-]{1,63}$/.test(idOrSlug)
  const type = typeOfId(idOrSlug)
  const by = type === 'Organization' ? 'organization' : type === 'StatusPage' ? 'page' : 'slug'
  const ago = (days: number) => new Date(now.getTime() - days * DAY)
  const since = { recent: ago(RECENT_DAYS), history: ago(HISTORY_DAYS) }
  const [row] = isPossibleName
    ? await plainRows<{ state: string }>(db, pageStateQuery({ by, value: idOrSlug }, since, bounds))
    : []
  if (!row) throw new NotFound('Status page not found.')
  const json: PageStateJson = JSON.parse(row.state)
  const ids = json.services.map(({ id }) => id)
  const incidentHistory = incidentHistoryOf(json.incidentHistory, ids, since.history, now, previous?.incidentHistory)
  return { ...pageStateOf(json), incidentHistory, readAt: now, size: row.state.length }
}

function pageStateOf(json: PageStateJson): Omit<PageState, 'incidentHistory' | 'readAt' | 'size'> {
  const { lastSeq, tier, links, createdAt, allServices, ...settings } = json.organization
  const services = json.services.map(({ causes, createdAt, statedAt, watchedSince, ...service }, position) => ({
    ...service,
    position,
    createdAt: new Date(createdAt),
    statedAt: dateOf(statedAt),
    monitored: causes.monitors.length > 0,
    watchedSince: dateOf(watchedSince),
    ...shownServiceOf({
      statusOverride: causes.override,
      statedAt: dateOf(statedAt),
      incidents: causes.incidents.map((status) => ({ status })),
      monitors: causes.monitors.map(({ state, stateSince, unknownSince }) => ({
        state,
        stateSince: new Date(stateSince),
        unknownSince: dateOf(unknownSince),
      })),
      maintenances: causes.maintenances.map((maintenanceId) => ({ maintenanceId })),
    }),
  }))
  const incidentsOf = (list: PageStateJson['open'], timelines: readonly TimelineJson[], of: keyof typeof bounds) => {
    const read = timelinesOf<IncidentWithTimeline['status']>(timelines, bounds[of].timeline)
    return list.flatMap((incident, index) => {
      const timeline = read[index]
      if (timeline === undefined) return []
      const { startedAt, resolvedAt, createdAt, importedAt, ...rest } = incident
      const times = { startedAt: new Date(startedAt), resolvedAt: dateOf(resolvedAt), createdAt: new Date(createdAt) }
      return [{ ...rest, ...times, importedAt: dateOf(importedAt), ...timeline }]
    })
  }
  const incidents = incidentsOf(json.open, json.openTimelines, 'open')
  const read = timelinesOf<MaintenanceWithTimeline['status']>(json.maintenanceTimelines, bounds.maintenances.timeline)
  return {
    organization: { ...settings, links: linksOf({ links }) },
    scope: { organizationId: settings.id, serviceIds: allServices ? null : services.map(({ id }) => id) },
    tier,
    cursor: encodeCursor(lastSeq),
    position: pagePosition(json.newestEvents),
    changedAt: publicChangeTime(json.newestEvents) ?? new Date(createdAt),
    status: pageStatus(services, impactsOf(incidents)),
    groups: json.groups.map((group, position) => ({ ...group, position, createdAt: new Date(group.createdAt) })),
    services,
    incidents,
    maintenances: json.maintenances.flatMap((maintenance, index) => {
      const timeline = read[index]
      return timeline === undefined ? [] : [{ ...maintenance, ...timesOf(maintenance), ...timeline }]
    }),
    recentIncidents: incidentsOf(json.recent, json.recentTimelines, 'recent'),
    hasMoreRecent: json.hasMoreRecent,
    withoutIncidentSince: latest(new Date(createdAt), dateOf(json.lastResolvedAt)),
  }
}

/** Returns the impacts of manual incidents. */
export const impactsOf = (incidents: readonly IncidentWithTimeline[]) =>
  incidents.filter(({ automatic }) => automatic === manualIncidents.automatic).map(({ impact }) => impact)

const latest = (one: Date, other: Date | null) => (other !== null && other > one ? other : one)

function timesOf({
  startsAt,
  endsAt,
  startedAt,
  endedAt,
  createdAt,
  dueAt,
  nominalStartsAt,
  importedAt,
}: PageStateJson['maintenances'][number]) {
  return {
    startsAt: new Date(startsAt),
    endsAt: new Date(endsAt),
    startedAt: dateOf(startedAt),
    endedAt: dateOf(endedAt),
    createdAt: new Date(createdAt),
    dueAt: dateOf(dueAt),
    nominalStartsAt: dateOf(nominalStartsAt),
    importedAt: dateOf(importedAt),
  }
}

const dateOf = (time: string | null) => (time === null ? null : new Date(time))
