import type { Context } from '../core/context.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import type { AlertChange } from '../generated/prisma/enums.ts'
import { targetPercent } from '../monitoring/objective/objective.ts'

/** What an alert is about: a monitor, or an objective. */
export interface AlertSubject {
  readonly id: string
  readonly name: string
  readonly serviceId: string | null
  /** Since when a monitor that it depends on is down. */
  readonly blockedSince: Date | null
  /** The change that ends its alerts. */
  readonly recovery: AlertChange
}

/** Returns a monitor as what an alert is about. */
export const monitorSubject = ({ id, name, serviceId, blockedSince, kind }: Monitor): AlertSubject => ({
  id,
  name,
  serviceId,
  blockedSince,
  recovery: kind === 'BLACKLIST' ? 'DELISTED' : 'UP',
})

/** Reads objectives of an organization as what alerts are about, by their ids. */
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
