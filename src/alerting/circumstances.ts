import type { Context } from '../core/context.ts'
import { isUnderMaintenance } from '../status/service/shown-status.ts'
import type { Circumstances } from './rules.ts'
import type { AlertSubject } from './subject.ts'

/** Reads whether maintenance or a parent monitor silences an alert. */
export async function circumstancesOf(
  ctx: Pick<Context, 'db'>,
  { serviceId, blockedSince }: Pick<AlertSubject, 'serviceId' | 'blockedSince'>,
): Promise<Pick<Circumstances, 'underMaintenance' | 'parentDown'>> {
  const isMaintained = serviceId !== null && (await isUnderMaintenance(ctx, serviceId))
  return { underMaintenance: isMaintained, parentDown: blockedSince !== null }
}
