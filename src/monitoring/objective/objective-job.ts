import { notDeleted } from '../../account/not-deleted.ts'
import type { Context } from '../../core/context.ts'
import { MINUTE } from '../../core/time.ts'
import { runDueTogether } from '../../database/lease/due-work.ts'
import type { ChangeContext } from '../../event-log/change.ts'
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
export function runDueObjectives(ctx: ChangeContext): Promise<Date | null> {
  return runDueTogether(ctx, {
    table: 'Objective',
    dueColumn: 'dueAt',
    where: notDeleted,
    limit: BATCH_SIZE,
    leaseMs: INTERVAL_MS,
    read: (ids) => readByOrganization(ctx, ids),
    each: ({ organization, objectives }) => judgeAll(ctx, organization, objectives),
    subject: 'organization',
    failureMessage: 'monitoring: could not evaluate objectives',
  })
}

async function readByOrganization({ db }: Context, ids: readonly string[]) {
  const include = { service: true, organization: true } as const
  const found = await db.objective.findMany({ where: { id: { in: [...ids] } }, include })
  const organizations = new Map(found.map(({ organization }) => [organization.id, organization]))
  return [...organizations].map(([id, organization]) => ({
    id,
    organization,
    objectives: found.filter(({ organizationId }) => organizationId === id),
  }))
}

type Due = Objective & { readonly service: Service }

async function judgeAll(ctx: ChangeContext, settings: Parameters<typeof readBurnRates>[1], due: readonly Due[]) {
  const rates = await readBurnRates(ctx.db, settings, due, ctx.now())
  for (const objective of due) {
    const own = rates.get(objective.id)
    if (own) await judge(ctx, objective, own)
  }
}

/** The speeds, fastest first. */
const speeds = ['FAST', 'SLOW', 'STEADY'] as const

async function judge(ctx: ChangeContext, objective: Due, burnRates: readonly BurnRate[]): Promise<void> {
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
