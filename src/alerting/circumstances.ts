import type { Context } from '../core/context.ts'
import { underMaintenance } from '../status/service/shown-status.ts'
import type { Circumstances } from './rules.ts'
import type { AlertSubject } from './subject.ts'

/** Reads whether maintenance or a parent monitor silences an alert. */
export async function circumstancesOf(
  { db }: Pick<Context, 'db'>,
  { serviceId, blockedSince }: Pick<AlertSubject, 'serviceId' | 'blockedSince'>,
): Promise<Pick<Circumstances, 'underMaintenance' | 'parentDown'>> {
  const maintained =
    serviceId === null ? 0 : await db.maintenanceService.count({ where: { serviceId, ...underMaintenance } })
  return { underMaintenance: maintained > 0, parentDown: blockedSince !== null }
}
