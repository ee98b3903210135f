import { organizations } from '../../account/views.ts'
import type { Context, Database } from '../../core/context.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { isFor } from '../../event-log/audience.ts'
import type { Event } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { members, sessions } from '../../people/views.ts'
import { notifyDeliveryWorkers } from '../queue/wake-up.ts'
import type { PushContent, PushOwner } from './content.ts'
import { buildPush } from './content.ts'

/** Members of an organization. */
export interface PushAudience {
  readonly organizationId: string
  /** Empty for every member. */
  readonly userIds: readonly string[]
}

/** Selects the browsers of members with a valid session. */
export const browsersIn = ({ organizationId, userIds }: PushAudience, now: Date) => Prisma.sql`
  SELECT browser.id FROM ${members} AS member
  JOIN "PushBrowser" AS browser ON browser."userId" = member."userId"
  JOIN ${sessions} AS session ON session.id = browser."sessionId" AND session."expiresAt" > ${now}
  WHERE member."organizationId" = ${organizationId}
    AND (cardinality(${[...userIds]}::text[]) = 0 OR member."userId" = ANY (${[...userIds]}::text[]))`

/** A notification to queue. */
interface NewPush extends PushAudience {
  /** A queued notification about the same subject is replaced. */
  readonly subjectId: string
  /** The same for the same change, so that it is queued once. */
  readonly key: string
  readonly content: PushContent
  /** Leaves out browsers that were added later; absent for all browsers. */
  readonly since?: Date
  /** The message of an alert channel that it belongs to, where its result is recorded. */
  readonly alertDeliveryId?: string
}

/** Returns the purpose for which the acknowledgement path of a notification is sealed. */
export const sealedAcknowledgement = (alertDeliveryId: string) => `${alertDeliveryId} acknowledgement`

/**
 * Queues a notification for the browsers of members, and wakes the workers once the transaction is committed.
 * @returns the number of browsers.
 */
export async function queuePush({ db, now }: Pick<Context, 'db' | 'now'>, push: NewPush): Promise<number> {
  const { organizationId, subjectId, key, content, since = now(), alertDeliveryId = null } = push
  const browsers = Prisma.sql`${browsersIn(push, now())} AND browser."createdAt" <= ${since}`
  await db.$executeRaw`
    DELETE FROM "PushDelivery" WHERE "subjectId" = ${subjectId} AND "browserId" IN (${browsers})`
  const queued = await db.$executeRaw`
    INSERT INTO "PushDelivery" (id, "browserId", "organizationId", "subjectId", content, "alertDeliveryId", "dueAt", "createdAt")
    SELECT 'psd_' || left(md5(browser.id || ' ' || ${key}), 24), browser.id, ${organizationId}, ${subjectId},
      ${JSON.stringify(content)}::jsonb, ${alertDeliveryId}, ${now()}, ${now()} FROM (${browsers}) AS browser
    ON CONFLICT DO NOTHING`
  if (queued > 0) await notifyDeliveryWorkers({ db }, 'PushDelivery')
  return queued
}

/** Seals the path that acknowledges an alert, because access to the database must not allow acknowledging. */
export const sealAcknowledgement = (seal: SecretBox, alertDeliveryId: string, path: string): string =>
  seal.seal(path, sealedAcknowledgement(alertDeliveryId))

/**
 * Queues the notifications of an event for the browsers of the organization's members, in the dispatcher's transaction.
 */
export async function dispatchPush(ctx: Context, organizationId: string, event: Event): Promise<void> {
  if (!isFor('browsers', event.kind)) return
  const { db, now } = ctx
  const audience = { organizationId, userIds: [] }
  const owner = await readOwner(db, audience, now())
  const push = owner && (await buildPush(db, owner, event))
  if (push) await queuePush(ctx, { ...audience, ...push, subjectId: event.subjectId, since: event.at })
}

/** Returns the organization, or null if no member has a browser to notify. */
async function readOwner(db: Database, audience: PushAudience, now: Date): Promise<PushOwner | null> {
  const [owner] = await db.$queryRaw<PushOwner[]>`
    SELECT name, slug FROM ${organizations} AS organizations WHERE id = ${audience.organizationId} AND EXISTS (${browsersIn(audience, now)})`
  return owner ?? null
}
