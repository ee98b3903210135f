import { tierLimits } from '../account/plan.ts'
import type { Context } from '../context.ts'
import type { NewEvent } from '../eventlog/event.ts'
import type { Organization, Prisma } from '../generated/prisma/client.ts'
import { pause, resume } from './pause.ts'

/**
 * Fits the running monitors to an organization's tier: pauses the newest over its limit, or resumes those that a limit had
 * paused, the oldest first, as far as there is room; those that their owner paused stay so. Call it in the transaction that
 * changes the tier. Gives what has happened.
 */
export async function applyTier(tx: Context, organization: Pick<Organization, 'id' | 'tier'>): Promise<NewEvent[]> {
  const { id: organizationId, tier } = organization
  const limit = tierLimits[tier].monitors
  const running = await tx.db.monitor.findMany({ where: { organizationId, pausedBy: null }, orderBy: oldestFirst })
  const paused = await tx.db.monitor.findMany({ where: { organizationId, pausedBy: 'TIER' }, orderBy: oldestFirst })
  const events: NewEvent[] = []
  for (const monitor of running.slice(limit)) {
    const [, ...happened] = await pause(tx, monitor, 'TIER', `The tier ${tier} has ${limit} monitors.`)
    events.push(...happened)
  }
  for (const monitor of paused.slice(0, Math.max(0, limit - running.length))) {
    const [, ...happened] = await resume(tx, monitor)
    events.push(...happened)
  }
  return events
}

const oldestFirst = [{ createdAt: 'asc' }, { id: 'asc' }] satisfies Prisma.MonitorOrderByWithRelationInput[]
