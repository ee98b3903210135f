import type { Database } from '../../core/context.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { active, isMemberSql, pageOfSubscriberSql } from './subscriber-conditions.ts'

/**
 * A condition on a subscriber (`reader`) and the access to its page (`access`, which may be missing): the page became
 * private after the subscription, and it is unknown whether the subscriber still has access. Members do, and addresses
 * of allowed email domains.
 */
export const WITHHELD = Prisma.sql`(
  access.kind <> 'PUBLIC' AND greatest(reader."createdAt", reader."vouchedAt") < access."changedAt"
  AND NOT (
    reader.channel = 'EMAIL' AND access.kind = 'MAIL_DOMAIN'
      AND lower(split_part(reader.address, '@', 2)) = ANY (access."mailDomains")
    OR ${isMemberSql}))`

/** Returns whether messages to a subscriber only announce updates. */
export async function isWithheld(db: Database, subscriberId: string): Promise<boolean> {
  const found = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM "Subscriber" AS reader JOIN "Organization" AS organization ON organization.id = reader."organizationId"
    JOIN "PageAccess" AS access ON access."pageId" = ${pageOfSubscriberSql}
    WHERE reader.id = ${subscriberId} AND ${WITHHELD}`
  return found.length > 0
}

/** Counts the active subscribers of a page. */
export function countSubscribers(
  db: Database,
  page: { readonly id: string; readonly organizationId: string; readonly isFirst: boolean },
): Promise<number> {
  return db.subscriber.count({
    where: {
      organizationId: page.organizationId,
      ...active,
      ...(page.isFirst ? { OR: [{ pageId: null }, { pageId: page.id }] } : { pageId: page.id }),
    },
  })
}
