import type { Context } from '../core/context.ts'
import { newId } from '../core/id.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { AlertChannel } from '../generated/prisma/client.ts'
import { notifyDeliveryWorkers } from '../notification/queue/wake-up.ts'
import { acknowledgeTokenHash } from './message.ts'
import { quietTimesOf, quietUntil } from './quiet-hours.ts'
import { GATHER_MS, MAX_GATHER_MS } from './rules.ts'
import type { AlertItem } from './sender/item.ts'
import { isOver, readItems, serializeItems } from './sender/item.ts'
import { senders } from './senders.ts'

/** How many alerts a message can have; further ones go into another message. */
const MAX_ITEMS = 200

/**
 * Creates the deliveries of items to a channel, in the transaction that changes the alerts. A program gets one delivery per item,
 * immediately. People get one delivery for all items within a few seconds, including items that are still waiting. Quiet times
 * delay both.
 * @returns when they are sent.
 */
export async function createDeliveries(
  tx: Pick<Context, 'db' | 'now'> & { readonly seal: SecretBox },
  channel: AlertChannel,
  items: readonly AlertItem[],
): Promise<Date> {
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

type Tx = Pick<Context, 'db' | 'now'> & { readonly seal: SecretBox }

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
