import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { described, idOf, idText, named, timeOf } from '../../core/described.ts'
import { newId } from '../../core/id.ts'
import type { StoredHtml, StoredMessages } from '../../core/markdown/markdown-rendering.ts'
import { HTML_VERSION, renderMessage } from '../../core/markdown/markdown-rendering.ts'
import { hasChanges, requireVersion, sameSet, versionInput } from '../../core/optimistic-lock.ts'
import { DAY, utcDay } from '../../core/time.ts'
import { invalid, validate } from '../../core/validation.ts'
import type { ChangeContext, ChangeResult } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { Maintenance, MaintenanceUpdate } from '../../generated/prisma/client.ts'
import { MaintenanceStatus } from '../../generated/prisma/enums.ts'
import { followers } from '../followers.ts'
import { findOwned, MAX_SERVICES, requireDistinct, requireServices } from '../ownership.ts'
import { formerServices } from '../page-scope.ts'
import { stateByMaintenances } from '../service/statement.ts'
import { requireRoom } from '../stored-limits.ts'
import {
  message,
  notifySubscribers,
  optionalMessage,
  requireOtherUpdates,
  requireRoomForUpdate,
  titleText,
} from '../timeline/timeline-limits.ts'
import type { Translations } from '../timeline/translations.ts'
import { changedMessages, messageChanges, titleChanges, translations, withChanges } from '../timeline/translations.ts'
import { prepareUpdateEdit } from '../timeline/update-edit.ts'
import type { Plan } from './maintenance-schedule.ts'
import {
  createPlan,
  dueAt,
  dueTransition,
  isOver,
  recordRun,
  requireNotOver,
  reschedule,
  transition,
} from './maintenance-schedule.ts'
import { addSkipped } from './recurrence.ts'

/** The services that a maintenance affects. */
export const affectedServices = described(
  z.array(idText).max(MAX_SERVICES, `must have at most ${MAX_SERVICES} items`).nullish(),
  { description: 'The services it affects.' },
)

/** The input of `scheduleMaintenance`. */
export const newMaintenance = named(
  z.object({
    title: titleText,
    message: described(message, { description: 'The first update, in markdown.' }),
    startsAt: timeOf('The planned start. In the past: starts immediately.'),
    endsAt: timeOf('The planned end.'),
    serviceIds: affectedServices,
    notifySubscribers: described(notifySubscribers, {
      description:
        'Whether subscribers are notified of it, and of its start and end. The page and live events show it in any case.',
      assumed: true,
    }),
    translations: translations.both,
  }),
  { name: 'ScheduleMaintenance', about: 'The maintenance to schedule.' },
)

/**
 * Schedules a maintenance, with the message as its first update. It starts at once if its start has passed. Without
 * `notifySubscribers`, no one is notified of it, nor of its start and end. Requires a key with scope WRITE.
 * @throws Invalid, also if it would end before its start or in the past.
 * @throws NotFound for an unknown service.
 * @throws Conflict when the organization may have no more maintenances.
 */
export async function scheduleMaintenance(ctx: ChangeContext, input: unknown): Promise<Maintenance> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { title, message, serviceIds, notifySubscribers, translations, ...times } = validate(newMaintenance, input)
  requireDistinct(serviceIds ?? [], (index) => ['serviceIds', index])
  const rendered = await renderUpdate(ctx, organizationId, message, translations)
  const titles = withChanges<string>({}, titleChanges(translations))
  return change(ctx, organizationId, async (tx) => {
    const plan = createPlan(times, tx.now())
    await requireRoom(tx, organizationId, 'Maintenance', 'PlannedMaintenance')
    await requireServices(tx, organizationId, serviceIds ?? [])
    return insertMaintenance(tx, { organizationId, title, titles, notifySubscribers, plan }, serviceIds ?? [], rendered)
  })
}

interface NewMaintenance extends Pick<Maintenance, 'organizationId' | 'title' | 'notifySubscribers'> {
  readonly titles: Record<string, string>
  readonly plan: Plan
  /** The series and the date in it; absent for a single maintenance. */
  readonly date?: { readonly seriesId: string; readonly nominalStartsAt: Date }
}

/**
 * Inserts a maintenance with its existing services and its first update, within a change. Returns it with its events.
 */
export async function insertMaintenance(
  tx: Context,
  { plan, date, ...fields }: NewMaintenance,
  serviceIds: string[],
  rendered: RenderedMessage,
): Promise<ChangeResult<Maintenance>> {
  const maintenance = await tx.db.maintenance.create({
    data: {
      id: newId('Maintenance'),
      ...fields,
      ...date,
      ...plan,
      ...recordRun(neverRun, plan.status, tx.now()),
      dueAt: dueAt(plan),
      createdAt: tx.now(),
    },
  })
  await insertServices(tx, maintenance, serviceIds)
  const updateId = await addUpdate(tx, maintenance, rendered)
  const started = plan.status === 'IN_PROGRESS' ? [eventOf('MAINTENANCE_STARTED', maintenance)] : []
  return [maintenance, { ...eventOf('MAINTENANCE_SCHEDULED', maintenance), updateId }, ...started]
}

const editedStatus = named(z.enum(['IN_PROGRESS', 'VERIFYING', 'COMPLETED']), {
  name: 'MaintenanceStatus',
  of: MaintenanceStatus,
})

/** The input of `updateMaintenance`. */
export const maintenanceEdit = named(
  z.object({
    id: idOf('The maintenance to change.'),
    title: titleText.optional(),
    startsAt: timeOf('The planned start.').optional(),
    endsAt: timeOf('The planned end.').optional(),
    serviceIds: described(affectedServices, {
      description: 'All affected services. Replaces the current list. Fixed once the maintenance is over.',
    }),
    message: described(optionalMessage.nullish(), {
      description: 'An update to post, in markdown. A timeline holds 500 updates, plus a final one.',
    }),
    status: described(editedStatus.nullish(), {
      description: 'The new status: starts or ends the maintenance early, or marks it as being verified.',
    }),
    notifySubscribers: described(z.boolean().nullish(), {
      description: 'Whether subscribers are notified of this change, and of the start and end from now on.',
    }),
    translations: translations.both,
    version: versionInput,
  }),
  { name: 'UpdateMaintenance', about: 'The changes. Omitted fields stay as they are.' },
)

/**
 * Updates the given fields of a maintenance. A message, or a change of status, adds an update to its timeline; a
 * message in another language belongs to that update. The status starts the maintenance early, marks it as being
 * verified, or ends it early. `notifySubscribers` sets whether subscribers are notified of the edit, and of later starts
 * and ends. Requires a key with scope WRITE.
 * @throws Invalid, NotFound, and Conflict if it is newer than the given version, its status does not allow the edit, or
 * its timeline is full.
 */
export async function updateMaintenance(ctx: ChangeContext, input: unknown): Promise<Maintenance> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, version, title, serviceIds, message, status, notifySubscribers, translations, ...times } = validate(
    maintenanceEdit,
    input,
  )
  requireDistinct(serviceIds ?? [], (index) => ['serviceIds', index])
  requireOriginal(message, translations)
  const rendered = await renderUpdate(ctx, organizationId, message ?? '', translations)
  return change(ctx, organizationId, async (tx) => {
    const before = await findMaintenance(tx, organizationId, id)
    requireVersion(before, version)
    if (serviceIds) requireNotOver(before, 'services')
    const advanced = status ? transition(before, status, tx.now()) : before
    const plan = reschedule(advanced, times, tx.now())
    const isOther = serviceIds ? !(await hasExactlyServices(tx, id, serviceIds)) : false
    const titles = withChanges<string>(before.titles, titleChanges(translations))
    const settings = { title, titles, notifySubscribers: notifySubscribers ?? undefined }
    if (!message && !isOther && !hasChanges(before, { ...plan, ...settings })) return [before]
    const maintenance = await savePlan(tx, before, plan, tx.now(), { ...settings, ...detachedIf(before) })
    const former = await tx.db.maintenanceService.findMany({ where: { maintenanceId: id } })
    if (serviceIds) await setServices(tx, maintenance, serviceIds)
    const hasUpdate = Boolean(message) || maintenance.status !== before.status
    const updateId = hasUpdate ? await addUpdateIfRoom(tx, before, maintenance, rendered) : await newestUpdateId(tx, id)
    const kind = eventKindOfEdit(before, maintenance, hasUpdate)
    return [maintenance, { ...eventOf(kind, maintenance), updateId, serviceIds: formerServices(former) }]
  })
}

/** @throws Invalid for a message that exists only in other languages. */
function requireOriginal(message: string | null | undefined, translations: Translations): void {
  if (message || !translations?.some((each) => each.message)) return
  throw invalid([{ path: ['message'], message: 'must be given if it is given in other languages' }])
}

/** The input of `cancelMaintenance`. */
export const cancellation = named(
  z.object({
    id: idOf('The maintenance to cancel.'),
    message: described(optionalMessage.nullish(), { description: 'The reason, in markdown.' }),
    notifySubscribers: described(z.boolean().nullish(), {
      description: 'Whether subscribers are notified. Default: as for its start and end.',
    }),
    translations: translations.messages,
  }),
  { name: 'CancelMaintenance', about: 'The maintenance to cancel.' },
)

/**
 * Cancels a maintenance before or during its run. Subscribers are notified as for its start and end, unless
 * `notifySubscribers` overrides that. Requires a key with scope WRITE.
 * @throws NotFound.
 * @throws Conflict if it is over.
 */
export async function cancelMaintenance(ctx: ChangeContext, input: unknown): Promise<Maintenance> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, message, notifySubscribers, translations } = validate(cancellation, input)
  requireOriginal(message, translations)
  const rendered = await renderUpdate(ctx, organizationId, message ?? '', translations)
  return change(ctx, organizationId, async (tx) => {
    const before = await findMaintenance(tx, organizationId, id)
    const maintenance = await savePlan(tx, before, transition(before, 'CANCELLED', tx.now()), tx.now(), {
      notifySubscribers: notifySubscribers ?? undefined,
      ...detachedIf(before),
    })
    const updateId = await addUpdate(tx, maintenance, rendered)
    return [maintenance, { ...eventOf('MAINTENANCE_CANCELLED', maintenance), updateId }]
  })
}

/**
 * Deletes a maintenance with its timeline and returns it. The time of its run counts towards uptime again. Requires a
 * key with scope WRITE.
 * @throws NotFound.
 */
export async function deleteMaintenance(ctx: ChangeContext, id: string): Promise<Maintenance> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const maintenance = await findMaintenance(tx, organizationId, id)
    await skipDeletedDate(tx, maintenance)
    const serviceIds = formerServices(await tx.db.maintenanceService.findMany({ where: { maintenanceId: id } }))
    await tx.db.maintenance.delete({ where: { id } })
    await invalidateUptimeDays(tx, maintenance)
    return [maintenance, { ...eventOf('MAINTENANCE_DELETED', maintenance), serviceIds }]
  })
}

/**
 * Edits the message or the time of an update. Requires a key with scope WRITE.
 * @throws Invalid, NotFound, and Conflict if the update is newer than the given version.
 */
export async function editMaintenanceUpdate(ctx: ChangeContext, input: unknown): Promise<MaintenanceUpdate> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, dataOf } = await prepareUpdateEdit(ctx, organizationId, input)
  return change(ctx, organizationId, async (tx) => {
    const { maintenance, ...before } = await findMaintenanceUpdate(tx, organizationId, id)
    const timeline = { where: { maintenanceId: maintenance.id }, select: { id: true, createdAt: true } }
    const data = await dataOf(tx, before, () => tx.db.maintenanceUpdate.findMany(timeline))
    if (data === null) return [before]
    const update = await tx.db.maintenanceUpdate.update({ where: { id }, data })
    return [update, { ...eventOf('MAINTENANCE_UPDATE_EDITED', maintenance), updateId: id }]
  })
}

/**
 * Deletes an update and returns it. Requires a key with scope WRITE.
 * @throws NotFound.
 * @throws Conflict if it is the only update.
 */
export async function deleteMaintenanceUpdate(ctx: ChangeContext, id: string): Promise<MaintenanceUpdate> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const { maintenance, ...update } = await findMaintenanceUpdate(tx, organizationId, id)
    requireOtherUpdates(
      await tx.db.maintenanceUpdate.count({ where: { maintenanceId: maintenance.id } }),
      'maintenance',
    )
    await tx.db.maintenanceUpdate.delete({ where: { id } })
    return [update, { ...eventOf('MAINTENANCE_UPDATE_DELETED', maintenance), updateId: id }]
  })
}

/** Reads an update of a maintenance of the organization, together with the maintenance. @throws NotFound. */
export function findMaintenanceUpdate({ db }: Context, organizationId: string, id: string) {
  return findOwned('MaintenanceUpdate', id, (known) =>
    db.maintenanceUpdate.findUnique({ where: { id: known, organizationId }, include: { maintenance: true } }),
  )
}

/**
 * Applies all due transitions of a maintenance: its start, its end, or both. If none is due, only restores the due
 * time, which the worker's lease had moved.
 */
export async function advanceMaintenance(ctx: ChangeContext, id: string): Promise<void> {
  const found = await ctx.db.maintenance.findUnique({ where: { id }, select: { organizationId: true } })
  if (!found) return
  await change(ctx, found.organizationId, async (tx) => {
    let maintenance = await tx.db.maintenance.findUnique({ where: { id } })
    const events: NewEvent[] = []
    while (maintenance) {
      const due = dueTransition(maintenance, tx.now())
      if (due === null) break
      const kind = due === 'COMPLETED' ? 'MAINTENANCE_COMPLETED' : 'MAINTENANCE_STARTED'
      // A late transition takes effect at its due time.
      maintenance = await savePlan(
        tx,
        maintenance,
        transition(maintenance, due, tx.now()),
        dueAt(maintenance) ?? tx.now(),
      )
      const updateId = await addUpdate(tx, maintenance, emptyMessage)
      events.push({ ...eventOf(kind, maintenance), updateId })
    }
    if (maintenance) await tx.db.maintenance.update({ where: { id }, data: { dueAt: dueAt(maintenance) } })
    return [undefined, ...events]
  })
}

/** Reads a maintenance of the organization. @throws NotFound. */
export function findMaintenance({ db }: Context, organizationId: string, id: string): Promise<Maintenance> {
  return findOwned('Maintenance', id, (known) => db.maintenance.findUnique({ where: { id: known, organizationId } }))
}

/** Saves a plan whose status the maintenance entered at `at`. When it starts, it states its services. */
async function savePlan(
  tx: Context,
  before: Maintenance,
  { status, startsAt, endsAt }: Plan,
  at: Date,
  settings: {
    readonly title?: string | undefined
    readonly titles?: Record<string, string>
    readonly notifySubscribers?: boolean | undefined
    readonly detached?: boolean
  } = {},
): Promise<Maintenance> {
  const plan = { status, startsAt, endsAt }
  const maintenance = await tx.db.maintenance.update({
    where: { id: before.id },
    data: { ...settings, ...plan, ...recordRun(before, status, at), dueAt: dueAt(plan), version: { increment: 1 } },
  })
  if (before.startedAt === null && maintenance.startedAt !== null) await stateByMaintenances(tx, [maintenance.id])
  return maintenance
}

/** Detaches a date that a person edits from its series, so that later changes of the series do not affect it. */
const detachedIf = ({ seriesId }: Maintenance) => (seriesId === null ? {} : { detached: true })

/** Keeps a deleted date of a series from being scheduled again. */
async function skipDeletedDate({ db, now }: Context, { seriesId, nominalStartsAt }: Maintenance): Promise<void> {
  const series = seriesId === null ? null : await db.maintenanceSeries.findUnique({ where: { id: seriesId } })
  if (series === null || nominalStartsAt === null) return
  const skipped = addSkipped(series, nominalStartsAt)
  await db.maintenanceSeries.update({
    where: { id: series.id },
    data: { skipped, dueAt: now(), version: { increment: 1 } },
  })
}

/** Returns whether a maintenance affects exactly these services. */
async function hasExactlyServices(
  { db }: Context,
  maintenanceId: string,
  serviceIds: readonly string[],
): Promise<boolean> {
  const affected = await db.maintenanceService.findMany({ where: { maintenanceId }, select: { serviceId: true } })
  const ids = affected.map(({ serviceId }) => serviceId)
  return sameSet(ids, serviceIds, (id) => id)
}

const neverRun = { startedAt: null, endedAt: null }

/** Replaces the services of a maintenance. @throws NotFound for an id outside the organization. */
export async function setServices(ctx: Context, maintenance: Maintenance, serviceIds: string[]): Promise<void> {
  const { id, organizationId } = maintenance
  await requireServices(ctx, organizationId, serviceIds)
  const where = { maintenanceId: id, serviceId: { notIn: serviceIds } }
  await ctx.db.maintenanceService.deleteMany({ where })
  await insertServices(ctx, maintenance, serviceIds)
}

/** Adds services to a maintenance. */
async function insertServices(ctx: Context, maintenance: Maintenance, serviceIds: string[]): Promise<void> {
  const data = serviceIds.map((serviceId) => ({ maintenanceId: maintenance.id, serviceId }))
  if (data.length > 0) await ctx.db.maintenanceService.createMany({ data, skipDuplicates: true })
  if (maintenance.startedAt !== null) await stateByMaintenances(ctx, [maintenance.id])
  await invalidateUptimeDays(ctx, maintenance)
}

/**
 * Deletes the uptime days that a maintenance affects, so that they are computed again. Begins with the UTC day before
 * the maintenance: in every time zone, the affected day starts no earlier.
 */
export async function invalidateUptimeDays(
  { db }: Context,
  { organizationId, startedAt }: Pick<Maintenance, 'organizationId' | 'startedAt'>,
): Promise<void> {
  if (startedAt === null) return
  const day = new Date(utcDay(startedAt).getTime() - DAY)
  await followers.get().forgetUptimeSince(db, organizationId, day)
}

/** A message with its HTML, in all its languages. */
export interface RenderedMessage extends StoredHtml {
  readonly message: string
  readonly translations: StoredMessages
}

/** The message of an update that only changes the status. */
const emptyMessage: RenderedMessage = { message: '', html: '', htmlVersion: HTML_VERSION, translations: {} }

/**
 * Renders the message of an update; an empty message stays empty. @throws Invalid if it is too long in another
 * language.
 */
export async function renderUpdate(
  ctx: Context,
  organizationId: string,
  message: string,
  translations: Translations,
): Promise<RenderedMessage> {
  if (message === '') return emptyMessage
  const rendered = await renderMessage(ctx, organizationId, message)
  return {
    message,
    ...rendered,
    ...changedMessages({}, await messageChanges(ctx, organizationId, translations)),
  }
}

/** Appends an update and returns its id. Its time is now, or just after the newest update if that is not older. */
async function addUpdate({ db, now }: Context, maintenance: Maintenance, rendered: RenderedMessage): Promise<string> {
  const { id: maintenanceId, organizationId, status } = maintenance
  const { message, html, htmlVersion, translations } = rendered
  const id = newId('MaintenanceUpdate')
  await db.$executeRaw`
    INSERT INTO "MaintenanceUpdate"
      (id, "organizationId", "maintenanceId", status, message, html, "htmlVersion", translations, "createdAt")
    SELECT ${id}, ${organizationId}, ${maintenanceId}, ${status}::"MaintenanceStatus", ${message}, ${html},
      ${htmlVersion}::int, ${JSON.stringify(translations)}::jsonb, greatest(${now()}::timestamptz, max("createdAt") + interval '1 ms')
    FROM "MaintenanceUpdate" WHERE "maintenanceId" = ${maintenanceId}`
  return id
}

/** Returns the id of the newest update. @throws if the maintenance was deleted in the meantime. */
async function newestUpdateId({ db }: Context, maintenanceId: string): Promise<string> {
  const newest = await db.maintenanceUpdate.findFirstOrThrow({
    where: { maintenanceId },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    select: { id: true },
  })
  return newest.id
}

/** @throws Conflict if the timeline is full. The update that ends the maintenance always has room. */
async function addUpdateIfRoom(
  tx: Context,
  before: Maintenance,
  after: Maintenance,
  rendered: RenderedMessage,
): Promise<string> {
  const ends = isOver(after.status) && !isOver(before.status)
  if (!ends) requireRoomForUpdate(await tx.db.maintenanceUpdate.count({ where: { maintenanceId: after.id } }))
  return addUpdate(tx, after, rendered)
}

/**
 * Returns the kind of event for an edit. New times are announced even without an update; other edits are corrections.
 */
function eventKindOfEdit(before: Plan, after: Plan, hasUpdate: boolean): NewEvent['kind'] {
  if (before.status === 'SCHEDULED' && after.status === 'IN_PROGRESS') return 'MAINTENANCE_STARTED'
  if (before.status !== after.status && after.status === 'COMPLETED') return 'MAINTENANCE_COMPLETED'
  if (hasUpdate) return 'MAINTENANCE_UPDATE_POSTED'
  const isMoved = +before.startsAt !== +after.startsAt || +before.endsAt !== +after.endsAt
  return isMoved ? 'MAINTENANCE_RESCHEDULED' : 'MAINTENANCE_UPDATED'
}

/** Creates an event about a maintenance. */
export const eventOf = (kind: NewEvent['kind'], { id, title, notifySubscribers }: Maintenance) => ({
  kind,
  subjectId: id,
  subjectName: title,
  notifySubscribers,
})
