import { z } from 'zod'
import { historyDaysOf } from '../../account/limits.ts'
import type { EditContext } from '../../account/managed-object.ts'
import { requireDeletable, requireUnlocked } from '../../account/managed-object.ts'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import { zoneName } from '../../account/page/page-settings.ts'
import { tierOf } from '../../account/tier.ts'
import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { described, idOf, named } from '../../core/described.ts'
import { TierLimitReached } from '../../core/errors.ts'
import { newId } from '../../core/id.ts'
import { changedFields, requireVersion, versionInput } from '../../core/optimistic-lock.ts'
import { invalid, validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { Objective, Prisma, Service, Tier } from '../../generated/prisma/client.ts'
import type { EventKind } from '../../generated/prisma/enums.ts'
import { findOwned } from '../../status/ownership.ts'
import { WHOLE } from './budget.ts'
import { MAX_WINDOW_DAYS, MIN_WINDOW_DAYS } from './window.ts'

/** The maximum number of objectives of an organization. */
const maxObjectives: Readonly<Record<Tier, number>> = { FREE: 5, PRO: 50, TEAM: 500 }

/** The lowest and the highest target, in percent. The highest leaves an error budget of 0.001 %. */
const MIN_TARGET = 50
const MAX_TARGET = 99.999
/** The number of units of a target per percent. */
const PER_PERCENT = WHOLE / 100

const target = z
  .number()
  .min(MIN_TARGET, `must be at least ${MIN_TARGET}`)
  .max(MAX_TARGET, `must be at most ${MAX_TARGET}`)
  .transform((percent, ctx) => {
    const units = Math.round(percent * PER_PERCENT)
    if (Math.abs(units - percent * PER_PERCENT) < 1e-6) return units
    ctx.addIssue({ code: 'custom', message: 'must have at most three decimals' })
    return z.NEVER
  })
const days = z
  .int()
  .min(MIN_WINDOW_DAYS, `must be at least ${MIN_WINDOW_DAYS}`)
  .max(MAX_WINDOW_DAYS, `must be at most ${MAX_WINDOW_DAYS}`)

const TARGET = 'The target availability, in percent: 50 to 99.999, with at most three decimals.'
const WINDOW = 'The length of a rolling window in days of 24 hours, 1 to 366 and no more than the tier’s history.'
const ZONE = 'The IANA time zone of calendar months.'

/** The input of `createObjective`. */
export const newObjective = named(
  z.object({
    serviceId: idOf('The service.'),
    target: described(target, { description: TARGET }),
    windowDays: described(days.nullish(), { description: `${WINDOW} Default: the calendar month.` }),
    timeZone: described(zoneName.nullish(), { description: `${ZONE} Default: the organization’s.` }),
  }),
  { name: 'CreateObjective', about: 'The objective to create.' },
)

/** The input of `updateObjective`. */
export const objectiveEdit = named(
  z.object({
    id: idOf('The objective to change.'),
    target: described(target.nullish(), { description: TARGET }),
    windowDays: described(days.nullish(), { description: `${WINDOW} Null: the calendar month.` }),
    timeZone: described(zoneName.nullish(), { description: ZONE }),
    version: versionInput,
  }),
  { name: 'UpdateObjective', about: 'Omitted fields stay unchanged, and so does the service.' },
)

/** Converts the units of a target to percent. */
export const targetPercent = (units: number): number => units / PER_PERCENT

/**
 * Creates an objective of a service. Requires a key with scope WRITE.
 * @throws Invalid, NotFound, and TierLimitReached.
 */
export async function createObjective(ctx: ChangeContext, input: unknown): Promise<Objective> {
  const organizationId = requireScope(ctx, 'WRITE')
  const given = validate(newObjective, input)
  return change(ctx, organizationId, async (tx) => {
    const tier = await tierOf(tx, organizationId)
    const limit = maxObjectives[tier]
    if ((await tx.db.objective.count({ where: { organizationId } })) >= limit)
      throw new TierLimitReached(`The ${tier} tier allows ${limit} objectives, and all are in use.`, limit)
    requireHistory(tier, given.windowDays ?? null)
    const service = await findOwned('Service', given.serviceId, (id) =>
      tx.db.service.findUnique({ where: { id, organizationId } }),
    )
    const { timeZone } = await readOrganization(tx, organizationId)
    const objective = await tx.db.objective.create({
      data: {
        id: newId('Objective'),
        organizationId,
        serviceId: service.id,
        target: given.target,
        windowDays: given.windowDays ?? null,
        timeZone: given.timeZone ?? timeZone,
        createdAt: tx.now(),
        dueAt: tx.now(),
      },
    })
    return [objective, objectiveEvent('OBJECTIVE_CREATED', objective, service)]
  })
}

/**
 * Updates the given fields of an objective. A `windowDays` of null means the calendar month. The service cannot change.
 * Requires a key with scope WRITE.
 * @throws Invalid, NotFound, Conflict if it changed after the given version, and ManagedByFile.
 */
export async function updateObjective(ctx: EditContext, input: unknown): Promise<Objective> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, version, ...given } = validate(objectiveEdit, input)
  return change(ctx, organizationId, async (tx) => {
    const { service, ...before } = await ownObjective(tx, organizationId, id)
    requireVersion(before, version)
    if (given.windowDays !== undefined) requireHistory(await tierOf(tx, organizationId), given.windowDays)
    const changes = {
      target: given.target ?? before.target,
      ...(given.windowDays !== undefined && { windowDays: given.windowDays }),
      timeZone: given.timeZone ?? before.timeZone,
    }
    const changed = changedFields(before, changes)
    if (changed.length === 0) return [before]
    await requireUnlocked(tx, organizationId, id, changed)
    const data = { ...changes, version: { increment: 1 }, dueAt: tx.now() }
    const objective = await tx.db.objective.update({ where: { id }, data })
    return [objective, objectiveEvent('OBJECTIVE_UPDATED', objective, service)]
  })
}

/** Deletes an objective. Requires a key with scope WRITE. @throws NotFound and ManagedByFile. */
export async function deleteObjective(ctx: EditContext, id: string): Promise<Objective> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const { service, ...objective } = await ownObjective(tx, organizationId, id)
    await requireDeletable(tx, organizationId, id)
    await tx.db.objective.delete({ where: { id } })
    return [objective, objectiveEvent('OBJECTIVE_DELETED', objective, service)]
  })
}

/** Reads an objective of an organization with its service. @throws NotFound. */
export function ownObjective({ db }: Pick<Context, 'db'>, organizationId: string, id: string) {
  return findOwned('Objective', id, (known) =>
    db.objective.findUnique({ where: { id: known, organizationId }, include: { service: true } }),
  )
}

/** Creates an event about an objective, with the name of its service. */
export const objectiveEvent = (
  kind: EventKind,
  { id }: Pick<Objective, 'id'>,
  { name }: Pick<Service, 'name'>,
): NewEvent => ({ kind, subjectId: id, subjectName: name })

/** @throws Invalid if the window exceeds the history of the tier. */
function requireHistory(tier: Tier, windowDays: number | null): void {
  const historyDays = historyDaysOf(tier)
  if (windowDays !== null && windowDays > historyDays)
    throw invalid([
      { path: ['windowDays'], message: `must be at most ${historyDays}, the history of the ${tier} tier` },
    ])
}

/** Returns the rows to page through: an organization's objectives with their services. */
export function pageableObjectives({ db }: Pick<Context, 'db'>, organizationId: string) {
  return {
    where: { organizationId },
    read: (slice: Omit<Prisma.ObjectiveFindManyArgs, 'select' | 'include'>) =>
      db.objective.findMany({ ...slice, include: { service: true } }),
    count: (query: Prisma.ObjectiveCountArgs) => db.objective.count({ where: query.where, take: query.take }),
  }
}
