import { tierLimits } from '../../account/limits.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { Organization, Prisma } from '../../generated/prisma/client.ts'
import { pause, resume } from './pause.ts'

/**
 * Applies an organization's tier to its monitors. Pauses the newest ones above the limit, or resumes the oldest of
 * those that a tier paused, up to the limit. Monitors that their owner paused stay paused. Call it in the transaction
 * that changes the tier. Returns the new events.
 */
export async function applyTier(
  tx: ChangeContext,
  organization: Pick<Organization, 'id' | 'tier'>,
): Promise<NewEvent[]> {
  const { id: organizationId, tier } = organization
  const limit = tierLimits[tier].monitors
  const running = await tx.db.monitor.findMany({ where: { organizationId, pausedBy: null }, orderBy: oldestFirst })
  const paused = await tx.db.monitor.findMany({ where: { organizationId, pausedBy: 'TIER' }, orderBy: oldestFirst })
  const events: NewEvent[] = []
  for (const monitor of running.slice(limit)) {
    const [, ...happened] = await pause(tx, monitor, 'TIER', `The ${tier} tier allows ${limit} monitors.`)
    events.push(...happened)
  }
  for (const monitor of paused.slice(0, Math.max(0, limit - running.length))) {
    const [, ...happened] = await resume(tx, monitor)
    events.push(...happened)
  }
  return events
}

const oldestFirst = [{ createdAt: 'asc' }, { id: 'asc' }] satisfies Prisma.MonitorOrderByWithRelationInput[]
