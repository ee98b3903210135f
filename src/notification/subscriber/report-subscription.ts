import { findPage } from '../../account/page/page.ts'
import { organizations, pages } from '../../account/views.ts'
import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { change } from '../../event-log/change.ts'
import type { Subscriber } from '../../generated/prisma/client.ts'
import type { NotificationContext } from '../context.ts'
import { readAddress } from './address.ts'
import { hashOnPage, subscribe } from './subscribe.ts'
import { active, activeSql, isActive, pageOfSubscriberSql } from './subscriber-conditions.ts'

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
  if (known && isActive(known)) {
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
  if (isActive(known)) return 'ACTIVE'
  return known.stopReason === null && ctx.now() < known.confirmableUntil ? 'PENDING' : 'NONE'
}

/** Returns which of the pages have active subscribers to reports. */
export async function pagesWithReportReaders(
  { db }: Pick<Context, 'db'>,
  pageIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = await db.$queryRaw<{ id: string }[]>`
    SELECT page.id FROM ${pages} AS page JOIN ${organizations} AS organization ON organization.id = page."organizationId"
    WHERE page.id = ANY (${[...pageIds]}::text[]) AND EXISTS (
      SELECT 1 FROM "Subscriber" AS subscriber
      WHERE subscriber."organizationId" = page."organizationId" AND ${activeSql} AND 'REPORTS' = ANY (subscriber.topics)
        AND ${pageOfSubscriberSql} = page.id)`
  return new Set(found.map(({ id }) => id))
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
