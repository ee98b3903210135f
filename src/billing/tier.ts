import { z } from 'zod'
import { requireOperator } from '../account/access.ts'
import type { Context } from '../context.ts'
import { NotFound } from '../errors.ts'
import { change } from '../eventlog/change.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { Tier } from '../generated/prisma/enums.ts'
import { typeOfId } from '../id.ts'
import { applyTier } from '../monitoring/tier.ts'
import { validate } from '../validate.ts'

const tierChange = z.object({ organizationId: z.string(), tier: z.enum(Tier) })

/**
 * Gives an organization a status-page tier by hand: it stays until a subscription of the organization begins, ends or
 * changes what it pays for. Operator only.
 * @throws NotFound when there is no such organization.
 */
export async function setTier(ctx: Context, input: unknown): Promise<Organization> {
  requireOperator(ctx)
  const { organizationId, tier } = validate(tierChange, input)
  if (typeOfId(organizationId) !== 'Organization') throw new NotFound('There is no such organization.')
  return changeTier(ctx, organizationId, async () => tier)
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
    const changed = { kind: 'TIER_CHANGED', subjectId: organization.id, subjectName: organization.name } as const
    return [organization, changed, ...(await applyTier(tx, organization))]
  })
}
