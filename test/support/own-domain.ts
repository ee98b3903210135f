import type { Context } from '../../src/core/context.ts'
import { change } from '../../src/event-log/change.ts'

/** Serves an organization's page under a domain, as if it were verified. */
export async function serveUnder(ctx: Context, organizationId: string, name: string): Promise<void> {
  const [now, state] = [ctx.now(), 'PROVEN'] as const
  const proven = { name, token: '0'.repeat(32), state, provenBy: 'TXT', requestedAt: now, checkedAt: now } as const
  await change(ctx, organizationId, async ({ db }) => {
    const { pageId, name: subjectName } = await db.organization.findUniqueOrThrow({ where: { id: organizationId } })
    const id = `dom_${organizationId.slice('org_'.length)}`
    await db.customDomain.upsert({
      where: { pageId },
      create: { id, organizationId, pageId, ...proven },
      update: proven,
    })
    await db.page.update({ where: { id: pageId }, data: { customDomain: name } })
    return [null, { kind: 'PAGE_UPDATED', subjectId: organizationId, subjectName }]
  })
}
