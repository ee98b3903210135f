import type { ChangeContext } from '../event-log/change.ts'
import { readOnce } from '../event-log/change.ts'
import type { Tier } from '../generated/prisma/enums.ts'

/** Returns the tier of an organization. Within a change, it is read once: a change that alters the tier must not use this. */
export function tierOf(ctx: ChangeContext, organizationId: string): Promise<Tier> {
  return readOnce(ctx, `tier ${organizationId}`, async () => {
    const { tier } = await ctx.db.organization.findUniqueOrThrow({
      where: { id: organizationId },
      select: { tier: true },
    })
    return tier
  })
}
