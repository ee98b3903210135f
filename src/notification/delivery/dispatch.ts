import type pg from 'pg'
import { organizations, pageServices, pages } from '../../account/views.ts'
import type { Context } from '../../core/context.ts'
import { transaction } from '../../core/context.ts'
import { readEventsAfter } from '../../event-log/event.ts'
import type { Event } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { Notification } from '../content/payload.ts'
import { buildNotification, serializePayload } from '../content/payload.ts'
import { dispatchPush } from '../push/queue.ts'
import { notifyDeliveryWorkers } from '../queue/wake-up.ts'
import { activeSql, isMemberSql, pageOfSubscriberSql } from '../subscriber/subscriber-conditions.ts'

/** How many events of an organization one transaction turns into deliveries. */
const BATCH = 100

/** Processes events in the transaction that moves the dispatcher's position, so that each is processed once. */
export type EventHandler = (tx: Context, organizationId: string, events: readonly Event[]) => Promise<void>

/**
 * Creates deliveries for new events, one per event and interested subscriber, and notifications for the browsers of
 * members, in the transaction that moves the dispatcher's position. Does nothing while another worker dispatches.
 * Returns whether there may be more.
 * @param handle a further handler of the events.
 */
export function dispatch(ctx: Context, organizationId: string, handle?: EventHandler): Promise<boolean> {
  return transaction(ctx, async (tx) => {
    const [position] = await tx.db.$queryRaw<{ seq: number }[]>`
      SELECT seq FROM "Dispatch" WHERE "organizationId" = ${organizationId} FOR UPDATE SKIP LOCKED`
    if (!position) return false
    const events = await readEventsAfter(tx.db, organizationId, position.seq, BATCH)
    let made = 0
    for (const event of events) {
      await dispatchPush(tx, organizationId, event)
      if (!event.notifySubscribers) continue
      const notification = await buildNotification(tx.db, event)
      if (notification) made += await createDeliveries(tx, organizationId, event.seq, notification)
    }
    await handle?.(tx, organizationId, events)
    const seq = events.at(-1)?.seq
    if (seq !== undefined) await tx.db.dispatch.update({ where: { organizationId }, data: { seq } })
    if (made > 0) await notifyDeliveryWorkers(tx, 'Delivery')
    return events.length === BATCH
  })
}

/**
 * Creates the deliveries of an event with one statement, to subscribers whose page shows it. Delivery ids derive from
 * the subscriber and the event, which prevents duplicates. Returns their number.
 */
async function createDeliveries(
  { db, now }: Context,
  organizationId: string,
  seq: number,
  { payload, topic, serviceIds }: Notification,
): Promise<number> {
  const page = payload.about === 'REPORT' ? readsReport(payload) : Prisma.empty
  const made = await db.$executeRaw`
    INSERT INTO "Delivery" (id, "organizationId", "subscriberId", channel, seq, "subjectId", destination, "dueAt", "createdAt")
    SELECT 'dlv_' || left(md5(subscriber.id || ' ' || ${seq}::int), 24), subscriber."organizationId", subscriber.id, subscriber.channel,
      ${seq}::int, ${payload.id}, subscriber.destination, ${now()}, ${now()}
    FROM "Subscriber" AS subscriber
    JOIN ${organizations} AS organization ON organization.id = subscriber."organizationId"
    JOIN ${pages} AS page ON page.id = ${pageOfSubscriberSql}
    WHERE (page."allServices" OR cardinality(${[...serviceIds]}::text[]) = 0 OR EXISTS (
        SELECT 1 FROM ${pageServices} AS shown WHERE shown."pageId" = page.id AND shown."serviceId" = ANY (${[...serviceIds]}::text[])))
      ${page} AND subscriber."organizationId" = ${organizationId} AND ${activeSql}
      AND subscriber."sinceSeq" < ${seq} AND (
        ${topic}::"Topic" = ANY (subscriber.topics)
        AND (subscriber."allServices" OR cardinality(${[...serviceIds]}::text[]) = 0 OR EXISTS (
          SELECT 1 FROM "SubscriberService" AS chosen
          WHERE chosen."subscriberId" = subscriber.id AND chosen."serviceId" = ANY (${[...serviceIds]}::text[])))
        OR EXISTS (
          SELECT 1 FROM "SubscriberIncident" AS followed
          WHERE followed."subscriberId" = subscriber.id AND followed."incidentId" = ${payload.id}))
    ON CONFLICT DO NOTHING`
  // This is the last notification that its followers get.
  if (payload.about === 'INCIDENT' && payload.step === 'RESOLVED')
    await db.subscriberIncident.deleteMany({ where: { incidentId: payload.id } })
  if (made === 0) return 0
  const data = { organizationId, seq, content: serializePayload(payload), createdAt: now() }
  await db.notificationPayload.createMany({ data, skipDuplicates: true })
  return made
}

/**
 * Selects the recipients of a page's report: its subscribers, or only the members among them if only members can read
 * the report.
 */
function readsReport({ pageId, isPublished }: Extract<Notification['payload'], { about: 'REPORT' }>): Prisma.Sql {
  return Prisma.sql`AND page.id = ${pageId} AND (${isPublished} OR ${isMemberSql})`
}

/** Returns the organizations with undispatched events. @param named the organizations to check; null for all. */
export async function findUndispatched(
  pool: Pick<pg.Pool, 'query'>,
  named: readonly string[] | null,
): Promise<string[]> {
  const text = `${UNDISPATCHED.sql} AND ($1::text[] IS NULL OR organization.id = ANY ($1))`
  const { rows } = await pool.query<{ id: string }>({ name: 'undispatched', text, values: [named] })
  return rows.map(({ id }) => id)
}

/** Selects the organizations with undispatched events. */
export const UNDISPATCHED = Prisma.sql`
  SELECT organization.id FROM "Dispatch" AS position
  JOIN ${organizations} AS organization ON organization.id = position."organizationId"
  WHERE position.seq < organization."lastSeq" AND organization."deletedAt" IS NULL`
