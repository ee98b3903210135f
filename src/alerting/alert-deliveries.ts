import type pg from 'pg'
import { withOrganization } from '../account/views.ts'
import type { Context } from '../core/context.ts'
import { newId } from '../core/id.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { AlertChannel, AlertDelivery, Organization } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { SendOutcome } from '../notification/channel/channel.ts'
import { suppressedAmong } from '../notification/mail/suppression.ts'
import { readAttempts } from '../notification/queue/attempt.ts'
import type { DeliveryKind, DueRow } from '../notification/queue/kind.ts'
import { keepResults } from '../notification/queue/store.ts'
import type { Threads } from '../notification/queue/thread.ts'
import { notifyDeliveryWorkers } from '../notification/queue/wake-up.ts'
import { acknowledgeTokenHash, buildMessage } from './message.ts'
import { quietTimesOf, quietUntil } from './quiet-hours.ts'
import { GATHER_MS, MAX_GATHER_MS } from './rules.ts'
import { followMove, sendAlert } from './send.ts'
import type { AlertItem } from './sender/item.ts'
import { isOver, readItems, serializeItems } from './sender/item.ts'
import type { AlertTools } from './sender/sender.ts'
import { senders } from './senders.ts'

/** How many messages are claimed and sent at once, and the maximum number of concurrent sends to one host. */
const AT_ONCE = 64
const PER_HOST = 8

/** A channel gets the messages about one alert in order; where people read them, all messages. */
const alertThreads: Threads = {
  table: 'AlertDelivery',
  receiver: 'channelId',
  subject: 'thread',
  position: 'position',
}

type Tx = Pick<Context, 'db' | 'now'> & { readonly seal: SecretBox }

/** How many alerts a message can have; further ones go into another message. */
const MAX_ITEMS = 200

/**
 * Creates the deliveries of items to a channel, in the transaction that changes the alerts. A program gets one delivery per item,
 * immediately. People get one delivery for all items within a few seconds, including items that are still waiting. Quiet times
 * delay both.
 * @returns when they are sent.
 */
export async function createDeliveries(tx: Tx, channel: AlertChannel, items: readonly AlertItem[]): Promise<Date> {
  const now = tx.now()
  const times = quietTimesOf(channel)
  const quietEnd = times && quietUntil(times, now)
  if (senders[channel.kind].isMachine) {
    for (const item of items) await deliverToMachine(tx, channel, item, quietEnd)
  } else {
    await deliverToPeople(tx, channel, items, quietEnd)
  }
  await notifyDeliveryWorkers(tx, 'AlertDelivery')
  return quietEnd ?? now
}

async function deliverToMachine(tx: Tx, channel: AlertChannel, item: AlertItem, quietEnd: Date | null): Promise<void> {
  const where = { channelId: channel.id, thread: item.alertId, status: 'PENDING', openUntil: { gt: tx.now() } } as const
  if (isOver(item)) {
    // An alert that begins and ends within quiet times is not sent.
    const data = { status: 'CANCELLED', dueAt: null, openUntil: null, endedAt: tx.now() } as const
    const { count } = await tx.db.alertDelivery.updateMany({ where, data })
    if (count > 0) return
  }
  await create(tx, channel, item.alertId, [item], quietEnd)
}

async function deliverToPeople(
  tx: Tx,
  channel: AlertChannel,
  items: readonly AlertItem[],
  quietEnd: Date | null,
): Promise<void> {
  const now = tx.now()
  const [waiting] = await tx.db.$queryRaw<{ id: string; items: never; createdAt: Date }[]>`
    SELECT id, items, "createdAt" FROM "AlertDelivery"
    WHERE "channelId" = ${channel.id} AND status = 'PENDING' AND "openUntil" > ${now} AND "dueAt" = "openUntil"
    ORDER BY position DESC LIMIT 1 FOR UPDATE`
  const merged = waiting === undefined ? null : mergeItems(readItems(waiting.items), items, channel)
  if (waiting === undefined || merged === null || merged.length > MAX_ITEMS) {
    const until = quietEnd ?? new Date(now.getTime() + GATHER_MS)
    for (let from = 0; from < items.length; from += MAX_ITEMS)
      await create(tx, channel, channel.id, mergeItems([], items.slice(from, from + MAX_ITEMS), channel), until)
    return
  }
  const until = quietEnd ?? new Date(Math.min(now.getTime() + GATHER_MS, waiting.createdAt.getTime() + MAX_GATHER_MS))
  await tx.db.$executeRaw`
    UPDATE "AlertDelivery" SET items = ${serializeItems(merged)}::jsonb, "openUntil" = ${until}, "dueAt" = ${until}
    WHERE id = ${waiting.id}`
}

/**
 * Adds items to those of an unsent message; the last item of each alert wins. If the channel has not chosen the end of an alert,
 * the item of its failure stays and gets its duration.
 */
function mergeItems(
  before: readonly AlertItem[],
  more: readonly AlertItem[],
  channel: Pick<AlertChannel, 'changes'>,
): AlertItem[] {
  const merged = new Map(before.map((item) => [item.alertId, item]))
  for (const item of more) {
    const known = merged.get(item.alertId)
    const isUnwanted = isOver(item) && !channel.changes.some((each) => each === 'UP' || each === item.change)
    merged.set(item.alertId, known && isUnwanted ? { ...known, lastedMs: item.lastedMs } : item)
  }
  return [...merged.values()]
}

async function create(
  tx: Tx,
  channel: AlertChannel,
  thread: string,
  items: readonly AlertItem[],
  until: Date | null,
): Promise<void> {
  const id = newId('AlertDelivery')
  await tx.db.alertDelivery.create({
    data: {
      id,
      organizationId: channel.organizationId,
      channelId: channel.id,
      destination: channel.destination,
      thread,
      items: JSON.parse(serializeItems(items)),
      openUntil: until,
      tokenHash: acknowledgeTokenHash(tx.seal, id),
      dueAt: until ?? tx.now(),
      createdAt: tx.now(),
    },
  })
}

/** A claimed delivery, with its channel and organization. */
interface DueAlert extends DueRow, Pick<AlertDelivery, 'channelId' | 'thread' | 'position' | 'createdAt'> {
  readonly items: readonly AlertItem[]
  readonly channel: AlertChannel
  readonly organization: Organization
}

/** The deliveries of alerts to alert channels. */
export function alertDeliveries(parts: {
  readonly ctx: Pick<Context, 'db' | 'now'>
  readonly pool: Pick<pg.Pool, 'query'>
  readonly seal: SecretBox
  readonly tools: AlertTools
  /** Our public URL, without a trailing slash. */
  readonly site: { readonly baseUrl: string }
}): DeliveryKind<DueAlert> {
  const { ctx, pool, seal, tools, site } = parts
  const { db } = ctx
  return {
    table: alertThreads.table,
    name: { room: 'alerting', rows: 'deliveries' },
    threads: alertThreads,
    destinationSql: 'destination',
    limits: { claimed: AT_ONCE, batch: AT_ONCE, atOnce: AT_ONCE, perDestination: () => PER_HOST },
    read: (ids) => readDue(db, ids),
    receiverOf: ({ channelId, thread }) => `${channelId} ${thread}`,
    isRated: () => true,
    channelOf: ({ channel }) => `ALERT_${channel.kind}`,
    mailOf(row) {
      const { organizationId, organization, createdAt } = row
      const address = mailboxOf(row)
      if (address === null) return null
      return { organizationId, tier: organization.tier, address, createdAt, countsForOrganization: true }
    },
    /** A mailbox that complained or bounced gets no more email. */
    async isWanted(row) {
      if (row.items.length === 0 || row.organization.deletedAt !== null) return false
      const text = mailboxOf(row)
      if (text === null) return true
      const found = await suppressedAmong({ db, seal }, row.organizationId, [{ channel: 'EMAIL', text }])
      return found.get(text) !== 'BLOCKED'
    },
    async send(row, at) {
      const { channel, organization } = row
      const [first, ...others] = row.items
      if (first === undefined) return null
      const message = buildMessage(
        { delivery: row, items: [first, ...others], channel, organization },
        seal,
        site.baseUrl,
        at,
      )
      const { result, answer } = await sendAlert(channel.kind, message, tools, row.organizationId)
      if (result.kind !== 'failed' || answer === null) return result
      return { ...result, message: `${result.message} ${answer}` }
    },
    // A person would be alerted twice.
    isUrgent: () => true,
    async store(results, now) {
      const placeOf = ({ channelId: receiver, thread: subject, position }: DueAlert) => ({
        receiver,
        subject,
        position,
      })
      await keepResults(pool, alertThreads, placeOf, results, now)
      for (const { delivery, outcome } of results) if (outcome) await followMove(ctx, seal, delivery.channel, outcome)
    },
  }
}

async function readDue(db: Context['db'], ids: readonly string[]): Promise<DueAlert[]> {
  const found = await db.alertDelivery.findMany({
    where: { id: { in: [...ids] }, status: 'PENDING' },
    include: { channel: true, ...withOrganization },
  })
  return found.flatMap(({ attempts, dueAt, items, ...row }) => {
    if (dueAt === null) return []
    // It could not be sent before the end of the quiet times, and of a deferral.
    const since = Math.max(...[row.createdAt, row.openUntil, row.deferredUntil].map((at) => at?.getTime() ?? 0))
    const failed = readAttempts(attempts).length
    return [{ ...row, dueAt, items: readItems(items), failed, triedSince: new Date(since) }]
  })
}

const mailboxOf = ({ channel }: DueAlert) => (channel.kind === 'MAIL' ? channel.label : null)

/**
 * Records the final result of a browser in the message of its alert channel: the first acceptance, and every failure.
 * The message has failed if no browser has accepted it.
 */
export async function recordPushOutcome(
  { db, now }: Pick<Context, 'db' | 'now'>,
  alertDeliveryId: string,
  host: string,
  { kind, status, message }: SendOutcome,
): Promise<void> {
  const delivered = kind === 'delivered'
  const attempt = JSON.stringify([{ at: now(), delivered, status, message: `${host}: ${message}`, durationMs: 0 }])
  // Reads only the row that it locks: of two browsers at once, each sees what the other one recorded.
  const accepted = Prisma.sql`jsonb_path_exists(attempts, '$[*] ? (@.delivered == true && @.status != null)')`
  await db.$executeRaw`
    UPDATE "AlertDelivery" SET attempts = attempts || ${attempt}::jsonb,
      status = (CASE WHEN ${delivered}::bool OR ${accepted} THEN 'DELIVERED' ELSE 'FAILED' END)::"DeliveryStatus"
    WHERE id = ${alertDeliveryId} AND status IN ('DELIVERED', 'FAILED') AND NOT (${delivered}::bool AND ${accepted})`
}
