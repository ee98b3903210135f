import { organizations, pageAccesses } from '../../account/views.ts'
import type { Database } from '../../core/context.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { isMemberSql, pageOfSubscriberSql } from './subscriber-conditions.ts'

/**
 * A condition on a subscriber (`subscriber`) and the access to its page (`access`, which may be missing): the page became
 * private after the subscription, and it is unknown whether the subscriber still has access. Members do, and addresses
 * of allowed email domains.
 */
export const WITHHELD = Prisma.sql`(
  access.kind <> 'PUBLIC' AND greatest(subscriber."createdAt", subscriber."vouchedAt") < access."changedAt"
  AND NOT (
    subscriber.channel = 'EMAIL' AND access.kind = 'MAIL_DOMAIN'
      AND lower(split_part(subscriber.address, '@', 2)) = ANY (access."mailDomains")
    OR ${isMemberSql}))`

/** Returns whether messages to a subscriber only announce updates. */
export async function isWithheld(db: Database, subscriberId: string): Promise<boolean> {
  const found = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM "Subscriber" AS subscriber JOIN ${organizations} AS organization ON organization.id = subscriber."organizationId"
    JOIN ${pageAccesses} AS access ON access."pageId" = ${pageOfSubscriberSql}
    WHERE subscriber.id = ${subscriberId} AND ${WITHHELD}`
  return found.length > 0
}
