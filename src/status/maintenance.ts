import { z } from 'zod'
import { requireScope } from '../account/access.ts'
import type { Context } from '../context.ts'
import { change } from '../eventlog/change.ts'
import type { NewEvent } from '../eventlog/event.ts'
import type { Maintenance, MaintenanceUpdate } from '../generated/prisma/client.ts'
import { newId } from '../id.ts'
import type { StoredHtml } from '../rendering.ts'
import { HTML_VERSION, renderMessage } from '../rendering.ts'
import { DAY, utcDay } from '../time.ts'
import { lineText, validate } from '../validate.ts'
import { alters, readVersion, requireVersion, sameSet } from '../version.ts'
import { MOST_SERVICES, own, requireDistinct, requireServices } from './guard.ts'
import { freeTime, requirePast } from './incident-past.ts'
import type { Plan } from './maintenance-plan.ts'
import { dueAt, isOver, planned, requireUnsettled, retime, runAfter, step, stepDue } from './maintenance-plan.ts'
import { entryText, entryTime, message, requireAnother, requireRoom } from './timeline.ts'

const titleText = lineText(200)
const serviceIds = z.array(z.string()).max(MOST_SERVICES, `must be at most ${MOST_SERVICES}`)

const newMaintenance = z.object({
  title: titleText,
  message,
  startsAt: z.date(),
  endsAt: z.date(),
  serviceIds: serviceIds.nullish(),
})

/**
 * Plans a maintenance; the message becomes the first entry of its timeline. One whose start has come starts at once.
 * Needs a key with scope WRITE.
 * @throws Invalid, also when it does not end after its start, or has ended already. @throws NotFound for a service the
 * organization does not have.
 */
export async function scheduleMaintenance(ctx: Context, input: unknown): Promise<Maintenance> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { title, message, serviceIds, ...times } = validate(newMaintenance, input)
  requireDistinct(serviceIds ?? [], (index) => ['serviceIds', index])
  const said = await rendered(ctx, organizationId, message)
  return change(ctx, organizationId, async (tx) => {
    const plan = planned(times, tx.now())
    const maintenance = await tx.db.maintenance.create({
      data: {
        id: newId('Maintenance'),
        organizationId,
        title,
        ...plan,
        ...runAfter(notRun, plan.status, tx.now()),
        dueAt: dueAt(plan),
        createdAt: tx.now(),
      },
    })
    await setServices(tx, maintenance, serviceIds ?? [])
    const entryId = await addEntry(tx, maintenance, said)
    const started = plan.status === 'IN_PROGRESS' ? [eventOf('MAINTENANCE_STARTED', maintenance)] : []
    return [maintenance, { ...eventOf('MAINTENANCE_SCHEDULED', maintenance), entryId }, ...started]
  })
}

const maintenanceEdit = z.object({
  id: z.string(),
  title: titleText.optional(),
  startsAt: z.date().optional(),
  endsAt: z.date().optional(),
  serviceIds: serviceIds.nullish(),
  message: entryText.nullish(),
  status: z.enum(['IN_PROGRESS', 'VERIFYING', 'COMPLETED']).nullish(),
  version: readVersion,
})

/**
 * Changes what is given of a maintenance. A message becomes an entry of its timeline; a change of status makes one also
 * without a message. By its status a maintenance is started early, verified, or ended early. Needs a key with scope WRITE.
 * @throws Invalid, NotFound, and Conflict when it was changed after the given version, its status does not allow it, or its
 * timeline is full.
 */
export async function updateMaintenance(ctx: Context, input: unknown): Promise<Maintenance> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, version, title, serviceIds, message, status, ...times } = validate(maintenanceEdit, input)
  requireDistinct(serviceIds ?? [], (index) => ['serviceIds', index])
  const said = await rendered(ctx, organizationId, message ?? '')
  return change(ctx, organizationId, async (tx) => {
    const before = await ownMaintenance(tx, organizationId, id)
    requireVersion(before, version)
    if (serviceIds) requireUnsettled(before, 'services')
    const stepped = status ? step(before, status, tx.now()) : before
    const plan = retime(stepped, times, tx.now())
    const isOther = serviceIds ? !(await touchesJust(tx, id, serviceIds)) : false
    if (!message && !isOther && !alters(before, { ...plan, title })) return [before]
    const maintenance = await save(tx, before, plan, tx.now(), title)
    if (serviceIds) await setServices(tx, maintenance, serviceIds)
    const hasEntry = Boolean(message) || maintenance.status !== before.status
    const entryId = hasEntry ? await addEditEntry(tx, before, maintenance, said) : await newestEntry(tx, id)
    return [maintenance, { ...eventOf(kindOfEdit(before, maintenance, hasEntry), maintenance), entryId }]
  })
}

const cancellation = z.object({ id: z.string(), message: entryText.nullish() })

/**
 * Calls a maintenance off, before it starts or while it runs. Needs a key with scope WRITE.
 * @throws NotFound when the organization has none such. @throws Conflict when it is over already.
 */
export async function cancelMaintenance(ctx: Context, input: unknown): Promise<Maintenance> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, message } = validate(cancellation, input)
  const said = await rendered(ctx, organizationId, message ?? '')
  return change(ctx, organizationId, async (tx) => {
    const before = await ownMaintenance(tx, organizationId, id)
    const maintenance = await save(tx, before, step(before, 'CANCELLED', tx.now()), tx.now())
    const entryId = await addEntry(tx, maintenance, said)
    return [maintenance, { ...eventOf('MAINTENANCE_CANCELLED', maintenance), entryId }]
  })
}

/**
 * Deletes a maintenance with its timeline, as if it had never been: time in which it ran counts for uptime again. Gives what
 * it was. Needs a key with scope WRITE.
 * @throws NotFound when the organization has none such.
 */
export async function deleteMaintenance(ctx: Context, id: string): Promise<Maintenance> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const maintenance = await ownMaintenance(tx, organizationId, id)
    await tx.db.maintenance.delete({ where: { id } })
    await forgetDays(tx, maintenance)
    return [maintenance, eventOf('MAINTENANCE_DELETED', maintenance)]
  })
}

const entryEdit = z.object({
  id: z.string(),
  message: message.nullish(),
  createdAt: z.date().nullish(),
  version: readVersion,
})

/**
 * Corrects what an entry of a timeline says, or when it was written; the order of the timeline follows. Needs a key with
 * scope WRITE.
 * @throws Invalid, NotFound, and Conflict when the entry was edited after the given version.
 */
export async function editMaintenanceUpdate(ctx: Context, input: unknown): Promise<MaintenanceUpdate> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, message, createdAt, version } = validate(entryEdit, input)
  const said = message ? await rendered(ctx, organizationId, message) : {}
  return change(ctx, organizationId, async (tx) => {
    const { maintenance, ...before } = await ownEntry(tx, organizationId, id)
    requireVersion(before, version)
    requirePast('createdAt', createdAt, tx.now())
    if (!alters(before, { message: message ?? undefined, createdAt: createdAt ?? undefined })) return [before]
    const where = { maintenanceId: maintenance.id, id: { not: id } }
    const others = createdAt ? await tx.db.maintenanceUpdate.findMany({ where, select: { createdAt: true } }) : []
    const moved = createdAt
      ? {
          createdAt: freeTime(
            createdAt,
            others.map((each) => each.createdAt),
          ),
        }
      : {}
    const data = { ...said, ...moved, editedAt: tx.now(), version: { increment: 1 } }
    const update = await tx.db.maintenanceUpdate.update({ where: { id }, data })
    return [update, { ...eventOf('MAINTENANCE_UPDATE_EDITED', maintenance), entryId: id }]
  })
}

/**
 * Deletes an entry of a timeline. Gives what it was. Needs a key with scope WRITE.
 * @throws NotFound. @throws Conflict when it is the only one.
 */
export async function deleteMaintenanceUpdate(ctx: Context, id: string): Promise<MaintenanceUpdate> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const { maintenance, ...update } = await ownEntry(tx, organizationId, id)
    requireAnother(await tx.db.maintenanceUpdate.count({ where: { maintenanceId: maintenance.id } }), 'maintenance')
    await tx.db.maintenanceUpdate.delete({ where: { id } })
    return [update, { ...eventOf('MAINTENANCE_UPDATE_DELETED', maintenance), entryId: id }]
  })
}

function ownEntry({ db }: Context, organizationId: string, id: string) {
  return own('MaintenanceUpdate', id, (known) =>
    db.maintenanceUpdate.findUnique({ where: { id: known, organizationId }, include: { maintenance: true } }),
  )
}

/**
 * Takes a maintenance through the steps that are due by now: it starts, ends, or both. When none is due, only the time
 * of the next one is set, which a worker's lease had put off.
 */
export async function advanceMaintenance(ctx: Context, id: string): Promise<void> {
  const found = await ctx.db.maintenance.findUnique({ where: { id }, select: { organizationId: true } })
  if (!found) return
  await change(ctx, found.organizationId, async (tx) => {
    let maintenance = await tx.db.maintenance.findUnique({ where: { id } })
    const events: NewEvent[] = []
    while (maintenance) {
      const due = stepDue(maintenance, tx.now())
      if (due === null) break
      const kind = due === 'COMPLETED' ? 'MAINTENANCE_COMPLETED' : 'MAINTENANCE_STARTED'
      // A step that comes late by our fault counts from when it was due.
      maintenance = await save(tx, maintenance, step(maintenance, due, tx.now()), dueAt(maintenance) ?? tx.now())
      const entryId = await addEntry(tx, maintenance, nothing)
      events.push({ ...eventOf(kind, maintenance), entryId })
    }
    if (maintenance) await tx.db.maintenance.update({ where: { id }, data: { dueAt: dueAt(maintenance) } })
    return [undefined, ...events]
  })
}

function ownMaintenance({ db }: Context, organizationId: string, id: string): Promise<Maintenance> {
  return own('Maintenance', id, (known) => db.maintenance.findUnique({ where: { id: known, organizationId } }))
}

/** Saves a new plan, whose status the maintenance has come to at a moment. */
function save(
  { db }: Context,
  before: Maintenance,
  { status, startsAt, endsAt }: Plan,
  at: Date,
  title?: string,
): Promise<Maintenance> {
  const plan = { status, startsAt, endsAt }
  return db.maintenance.update({
    where: { id: before.id },
    data: { title, ...plan, ...runAfter(before, status, at), dueAt: dueAt(plan), version: { increment: 1 } },
  })
}

/** Whether a maintenance touches these services and no others. */
async function touchesJust({ db }: Context, maintenanceId: string, serviceIds: readonly string[]): Promise<boolean> {
  const touched = await db.maintenanceService.findMany({ where: { maintenanceId }, select: { serviceId: true } })
  const ids = touched.map(({ serviceId }) => serviceId)
  return sameSet(ids, serviceIds, (id) => id)
}

const notRun = { startedAt: null, endedAt: null }

/** @throws NotFound when one of the ids is no service of the organization. */
async function setServices(ctx: Context, maintenance: Maintenance, serviceIds: string[]): Promise<void> {
  const { id, organizationId } = maintenance
  await requireServices(ctx, organizationId, serviceIds)
  await ctx.db.maintenanceService.deleteMany({ where: { maintenanceId: id } })
  await ctx.db.maintenanceService.createMany({
    data: serviceIds.map((serviceId) => ({ maintenanceId: id, serviceId })),
  })
  await forgetDays(ctx, maintenance)
}

/** Has the days that a maintenance bears on computed anew; in no time zone did it start on a day before that of UTC's yesterday. */
async function forgetDays({ db }: Context, { organizationId, startedAt }: Maintenance): Promise<void> {
  if (startedAt === null) return
  const day = new Date(utcDay(startedAt).getTime() - DAY)
  await db.uptimeDay.deleteMany({ where: { organizationId, day: { gte: day } } })
}

/** What an entry says, as it is stored. */
interface Said extends StoredHtml {
  readonly message: string
}

/** What an entry says that only tells of a change of status. */
const nothing: Said = { message: '', html: '', htmlVersion: HTML_VERSION }

async function rendered(ctx: Context, organizationId: string, message: string): Promise<Said> {
  return message === '' ? nothing : { message, ...(await renderMessage(ctx, organizationId, message)) }
}

/** Adds an entry to a timeline; gives its id. */
async function addEntry({ db, now }: Context, maintenance: Maintenance, said: Said): Promise<string> {
  const { id: maintenanceId, organizationId, status } = maintenance
  const newest = await db.maintenanceUpdate.findFirst({ where: { maintenanceId }, orderBy: { createdAt: 'desc' } })
  const createdAt = entryTime(now(), newest?.createdAt)
  const id = newId('MaintenanceUpdate')
  await db.maintenanceUpdate.create({ data: { id, organizationId, maintenanceId, status, ...said, createdAt } })
  return id
}

/** The newest entry of a timeline, which has one at least unless it was deleted meanwhile. */
async function newestEntry({ db }: Context, maintenanceId: string): Promise<string> {
  const newest = await db.maintenanceUpdate.findFirstOrThrow({
    where: { maintenanceId },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    select: { id: true },
  })
  return newest.id
}

/** @throws Conflict when the timeline is full; what ends a maintenance has room in it all the same. */
async function addEditEntry(tx: Context, before: Maintenance, after: Maintenance, said: Said): Promise<string> {
  const ends = isOver(after.status) && !isOver(before.status)
  if (!ends) requireRoom(await tx.db.maintenanceUpdate.count({ where: { maintenanceId: after.id } }))
  return addEntry(tx, after, said)
}

/** What an edit is called. One that moves the maintenance is news, also without an entry; the rest corrects it. */
function kindOfEdit(before: Plan, after: Plan, hasEntry: boolean): NewEvent['kind'] {
  if (before.status === 'SCHEDULED' && after.status === 'IN_PROGRESS') return 'MAINTENANCE_STARTED'
  if (before.status !== after.status && after.status === 'COMPLETED') return 'MAINTENANCE_COMPLETED'
  if (hasEntry) return 'MAINTENANCE_UPDATE_POSTED'
  const isMoved = +before.startsAt !== +after.startsAt || +before.endsAt !== +after.endsAt
  return isMoved ? 'MAINTENANCE_RESCHEDULED' : 'MAINTENANCE_UPDATED'
}

const eventOf = (kind: NewEvent['kind'], { id, title }: Maintenance) => ({ kind, subjectId: id, subjectName: title })
