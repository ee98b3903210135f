import { z } from 'zod'
import { requireOperator } from '../account/access.ts'
import { defaultTier } from '../account/organization.ts'
import type { Context } from '../context.ts'
import { NotFound } from '../errors.ts'
import { change } from '../eventlog/change.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { Tier } from '../generated/prisma/enums.ts'
import { typeOfId } from '../id.ts'
import { applyTier } from '../monitoring/tier.ts'
import { validate } from '../validate.ts'
import type { PaidTier } from './price.ts'
import { tierOfAll } from './subscription.ts'

const tierChange = z.object({ organizationId: z.string(), tier: z.enum(Tier).nullish() })

/**
 * Gives an organization a status-page tier by hand, which subscriptions can only raise, until another is given. Null gives
 * the default one back. Operator only.
 * @throws NotFound when there is no such organization.
 */
export async function setTier(ctx: Context, input: unknown): Promise<Organization> {
  requireOperator(ctx)
  const { organizationId, tier } = validate(tierChange, input)
  if (typeOfId(organizationId) !== 'Organization') throw new NotFound('There is no such organization.')
  return changeTier(ctx, organizationId, async (tx) => {
    const data = { tierFloor: tier ?? null }
    return settledTier(tx, await tx.db.organization.update({ where: { id: organizationId }, data }))
  })
}

/** Sets the tier of an organization by what it was given and what all its subscriptions pay for. */
export async function settleTier(ctx: Context, organizationId: string): Promise<void> {
  await changeTier(ctx, organizationId, async (tx, organization) => {
    const tier = await settledTier(tx, organization)
    return tier === organization.tier ? null : tier
  })
}

/** The tier that an organization would have if nobody else paid for it. */
export function tierWithoutGifts(ctx: Context, organization: Organization): Promise<Tier> {
  return settledTier(ctx, organization, { isOwn: true })
}

async function settledTier(
  { db, config }: Context,
  { id, tierFloor }: Organization,
  which: { readonly isOwn?: true } = {},
): Promise<Tier> {
  const subscriptions = await db.paidSubscription.findMany({
    where: { organizationId: id, ...which },
    select: { paysFor: true },
  })
  // The column holds what paidTier gives.
  const paid = subscriptions.map(({ paysFor }) => paysFor as PaidTier | null)
  return tierOfAll(paid, tierFloor ?? defaultTier(config))
}

/**
 * The one place where a tier changes: the tier that `tierOf` gives, read with the organization locked, is written and told in
 * one change; when it gives null, nothing happens. A tier that falls keeps everything and pauses the newest monitors over
 * its limit; one that rises resumes what a limit had paused (contract §4).
 * @throws NotFound when there is no such organization.
 */
export function changeTier(
  ctx: Context,
  organizationId: string,
  tierOf: (tx: Context, organization: Organization) => Promise<Tier | null>,
): Promise<Organization> {
  return change(ctx, organizationId, async (tx) => {
    const where = { id: organizationId }
    const before = await tx.db.organization.findUniqueOrThrow({ where })
    const tier = await tierOf(tx, before)
    if (tier === null) return [before]
    const organization = await tx.db.organization.update({ where, data: { tier } })
    const isChanged = tier !== before.tier || organization.tierFloor !== before.tierFloor
    const changed = { kind: 'TIER_CHANGED', subjectId: organization.id, subjectName: organization.name } as const
    return [organization, ...(isChanged ? [changed] : []), ...(await applyTier(tx, organization))]
  })
}
