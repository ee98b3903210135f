import type { Context } from '../context.ts'
import type { Monitor, Prisma } from '../generated/prisma/client.ts'
import type { MonitorState } from '../generated/prisma/enums.ts'
import { DAY, utcDay } from '../time.ts'

/**
 * Puts a monitor into a state since a moment, which may lie back: an outage starts at the first failing check. What had
 * been written of the time after it is replaced. Call it in the transaction of the change. Gives the monitor as it is then.
 * @param also what else of it changes.
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
  const data = { ...also, state, stateSince: since, ...(isForgotten && { unknownSince: null }) }
  const entered = await db.monitor.update({ where: { id: monitorId }, data })
  await forgetDays({ db }, monitor, since)
  return entered
}

/** Begins the history of a new monitor, in the state that it is made in. */
export async function beginHistory(
  { db }: Context,
  { id: monitorId, state, stateSince }: Pick<Monitor, 'id' | 'state' | 'stateSince'>,
): Promise<void> {
  await db.monitorInterval.create({ data: { monitorId, startedAt: stateSince, state, cause: '' } })
}

/**
 * Forgets the closed days of a monitor and its service that a moment's change bears on: in no time zone is its day there
 * earlier than the UTC day before.
 */
export async function forgetDays(
  { db }: Pick<Context, 'db'>,
  { id, serviceId }: Pick<Monitor, 'id' | 'serviceId'>,
  since: Date,
) {
  const subjectId = { in: serviceId === null ? [id] : [id, serviceId] }
  await db.uptimeDay.deleteMany({ where: { subjectId, day: { gte: new Date(utcDay(since).getTime() - DAY) } } })
}
