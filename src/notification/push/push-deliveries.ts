import type pg from 'pg'
import { organizations } from '../../account/views.ts'
import type { Context } from '../../core/context.ts'
import { port } from '../../core/port.ts'
import type { Prisma, PushDelivery } from '../../generated/prisma/client.ts'
import { members, sessions } from '../../people/views.ts'
import type { SendOutcome } from '../channel/channel.ts'
import type { DeliveryKind, DeliveryResult, DueRow } from '../queue/kind.ts'
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

/** How many notifications are claimed and sent at once, and the maximum number of concurrent sends to a push service. */
const AT_ONCE = 128
const PER_HOST = 32

/** A claimed notification. Its destination is its push service. */
interface DuePush extends DueRow, Pick<PushDelivery, 'browserId' | 'alertDeliveryId'> {
  readonly content: Prisma.JsonValue
  readonly subscription: string
  /** Whether its person is still a member and signed in. */
  readonly isWanted: boolean
}

const READ = `
  SELECT push.id, push."browserId", push."organizationId", push.failed, push."dueAt", push."createdAt" AS "triedSince", push.content,
    push."alertDeliveryId", browser.host AS destination, browser.subscription,
    session."expiresAt" > $2 AND organization."deletedAt" IS NULL AND EXISTS (
      SELECT 1 FROM ${members.sql} AS member
      WHERE member."userId" = browser."userId" AND member."organizationId" = push."organizationId") AS "isWanted"
  FROM "PushDelivery" AS push
  JOIN "PushBrowser" AS browser ON browser.id = push."browserId"
  JOIN ${sessions.sql} AS session ON session.id = browser."sessionId"
  JOIN ${organizations.sql} AS organization ON organization.id = push."organizationId"
  WHERE push.id = ANY($1)`

/** The notifications to the browsers of members. They are deleted once they have ended. */
export function pushDeliveries(parts: {
  readonly ctx: Pick<Context, 'db' | 'now' | 'log'>
  readonly pool: Pick<pg.Pool, 'query'>
  readonly tools: PushTools
}): DeliveryKind<DuePush> {
  const { ctx, pool, tools } = parts
  const { db, now } = ctx
  let keys: VapidKeys | undefined
  return {
    table: 'PushDelivery',
    name: { room: 'notification', rows: 'push notifications' },
    // A later notification about the same subject replaces an earlier one.
    threads: null,
    destinationSql: '(SELECT browser.host FROM "PushBrowser" AS browser WHERE browser.id = "browserId")',
    limits: { claimed: AT_ONCE, batch: AT_ONCE, atOnce: AT_ONCE, perDestination: () => PER_HOST },
    read: async (ids) => (await pool.query<DuePush>({ name: 'read pushes', text: READ, values: [ids, now()] })).rows,
    receiverOf: ({ id }) => id,
    isRated: () => true,
    channelOf: () => 'PUSH',
    mailOf: () => null,
    isWanted: async ({ isWanted }) => isWanted,
    async send(row) {
      keys ??= await vapidKeys({ db, seal: tools.seal })
      const browser = { id: row.browserId, subscription: row.subscription }
      return sendPush(tools, keys, browser, contentOf(tools, row))
    },
    // A browser shows only the last of the notifications with the same tag.
    isUrgent: () => false,
    async store(results) {
      await repeat(pool, results)
      await end(ctx, results)
    },
  }
}

function contentOf({ seal }: Pick<PushTools, 'seal'>, { content, alertDeliveryId }: DuePush): PushContent {
  const { acknowledge, ...shown } = parseContent(content)
  if (acknowledge === undefined || alertDeliveryId === null) return shown
  return { ...shown, acknowledge: seal.open(acknowledge, sealedAcknowledgement(alertDeliveryId)) }
}

/** Makes notifications due again. Only the holder of the lease can. */
async function repeat(pool: Pick<pg.Pool, 'query'>, results: readonly DeliveryResult<DuePush>[]): Promise<void> {
  const again = results.filter(({ progress }) => progress.dueAt !== null)
  if (again.length === 0) return
  await pool.query(
    `UPDATE "PushDelivery" AS push SET failed = again.failed, "dueAt" = again.due
     FROM unnest($1::text[], $2::timestamptz[], $3::int[], $4::timestamptz[]) AS again (id, lease, failed, due)
     WHERE push.id = again.id AND push."dueAt" = again.lease`,
    [
      again.map(({ delivery }) => delivery.id),
      again.map(({ delivery }) => delivery.dueAt),
      again.map(({ delivery, attempt }) => delivery.failed + (attempt === null ? 0 : 1)),
      again.map(({ progress }) => progress.dueAt),
    ],
  )
}

/**
 * Deletes notifications that have ended, tells alert channels their results, and removes browsers that have ended their
 * subscription, with all their notifications.
 */
async function end(
  ctx: Pick<Context, 'db' | 'now' | 'log'>,
  results: readonly DeliveryResult<DuePush>[],
): Promise<void> {
  const { db, log } = ctx
  const ended = results.filter(({ progress }) => progress.dueAt === null)
  if (ended.length === 0) return
  for (const { delivery, outcome } of ended) {
    const { alertDeliveryId, destination } = delivery
    if (outcome && alertDeliveryId !== null) await pushOutcomes.get()(ctx, alertDeliveryId, destination, outcome)
  }
  const failed = ended.flatMap(({ delivery, outcome }) => (outcome?.kind === 'failed' ? [{ delivery, outcome }] : []))
  for (const { delivery, outcome } of failed)
    if (outcome.permanence !== 'GONE')
      log.warn({ host: delivery.destination, status: outcome.status }, 'notification: gave up on a push notification')
  const gone = failed.filter(({ outcome }) => outcome.permanence === 'GONE').map(({ delivery }) => delivery.browserId)
  if (gone.length > 0) await db.pushBrowser.deleteMany({ where: { id: { in: gone } } })
  await db.pushDelivery.deleteMany({ where: { id: { in: ended.map(({ delivery }) => delivery.id) } } })
}
