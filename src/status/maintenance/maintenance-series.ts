import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { notDeleted } from '../../account/not-deleted.ts'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import { zoneName } from '../../account/page/page-settings.ts'
import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { described, idOf, named, timeOf } from '../../core/described.ts'
import { Conflict } from '../../core/errors.ts'
import { newId } from '../../core/id.ts'
import { hasChanges, requireVersion, sameSet, versionInput } from '../../core/optimistic-lock.ts'
import { DAY, MINUTE, SECOND } from '../../core/time.ts'
import { invalid, validate } from '../../core/validation.ts'
import { runDue } from '../../database/lease/due-work.ts'
import type { ChangeContext, ChangeResult } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { Maintenance, MaintenanceSeries } from '../../generated/prisma/client.ts'
import type { Language } from '../../language/catalogue.ts'
import { findOwned, requireDistinct, requireServices } from '../ownership.ts'
import { formerServices } from '../page-scope.ts'
import { message, notifySubscribers, titleText } from '../timeline/timeline-limits.ts'
import { bothAfter, bothIn, titleChanges, titleIn, translations, withChanges } from '../timeline/translations.ts'
import type { RenderedMessage } from './maintenance.ts'
import { affectedServices, eventOf, insertMaintenance, renderUpdate, setServices } from './maintenance.ts'
import { createPlan } from './maintenance-schedule.ts'
import type { Schedule, SeriesDate } from './recurrence.ts'
import {
  DATES_TO_PLAN,
  eachLocalStart,
  formatRule,
  instantOf,
  localOf,
  MAX_RULE_LENGTH,
  MAX_SKIPPED,
  nextDates,
  parseRule,
  planAhead,
  untilOf,
} from './recurrence.ts'

/** The maximum number of series of an organization. */
const MAX_SERIES = 50
const MAX_DURATION = (7 * DAY) / MINUTE
/** How long ago the first start can be. */
const MAX_PAST = 366 * DAY

const ruleText = described(
  z.string().min(1, 'must not be blank').max(MAX_RULE_LENGTH, `must have at most ${MAX_RULE_LENGTH} characters`),
  {
    description:
      'The recurrence rule (RFC 5545): FREQ (DAILY to YEARLY), INTERVAL, BYDAY, BYMONTHDAY, BYMONTH, BYSETPOS, WKST, and UNTIL or COUNT.',
  },
)
const durationMinutes = described(
  z.int().min(1, 'must be at least 1').max(MAX_DURATION, `must be at most ${MAX_DURATION}`),
  { description: 'How long each date takes, in minutes: at most 10080, a week.' },
)
const SKIPS = 'Starts to skip, at most 200.'
const skips = described(z.array(z.date()).max(MAX_SKIPPED, `must have at most ${MAX_SKIPPED} items`).nullish(), {
  description: SKIPS,
})
const timeZone = described(zoneName, { description: 'The IANA time zone in which the rule is evaluated.' })
const firstMessage = described(message, { description: 'The first update of each date, in markdown.' })

/** The input of `createMaintenanceSeries`. */
export const newSeries = named(
  z.object({
    title: titleText,
    message: firstMessage,
    startsAt: timeOf('The first start. If the rule does not match this time, the next start that it matches.'),
    durationMinutes,
    rule: ruleText,
    timeZone: described(zoneName.nullish(), {
      description: 'The IANA time zone in which the rule is evaluated. Default: the organization’s.',
    }),
    skips,
    serviceIds: affectedServices,
    notifySubscribers: described(notifySubscribers, {
      description: 'Whether subscribers are notified of the first date, and of the start and end of each.',
      assumed: true,
    }),
    translations: translations.both,
  }),
  { name: 'CreateMaintenanceSeries', about: 'The repeating maintenance to create.' },
)

/**
 * Creates a maintenance series and schedules its next dates. Its rule is evaluated in its time zone, by default the
 * organization's. Subscribers are notified of the first date, and of each start and end. Requires a key with scope
 * WRITE.
 * @throws Invalid, also for a rule without future dates.
 * @throws NotFound for an unknown service.
 * @throws Conflict if the organization has too many series.
 */
export async function createMaintenanceSeries(ctx: ChangeContext, input: unknown): Promise<MaintenanceSeries> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { serviceIds, ...fields } = validate(newSeries, input)
  requireDistinct(serviceIds ?? [], (index) => ['serviceIds', index])
  const rendered = await renderUpdate(ctx, organizationId, fields.message, fields.translations)
  const timeZone = fields.timeZone ?? (await zoneOf(ctx, organizationId))
  const schedule = await scheduleOf({ ...fields, skips: fields.skips ?? [], timeZone }, ctx.now())
  return change(ctx, organizationId, async (tx) => {
    await requireServices(tx, organizationId, serviceIds ?? [])
    const { title, message, notifySubscribers } = fields
    const data = { title, message, notifySubscribers, translations: bothAfter({}, fields.translations), ...schedule }
    return insertSeries(tx, organizationId, { data, serviceIds: serviceIds ?? [], rendered })
  })
}

/** A series to insert. */
export interface NewSeries {
  readonly data: StoredSchedule &
    Pick<MaintenanceSeries, 'title' | 'message' | 'notifySubscribers'> & { readonly translations: object }
  /** Services of the organization. */
  readonly serviceIds: readonly string[]
  readonly rendered: RenderedMessage
}

/**
 * Inserts a series with its next dates, within a change. Returns it with its events.
 * @throws Conflict if the organization has too many series.
 */
export async function insertSeries(
  tx: Context,
  organizationId: string,
  { data, serviceIds, rendered }: NewSeries,
): Promise<ChangeResult<MaintenanceSeries>> {
  if ((await tx.db.maintenanceSeries.count({ where: { organizationId } })) >= MAX_SERIES)
    throw new Conflict(
      `An organization can have at most ${MAX_SERIES} repeating maintenances. Delete a finished one first.`,
    )
  const series = await tx.db.maintenanceSeries.create({
    data: {
      ...data,
      id: newId('MaintenanceSeries'),
      organizationId,
      createdAt: tx.now(),
      services: { create: serviceIds.map((serviceId) => ({ serviceId })) },
    },
  })
  const events = await scheduleDates(tx, series, rendered, series.notifySubscribers)
  return [series, seriesEvent('MAINTENANCE_SERIES_CREATED', series), ...events]
}

/** The input of `updateMaintenanceSeries`. */
export const seriesEdit = named(
  z.object({
    id: idOf('The repeating maintenance to change.'),
    title: titleText.optional(),
    message: firstMessage.optional(),
    startsAt: timeOf('The first start under the changed rule.').nullish(),
    durationMinutes: durationMinutes.optional(),
    rule: ruleText.optional(),
    timeZone: timeZone.optional(),
    skips: described(skips, { description: `${SKIPS} Replaces the current list.` }),
    serviceIds: described(affectedServices, { description: 'All affected services. Replaces the current list.' }),
    notifySubscribers: described(z.boolean().nullish(), {
      description: 'Whether subscribers are notified of this change, and of starts and ends from now on.',
    }),
    translations: translations.both,
    version: versionInput,
  }),
  { name: 'UpdateMaintenanceSeries', about: 'The changes, from now on. Omitted fields stay as they are.' },
)

/**
 * Updates the given fields of a series from now on. Scheduled dates follow, or are deleted if the rule no longer has
 * them; past, running and separately edited dates stay. Requires a key with scope WRITE.
 * @throws Invalid, NotFound, and Conflict if the series is newer than the given version.
 */
export async function updateMaintenanceSeries(ctx: ChangeContext, input: unknown): Promise<MaintenanceSeries> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, version, serviceIds, ...fields } = validate(seriesEdit, input)
  requireDistinct(serviceIds ?? [], (index) => ['serviceIds', index])
  const read = await findMaintenanceSeries(ctx, organizationId, id)
  const texts = bothAfter(read.translations, fields.translations)
  const rendered = await renderUpdate(ctx, organizationId, fields.message ?? read.message, bothIn(texts))
  const schedule = await changedSchedule(read, fields, ctx.now())
  return change(ctx, organizationId, async (tx) => {
    const before = await findMaintenanceSeries(tx, organizationId, id)
    // The schedule was computed from the version that was read.
    requireVersion(before, version ?? read.version)
    const { title, message, notifySubscribers } = fields
    const data = { ...schedule, title, message, translations: texts, notifySubscribers: notifySubscribers ?? undefined }
    const known = await servicesOf(tx, id)
    const isOther = serviceIds ? !sameSet(known, serviceIds, (each) => each) : false
    if (!isOther && !hasChanges(before, data)) return [before]
    if (serviceIds && isOther) {
      await requireServices(tx, organizationId, serviceIds)
      await tx.db.maintenanceSeriesService.deleteMany({ where: { seriesId: id } })
      await tx.db.maintenanceSeriesService.createMany({
        data: serviceIds.map((each) => ({ seriesId: id, serviceId: each })),
      })
    }
    const series = await tx.db.maintenanceSeries.update({ where: { id }, data: { ...data, version: { increment: 1 } } })
    const events = await followSeries(tx, before, series, rendered)
    return [series, seriesEvent('MAINTENANCE_SERIES_UPDATED', series), ...events]
  })
}

/**
 * Ends a series now: deletes its scheduled dates, except those edited separately. Requires a key with scope WRITE.
 * @throws NotFound.
 */
export async function endMaintenanceSeries(ctx: ChangeContext, id: string): Promise<MaintenanceSeries> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const before = await findMaintenanceSeries(tx, organizationId, id)
    if (before.until !== null && before.until <= tx.now()) return [before]
    const data = { until: tx.now(), dueAt: null, version: { increment: 1 } }
    const series = await tx.db.maintenanceSeries.update({ where: { id }, data })
    const events = await removeScheduled(tx, id, [])
    return [series, seriesEvent('MAINTENANCE_SERIES_ENDED', series), ...events]
  })
}

/**
 * Deletes a series with its scheduled dates, and returns it. Past, running and separately edited dates stay. Requires a
 * key with scope WRITE.
 * @throws NotFound.
 */
export async function deleteMaintenanceSeries(ctx: ChangeContext, id: string): Promise<MaintenanceSeries> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const series = await findMaintenanceSeries(tx, organizationId, id)
    const events = await removeScheduled(tx, id, [])
    await tx.db.maintenanceSeries.delete({ where: { id } })
    return [series, ...events, seriesEvent('MAINTENANCE_SERIES_DELETED', series)]
  })
}

/** Reads a series of the organization. @throws NotFound. */
export function findMaintenanceSeries({ db }: Context, organizationId: string, id: string): Promise<MaintenanceSeries> {
  return findOwned('MaintenanceSeries', id, (known) =>
    db.maintenanceSeries.findUnique({ where: { id: known, organizationId } }),
  )
}

/** Returns up to `limit` starts that a series with this input would have. @throws Invalid as a creation would. */
export async function previewDates(ctx: Context, input: unknown, limit: number): Promise<readonly Date[]> {
  const planned = validate(plannedDates, input)
  const { dates } = await nextDates(await scheduleOf({ ...planned, skips: [] }, ctx.now()), ctx.now(), limit)
  return dates.map(({ startsAt }) => startsAt)
}

const plannedDates = z.object({ startsAt: z.date(), durationMinutes, rule: ruleText, timeZone: zoneName })

interface PlannedDates {
  readonly startsAt: Date
  readonly durationMinutes: number
  readonly rule: string
  readonly timeZone: string
}

/** A run takes milliseconds. After this time, another worker takes over from a dead one. */
const LEASE_MS = 15 * SECOND
const BATCH_SIZE = 20

/**
 * Schedules the dates of due series. A failure is logged and retried after the lease. Returns when the next series is
 * due, or null.
 */
export function runDueSeries(ctx: ChangeContext): Promise<Date | null> {
  return runDue(ctx, {
    table: 'MaintenanceSeries',
    dueColumn: 'dueAt',
    where: notDeleted,
    limit: BATCH_SIZE,
    leaseMs: LEASE_MS,
    each: ({ id }) => advanceSeries(ctx, id),
    subject: 'series',
    failureMessage: 'status: could not schedule the dates of a maintenance series',
  })
}

/**
 * Schedules the due dates of a series, and sets when further ones are due. Subscribers are not notified before a date
 * starts.
 */
export async function advanceSeries(ctx: ChangeContext, id: string): Promise<void> {
  const found = await ctx.db.maintenanceSeries.findUnique({ where: { id } })
  if (!found) return
  const rendered = await renderUpdate(ctx, found.organizationId, found.message, bothIn(found.translations))
  await change(ctx, found.organizationId, async (tx) => {
    const series = await tx.db.maintenanceSeries.findUnique({ where: { id } })
    // An edit in the meantime has already scheduled the dates.
    if (!series || series.version !== found.version) return [undefined]
    return [undefined, ...(await scheduleDates(tx, series, rendered, false))]
  })
}

/** Inserts the missing dates of a schedule. @param notifies whether subscribers are notified of the first date. */
async function scheduleDates(
  tx: Context,
  series: MaintenanceSeries,
  rendered: RenderedMessage,
  notifies: boolean,
): Promise<NewEvent[]> {
  const { wanted, dueAt, anchor } = await planOf(tx, series)
  const { id, organizationId, title, notifySubscribers, durationMinutes } = series
  const found = await tx.db.maintenance.findMany({
    where: { seriesId: id, nominalStartsAt: { in: wanted.map(({ startsAt }) => startsAt) } },
    select: { nominalStartsAt: true },
  })
  const existing = new Set(found.map(({ nominalStartsAt }) => Number(nominalStartsAt)))
  const serviceIds = await servicesOf(tx, id)
  const events: NewEvent[] = []
  let isFirst = notifies
  for (const { startsAt } of wanted.filter((date) => !existing.has(+date.startsAt))) {
    const plan = createPlan({ startsAt, endsAt: endOf(startsAt, durationMinutes) }, tx.now())
    const date = { seriesId: id, nominalStartsAt: startsAt }
    const [, scheduled, ...others] = await insertMaintenance(
      tx,
      { organizationId, title, titles: titlesOf(series), notifySubscribers, plan, date },
      serviceIds,
      rendered,
    )
    if (scheduled) events.push({ ...scheduled, notifySubscribers: isFirst }, ...others)
    isFirst = false
  }
  await tx.db.maintenanceSeries.update({ where: { id }, data: { dueAt, anchor } })
  return events
}

async function planOf(tx: Context, series: MaintenanceSeries) {
  const { dates, anchor } = await nextDates(series, tx.now(), DATES_TO_PLAN)
  return { ...planAhead(dates, series.durationMinutes, tx.now()), anchor: anchor ?? series.anchor }
}

/** Updates the scheduled dates after an edit of their series. */
async function followSeries(
  tx: Context,
  before: MaintenanceSeries,
  series: MaintenanceSeries,
  rendered: RenderedMessage,
): Promise<NewEvent[]> {
  const { wanted } = await planOf(tx, series)
  const events = await removeScheduled(tx, series.id, wanted)
  const serviceIds = await servicesOf(tx, series.id)
  for (const date of await scheduledOf(tx, series.id)) {
    const { title, notifySubscribers } = series
    const titles = titlesOf(series)
    const data = { title, titles, notifySubscribers, endsAt: endOf(date.startsAt, series.durationMinutes) }
    const isMoved = +data.endsAt !== +date.endsAt
    const known = await tx.db.maintenanceService.findMany({ where: { maintenanceId: date.id } })
    const isOther = !sameSet(
      known.map(({ serviceId }) => serviceId),
      serviceIds,
      (each) => each,
    )
    const hasOtherMessage = !isDeepStrictEqual(messagesOf(before), messagesOf(series))
    if (!isOther && !hasOtherMessage && !hasChanges(date, data)) continue
    const changed = await tx.db.maintenance.update({
      where: { id: date.id },
      data: { ...data, version: { increment: 1 } },
    })
    if (isOther) await setServices(tx, changed, serviceIds)
    if (hasOtherMessage) {
      const where = { maintenanceId: date.id, message: before.message }
      await tx.db.maintenanceUpdate.updateMany({ where, data: { ...rendered, version: { increment: 1 } } })
    }
    events.push({
      ...eventOf(isMoved ? 'MAINTENANCE_RESCHEDULED' : 'MAINTENANCE_UPDATED', changed),
      // One notification announces all dates.
      notifySubscribers: notifySubscribers && events.every((event) => event.notifySubscribers !== true),
      serviceIds: isOther ? formerServices(known) : [],
    })
  }
  const isAnnounced = events.some((event) => event.notifySubscribers === true)
  return [...events, ...(await scheduleDates(tx, series, rendered, series.notifySubscribers && !isAnnounced))]
}

/** Deletes the dates that follow their series, except those to keep. */
export async function removeScheduled(tx: Context, seriesId: string, keep: readonly SeriesDate[]): Promise<NewEvent[]> {
  const kept = new Set(keep.map(({ startsAt }) => +startsAt))
  const removed = (await scheduledOf(tx, seriesId)).filter((date) => !kept.has(Number(date.nominalStartsAt)))
  const ids = removed.map(({ id }) => id)
  const links = await tx.db.maintenanceService.findMany({ where: { maintenanceId: { in: ids } } })
  await tx.db.maintenance.deleteMany({ where: { id: { in: ids } } })
  return removed.map((date) => ({
    ...eventOf('MAINTENANCE_DELETED', date),
    notifySubscribers: false,
    serviceIds: formerServices(links.filter(({ maintenanceId }) => maintenanceId === date.id)),
  }))
}

/** Reads the dates that follow their series: scheduled, and not edited separately. */
function scheduledOf({ db }: Context, seriesId: string): Promise<Maintenance[]> {
  return db.maintenance.findMany({
    where: { seriesId, status: 'SCHEDULED', detached: false },
    orderBy: { startsAt: 'asc' },
  })
}

async function servicesOf({ db }: Context, seriesId: string): Promise<string[]> {
  const services = await db.maintenanceSeriesService.findMany({ where: { seriesId }, orderBy: { serviceId: 'asc' } })
  return services.map(({ serviceId }) => serviceId)
}

/** Reads the time zone of an organization. */
export async function zoneOf({ db }: Context, id: string): Promise<string> {
  return (await readOrganization({ db }, id)).timeZone
}

export interface StoredSchedule extends Schedule {
  readonly firstStart: string
  readonly skipped: string[]
}

/**
 * Returns the schedule of planned dates, which begins with the first that is not over. @throws Invalid if there is
 * none.
 */
export async function scheduleOf(
  { startsAt, durationMinutes, rule: text, timeZone, skips }: PlannedDates & { readonly skips: readonly Date[] },
  now: Date,
): Promise<StoredSchedule> {
  const { recurrence, until: untilText, count } = parseRule(text)
  if (startsAt.getTime() < now.getTime() - MAX_PAST)
    throw invalid([{ path: ['startsAt'], message: 'must not be more than a year ago' }])
  if (startsAt.getTime() > now.getTime() + 10 * MAX_PAST)
    throw invalid([{ path: ['startsAt'], message: 'must be within ten years' }])
  const rule = formatRule(recurrence)
  const from = localOf(timeZone, startsAt)
  const until = untilText === null ? await lastOf(rule, from, timeZone, count) : untilOf(untilText, timeZone)
  const skipped = [...new Set(skips.map((at) => localOf(timeZone, at)))].sort()
  const schedule = { timeZone, rule, anchor: from, durationMinutes, until, skipped }
  const { anchor, dates } = await nextDates(schedule, now, 1)
  if (anchor === null || dates.length === 0) throw invalid([{ path: ['rule'], message: 'has no future date' }])
  return { ...schedule, anchor, firstStart: anchor }
}

/** Returns the last start of a rule with a count, or null without a count. */
async function lastOf(rule: string, from: string, timeZone: string, count: number | null): Promise<Date | null> {
  if (count === null) return null
  const starts: string[] = []
  await eachLocalStart(rule, from, (local) => starts.push(local) < count)
  const last = starts.at(-1)
  if (last === undefined || starts.length < count)
    throw invalid([{ path: ['rule'], message: 'has fewer dates than COUNT, or too far apart' }])
  return instantOf(timeZone, last)
}

/** Returns the schedule after an edit; empty if the edit does not change it. */
async function changedSchedule(
  series: MaintenanceSeries,
  fields: Pick<z.infer<typeof seriesEdit>, 'startsAt' | 'durationMinutes' | 'rule' | 'timeZone' | 'skips'>,
  now: Date,
): Promise<Partial<StoredSchedule>> {
  const { timeZone = series.timeZone, durationMinutes = series.durationMinutes, startsAt, rule, skips } = fields
  const isSame =
    timeZone === series.timeZone &&
    (rule === undefined || rule === ruleWithEnd(series)) &&
    (!startsAt || localOf(timeZone, startsAt) === series.firstStart)
  const skipped = skips ? [...new Set(skips.map((at) => localOf(timeZone, at)))].sort() : undefined
  if (isSame) return { ...(skipped && { skipped }), durationMinutes }
  // Without a new start, the time of day stays, even in another time zone.
  const start = startsAt ?? instantOf(timeZone, series.anchor)
  const known = skips ?? series.skipped.map((local) => instantOf(series.timeZone, local))
  const planned = { startsAt: start, durationMinutes, timeZone, skips: known, rule: rule ?? ruleWithEnd(series) }
  return scheduleOf(planned, now)
}

/** Returns the rule of a series including its end. */
export function ruleWithEnd({ rule, until }: Pick<MaintenanceSeries, 'rule' | 'until'>): string {
  return until === null ? rule : `${rule};UNTIL=${until.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
}

/** Returns the title of a series in a language, or the original title. */
export function seriesTitleIn(series: MaintenanceSeries, language: Language): string {
  return titleIn({ title: series.title, titles: titlesOf(series) }, language).title
}

const titlesOf = ({ translations }: MaintenanceSeries): Record<string, string> =>
  withChanges({}, titleChanges(bothIn(translations)))

/** Returns the message of a series in all its languages. */
const messagesOf = ({ message, translations }: MaintenanceSeries) => [
  message,
  bothIn(translations).map((each) => [each.language, each.message]),
]

const endOf = (startsAt: Date, minutes: number) => new Date(startsAt.getTime() + minutes * MINUTE)

const seriesEvent = (kind: NewEvent['kind'], { id, title }: MaintenanceSeries) => ({
  kind,
  subjectId: id,
  subjectName: title,
})
