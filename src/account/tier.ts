import type { Context } from '../core/context.ts'
import { readOnce } from '../event-log/change.ts'
import type { Tier } from '../generated/prisma/enums.ts'

/** An organization's tier; read once in a change that does not alter it. */
export function tierOf(ctx: Context, organizationId: string): Promise<Tier> {
  return readOnce(ctx, `tier ${organizationId}`, async () => {
    const { tier } = await ctx.db.organization.findUniqueOrThrow({
      where: { id: organizationId },
      select: { tier: true },
    })
    return tier
  })
}
