import type { Context } from '../../core/context.ts'
import { DAY, utcDay } from '../../core/time.ts'
import { insertRows } from '../../database/insert-rows.ts'
import type { Monitor, Prisma } from '../../generated/prisma/client.ts'
import type { MonitorState } from '../../generated/prisma/enums.ts'

/**
 * Changes the state of a monitor from a time on, which may be in the past, because an outage starts at the first failed
 * probe. Replaces later intervals. Call it in the transaction of the change. Returns the updated monitor.
 * @param also further changes of the monitor.
 */
export async function enterState(
  { db }: Context,
  monitor: Pick<Monitor, 'id' | 'serviceId'>,
  state: MonitorState,
  since: Date,
  cause = '',
  also: Prisma.MonitorUpdateInput = {},
): Promise<Monitor> {
  const monitorId = monitor.id
  await db.monitorInterval.deleteMany({ where: { monitorId, startedAt: { gte: since } } })
  await db.monitorInterval.updateMany({
    where: { monitorId, OR: [{ endedAt: null }, { endedAt: { gt: since } }] },
    data: { endedAt: since },
  })
  await db.monitorInterval.create({ data: { monitorId, startedAt: since, state, cause } })
  const isForgotten = state === 'PENDING' || state === 'PAUSED'
  const data = {
    ...also,
    state,
    stateSince: since,
    ...(isForgotten && { unknownSince: null, blockedSince: null, heldSince: null }),
  }
  const entered = await db.monitor.update({ where: { id: monitorId }, data })
  await forgetDays({ db }, monitor, since)
  return entered
}

/** Creates the first intervals of new monitors. */
export async function beginHistories(
  { db }: Context,
  monitors: readonly Pick<Monitor, 'id' | 'state' | 'stateSince'>[],
): Promise<void> {
  const data = monitors.map(({ id, state, stateSince }) => ({ monitorId: id, startedAt: stateSince, state, cause: '' }))
  await insertRows(db, 'MonitorInterval', data)
}

/**
 * Deletes the closed days of a monitor and its service from a time on, starting with the previous UTC day, which covers
 * all time zones.
 */
export async function forgetDays(
  { db }: Pick<Context, 'db'>,
  { id, serviceId }: Pick<Monitor, 'id' | 'serviceId'>,
  since: Date,
) {
  const subjectId = { in: serviceId === null ? [id] : [id, serviceId] }
  await db.uptimeDay.deleteMany({ where: { subjectId, day: { gte: new Date(utcDay(since).getTime() - DAY) } } })
}
