import type pg from 'pg'
import { requireScope } from '../account/access.ts'
import type { Context } from '../context.ts'
import { transaction } from '../context.ts'
import { Conflict } from '../errors.ts'
import type { Delivery, Organization, Prisma, Subscriber } from '../generated/prisma/client.ts'
import { own } from '../status/guard.ts'
import { DAY } from '../time.ts'
import { readAttempts } from './attempt.ts'
import type { PageOf } from './letter.ts'

/** The channel on which it is told that there are deliveries to send. */
export const DELIVERY_CHANNEL = 'delivery'

/** Wakes the workers once the transaction is committed. */
export async function announceDeliveries({ db }: Pick<Context, 'db'>): Promise<void> {
  await db.$executeRaw`SELECT pg_notify(${DELIVERY_CHANNEL}, '')`
}

/** Of a subscriber, what sending takes. */
export type Recipient = Pick<
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
>

/** A delivery that a worker has taken, with all that sending it takes. */
export interface DueDelivery
  extends Pick<Delivery, 'id' | 'organizationId' | 'seq' | 'subjectId' | 'destination' | 'createdAt'> {
  /** It is this worker's while its due time is still this. */
  readonly dueAt: Date
  /** How many attempts have failed since it was made, or made anew. */
  readonly failed: number
  /** Since when it is tried: when it was made, or could be sent after it had to wait for a budget. */
  readonly triedSince: Date
  readonly subscriber: Recipient
  readonly organization: PageOf & Pick<Organization, 'tier'>
  /** What it says, as it is stored; null: it is about the subscription. */
  readonly notice: Prisma.JsonValue
}

type Row = Omit<DueDelivery, 'failed' | 'subscriber' | 'organization' | 'notice'> &
  Omit<Recipient, 'id'> &
  Omit<DueDelivery['organization'], 'name'> &
  Pick<Delivery, 'attempts'> & { readonly subscriberId: string; readonly organizationName: string }

const READ = `
  SELECT delivery.id, delivery."organizationId", delivery.seq, delivery."subjectId", delivery.destination,
    delivery."createdAt", delivery."dueAt", delivery.attempts,
    GREATEST(delivery."createdAt", delivery."deferredUntil") AS "triedSince",
    reader.id AS "subscriberId", reader.channel, reader.address, reader.token, reader.secret, reader."formerSecret",
    reader."formerSecretUntil", reader."confirmedAt", reader."confirmableUntil", reader."stoppedAt", reader."stopReason",
    reader.bounces,
    organization.name AS "organizationName", organization.slug, organization."timeZone", organization."customDomain",
    organization.tier
  FROM "Delivery" AS delivery
  JOIN "Subscriber" AS reader ON reader.id = delivery."subscriberId"
  JOIN "Organization" AS organization ON organization.id = delivery."organizationId"
  WHERE delivery.id = ANY($1) AND delivery.status = 'PENDING' AND organization."deletedAt" IS NULL`

/** The deliveries with these ids that wait, in no order. Two statements, past Prisma: there may be very many of them. */
export async function readDeliveries(pool: Pick<pg.Pool, 'query'>, ids: readonly string[]): Promise<DueDelivery[]> {
  const { rows } = await pool.query<Row>({ name: 'read deliveries', text: READ, values: [ids] })
  const notices = await readNotices(pool, rows)
  return rows.map((row) => {
    const { id, organizationId, seq, subjectId, destination, createdAt, dueAt, attempts, triedSince, ...rest } = row
    const { subscriberId, organizationName, slug, timeZone, customDomain, tier, ...reader } = rest
    const failed = readAttempts(attempts).filter(({ at }) => at >= createdAt).length
    return {
      ...{ id, organizationId, seq, subjectId, destination, createdAt, dueAt, failed, triedSince },
      subscriber: { id: subscriberId, ...reader },
      organization: { name: organizationName, slug, timeZone, customDomain, tier },
      notice: notices.get(`${organizationId} ${seq}`) ?? null,
    }
  })
}

/** What deliveries say; thousands say the same, which is read once. */
async function readNotices(
  pool: Pick<pg.Pool, 'query'>,
  rows: readonly Pick<Row, 'organizationId' | 'seq'>[],
): Promise<Map<string, Prisma.JsonValue>> {
  const wanted = new Map(rows.filter(({ seq }) => seq !== null).map((row) => [`${row.organizationId} ${row.seq}`, row]))
  if (wanted.size === 0) return new Map()
  const found = await pool.query<{ organizationId: string; seq: number; content: Prisma.JsonValue }>({
    name: 'read notices',
    text: `SELECT notice."organizationId", notice.seq, notice.content FROM "Notice" AS notice
      JOIN unnest($1::text[], $2::int[]) AS wanted (id, seq) ON wanted.id = notice."organizationId" AND wanted.seq = notice.seq`,
    values: [
      [...wanted.values()].map(({ organizationId }) => organizationId),
      [...wanted.values()].map(({ seq }) => seq),
    ],
  })
  return new Map(found.rows.map(({ organizationId, seq, content }) => [`${organizationId} ${seq}`, content]))
}

/**
 * Has a delivery sent anew that was given up or delivered, under the same id: a receiver that had it can drop it. Needs a key
 * with scope WRITE.
 * @throws NotFound when the organization has none such. @throws Conflict when it is still being tried, or its subscriber is
 * told nothing any more.
 */
export async function redeliver(ctx: Context, id: string): Promise<Delivery> {
  const organizationId = requireScope(ctx, 'WRITE')
  return transaction(ctx, async (tx) => {
    const { subscriber, ...delivery } = await own('Delivery', id, (known) =>
      tx.db.delivery.findUnique({ where: { id: known, organizationId }, include: { subscriber: true } }),
    )
    if (delivery.status === 'PENDING') throw new Conflict('This is still being delivered.')
    if (subscriber.stoppedAt || !subscriber.confirmedAt) throw new Conflict('The subscriber is told nothing any more.')
    const kept = delivery.seq === null ? null : { organizationId_seq: { organizationId, seq: delivery.seq } }
    if (kept && !(await tx.db.notice.findUnique({ where: kept })))
      throw new Conflict('What this said is kept no longer.')
    const now = tx.now()
    // It is tried for a day again; its attempts so far stay.
    const data = { status: 'PENDING', dueAt: now, createdAt: now, deferredUntil: null, endedAt: null } as const
    const again = await tx.db.delivery.update({ where: { id }, data })
    await announceDeliveries(tx)
    return again
  })
}

/** For how long deliveries are kept after they ended; what they said lasts until none of them is left. */
const KEPT = 30 * DAY
const NOTICES_KEPT = KEPT + 2 * DAY
const BATCH = 5000

/**
 * Deletes a batch of what is kept no longer: old deliveries and notices, and subscriptions that were asked for and never
 * confirmed. Gives whether there may be more.
 */
export async function forgetOldDeliveries({ db, now }: Pick<Context, 'db' | 'now'>): Promise<boolean> {
  const since = (age: number) => new Date(now().getTime() - age)
  const deliveries = await db.$executeRaw`
    DELETE FROM "Delivery" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "Delivery" WHERE "endedAt" < ${since(KEPT)} LIMIT ${BATCH}))`
  const notices = await db.$executeRaw`
    DELETE FROM "Notice" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "Notice" WHERE "createdAt" < ${since(NOTICES_KEPT)} LIMIT ${BATCH}))`
  const unconfirmed = await db.$executeRaw`
    DELETE FROM "Subscriber" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "Subscriber"
      WHERE "confirmedAt" IS NULL AND "stoppedAt" IS NULL AND "confirmableUntil" <= ${now()} LIMIT ${BATCH}))`
  return Math.max(deliveries, notices, unconfirmed) >= BATCH
}
