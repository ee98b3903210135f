import type pg from 'pg'
import { organizations, pageAccesses, pageServices, pages } from '../../account/views.ts'
import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { transaction } from '../../core/context.ts'
import type { CountDeleted } from '../../core/deleted-rows.ts'
import { DELETE_BATCH, uncounted } from '../../core/deleted-rows.ts'
import { Conflict } from '../../core/errors.ts'
import { DAY } from '../../core/time.ts'
import type { Delivery, Organization, Prisma, Subscriber } from '../../generated/prisma/client.ts'
import { findOwned } from '../../status/ownership.ts'
import type { PageScope } from '../../status/page-scope.ts'
import type { PageOwner } from '../content/content.ts'
import { narrowPayload } from '../content/payload.ts'
import { readAttempts } from '../queue/attempt.ts'
import type { DueRow } from '../queue/kind.ts'
import { deleteEnded, RETENTION } from '../queue/retention.ts'
import { notifyDeliveryWorkers } from '../queue/wake-up.ts'
import { isActive, pageOfSubscriberSql } from '../subscriber/subscriber-conditions.ts'
import { WITHHELD } from '../subscriber/withheld.ts'

/** The fields of a subscriber that sending needs. */
type Recipient = Pick<
  Subscriber,
  | 'id'
  | 'channel'
  | 'address'
  | 'token'
  | 'secret'
  | 'formerSecret'
  | 'formerSecretUntil'
  | 'confirmedAt'
  | 'confirmableUntil'
  | 'stoppedAt'
  | 'stopReason'
  | 'bounces'
  | 'language'
  | 'isOwnChoice'
>

/**
 * A claimed delivery with everything that sending needs. Its retry window starts when it is created or redelivered, or
 * at the end of a deferral.
 */
export interface DueDelivery extends DueRow, Pick<Delivery, 'seq' | 'subjectId' | 'createdAt'> {
  readonly subscriber: Recipient
  readonly organization: PageOwner & Pick<Organization, 'tier' | 'languages' | 'defaultLanguage'>
  /** The stored payload; null if the message is about the subscription. */
  readonly payload: Prisma.JsonValue
  /** Whether the message only announces an update. */
  readonly isWithheld: boolean
}

type Row = Omit<DueDelivery, 'failed' | 'subscriber' | 'organization' | 'payload'> &
  Omit<Recipient, 'id'> &
  Omit<DueDelivery['organization'], 'name'> &
  Pick<Delivery, 'attempts'> & { readonly subscriberId: string; readonly organizationName: string } & Pick<
    PageScope,
    'serviceIds'
  >

const READ = `
  SELECT delivery.id, delivery."organizationId", delivery.seq, delivery."subjectId", delivery.destination,
    delivery."createdAt", delivery."dueAt", delivery.attempts,
    GREATEST(delivery."createdAt", delivery."deferredUntil") AS "triedSince",
    subscriber.id AS "subscriberId", subscriber.channel, subscriber.address, subscriber.token, subscriber.secret, subscriber."formerSecret",
    subscriber."formerSecretUntil", subscriber."confirmedAt", subscriber."confirmableUntil", subscriber."stoppedAt", subscriber."stopReason",
    subscriber.bounces, subscriber.language, subscriber."isOwnChoice", organization.languages, organization."defaultLanguage",
    coalesce(page.name, organization.name) AS "organizationName", page.slug, organization."timeZone", page."customDomain",
    coalesce(page."accentColor", organization."accentColor") AS "accentColor",
    coalesce(page."logoUrl", organization."logoUrl") AS "logoUrl", organization.tier,
    CASE WHEN NOT page."allServices" THEN
      ARRAY(SELECT "serviceId" FROM ${pageServices.sql} AS pageServices WHERE "pageId" = page.id) END AS "serviceIds",
    coalesce(${WITHHELD.sql}, false) AS "isWithheld"
  FROM "Delivery" AS delivery
  JOIN "Subscriber" AS subscriber ON subscriber.id = delivery."subscriberId"
  JOIN ${organizations.sql} AS organization ON organization.id = delivery."organizationId"
  JOIN ${pages.sql} AS page ON page.id = ${pageOfSubscriberSql.sql}
  LEFT JOIN ${pageAccesses.sql} AS access ON access."pageId" = page.id
  WHERE delivery.id = ANY($1) AND delivery.status = 'PENDING' AND organization."deletedAt" IS NULL`

/** Reads pending deliveries by id, unordered. Uses two statements without Prisma, because there can be very many. */
export async function readDeliveries(pool: Pick<pg.Pool, 'query'>, ids: readonly string[]): Promise<DueDelivery[]> {
  const { rows } = await pool.query<Row>({ name: 'read deliveries', text: READ, values: [ids] })
  const payloads = await readPayloads(pool, rows)
  return rows.map((row) => {
    const { id, organizationId, seq, subjectId, destination, createdAt, dueAt, attempts, triedSince, ...rest } = row
    const {
      subscriberId,
      organizationName,
      slug,
      timeZone,
      customDomain,
      accentColor,
      logoUrl,
      tier,
      languages,
      defaultLanguage,
      serviceIds,
      isWithheld,
      ...subscriber
    } = rest
    const failed = readAttempts(attempts).filter(({ at }) => at >= createdAt).length
    return {
      ...{ id, organizationId, seq, subjectId, destination, createdAt, dueAt, failed, triedSince },
      subscriber: { id: subscriberId, ...subscriber },
      organization: {
        ...{ name: organizationName, slug, timeZone, customDomain, accentColor, logoUrl },
        ...{ tier, languages, defaultLanguage },
      },
      isWithheld,
      payload: narrowPayload(payloads.get(`${organizationId} ${seq}`) ?? null, { serviceIds }),
    }
  })
}

/** Reads the payloads of deliveries. Thousands can share one payload, which is read once. */
async function readPayloads(
  pool: Pick<pg.Pool, 'query'>,
  rows: readonly Pick<Row, 'organizationId' | 'seq'>[],
): Promise<Map<string, Prisma.JsonValue>> {
  const wanted = new Map(rows.filter(({ seq }) => seq !== null).map((row) => [`${row.organizationId} ${row.seq}`, row]))
  if (wanted.size === 0) return new Map()
  const found = await pool.query<{ organizationId: string; seq: number; content: Prisma.JsonValue }>({
    name: 'read payloads',
    text: `SELECT payload."organizationId", payload.seq, payload.content FROM "NotificationPayload" AS payload
      JOIN unnest($1::text[], $2::int[]) AS wanted (id, seq) ON wanted.id = payload."organizationId" AND wanted.seq = payload.seq`,
    values: [
      [...wanted.values()].map(({ organizationId }) => organizationId),
      [...wanted.values()].map(({ seq }) => seq),
    ],
  })
  return new Map(found.rows.map(({ organizationId, seq, content }) => [`${organizationId} ${seq}`, content]))
}

/**
 * Sends a failed or delivered message again with the same id, so that a receiver can drop a duplicate. Requires a key
 * with scope WRITE.
 * @throws NotFound.
 * @throws Conflict if it is pending, its subscriber is inactive, or its payload is deleted.
 */
export async function redeliver(ctx: Context, id: string): Promise<Delivery> {
  const organizationId = requireScope(ctx, 'WRITE')
  return transaction(ctx, async (tx) => {
    const { subscriber, ...delivery } = await findOwned('Delivery', id, (known) =>
      tx.db.delivery.findUnique({ where: { id: known, organizationId }, include: { subscriber: true } }),
    )
    if (delivery.status === 'PENDING') throw new Conflict('This delivery is still pending.')
    if (!isActive(subscriber)) throw new Conflict('The subscriber is no longer active.')
    const kept = delivery.seq === null ? null : { organizationId_seq: { organizationId, seq: delivery.seq } }
    if (kept && !(await tx.db.notificationPayload.findUnique({ where: kept })))
      throw new Conflict('The content of this delivery has been deleted.')
    const now = tx.now()
    // The retry window starts again; earlier attempts are kept.
    const data = { status: 'PENDING', dueAt: now, createdAt: now, deferredUntil: null, endedAt: null } as const
    const again = await tx.db.delivery.update({ where: { id }, data })
    await notifyDeliveryWorkers(tx, 'Delivery')
    return again
  })
}

/** Payloads outlive their last delivery. */
const PAYLOAD_RETENTION = RETENTION + 2 * DAY

/**
 * Deletes a batch of old deliveries, payloads and report contents, and of subscriptions that were never confirmed or
 * whose incidents are over. Returns whether there may be more.
 */
export async function deleteOldDeliveries(
  { db, now }: Pick<Context, 'db' | 'now'>,
  count: CountDeleted = uncounted,
): Promise<boolean> {
  const since = (age: number) => new Date(now().getTime() - age)
  const deliveries = await deleteEnded({ db, now }, 'Delivery')
  const payloads = await db.$executeRaw`
    DELETE FROM "NotificationPayload" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "NotificationPayload" WHERE "createdAt" < ${since(PAYLOAD_RETENTION)} LIMIT ${DELETE_BATCH}))`
  // Report contents are read only once, when their event is dispatched.
  const reports = await db.$executeRaw`
    DELETE FROM "PageReport" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "PageReport" WHERE "createdAt" < ${since(PAYLOAD_RETENTION)} LIMIT ${DELETE_BATCH}))`
  const unconfirmed = await db.$executeRaw`
    DELETE FROM "Subscriber" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "Subscriber"
      WHERE "confirmedAt" IS NULL AND "stoppedAt" IS NULL AND "confirmableUntil" <= ${now()} LIMIT ${DELETE_BATCH}))`
  const done = await db.$executeRaw`
    DELETE FROM "Subscriber" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "Subscriber" AS subscriber
      WHERE cardinality(topics) = 0 AND "confirmedAt" < ${since(DAY)} AND "stoppedAt" IS NULL
        AND NOT EXISTS (SELECT 1 FROM "SubscriberIncident" AS followed WHERE followed."subscriberId" = subscriber.id)
        AND NOT EXISTS (SELECT 1 FROM "Delivery" WHERE "subscriberId" = subscriber.id AND status = 'PENDING') LIMIT ${DELETE_BATCH}))`
  count('Delivery', deliveries)
  count('NotificationPayload', payloads)
  count('Subscriber', unconfirmed + done)
  return Math.max(deliveries, payloads, reports, unconfirmed, done) >= DELETE_BATCH
}
