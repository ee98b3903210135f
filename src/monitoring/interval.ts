import type { Context } from '../context.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import type { MonitorState } from '../generated/prisma/enums.ts'
import { DAY, utcDay } from '../time.ts'

/**
 * Puts a monitor into a state since a moment, which may lie back: an outage starts at the first failing check. What had
 * been written of the time after it is replaced. Call it in the transaction of the change.
 */
export async function enterState(
  { db }: Context,
  monitor: Pick<Monitor, 'id' | 'serviceId'>,
  state: MonitorState,
  since: Date,
  cause = '',
): Promise<void> {
  const monitorId = monitor.id
  await db.monitorInterval.deleteMany({ where: { monitorId, startedAt: { gte: since } } })
  await db.monitorInterval.updateMany({
    where: { monitorId, OR: [{ endedAt: null }, { endedAt: { gt: since } }] },
    data: { endedAt: since },
  })
  await db.monitorInterval.create({ data: { monitorId, startedAt: since, state, cause } })
  await db.monitor.update({ where: { id: monitorId }, data: { state, stateSince: since } })
  await forgetDays({ db }, monitor, since)
}

/**
 * Forgets the closed days of a monitor and its service that a moment's change bears on: in no time zone is its day there
 * earlier than the UTC day before.
 */
async function forgetDays(
  { db }: Pick<Context, 'db'>,
  { id, serviceId }: Pick<Monitor, 'id' | 'serviceId'>,
  since: Date,
) {
  const subjectId = { in: serviceId === null ? [id] : [id, serviceId] }
  await db.uptimeDay.deleteMany({ where: { subjectId, day: { gte: new Date(utcDay(since).getTime() - DAY) } } })
}
