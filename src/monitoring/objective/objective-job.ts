import { notDeleted } from '../../account/not-deleted.ts'
import type { Context } from '../../core/context.ts'
import { MINUTE } from '../../core/time.ts'
import { claimDue } from '../../database/lease/lease.ts'
import { change } from '../../event-log/change.ts'
import type { Objective, Service } from '../../generated/prisma/client.ts'
import type { BurnRate } from './burn-rate.ts'
import { burnSpeed } from './burn-rate.ts'
import { objectiveEvent } from './objective.ts'
import { readBurnRates } from './standing.ts'

/** The interval at which the burn rates of an objective are checked. A claim lasts until the next check. */
const INTERVAL_MS = MINUTE
const BATCH_SIZE = 100

/**
 * Checks the burn rates of due objectives. Appends an event when a budget starts to burn too fast, burns faster than
 * before, or recovers. Logs a failure and retries it after the interval. Returns when the next objective is due; null:
 * none.
 */
export async function runDueObjectives(ctx: Context): Promise<Date | null> {
  const { taken } = await claimDue(ctx, {
    table: 'Objective',
    dueColumn: 'dueAt',
    where: notDeleted,
    limit: BATCH_SIZE,
    leaseMs: INTERVAL_MS,
  })
  const objectives = await ctx.db.objective.findMany({
    where: { id: { in: taken.map(({ id }) => id) } },
    include: { service: true, organization: true },
  })
  for (const organization of new Map(objectives.map((each) => [each.organizationId, each.organization])).values()) {
    const own = objectives.filter(({ organizationId }) => organizationId === organization.id)
    await judgeAll(ctx, organization, own).catch((error: unknown) =>
      ctx.log.error({ err: error, organization: organization.id }, 'monitoring: could not evaluate objectives'),
    )
  }
  const next = await ctx.db.objective.findFirst({
    where: { dueAt: { not: null }, organization: { deletedAt: null } },
    orderBy: { dueAt: 'asc' },
  })
  return next?.dueAt ?? null
}

type Due = Objective & { readonly service: Service }

async function judgeAll(ctx: Context, settings: Parameters<typeof readBurnRates>[1], due: readonly Due[]) {
  const rates = await readBurnRates(ctx.db, settings, due, ctx.now())
  for (const objective of due) {
    const own = rates.get(objective.id)
    if (own) await judge(ctx, objective, own)
  }
}

/** The speeds, fastest first. */
const speeds = ['FAST', 'SLOW', 'STEADY'] as const

async function judge(ctx: Context, objective: Due, burnRates: readonly BurnRate[]): Promise<void> {
  const speed = burnSpeed(burnRates, objective.burnSpeed)
  if (speed === objective.burnSpeed) return
  await change(ctx, objective.organizationId, async (tx) => {
    // If the objective has changed or another worker has checked it, the update does nothing: the next check is soon.
    const where = { id: objective.id, version: objective.version, burnSpeed: objective.burnSpeed }
    const isWorse =
      objective.burnSpeed === null || (speed !== null && speeds.indexOf(speed) < speeds.indexOf(objective.burnSpeed))
    const burningSince = speed === null ? null : isWorse ? tx.now() : objective.burningSince
    const { count } = await tx.db.objective.updateMany({ where, data: { burnSpeed: speed, burningSince } })
    if (count === 0) return [undefined]
    if (speed === null) return [undefined, objectiveEvent('OBJECTIVE_RECOVERED', objective, objective.service)]
    // There is no event if the budget burns more slowly but still too fast.
    return isWorse ? [undefined, objectiveEvent('OBJECTIVE_BURNING', objective, objective.service)] : [undefined]
  })
}
