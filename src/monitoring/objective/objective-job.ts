import { notDeleted } from '../../account/deletion.ts'
import type { Context } from '../../core/context.ts'
import { MINUTE } from '../../core/time.ts'
import { claimDue } from '../../database/lease.ts'
import { change } from '../../event-log/change.ts'
import type { Objective, Service } from '../../generated/prisma/client.ts'
import type { BurnRate } from './burn-rate.ts'
import { burnSpeed } from './burn-rate.ts'
import { objectiveEvent } from './objective.ts'
import { readBurnRates } from './standing.ts'

/** How often the burn rates of an objective are looked at; a claim lasts until the next time. */
const INTERVAL_MS = MINUTE
const BATCH_SIZE = 100

/**
 * Looks at the burn rates of objectives that are due, and appends an event when one begins to burn its budget too fast, faster than
 * before, or no longer. A failure is logged and retried after the interval. Returns when the next objective is due; null: none is.
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
      ctx.log.error({ err: error, organization: organization.id }, 'monitoring: could not judge objectives'),
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

/** The fastest speed first. */
const speeds = ['FAST', 'SLOW', 'STEADY'] as const

async function judge(ctx: Context, objective: Due, burnRates: readonly BurnRate[]): Promise<void> {
  const speed = burnSpeed(burnRates, objective.burnSpeed)
  if (speed === objective.burnSpeed) return
  await change(ctx, objective.organizationId, async (tx) => {
    // Another worker may have been here, or somebody has changed it: then it is looked at again in a moment.
    const where = { id: objective.id, version: objective.version, burnSpeed: objective.burnSpeed }
    const isWorse =
      objective.burnSpeed === null || (speed !== null && speeds.indexOf(speed) < speeds.indexOf(objective.burnSpeed))
    const burningSince = speed === null ? null : isWorse ? tx.now() : objective.burningSince
    const { count } = await tx.db.objective.updateMany({ where, data: { burnSpeed: speed, burningSince } })
    if (count === 0) return [undefined]
    if (speed === null) return [undefined, objectiveEvent('OBJECTIVE_RECOVERED', objective, objective.service)]
    // That it burns more slowly, but still too fast, is no news.
    return isWorse ? [undefined, objectiveEvent('OBJECTIVE_BURNING', objective, objective.service)] : [undefined]
  })
}
