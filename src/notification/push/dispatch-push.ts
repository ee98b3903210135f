import type { Context, Database } from '../../core/context.ts'
import type { Event } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { PushOwner } from './content.ts'
import { buildPush, pushedKinds } from './content.ts'

/** The database channel that announces new notifications for browsers. */
export const PUSH_CHANNEL = 'push'

/** Selects the browsers of an organization's members that are signed in, and to which notifications go. */
const browsersIn = (organizationId: string, now: Date) => Prisma.sql`
  SELECT browser.id FROM "Membership" AS member
  JOIN "PushBrowser" AS browser ON browser."userId" = member."userId"
  JOIN "Session" AS session ON session.id = browser."sessionId" AND session."expiresAt" > ${now}
  WHERE member."organizationId" = ${organizationId}`

/**
 * Creates the notifications of one event for the browsers of the organization's members, in the dispatcher's transaction. One
 * that was not sent yet and is about the same gives way. Wakes the workers once the transaction is committed.
 */
export async function dispatchPush({ db, now }: Context, organizationId: string, event: Event): Promise<void> {
  if (!pushedKinds.has(event.kind)) return
  const owner = await readOwner(db, organizationId, now())
  const push = owner && (await buildPush(db, owner, event))
  if (!push) return
  const { subjectId } = event
  const browsers = Prisma.sql`${browsersIn(organizationId, now())} AND browser."createdAt" <= ${event.at}`
  await db.$executeRaw`
    DELETE FROM "PushDelivery" WHERE "subjectId" = ${subjectId} AND "browserId" IN (${browsers})`
  await db.$executeRaw`
    INSERT INTO "PushDelivery" (id, "browserId", "organizationId", "subjectId", content, "dueAt", "createdAt")
    SELECT 'psd_' || left(md5(browser.id || ' ' || ${push.key}), 24), browser.id, ${organizationId}, ${subjectId},
      ${JSON.stringify(push.content)}::jsonb, ${now()}, ${now()} FROM (${browsers}) AS browser
    ON CONFLICT DO NOTHING`
  await db.$executeRaw`SELECT pg_notify(${PUSH_CHANNEL}, '')`
}

/** Returns the organization; null: no member has a browser to notify. */
async function readOwner(db: Database, organizationId: string, now: Date): Promise<PushOwner | null> {
  const [owner] = await db.$queryRaw<PushOwner[]>`
    SELECT name, slug FROM "Organization" WHERE id = ${organizationId} AND EXISTS (${browsersIn(organizationId, now)})`
  return owner ?? null
}
