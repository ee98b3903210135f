import type { Subscriber } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { members, people } from '../../people/views.ts'

// In SQL, `subscriber` is the subscriber and `organization` its organization.

/** Active subscribers: confirmed and not stopped. */
export const active = { confirmedAt: { not: null }, stoppedAt: null } satisfies Prisma.SubscriberWhereInput

/** The condition `active` in SQL. */
export const activeSql = Prisma.sql`(subscriber."confirmedAt" IS NOT NULL AND subscriber."stoppedAt" IS NULL)`

/** Returns whether a subscriber is active. */
export const isActive = ({ confirmedAt, stoppedAt }: Pick<Subscriber, 'confirmedAt' | 'stoppedAt'>): boolean =>
  confirmedAt !== null && stoppedAt === null

/** The page that a subscriber follows: without one, the organization’s first. */
export const pageOfSubscriberSql = Prisma.sql`coalesce(subscriber."pageId", organization."pageId")`

/** Returns the condition of subscribers who follow a page, as `pageOfSubscriberSql` has it. */
export const ofPage = (pageId: string): Prisma.SubscriberWhereInput => ({
  OR: [{ pageId }, { pageId: null, organization: { pageId } }],
})

/** The condition of a subscriber whose email address is that of a member. */
export const isMemberSql = Prisma.sql`(subscriber.channel = 'EMAIL' AND EXISTS (
  SELECT 1 FROM ${members} AS member JOIN ${people} AS person ON person.id = member."userId"
  WHERE member."organizationId" = subscriber."organizationId" AND lower(person.email) = lower(subscriber.address)))`
