import type pg from 'pg'
import { transaction } from '../../core/context.ts'
import { chosenByOthers, requestsOf } from '../../network/outbound/outbound.ts'
import type { SendTools } from '../channel/channel.ts'
import { MAIL } from '../channel/email.ts'
import { MAX_CONCURRENT_MAILS } from '../channel/mailer.ts'
import { addressOf } from '../channel/sealed-address.ts'
import { channels } from '../channels.ts'
import type { SuppressionContext } from '../mail/suppression.ts'
import type { DeliveryKind, DeliveryResult } from '../queue/kind.ts'
import { keepResults } from '../queue/store.ts'
import type { Threads } from '../queue/thread.ts'
import { countBounces } from '../subscriber/bounce.ts'
import { stopSubscribers } from '../subscriber/subscriber.ts'
import { moveSubscriber } from '../subscriber/subscriber-move.ts'
import type { DueDelivery } from './delivery.ts'
import { readDeliveries } from './delivery.ts'
import { buildMessage } from './delivery-message.ts'

/** How many deliveries are sent at once, and how many one statement claims. */
const AT_ONCE = 128
const BATCH = 400
/** Concurrent sends to one host, which can serve many subscribers. */
const PER_HOST = 8

/** The updates of an incident reach a subscriber in order. */
export const subscriberThreads: Threads = {
  table: 'Delivery',
  receiver: 'subscriberId',
  subject: 'subjectId',
  position: 'seq',
}

/** The deliveries to subscribers. */
export function subscriberDeliveries(parts: {
  readonly ctx: SuppressionContext
  readonly pool: Pick<pg.Pool, 'query'>
  readonly tools: SendTools
  /** The public URL of this service, without a trailing slash. */
  readonly site: { readonly baseUrl: string }
}): DeliveryKind<DueDelivery> {
  const { ctx, pool, tools, site } = parts
  const { seal } = ctx
  return {
    table: subscriberThreads.table,
    name: { room: 'notification', rows: 'deliveries' },
    threads: subscriberThreads,
    destinationSql: 'destination',
    limits: {
      claimed: AT_ONCE + BATCH,
      batch: BATCH,
      atOnce: AT_ONCE,
      perDestination: (destination) => (destination === MAIL ? MAX_CONCURRENT_MAILS : PER_HOST),
    },
    read: (ids) => readDeliveries(pool, ids),
    receiverOf: ({ subscriber }) => subscriber.id,
    // Only the owner of a chat's address knows it, so no one else can be flooded.
    isRated: ({ subscriber }) => subscriber.channel === 'WEBHOOK',
    channelOf: ({ subscriber }) => subscriber.channel,
    mailOf({ organizationId, seq, createdAt, subscriber, organization: { tier } }) {
      if (subscriber.channel !== 'EMAIL') return null
      // Messages about the subscription itself were counted when they were requested.
      return {
        organizationId,
        tier,
        address: addressOf(seal, subscriber),
        createdAt,
        countsForOrganization: seq !== null,
      }
    },
    async send(delivery, at) {
      const message = buildMessage(delivery, seal, site.baseUrl, at)
      if (message === null) return null
      const { isOwnChoice, channel } = delivery.subscriber
      const chosen = isOwnChoice ? tools.outbound : chosenByOthers(tools.outbound)
      return channels[channel].send(message, { ...tools, outbound: requestsOf(chosen, delivery.organizationId) })
    },
    // Unlike a webhook, the reader of an email may not recognize a duplicate by its id.
    isUrgent: ({ delivery, outcome }) => delivery.subscriber.channel === 'EMAIL' && outcome?.kind === 'delivered',
    async store(results, now) {
      const placeOf = ({ subscriber, subjectId, seq }: DueDelivery) => ({
        receiver: subscriber.id,
        subject: subjectId,
        position: seq,
      })
      await keepResults(pool, subscriberThreads, placeOf, results, now)
      await updateSubscribers(ctx, results)
    },
  }
}

/** Moves subscribers to their new address, stops those whose address is gone, counts bounces, and resets the count after a success. */
async function updateSubscribers(
  ctx: SuppressionContext,
  batch: readonly DeliveryResult<DueDelivery>[],
): Promise<void> {
  const idsWhere = (matches: (ended: DeliveryResult<DueDelivery>) => boolean) =>
    batch.filter(matches).map(({ delivery }) => delivery.subscriber.id)
  const lasting = (permanence: 'GONE' | 'REFUSED') =>
    idsWhere(({ outcome }) => outcome?.kind === 'failed' && outcome.permanence === permanence)
  const [gone, refused] = [lasting('GONE'), lasting('REFUSED')]
  const restored = idsWhere(({ outcome, delivery }) => outcome?.kind === 'delivered' && delivery.subscriber.bounces > 0)
  const moved = batch.flatMap(({ delivery, outcome }) =>
    outcome?.movedTo === undefined ? [] : [[delivery.subscriber.id, outcome.movedTo] as const],
  )
  if (gone.length + refused.length + restored.length + moved.length === 0) return
  await transaction(ctx, async (tx) => {
    for (const [id, address] of moved) await moveSubscriber(tx, id, address)
    await stopSubscribers(tx, gone, 'GONE')
    await countBounces(tx, refused)
    await tx.db.subscriber.updateMany({ where: { id: { in: restored } }, data: { bounces: 0 } })
  })
}
