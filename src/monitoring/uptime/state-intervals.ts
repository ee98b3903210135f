import type { Context } from '../../core/context.ts'
import { DAY, utcDay } from '../../core/time.ts'
import { insertRows } from '../../database/insert-rows.ts'
import type { Monitor, Prisma } from '../../generated/prisma/client.ts'
import type { MonitorState } from '../../generated/prisma/enums.ts'

/**
 * Changes the state of a monitor from a given time, which may be in the past, because an outage starts at the first
 * failed probe. Replaces later intervals. Call it within the transaction of the change. Returns the updated monitor.
 * @param also other changes of the monitor.
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
  const isUnjudged = state === 'PENDING' || state === 'PAUSED'
  const data = {
    ...also,
    state,
    stateSince: since,
    ...(isUnjudged && { unknownSince: null, blockedSince: null, heldSince: null }),
  }
  const entered = await db.monitor.update({ where: { id: monitorId }, data })
  await deleteClosedDays({ db }, monitor, since)
  return entered
}

/** Creates the first state interval of each new monitor. */
export async function createFirstIntervals(
  { db }: Context,
  monitors: readonly Pick<Monitor, 'id' | 'state' | 'stateSince'>[],
): Promise<void> {
  const data = monitors.map(({ id, state, stateSince }) => ({ monitorId: id, startedAt: stateSince, state, cause: '' }))
  await insertRows(db, 'MonitorInterval', data)
}

/**
 * Deletes the closed days of a monitor and its service from the UTC day before the given time, which covers all time
 * zones.
 */
export async function deleteClosedDays(
  { db }: Pick<Context, 'db'>,
  { id, serviceId }: Pick<Monitor, 'id' | 'serviceId'>,
  since: Date,
) {
  const subjectId = { in: serviceId === null ? [id] : [id, serviceId] }
  await db.uptimeDay.deleteMany({ where: { subjectId, day: { gte: new Date(utcDay(since).getTime() - DAY) } } })
}
