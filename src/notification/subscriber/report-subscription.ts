import { findPage } from '../../account/page/page.ts'
import { requireScope } from '../../core/access.ts'
import { change } from '../../event-log/change.ts'
import type { Subscriber } from '../../generated/prisma/client.ts'
import type { NotificationContext } from '../context.ts'
import { readAddress } from './address.ts'
import { hashOnPage, subscribe } from './subscribe.ts'
import { active } from './subscriber.ts'

/** Whether a member gets the reports of a page by email. PENDING: the address is not confirmed yet. */
export type ReportMail = 'NONE' | 'PENDING' | 'ACTIVE'

/**
 * Emails the reports of a page to a member each month. An address that gets no email about the page yet gets a
 * confirmation link, because accounts do not verify theirs.
 * @param pageId the page, or the organization for its first page.
 * @throws NotFound, Invalid without email, and as `subscribe`.
 */
export async function mailReports(ctx: NotificationContext, pageId: string, email: string): Promise<void> {
  const organizationId = requireScope(ctx, 'READ')
  const page = await findPage(ctx.db, organizationId, pageId)
  const known = await subscriberAt(ctx, page, email)
  if (known?.confirmedAt && known.stoppedAt === null) {
    await change(ctx, organizationId, async ({ db }) => {
      const where = { id: known.id, ...active, NOT: { topics: { has: 'REPORTS' as const } } }
      await db.subscriber.updateMany({ where, data: { topics: { push: 'REPORTS' } } })
      return [undefined]
    })
    return
  }
  await subscribe({ ...ctx, actor: { kind: 'visitor' } }, { slug: page.slug, email, topics: ['REPORTS'] })
}

/** Returns whether a member gets the reports of a page by email. */
export async function reportMailOf(
  ctx: NotificationContext,
  page: { readonly id: string; readonly isFirst: boolean; readonly organizationId: string },
  email: string,
): Promise<ReportMail> {
  const known = await subscriberAt(ctx, page, email)
  if (!known?.topics.includes('REPORTS')) return 'NONE'
  if (known.confirmedAt && known.stoppedAt === null) return 'ACTIVE'
  return known.stopReason === null && ctx.now() < known.confirmableUntil ? 'PENDING' : 'NONE'
}

function subscriberAt(
  ctx: NotificationContext,
  { id, isFirst, organizationId }: { readonly id: string; readonly isFirst: boolean; readonly organizationId: string },
  email: string,
): Promise<Subscriber | null> {
  const addressHash = hashOnPage(readAddress(ctx, { email }).hash, isFirst ? null : id)
  return ctx.db.subscriber.findUnique({
    where: { organizationId_addressHash: { organizationId, addressHash } },
  })
}
