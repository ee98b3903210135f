import type { Context } from '../../core/context.ts'
import { port } from '../../core/port.ts'
import type { Prisma, PrismaClient, PushDelivery } from '../../generated/prisma/client.ts'
import type { ThirdPartyRate } from '../../network/third-party-rate.ts'
import { createHostLimit } from '../../network/third-party-rate.ts'
import type { SendOutcome, SendResult } from '../channel/channel.ts'
import { progressAfter } from '../queue/attempt.ts'
import { postponedUntil } from '../queue/backoff.ts'
import type { PushContent } from './content.ts'
import { parseContent } from './content.ts'
import { sealedAcknowledgement } from './queue.ts'
import type { PushTools } from './send.ts'
import { sendPush } from './send.ts'
import type { VapidKeys } from './vapid.ts'
import { vapidKeys } from './vapid.ts'

/** Records the final result of a browser, at this host, in the message of an alert channel. */
type RecordPushOutcome = (
  ctx: Pick<Context, 'db' | 'now'>,
  alertDeliveryId: string,
  host: string,
  outcome: SendOutcome,
) => Promise<void>

/** What alert channels learn of their notifications. */
export const pushOutcomes = port<RecordPushOutcome>('the results of push notifications')

/** The maximum number of concurrent sends to a push service. */
const PER_HOST = 32

/** A claimed notification. */
export interface DuePush
  extends Pick<
    PushDelivery,
    'id' | 'browserId' | 'organizationId' | 'failed' | 'dueAt' | 'createdAt' | 'alertDeliveryId'
  > {
  readonly content: Prisma.JsonValue
  readonly host: string
  readonly subscription: string
  /** Whether its person is still a member and signed in. */
  readonly isWanted: boolean
}

/** What sending needs. */
export interface PushParts {
  readonly ctx: Context & { readonly db: PrismaClient }
  readonly tools: PushTools
  readonly rate: ThirdPartyRate
  /** From 0 to 1, for jitter. */
  readonly random?: () => number
}

/**
 * Returns a function that tries once to send a notification, within the limits of its push service, and then deletes
 * it, makes it due again, or removes its browser.
 */
export function createPushSender(parts: PushParts): (row: DuePush) => Promise<void> {
  const { ctx, tools, rate, random = Math.random } = parts
  const { db, now } = ctx
  const hosts = createHostLimit(rate, PER_HOST)
  let keys: VapidKeys | undefined

  async function deliver(row: DuePush): Promise<void> {
    if (!row.isWanted) return end(row)
    const release = hosts.tryAcquire(row.host, row.organizationId)
    try {
      if (release === null) return await postpone(row)
      keys ??= await vapidKeys({ db, seal: tools.seal })
      const browser = { id: row.browserId, subscription: row.subscription }
      return await store(row, await sendPush(tools, keys, browser, contentOf(tools, row)))
    } finally {
      release?.()
    }
  }

  async function store(row: DuePush, result: SendResult): Promise<void> {
    if (result.kind === 'postponed') return postpone(row)
    const { createdAt: triedSince, failed } = row
    const { dueAt } = progressAfter(result, { triedSince, failed }, now(), random())
    if (dueAt !== null) return repeat(row, failed + 1, dueAt)
    if (row.alertDeliveryId !== null) await pushOutcomes.get()(ctx, row.alertDeliveryId, row.host, result)
    if (result.kind === 'failed' && result.permanence === 'GONE') return removeBrowser(row)
    if (result.kind === 'failed')
      ctx.log.warn({ host: row.host, status: result.status }, 'notification: gave up on a push notification')
    return end(row)
  }

  const postpone = (row: DuePush) => repeat(row, row.failed, postponedUntil(now(), random()))

  /** Only the holder of the lease records a failure. */
  async function repeat({ id, dueAt }: DuePush, failed: number, at: Date): Promise<void> {
    await db.pushDelivery.updateMany({ where: { id, dueAt }, data: { failed, dueAt: at } })
  }

  /** Removes a browser that has ended its subscription, and with it all its notifications. */
  async function removeBrowser({ browserId }: DuePush): Promise<void> {
    await db.pushBrowser.deleteMany({ where: { id: browserId } })
  }

  async function end({ id }: DuePush): Promise<void> {
    await db.pushDelivery.deleteMany({ where: { id } })
  }

  return deliver
}

function contentOf({ seal }: Pick<PushTools, 'seal'>, { content, alertDeliveryId }: DuePush): PushContent {
  const { acknowledge, ...shown } = parseContent(content)
  if (acknowledge === undefined || alertDeliveryId === null) return shown
  return { ...shown, acknowledge: seal.open(acknowledge, sealedAcknowledgement(alertDeliveryId)) }
}
