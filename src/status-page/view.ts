import { DAY } from '../core/time.ts'
import type { IncidentImpact, IncidentStatus, MaintenanceStatus, ServiceStatus } from '../generated/prisma/enums.ts'
import type { Catalogue, Language } from '../language/catalogue.ts'
import { wordsOf } from '../language/catalogue.ts'
import type { PageState } from '../status/page/page-state.ts'
import type { Repetition } from '../status/page/page-state-query.ts'
import type { ShownStatus, StatusBasis } from '../status/service/service-status.ts'
import { worstStatus } from '../status/service/service-status.ts'
import type { PageStatus, ShownService } from '../status/service/shown-status.ts'
import { summarizeUnknown } from '../status/service/shown-status.ts'
import type { KnowledgeKind } from '../status/service/what-is-known.ts'
import { isUnknownBy, whatIsKnown } from '../status/service/what-is-known.ts'
import type {
  IncidentWithTimeline,
  MaintenanceWithTimeline,
  Timeline,
  TimelineUpdate,
} from '../status/timeline/timeline-reader.ts'
import type { InLanguage } from '../status/timeline/translations.ts'
import { inLanguage } from '../status/timeline/translations.ts'
import type { HistoryItem } from './history.ts'
import type { Zone } from './time-format.ts'

export interface ServiceView extends Pick<ShownService, 'shown' | 'unknownSince' | 'watched' | 'basis'> {
  readonly id: string
  readonly groupId: string | null
  readonly name: string
  readonly description: string
}

/** A service group as the page shows it. */
export interface GroupView {
  readonly id: string
  readonly name: string
  readonly description: string
}

/** A service group with its services; `group` is null for services without a group. */
export interface SectionView {
  readonly group: GroupView | null
  /** The worst status of its services. */
  readonly shown: ShownStatus
  readonly services: readonly ServiceView[]
}

/** An update, and whether it was written in the reader's language. */
type UpdateView<S> = TimelineUpdate<S> & InLanguage

export interface IncidentView extends Omit<Timeline<IncidentStatus>, 'services'>, InLanguage {
  readonly updates: readonly UpdateView<IncidentStatus>[]
  readonly id: string
  readonly title: string
  readonly status: IncidentStatus
  readonly impact: IncidentImpact
  readonly startedAt: Date
  readonly resolvedAt: Date | null
  readonly services: readonly { readonly name: string; readonly status: ServiceStatus }[]
  /** The tool from which it was imported; null: it was not imported. */
  readonly importedFrom: string | null
}

export interface MaintenanceView extends Omit<Timeline<MaintenanceStatus>, 'services'>, InLanguage {
  readonly updates: readonly UpdateView<MaintenanceStatus>[]
  readonly id: string
  readonly title: string
  readonly status: MaintenanceStatus
  readonly startsAt: Date
  readonly endsAt: Date
  readonly services: readonly { readonly name: string }[]
  readonly seriesId: string | null
  /** The tool from which it was imported; null: it was not imported. */
  readonly importedFrom: string | null
  /** How it repeats; absent: it does not, or it is over. */
  readonly repeats?: Repetition | null
}

/** Returns an incident as the page shows it in a language. @param names service names by service id. */
export function incidentView(
  incident: IncidentWithTimeline,
  names: ReadonlyMap<string, string>,
  language: Language,
): IncidentView {
  return { ...inLanguage(incident, language), services: withNames(incident.services, names) }
}

/** Returns a maintenance as the page shows it in a language. @param names service names by service id. */
export function maintenanceView(
  maintenance: MaintenanceWithTimeline & Pick<MaintenanceView, 'repeats'>,
  names: ReadonlyMap<string, string>,
  language: Language,
): MaintenanceView {
  return { ...inLanguage(maintenance, language), services: withNames(maintenance.services, names) }
}

/** Returns a history item as the page shows it in a language. @param names service names by service id. */
export function historyItemView(
  item: HistoryItem,
  names: ReadonlyMap<string, string>,
  language: Language,
): HistoryItem<IncidentView, MaintenanceView> {
  const { at } = item
  return 'incident' in item
    ? { at, incident: incidentView(item.incident, names, language) }
    : { at, maintenance: maintenanceView(item.maintenance, names, language) }
}

function withNames<T extends { readonly serviceId: string }>(of: readonly T[], names: ReadonlyMap<string, string>) {
  return of.flatMap((each) => {
    const name = names.get(each.serviceId)
    return name === undefined ? [] : [{ ...each, name }]
  })
}

/** The labels of the console, which is in English. */
export const {
  status: serviceStatusLabels,
  incidentStatus: incidentStatusLabels,
  impact: impactLabels,
  maintenanceStatus: maintenanceStatusLabels,
} = wordsOf('EN')

/**
 * Joins the names of services, followed by the number of services that are not named: `Search, Checkout and 3 more`.
 * @param mark `isolate` for formats that mark the language and direction of names.
 */
export function joinNames(
  of: { readonly services: readonly { readonly name: string }[]; readonly serviceCount: number },
  words: Catalogue = wordsOf('EN'),
  mark = unmarked,
): string {
  const names = of.services.map(({ name }) => mark(name))
  return words.names(names, of.serviceCount - names.length)
}

const unmarked = (name: string) => name

type Known = Pick<ServiceView, 'shown' | 'basis'>

/**
 * Returns the status of a service in a few words: `Partial outage`, `No status yet`, `Waiting for first result`, `No data
 * since 20 Nov 2026, 12:02 UTC`.
 */
export function serviceLabel(
  service: Known & Pick<ServiceView, 'unknownSince'>,
  zone: Zone,
  words: Catalogue = wordsOf('EN'),
): string {
  const { shown, unknownSince } = service
  return shown === 'UNKNOWN' && unknownSince !== null
    ? words.noDataSince(zone.time(unknownSince))
    : shortLabel(service, words)
}

/** Returns the status of a service in two or three words, where there is no room for a time. */
export function shortLabel(service: Known, words: Catalogue): string {
  return labelOf(whatIsKnown([service]), words)
}

/** Returns the status of several services in two or three words. */
export function groupLabel(services: readonly Known[], words: Catalogue): string {
  return labelOf(whatIsKnown(services), words)
}

/** Returns the status of a whole page in two or three words. */
export function pageLabel({ status, incidents }: Pick<PageFacts, 'status' | 'incidents'>, words: Catalogue): string {
  if (status.kind === 'NOTHING') return words.headline.incidentsOnly(incidents.length)
  return status.kind === 'OPERATIONAL' ? words.allOperational : labelOf(status, words)
}

function labelOf({ kind, shown }: Pick<PageStatus, 'kind' | 'shown'>, words: Catalogue): string {
  if (kind === 'WAITING') return words.firstProbePending
  return kind === 'UNSTATED' ? words.noStatusYet : words.status[shown]
}

/**
 * Returns the headline of a page: `Partial outage: Search`. Names up to two services and counts more than two.
 * @param mark as in `joinNames`.
 */
export function headline(
  { status, services, incidents }: PageFacts,
  zone: Zone,
  catalogue: Catalogue,
  mark = unmarked,
): string {
  const { headline: words } = catalogue
  const { kind, shown } = status
  if (kind === 'NOTHING') return words.incidentsOnly(incidents.length)
  if (kind === 'OPERATIONAL')
    return incidents.length === 0 ? words.operational : words.operationalWith(incidents.length)
  const reason = unknownReasons[kind]
  const affected = services.filter(reason === undefined ? (service) => service.shown === shown : isUnknownBy(reason))
  const [first, second] = affected
  // The page is worse than its services only when an open incident affects no service.
  if (first === undefined) return catalogue.status[shown]
  const isPair = affected.length === 2 && second !== undefined
  const several = isPair
    ? words.both(mark(first.name), mark(second.name))
    : words.some(affected.length, services.length)
  const what = affected.length === 1 ? mark(first.name) : several
  const { everywhere, since } = summarizeUnknown(services)
  if (kind !== 'NO_DATA' || since === null) return words.wrong(labelOf(status, catalogue), what)
  return everywhere ? words.silentSince(zone.time(since)) : words.partlySilentSince(what, zone.time(since))
}

/** Why the services are unknown that make a page unknown. */
const unknownReasons: Readonly<Partial<Record<KnowledgeKind, StatusBasis>>> = {
  WAITING: 'PENDING',
  NO_DATA: 'SILENT',
  UNSTATED: 'UNSTATED',
}

/** The facts for the headline of a page. */
interface PageFacts {
  readonly status: Pick<PageStatus, 'kind' | 'shown'>
  readonly services: readonly Pick<ServiceView, 'name' | 'shown' | 'unknownSince' | 'watched' | 'basis'>[]
  /** Open incidents. */
  readonly incidents: readonly unknown[]
}

/**
 * Returns the whole days without an incident, at least one, of a page on which all is well: since its last incident was
 * resolved, or the page was created. Null: something is wrong, the page has no services, or less than a day has passed.
 */
export function daysWithoutIncident(
  { status, services, incidents, withoutIncidentSince }: CalmFacts,
  now: Date,
): number | null {
  if (status.shown !== 'OPERATIONAL' || incidents.length > 0 || services.length === 0) return null
  const days = Math.floor((now.getTime() - withoutIncidentSince.getTime()) / DAY)
  return days > 0 ? days : null
}

/** The facts for the days without an incident. */
type CalmFacts = Pick<PageState, 'withoutIncidentSince'> & {
  readonly status: Pick<PageStatus, 'shown'>
  readonly services: readonly unknown[]
  /** Open incidents. */
  readonly incidents: readonly unknown[]
}

/** Leaves out all but the next date of each repeating maintenance. @param upcoming earliest first. */
export function nextOfEach<T extends Pick<MaintenanceView, 'id' | 'seriesId'>>(upcoming: readonly T[]): readonly T[] {
  const first = new Map(upcoming.toReversed().map(({ id, seriesId }) => [seriesId, id]))
  return upcoming.filter(({ id, seriesId }) => seriesId === null || first.get(seriesId) === id)
}

/** Groups services in the owner's order: services without a group first; groups without services are left out. */
export function groupServices(groups: readonly GroupView[], services: readonly ServiceView[]): SectionView[] {
  return [null, ...groups]
    .map((group) => ({ group, services: services.filter(({ groupId }) => groupId === (group?.id ?? null)) }))
    .filter((section) => section.services.length > 0)
    .map((section) => ({ ...section, shown: worstStatus<ShownStatus>(section.services.map(({ shown }) => shown)) }))
}

/** A day in the page's time zone with the items that started on it. */
export interface Day<T> {
  /** `2026-11-20`. */
  readonly key: string
  /** `Friday, 20 November 2026`. */
  readonly name: string
  readonly items: readonly T[]
}

/** Groups items by the day on which they started; keeps their order. */
export function groupByDay<T>(items: readonly T[], zone: Zone, startOf: (item: T) => Date): Day<T>[] {
  const days = new Map<string, { key: string; name: string; items: T[] }>()
  for (const item of items) {
    const at = startOf(item)
    const key = zone.dayKey(at)
    const day = days.get(key) ?? { key, name: zone.day(at), items: [] }
    day.items.push(item)
    days.set(key, day)
  }
  return [...days.values()]
}
