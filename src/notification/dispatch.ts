import type pg from 'pg'
import type { Context } from '../context.ts'
import { transaction } from '../context.ts'
import { readAfter } from '../eventlog/event.ts'
import { announceDeliveries } from './delivery.ts'
import type { Announcement } from './notice.ts'
import { announcementOf, noticeContent, toldKinds } from './notice.ts'

/** How many events of one organization are turned into deliveries in one transaction. */
const AT_ONCE = 100

/**
 * Turns what has happened since into deliveries: of each event that is told one for each subscriber who wants it, all of them
 * in the transaction that moves the position. Nothing when another worker is at it. Gives whether there may be more.
 */
export function dispatch(ctx: Context, organizationId: string): Promise<boolean> {
  return transaction(ctx, async (tx) => {
    const [position] = await tx.db.$queryRaw<{ seq: number }[]>`
      SELECT seq FROM "Dispatch" WHERE "organizationId" = ${organizationId} FOR UPDATE SKIP LOCKED`
    if (!position) return false
    const events = await readAfter(tx.db, organizationId, position.seq, AT_ONCE)
    let made = 0
    for (const event of events) {
      if (!told.has(event.kind)) continue
      const announcement = await announcementOf(tx.db, event)
      if (announcement) made += await deliver(tx, organizationId, event.seq, announcement)
    }
    const seq = events.at(-1)?.seq
    if (seq !== undefined) await tx.db.dispatch.update({ where: { organizationId }, data: { seq } })
    if (made > 0) await announceDeliveries(tx)
    return events.length === AT_ONCE
  })
}

const told = new Set(toldKinds)

/**
 * Makes the deliveries of one event, in one statement however many they are. Each one's id follows from its subscriber and the
 * event, so that none can be there twice. Gives how many there are.
 */
async function deliver(
  { db, now }: Context,
  organizationId: string,
  seq: number,
  { notice, topic, serviceIds }: Announcement,
): Promise<number> {
  const made = await db.$executeRaw`
    INSERT INTO "Delivery" (id, "organizationId", "subscriberId", channel, seq, "subjectId", destination, "dueAt", "createdAt")
    SELECT 'dlv_' || left(md5(reader.id || ' ' || ${seq}::int), 24), reader."organizationId", reader.id, reader.channel,
      ${seq}::int, ${notice.id}, reader.destination, ${now()}, ${now()}
    FROM "Subscriber" AS reader
    WHERE reader."organizationId" = ${organizationId} AND reader."confirmedAt" IS NOT NULL AND reader."stoppedAt" IS NULL
      AND reader."sinceSeq" < ${seq} AND ${topic}::"Topic" = ANY (reader.topics)
      AND (reader."allServices" OR cardinality(${[...serviceIds]}::text[]) = 0 OR EXISTS (
        SELECT 1 FROM "SubscriberService" AS chosen
        WHERE chosen."subscriberId" = reader.id AND chosen."serviceId" = ANY (${[...serviceIds]}::text[])))
    ON CONFLICT DO NOTHING`
  if (made === 0) return 0
  const data = { organizationId, seq, content: noticeContent(notice), createdAt: now() }
  await db.notice.createMany({ data, skipDuplicates: true })
  return made
}

/**
 * The organizations whose logs have grown since they were turned into deliveries.
 * @param named only of these; null: of all.
 */
export async function undispatched(pool: Pick<pg.Pool, 'query'>, named: readonly string[] | null): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({ name: 'undispatched', text: UNDISPATCHED, values: [named] })
  return rows.map(({ id }) => id)
}

const UNDISPATCHED = `
  SELECT organization.id FROM "Dispatch" AS position
  JOIN "Organization" AS organization ON organization.id = position."organizationId"
  WHERE position.seq < organization."lastSeq" AND organization."deletedAt" IS NULL AND ($1::text[] IS NULL OR organization.id = ANY ($1))`
