import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { Context } from '../../core/context.ts'
import { newId } from '../../core/id.ts'
import { MINUTE } from '../../core/time.ts'
import { insertRows } from '../../database/insert-rows.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { MaintenanceStatus } from '../../generated/prisma/enums.ts'
import type {
  ImportOutcome,
  ImportSource,
  KnownRecord,
  NewRecord,
  ReadRecord,
  RenderedTexts,
} from '../imported-record.ts'
import {
  digestOf,
  distinctTimes,
  htmlIn,
  importedTime,
  importRead,
  readRecord,
  removeParts,
  requireBounds,
  skipped,
  writeRows,
} from '../imported-record.ts'
import { findServiceIds, MAX_SERVICES } from '../ownership.ts'
import { stateByMaintenances } from '../service/statement.ts'
import { MAX_UPDATES, optionalMessage, titleText } from '../timeline/timeline-limits.ts'
import { invalidateUptimeDays } from './maintenance.ts'
import type { Plan, Run } from './maintenance-schedule.ts'
import { dueAt, isOver } from './maintenance-schedule.ts'

/** How many maintenances one import may have, and how many updates they may have together. */
export const MAX_IMPORTED_MAINTENANCES = 100
const MAX_IMPORTED_UPDATES = 2000

const maintenance = z.object({
  id: z.string().min(1).max(200),
  title: titleText,
  status: z.enum(MaintenanceStatus),
  startsAt: importedTime,
  endsAt: importedTime,
  serviceIds: z.array(z.string()).max(MAX_SERVICES, `must have at most ${MAX_SERVICES} items`),
  updates: z
    .array(z.object({ at: importedTime, status: z.enum(MaintenanceStatus), message: optionalMessage }))
    .max(MAX_UPDATES, `must have at most ${MAX_UPDATES} items`),
})

type Given = z.infer<typeof maintenance>

/** A maintenance with only existing services. */
type Read = Given & ReadRecord

/**
 * Imports a limited number of past and planned maintenances of another tool with their timelines. Importing sends no
 * notifications; planned maintenances then start and end like any other, and past ones name their source. The
 * installation and id identify a maintenance that was imported before. Leaves out services outside the organization.
 * Requires the scope ADMIN.
 * @returns the outcome for each, in order.
 * @throws Invalid if there are too many.
 */
export async function importMaintenances(
  ctx: ChangeContext,
  from: ImportSource,
  given: readonly unknown[],
): Promise<ImportOutcome[]> {
  const organizationId = requireScope(ctx, 'ADMIN')
  return importRead(ctx, organizationId, from, {
    kind: 'MAINTENANCE',
    read: await readMaintenances(ctx, organizationId, given),
    textsOf: ({ updates }) => updates.map((each) => each.message),
    write: (tx, maintenances, rendered) => writeMaintenances(tx, organizationId, from, { maintenances, rendered }),
  })
}

async function readMaintenances(
  ctx: Context,
  organizationId: string,
  given: readonly unknown[],
): Promise<(Read | ImportOutcome)[]> {
  const read: (Given | ImportOutcome)[] = []
  const seen = new Set<string>()
  for (const each of given) {
    await yieldAfterTimeSlice(organizationId)
    const valid = readRecord(maintenance, each)
    read.push('outcome' in valid || seen.size < seen.add(valid.id).size ? valid : skipped('It is listed twice.'))
  }
  const valid = read.flatMap((each) => ('outcome' in each ? [] : [each]))
  const updates = valid.reduce((sum, each) => sum + each.updates.length, 0)
  requireBounds([
    ['maintenances', 'maintenances', given.length, MAX_IMPORTED_MAINTENANCES],
    ['maintenances', 'updates', updates, MAX_IMPORTED_UPDATES],
  ])
  const own = await findServiceIds(
    ctx,
    organizationId,
    valid.flatMap(({ serviceIds }) => serviceIds),
  )
  return read.map((each) => {
    if ('outcome' in each) return each
    const serviceIds = [...new Set(each.serviceIds)].filter((id) => own.has(id))
    const content = { ...each, serviceIds }
    return { ...content, digest: digestOf(content) }
  })
}

/**
 * Returns the plan and run of an imported maintenance. Applies starts and ends that are already due, because a due
 * transition would be announced.
 */
function importedPlan(
  { status, startsAt, endsAt: given, updates }: Pick<Given, 'status' | 'startsAt' | 'endsAt' | 'updates'>,
  now: Date,
): Plan & Run {
  const endsAt = new Date(Math.max(+given, +startsAt + MINUTE))
  if (status === 'CANCELLED') return { status, startsAt, endsAt, startedAt: null, endedAt: null }
  if (status === 'COMPLETED' || endsAt <= now) {
    const completed = updates.find((update) => update.status === 'COMPLETED')?.at ?? endsAt
    const end = new Date(Math.min(+endsAt, +now, Math.max(+completed, +startsAt + 1)))
    const start = new Date(Math.min(+startsAt, +end - 1))
    return { status: 'COMPLETED', startsAt: start, endsAt: end, startedAt: start, endedAt: end }
  }
  if (startsAt > now && status === 'SCHEDULED')
    return { status: 'SCHEDULED', startsAt, endsAt, startedAt: null, endedAt: null }
  const start = new Date(Math.min(+startsAt, +now))
  const running = status === 'VERIFYING' ? status : 'IN_PROGRESS'
  return { status: running, startsAt: start, endsAt, startedAt: start, endedAt: null }
}

interface Written {
  readonly maintenances: readonly (Read & { readonly known: KnownRecord | undefined })[]
  readonly rendered: RenderedTexts
}

/** Writes maintenances with a few statements for all. Known maintenances keep their ids. */
async function writeMaintenances(
  tx: Context,
  organizationId: string,
  from: ImportSource,
  { maintenances, rendered }: Written,
): Promise<NewRecord[]> {
  const now = tx.now()
  const all = maintenances.map((each) => ({
    ...each,
    plan: importedPlan(each, now),
    objectId: each.known?.objectId ?? newId('Maintenance'),
  }))
  await removeParts(
    tx,
    'maintenanceId',
    ['MaintenanceUpdate', 'MaintenanceService'],
    all.map(({ objectId }) => objectId),
  )
  await writeRows(
    tx,
    'Maintenance',
    all.map(({ objectId, title, plan, known }) => ({
      ...{ id: objectId, organizationId, title, titles: {}, ...plan, dueAt: dueAt(plan), notifySubscribers: true },
      ...{ version: (known?.current ?? 0) + 1, createdAt: new Date(Math.min(+plan.startsAt, +now)), detached: false },
      ...{ importedFrom: from.source, importedAt: now },
    })),
  )
  const updates = all.flatMap(({ objectId: maintenanceId, ...each }) =>
    timelineOf(each, now).map((update) => ({ ...update, maintenanceId })),
  )
  await insertRows(
    tx.db,
    'MaintenanceUpdate',
    updates.map(({ maintenanceId, status, message, at }) => ({
      ...{ id: newId('MaintenanceUpdate'), organizationId, maintenanceId, status, message },
      ...{ ...htmlIn(rendered, message), translations: {}, createdAt: at, version: 1 },
    })),
  )
  await insertRows(
    tx.db,
    'MaintenanceService',
    all.flatMap(({ objectId: maintenanceId, serviceIds }) =>
      serviceIds.map((serviceId) => ({ maintenanceId, serviceId })),
    ),
  )
  await stateByMaintenances(
    tx,
    all.map(({ objectId }) => objectId),
  )
  const begun = all.flatMap(({ plan: { startedAt } }) => (startedAt === null ? [] : [+startedAt]))
  if (begun.length > 0) await invalidateUptimeDays(tx, { organizationId, startedAt: new Date(Math.min(...begun)) })
  return all.map(({ id: recordId, objectId, digest, known }) => {
    return { recordId, objectId, digest, version: (known?.current ?? 0) + 1 }
  })
}

/**
 * Returns the timeline: sorted, never empty, without future updates, and ending with the end if the maintenance is
 * over.
 */
function timelineOf({ plan, updates, startsAt }: Given & { readonly plan: Plan & Run }, now: Date) {
  const first = { at: new Date(Math.min(+startsAt, +now)), status: plan.status, message: '' }
  const past = updates.filter(({ at }) => at <= now).toSorted((one, other) => +one.at - +other.at)
  const known = past.length > 0 ? past : [first]
  const last = known.at(-1)
  const end = { at: plan.endedAt ?? now, status: plan.status, message: '' }
  const closed = isOver(plan.status) && last?.status !== plan.status ? [...known, end] : known
  const times = distinctTimes(closed.map(({ at }) => at))
  return closed.map((update, index) => ({ ...update, at: times[index] ?? update.at }))
}
