import { z } from 'zod'
import { defaultTier } from '../../account/organization/organization.ts'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import { writeTier, writeTierFloor } from '../../account/organization/plan.ts'
import { requireOperator } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { NotFound } from '../../core/errors.ts'
import { typeOfId } from '../../core/id.ts'
import { requireVersion, versionInput } from '../../core/optimistic-lock.ts'
import { validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import { Tier } from '../../generated/prisma/enums.ts'
import { applyTier } from '../../monitoring/monitor/tier-change.ts'
import type { PaidTier } from '../price.ts'
import { highestTier } from './subscription.ts'

const tierChange = z.object({ organizationId: z.string(), tier: z.enum(Tier).nullish(), version: versionInput })

/**
 * Sets the minimum status-page tier of an organization; subscriptions can only raise it. Null restores the default.
 * Operator only.
 * @throws NotFound when the organization does not exist. @throws Conflict when it has changed since the given version.
 */
export async function setTier(ctx: ChangeContext, input: unknown): Promise<Organization> {
  requireOperator(ctx)
  const { organizationId, tier, version } = validate(tierChange, input)
  if (typeOfId(organizationId) !== 'Organization') throw new NotFound('Organization not found.')
  return changeTier(ctx, organizationId, async (tx, before) => {
    requireVersion(before, version)
    const tierFloor = tier ?? null
    if (tierFloor === before.tierFloor) return computeTier(tx, before)
    return computeTier(tx, await writeTierFloor(tx, organizationId, tierFloor))
  })
}

/** Recalculates the tier of an organization from its minimum tier and its paid subscriptions. */
export async function reconcileTier(ctx: ChangeContext, organizationId: string): Promise<void> {
  await changeTier(ctx, organizationId, async (tx, organization) => {
    const tier = await computeTier(tx, organization)
    return tier === organization.tier ? null : tier
  })
}

/** Returns the tier that an organization has without gift subscriptions. */
export function tierFromOwnSubscriptions(ctx: Context, organization: Organization): Promise<Tier> {
  return computeTier(ctx, organization, { isOwn: true })
}

async function computeTier(
  { db, config }: Context,
  { id, tierFloor }: Organization,
  which: { readonly isOwn?: true } = {},
): Promise<Tier> {
  const subscriptions = await db.paidSubscription.findMany({
    where: { organizationId: id, ...which },
    select: { paysFor: true },
  })
  // The column contains a result of paidTier.
  const paid = subscriptions.map(({ paysFor }) => paysFor as PaidTier | null)
  return highestTier(paid, tierFloor ?? defaultTier(config))
}

/**
 * Changes the tier of an organization. Calls `tierOf` with the organization locked, then writes the tier and its event
 * in one change; does nothing when `tierOf` returns null. A lower tier keeps all data and pauses the newest monitors
 * over its limit; a higher tier resumes monitors that a limit had paused (contract §4). Every tier change goes through
 * this function.
 * @throws NotFound when the organization does not exist.
 */
export function changeTier(
  ctx: ChangeContext,
  organizationId: string,
  tierOf: (tx: Context, organization: Organization) => Promise<Tier | null>,
): Promise<Organization> {
  return change(ctx, organizationId, async (tx) => {
    const before = await readOrganization(tx, organizationId)
    const tier = await tierOf(tx, before)
    if (tier === null) return [before]
    const organization = await writeTier(tx, organizationId, tier)
    const isChanged = tier !== before.tier || organization.tierFloor !== before.tierFloor
    const changed = { kind: 'TIER_CHANGED', subjectId: organization.id, subjectName: organization.name } as const
    return [organization, ...(isChanged ? [changed] : []), ...(await applyTier(tx, organization))]
  })
}
