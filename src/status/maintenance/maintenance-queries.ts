import type { Context } from '../../core/context.ts'
import type { MaintenanceSeries } from '../../generated/prisma/client.ts'

type Db = Pick<Context, 'db'>

/** Counts the updates of a maintenance. */
export function countMaintenanceUpdates({ db }: Db, maintenanceId: string): Promise<number> {
  return db.maintenanceUpdate.count({ where: { maintenanceId } })
}

/** Returns the ids of the services that a maintenance affects. */
export async function readMaintenanceServiceIds({ db }: Db, maintenanceId: string): Promise<string[]> {
  const found = await db.maintenanceService.findMany({ where: { maintenanceId }, select: { serviceId: true } })
  return found.map(({ serviceId }) => serviceId)
}

/** Returns the maintenance series of an organization, newest first. */
export function listMaintenanceSeries({ db }: Db, organizationId: string): Promise<MaintenanceSeries[]> {
  return db.maintenanceSeries.findMany({
    where: { organizationId },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  })
}

/** Returns the ids of the services that a maintenance series affects. */
export async function readSeriesServiceIds({ db }: Db, seriesId: string): Promise<string[]> {
  const found = await db.maintenanceSeriesService.findMany({ where: { seriesId }, select: { serviceId: true } })
  return found.map(({ serviceId }) => serviceId)
}
