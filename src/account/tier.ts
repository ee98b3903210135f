import type { Context } from '../core/context.ts'
import { readOnce } from '../event-log/change.ts'
import type { Tier } from '../generated/prisma/enums.ts'

/** Returns an organization's tier. Reads it once per change, so the change must not alter the tier. */
export function tierOf(ctx: Context, organizationId: string): Promise<Tier> {
  return readOnce(ctx, `tier ${organizationId}`, async () => {
    const { tier } = await ctx.db.organization.findUniqueOrThrow({
      where: { id: organizationId },
      select: { tier: true },
    })
    return tier
  })
}
