import { yieldAfterTimeSlice } from '../core/concurrency/time-slice.ts'
import type { Database } from '../core/context.ts'
import { DAY, MINUTE } from '../core/time.ts'
import { dayIn } from '../core/time-zone.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import type { UptimeSource } from '../generated/prisma/enums.ts'
import type { Catalogue } from '../language/catalogue.ts'
import { wordsOf } from '../language/catalogue.ts'
import type { ImportedDay } from '../monitoring/uptime/imported-history.ts'
import { readImportedDays, sumImported } from '../monitoring/uptime/imported-history.ts'
import { declaredOf, reportedDays, uptimeSourceOf, withDeclared } from '../monitoring/uptime/service-stretches.ts'
import { readTouched, saidOf } from '../monitoring/uptime/service-uptime.ts'
import type { Declared, Span, Tally } from '../monitoring/uptime/uptime.ts'
import { coveragePercent, knownTime, sumOf, uptimePercent } from '../monitoring/uptime/uptime.ts'
import type { DayUptime } from '../monitoring/uptime/uptime-days.ts'
import type { History } from '../monitoring/uptime/uptime-history.ts'
import { noHistory, readMaintenance } from '../monitoring/uptime/uptime-history.ts'
import type { RangeName } from '../monitoring/uptime/uptime-range.ts'
import { barSpans, DEFAULT_RANGE, readBars, unitOf } from '../monitoring/uptime/uptime-range.ts'
import type { IncidentHistory, ServiceIncident } from '../status/incident/incident-effect-reader.ts'
import { worstEffect, worstEffects } from '../status/incident/incident-effects.ts'
import type { PageState, ServiceState } from '../status/page/page-state.ts'
import type { ImpairedStatus } from '../status/service/service-status.ts'
import { bounds } from './bounds.ts'
import type { Zone } from './time-format.ts'

/** The uptime and incidents of a service. */
export interface ServiceHistory {
  /** The source of its uptime. */
  readonly source: UptimeSource
  /** Days, or the other units of a range's bars; the last one ends now. */
  readonly days: readonly DayUptime[]
  /** Incidents that affected the service within these days, newest first. */
  readonly incidents: readonly ServiceIncident[]
  /** The figures of another tool, for each of `days`; absent: nothing was imported. */
  readonly imported?: readonly (ImportedDay | null)[] | undefined
}

/** The data that incidents do not change: measured days and maintenance. */
export interface Measured {
  /** The end of the figures. */
  readonly readAt: Date
  /** The days or other bars of all services, which end at `readAt`. */
  readonly spans: readonly Omit<DayUptime, 'tally'>[]
  /** The days of services with measured uptime. */
  readonly days: ReadonlyMap<string, readonly DayUptime[]>
  /** The maintenance of the other services. */
  readonly maintenance: ReadonlyMap<string, readonly Span[]>
  /** The figures of another tool, for each of `spans`, of services with imported days. */
  readonly imported: ReadonlyMap<string, readonly (ImportedDay | null)[]>
}

/** The histories of services, as of one time. */
export interface ServiceHistories {
  readonly measured: Measured
  /** The number of days and incidents of all histories together. */
  readonly size: number
  /** By service id. */
  readonly histories: ReadonlyMap<string, ServiceHistory>
}

/** Returns the source of a service's uptime. */
export const sourceOf = ({ organization }: PageState, { monitored }: ServiceState) =>
  uptimeSourceOf(monitored, organization.uptimeSource)

/**
 * Reads the measured days of the services of a page in a range, their maintenance, and imported days. Runs four
 * statements, for a year three more for each further hundred services, and one more if the uptime of some counts
 * incidents.
 */
export async function readMeasured(
  db: Database,
  state: PageState,
  services: readonly ServiceState[],
  now: Date,
  range: RangeName = DEFAULT_RANGE,
): Promise<Measured> {
  const { organization, tier } = state
  const zone = { timeZone: organization.timeZone, tier }
  const idsWhere = (isReported: boolean) =>
    services.filter((service) => (sourceOf(state, service) === 'INCIDENTS') === isReported).map(({ id }) => id)
  const [measured, reported] = [idsWhere(false), idsWhere(true)]
  const spans = barSpans(zone, range, now)
  const days = await readBars(db, zone, measured, range, now)
  const maintenance = await readMaintenance(db, reported, spans[0]?.from ?? now, now)
  const imported = await readImported(db, { services, spans, range, today: dayIn(zone.timeZone, now) })
  return { readAt: now, spans, days, maintenance, imported }
}

/** Reads the imported days of services, for each bar of a range of days. */
async function readImported(
  db: Database,
  {
    services,
    spans,
    range,
    today,
  }: {
    readonly services: readonly ServiceState[]
    readonly spans: Measured['spans']
    readonly range: RangeName
    readonly today: Date
  },
): Promise<Measured['imported']> {
  const [first] = spans
  // Only days are imported, no hours.
  if (first === undefined || services.length === 0 || unitOf(range) === 'hour') return new Map()
  const ids = services.map(({ id }) => id)
  const found = await readImportedDays(db, ids, first.day, today)
  const owner = {}
  const imported = new Map<string, readonly (ImportedDay | null)[]>()
  for (const [id, days] of found) {
    await yieldAfterTimeSlice(owner)
    imported.set(id, importedIn(spans, days, today))
  }
  return imported
}

/**
 * Returns the imported figures for each of consecutive bars of days.
 * @param today the last day of the last bar, as midnight UTC.
 */
export function importedIn(
  bars: readonly Pick<DayUptime, 'day'>[],
  days: ReadonlyMap<number, ImportedDay>,
  today: Date,
): (ImportedDay | null)[] {
  return bars.map(({ day }, index) => {
    const length = Math.round((+(bars[index + 1]?.day ?? +today + DAY) - +day) / DAY)
    return sumImported(Array.from({ length }, (_, number) => days.get(+day + number * DAY)))
  })
}

/**
 * Adds the effects of incidents on the services of a page to the measured days. Yields the event loop between services.
 * A history that has not changed since `previous` is the same object. Runs two statements if incidents declared
 * something of measured days. @param incidentHistory reaches as far back as the measured days.
 */
export async function joinHistories(
  db: Database,
  state: PageState,
  services: readonly ServiceState[],
  measured: Measured,
  {
    previous = null,
    incidentHistory = state.incidentHistory,
  }: { readonly previous?: ServiceHistories | null; readonly incidentHistory?: IncidentHistory } = {},
): Promise<ServiceHistories> {
  const owner = {}
  const kept = keptHistories(state, services, measured, incidentHistory, previous)
  const changed = services.filter(({ id }) => !kept.has(id))
  const declared = new Map<string, readonly Declared[]>()
  for (const service of changed) {
    await yieldAfterTimeSlice(owner)
    const said = saidOf({ ...service, source: sourceOf(state, service) }, incidentHistory)
    declared.set(service.id, declaredOf(said, measured.readAt))
  }
  const touched = await readTouched(db, declared, measured.days, measured.readAt)
  const histories = new Map<string, ServiceHistory>()
  let size = 0
  for (const service of services) {
    await yieldAfterTimeSlice(owner)
    const { id } = service
    const added = { declared: declared.get(id) ?? [], history: touched.get(id) ?? noHistory }
    const history = kept.get(id) ?? historyOf(sourceOf(state, service), service, measured, incidentHistory, added)
    histories.set(service.id, history)
    size += history.days.length + history.incidents.length
  }
  return { measured, size, histories }
}

const noIncidents: readonly ServiceIncident[] = []

/** Returns the earlier histories of services that nothing has changed, by id. */
function keptHistories(
  state: PageState,
  services: readonly ServiceState[],
  measured: Measured,
  { incidents }: IncidentHistory,
  previous: ServiceHistories | null,
): ReadonlyMap<string, ServiceHistory> {
  if (previous === null || previous.measured !== measured) return new Map()
  return new Map(
    services.flatMap((service) => {
      const earlier = previous.histories.get(service.id)
      const isKept =
        earlier?.source === sourceOf(state, service) && earlier.incidents === (incidents.get(service.id) ?? noIncidents)
      return isKept ? [[service.id, earlier] as const] : []
    }),
  )
}

function historyOf(
  source: UptimeSource,
  service: ServiceState,
  measured: Measured,
  incidentHistory: IncidentHistory,
  { declared, history }: { readonly declared: readonly Declared[]; readonly history: History },
): ServiceHistory {
  const { id } = service
  const incidents = incidentHistory.incidents.get(id) ?? noIncidents
  const said = saidOf({ ...service, source }, incidentHistory)
  const days =
    source === 'INCIDENTS'
      ? reportedDays({ ...said, maintenance: measured.maintenance.get(id) ?? [] }, measured.spans)
      : withDeclared(measured.days.get(id) ?? [], declared, history)
  const imported = measured.imported.get(id)
  return { source, days, incidents, ...(imported && { imported }) }
}

/**
 * The mark of a day: its worst state. `maintenance` marks a day without outages, `none` a day without data, `imported…`
 * a day with data from another tool only.
 */
export type DayMark = 'up' | 'degraded' | 'partial' | 'down' | 'maintenance' | 'none' | 'importedUp' | 'importedDown'

/** An incident on a day of a service. */
export interface DayIncident {
  readonly id: string
  readonly title: string
  readonly titles?: Prisma.JsonValue
  /** The worst status that it gave the service on that day, and for how long the service was impaired; null: never. */
  readonly effect: { readonly status: ImpairedStatus; readonly milliseconds: number } | null
}

/** A day, or another unit of a bar, as the page shows it. */
export interface DayView {
  /** `2026-11-20`: the day in which it begins. */
  readonly key: string
  /** `Friday, 20 November 2026`; `7 days from …` for a week, with the time of day for an hour. */
  readonly name: string
  readonly mark: DayMark
  /** Measured outages, maintenance and gaps, such as `down for 12 min`. Empty for a day without any. */
  readonly notes: readonly string[]
  /** The figures of another tool; null: none. */
  readonly imported: string | null
  /** The newest, newest first. */
  readonly incidents: readonly DayIncident[]
  /** The number of further ones. */
  readonly moreIncidents: number
}

/** The bar of a service as the page shows it. */
export interface BarView {
  /** One per day, oldest first. */
  readonly marks: readonly DayMark[]
  /** Uptime over all days, `99.982% uptime`, or `No data`. */
  readonly uptime: string
  /** The shortest form: `99.982%`, `100%*` by incidents, or `No data`. */
  readonly figure: string
}

/** The history of a service as the page shows it. */
export interface ServiceHistoryView extends BarView {
  readonly days: readonly DayView[]
  /** The newest days with notes or incidents, newest first. */
  readonly eventful: readonly DayView[]
  /** Whether older days have notes or incidents too. */
  readonly hasOlder: boolean
  /** A sentence with the downtime and the monitored time behind `uptime`. */
  readonly summary: string
}

/**
 * Formats histories in the page's time zone, by service id. Yields the event loop between services: the histories of a
 * large organization take longer than a time slice.
 */
export async function serviceHistoryViews(
  histories: ReadonlyMap<string, ServiceHistory>,
  zone: Zone,
  {
    words = wordsOf('EN'),
    name = zone.day,
  }: { readonly words?: Catalogue; readonly name?: (from: Date) => string } = {},
): Promise<Map<string, ServiceHistoryView>> {
  const names = new Map<number, Pick<DayView, 'key' | 'name'>>()
  // All services share the same days, and formatting day names is the most expensive part.
  const nameOf = (from: Date) => {
    const cached = names.get(from.getTime())
    const named = cached ?? { key: zone.dayKey(from), name: name(from) }
    if (!cached) names.set(from.getTime(), named)
    return named
  }
  const { days, daysPerService } = bounds.eventful
  const most = Math.max(daysPerService, Math.floor(days / histories.size))
  const owner = {}
  const views = new Map<string, ServiceHistoryView>()
  for (const [id, history] of histories) {
    await yieldAfterTimeSlice(owner)
    views.set(id, serviceHistoryView(history, nameOf, most, words))
  }
  return views
}

/** The formatted bars of histories in a language; most stay the same after a change of the page. */
const bars = new WeakMap<Catalogue, WeakMap<ServiceHistory, BarView>>()

/** Formats the bar of a history. */
export function barView(history: ServiceHistory, words: Catalogue): BarView {
  const known = bars.get(words) ?? new WeakMap<ServiceHistory, BarView>()
  bars.set(words, known)
  const bar = known.get(history) ?? newBar(history, words)
  known.set(history, bar)
  return bar
}

function newBar({ source, days, incidents, imported }: ServiceHistory, words: Catalogue): BarView {
  const total = sumOf(days.map(({ tally }) => tally))
  const percent = uptimePercent(total)
  const figure = percent === null ? words.uptime.noData : words.percent(percent)
  const effects = incidents.flatMap((incident) => incident.effects)
  const worst = worstEffects(effects, openEnded(days))
  const marks = days.map(({ tally }, index) =>
    worstMark(orImported(tallyMark(source, tally), imported?.[index]), worst[index] ?? null),
  )
  if (percent === null) return { marks, uptime: figure, figure }
  const isReported = source === 'INCIDENTS'
  const uptime = isReported ? words.uptime.byIncidents(figure) : words.uptime.measured(figure)
  return { marks, uptime: withCoverage(uptime, total, words), figure: `${figure}${isReported ? '*' : ''}` }
}

/**
 * Returns the spans of days; the last one has no end, because an incident may have begun after the figures of today
 * end.
 */
function openEnded(days: readonly DayUptime[]): Span[] {
  return days.map(({ from, to }, index) => ({ from, to: index < days.length - 1 ? to : new Date(8.64e15) }))
}

/** Formats the bars of groups, by group id. Yields the event loop between them. */
export async function groupBars(
  { groups, services }: Pick<PageState, 'groups' | 'services'>,
  histories: ReadonlyMap<string, ServiceHistory>,
  words: Catalogue,
): Promise<ReadonlyMap<string, BarView>> {
  const owner = {}
  const found = new Map<string, BarView>()
  for (const { id } of groups) {
    await yieldAfterTimeSlice(owner)
    const own = services.filter(({ groupId }) => groupId === id).flatMap((service) => histories.get(service.id) ?? [])
    found.set(id, groupBar(own, words))
  }
  return found
}

/** Formats the bar of a group: the worst of its services on each day, and their uptime on average. */
function groupBar(histories: readonly ServiceHistory[], words: Catalogue): BarView {
  const own = histories.map((history) => barView(history, words))
  const longest = Math.max(0, ...own.map(({ marks }) => marks.length))
  const marks = Array.from({ length: longest }, (_, index) =>
    own.reduce<DayMark>((worst, bar) => worseMark(worst, bar.marks[index] ?? 'none'), 'none'),
  )
  const percent = uptimePercent(sumOf(histories.flatMap(({ days }) => days.map(({ tally }) => tally))))
  if (percent === null) return { marks, uptime: words.uptime.noData, figure: words.uptime.noData }
  const figure = words.percent(percent)
  const isReported = histories.some(({ source }) => source === 'INCIDENTS')
  return { marks, uptime: words.uptime.onAverage(figure), figure: `${figure}${isReported ? '*' : ''}` }
}

function serviceHistoryView(
  history: ServiceHistory,
  nameOf: (from: Date) => Pick<DayView, 'key' | 'name'>,
  most: number,
  words: Catalogue,
): ServiceHistoryView {
  const { source, days, incidents, imported = [] } = history
  const bar = barView(history, words)
  const spans = openEnded(days)
  const views = days.map(({ from, tally }, index): DayView => {
    const open = incidentsOn(spans[index], incidents)
    const shown = open.slice(0, bounds.eventful.incidents)
    const more = { incidents: shown, moreIncidents: open.length - shown.length }
    const note = importedNote(imported[index] ?? null, words)
    const mark = bar.marks[index] ?? 'none'
    return { ...nameOf(from), mark, notes: dayNotes(source, tally, words), imported: note, ...more }
  })
  const isEventful = ({ notes, incidents: own, mark }: DayView) =>
    notes.length > 0 || own.length > 0 || mark === 'importedDown'
  const eventful = views.filter(isEventful).toReversed()
  const tool = imported.find((day) => day !== null)?.source
  return {
    ...bar,
    days: views,
    eventful: eventful.slice(0, most),
    hasOlder: eventful.length > most,
    summary: [
      historySummary(source, sumOf(days.map(({ tally }) => tally)), words),
      ...(tool === undefined ? [] : [words.uptime.importedNotCounted(tool)]),
    ].join(' '),
  }
}

function incidentsOn(day: Span | undefined, incidents: readonly ServiceIncident[]): DayIncident[] {
  if (day === undefined) return []
  return incidents
    .filter(({ begunAt, endedAt }) => begunAt < day.to && (!endedAt || endedAt > day.from))
    .map(({ id, title, titles, effects }) => {
      const status = worstEffect(effects, day)
      const milliseconds = effects.reduce((sum, { from, to }) => {
        return sum + Math.max(0, Math.min(+to, +day.to) - Math.max(+from, +day.from))
      }, 0)
      return { id, title, ...(titles && { titles }), effect: status && { status, milliseconds } }
    })
}

/** Below this coverage in percent, the uptime is shown with its monitored time. */
const FULL_COVERAGE_PERCENT = 95

function withCoverage(uptime: string, total: Tally, { uptime: words }: Catalogue): string {
  const coverage = coveragePercent(total)
  return coverage === null || coverage >= FULL_COVERAGE_PERCENT ? uptime : words.basedOn(uptime, knownTime(total))
}

/** Returns the mark of measured data. Incidents mark their effects themselves. */
function tallyMark(source: UptimeSource, tally: Tally): DayMark {
  const { degraded, partial, down, maintenance } = tally
  if (source !== 'INCIDENTS') {
    if (down > 0) return 'down'
    if (partial > 0) return 'partial'
    if (degraded > 0) return 'degraded'
  }
  if (maintenance > 0) return 'maintenance'
  return knownTime(tally) > 0 ? 'up' : 'none'
}

/** Returns the mark of measured data, or else of imported data. */
function orImported(measured: DayMark, imported: ImportedDay | null | undefined): DayMark {
  if (measured !== 'none' || !imported) return measured
  return imported.down > 0 ? 'importedDown' : 'importedUp'
}

/** From best to worst. */
const markOrder = [
  'none',
  'importedUp',
  'importedDown',
  'up',
  'maintenance',
  'degraded',
  'partial',
  'down',
] as const satisfies readonly DayMark[]

const markOfEffect = {
  DEGRADED_PERFORMANCE: 'degraded',
  PARTIAL_OUTAGE: 'partial',
  MAJOR_OUTAGE: 'down',
} as const satisfies Record<ImpairedStatus, DayMark>

/**
 * Returns the mark of a day: the worse of measured data and incidents.
 * @param effect null: no impairment.
 */
export function worstMark(measured: DayMark, effect: ImpairedStatus | null): DayMark {
  return effect === null ? measured : worseMark(measured, markOfEffect[effect])
}

function worseMark(one: DayMark, other: DayMark): DayMark {
  return markOrder.indexOf(other) > markOrder.indexOf(one) ? other : one
}

/** Describes the measured data. The incidents of a day describe their effects themselves. */
function dayNotes(source: UptimeSource, tally: Tally, { uptime: words }: Catalogue): string[] {
  const { degraded, partial, down, unknown, maintenance } = tally
  const hasNoData = knownTime(tally) + maintenance === 0
  const isMeasured = source !== 'INCIDENTS'
  return [
    isMeasured && down > 0 && words.down(down),
    isMeasured && partial > 0 && words.partial(partial),
    isMeasured && degraded > 0 && words.degraded(degraded),
    maintenance > 0 && words.maintenance(maintenance),
    isMeasured && unknown >= MINUTE && !hasNoData && words.unknown(unknown),
  ].filter((note) => note !== false)
}

/** Describes the figures of another tool; null: none. */
export function importedNote(imported: ImportedDay | null, { uptime: words }: Catalogue): string | null {
  if (imported === null) return null
  const { source, up, down } = imported
  return words.imported(source, down, up + down)
}

/** Describes how much of a time was down and monitored, and what does not count. */
export function historySummary(source: UptimeSource, total: Tally, { uptime: words }: Catalogue): string {
  const { degraded, partial, down, unknown, maintenance } = total
  const monitored = knownTime(total)
  if (monitored === 0) return words.noDataForTime
  const impaired = [
    down > 0 ? words.down(down) : partial === 0 && words.noOutages,
    partial > 0 && words.partial(partial),
    degraded > 0 && words.degraded(degraded),
  ]
  const excluded = [
    unknown >= MINUTE && words.withoutData(unknown),
    maintenance > 0 && words.ofMaintenance(maintenance),
  ]
  const present = (notes: readonly (string | false)[]) => notes.filter((note) => note !== false)
  const sentence = (source === 'INCIDENTS' ? words.reported : words.monitored)(present(impaired), monitored)
  const left = present(excluded)
  return left.length === 0 ? sentence : `${sentence} ${words.notCounted(left)}`
}
