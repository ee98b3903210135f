import type { Context } from '../core/context.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import type { AlertChange } from '../generated/prisma/enums.ts'
import { targetPercent } from '../monitoring/objective/objective.ts'
import { isUnderMaintenance } from '../status/service/shown-status.ts'
import type { Circumstances } from './rules.ts'

/** The subject of an alert: a monitor or an objective. */
export interface AlertSubject {
  readonly id: string
  readonly name: string
  readonly serviceId: string | null
  /** When a parent monitor went down; null: none is down. */
  readonly blockedSince: Date | null
  /** The change that ends the subject's alerts. */
  readonly recovery: AlertChange
}

/** Returns the subject of a monitor's alerts. */
export const monitorSubject = ({ id, name, serviceId, blockedSince, kind }: Monitor): AlertSubject => ({
  id,
  name,
  serviceId,
  blockedSince,
  recovery: kind === 'BLACKLIST' ? 'DELISTED' : 'UP',
})

/** Reads the subjects of alerts about an organization's objectives, by their ids. */
export async function readObjectiveSubjects(
  { db }: Pick<Context, 'db'>,
  organizationId: string,
  ids: readonly string[],
): Promise<AlertSubject[]> {
  if (ids.length === 0) return []
  const found = await db.objective.findMany({
    where: { organizationId, id: { in: [...ids] } },
    include: { service: { select: { name: true } } },
  })
  return found.map(({ id, serviceId, service, target }) => ({
    id,
    name: `${service.name}, ${targetPercent(target)}%`,
    serviceId,
    blockedSince: null,
    recovery: 'BUDGET_RECOVERED',
  }))
}

/** Reads whether maintenance or a parent monitor silences an alert. */
export async function circumstancesOf(
  ctx: Pick<Context, 'db'>,
  { serviceId, blockedSince }: Pick<AlertSubject, 'serviceId' | 'blockedSince'>,
): Promise<Pick<Circumstances, 'underMaintenance' | 'parentDown'>> {
  const isMaintained = serviceId !== null && (await isUnderMaintenance(ctx, serviceId))
  return { underMaintenance: isMaintained, parentDown: blockedSince !== null }
}
