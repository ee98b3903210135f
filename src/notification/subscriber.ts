import { z } from 'zod'
import { requireScope } from '../account/access.ts'
import { tierLimits } from '../account/plan.ts'
import { hashSecret } from '../account/secret.ts'
import type { Context } from '../context.ts'
import { Conflict, NotFound, TierLimitReached } from '../errors.ts'
import { change } from '../eventlog/change.ts'
import type { Organization, Prisma, Subscriber } from '../generated/prisma/client.ts'
import type { StopReason } from '../generated/prisma/enums.ts'
import { own } from '../status/guard.ts'
import { DAY } from '../time.ts'
import { validate } from '../validate.ts'
import { choiceMembers, readChoices, requireChoices, setServices } from './choices.ts'
import type { NotificationContext } from './context.ts'
import type { SuppressionContext } from './suppression.ts'
import { liftByConfirmation, subscribersAt, suppress, suppressedFor } from './suppression.ts'
import { isToken, newSecret } from './token.ts'

/** Those who are told of things: confirmed, and not stopped. */
export const active = { confirmedAt: { not: null }, stoppedAt: null } satisfies Prisma.SubscriberWhereInput

/** How many messages in a row may be refused for good before an address is written to no more. */
export const MOST_BOUNCES = 3

/** How long webhooks are signed with the old secret as well, after a new one was made. */
const ROTATION = DAY

/** @throws TierLimitReached when the organization may not have so many subscribers more. */
export async function requireRoom(
  { db }: Pick<Context, 'db'>,
  { id, tier }: Pick<Organization, 'id' | 'tier'>,
  more: number,
): Promise<void> {
  const limit = tierLimits[tier].subscribers
  if ((await db.subscriber.count({ where: { organizationId: id, ...active } })) + more <= limit) return
  throw new TierLimitReached('This page can take no more subscribers at present.', limit)
}

/** Has a subscriber told of what happens from now on, in a transaction. */
export async function activate(
  { db, now }: Pick<Context, 'db' | 'now'>,
  { id: organizationId, lastSeq }: Pick<Organization, 'id' | 'lastSeq'>,
  id: string,
): Promise<Subscriber> {
  await beginDispatch(db, organizationId, lastSeq)
  const data = { confirmedAt: now(), sinceSeq: lastSeq, bounces: 0, stoppedAt: null, stopReason: null }
  return db.subscriber.update({ where: { id }, data })
}

/** Has an organization's log turned into deliveries from a position on, unless it is already. */
export async function beginDispatch(db: Context['db'], organizationId: string, seq: number): Promise<void> {
  await db.dispatch.createMany({ data: { organizationId, seq }, skipDuplicates: true })
}

/** The subscriber that a token stands for. @throws NotFound when there is none. */
export async function subscriberOf({ db }: Pick<Context, 'db'>, token: string): Promise<Subscriber> {
  const subscriber = isToken(token) ? await db.subscriber.findUnique({ where: { tokenHash: hashSecret(token) } }) : null
  if (!subscriber) throw new NotFound('There is no such subscription. It may have been deleted.')
  return subscriber
}

/** Whether a subscription waits for its confirmation, and may have it. */
export function isConfirmable(
  { confirmedAt, stoppedAt, stopReason, confirmableUntil }: Subscriber,
  now: Date,
): boolean {
  return (confirmedAt === null || stoppedAt !== null) && stopReason !== 'COMPLAINED' && now < confirmableUntil
}

/**
 * Confirms a subscription, as the holder of its token; one that is confirmed already stays so. An address that had
 * unsubscribed from this organization may be written to again by that.
 * @throws NotFound, also when it was asked for too long ago. @throws TierLimitReached when the page has all the subscribers
 * it may have.
 */
export async function confirmSubscription(ctx: SuppressionContext, token: string): Promise<Subscriber> {
  const { organizationId } = await subscriberOf(ctx, token)
  return change(ctx, organizationId, async (tx) => {
    const subscriber = await subscriberOf(tx, token)
    if (subscriber.confirmedAt && !subscriber.stoppedAt) return [subscriber]
    if (!isConfirmable(subscriber, tx.now()))
      throw new NotFound('It is too late to confirm this. Please subscribe again.')
    const organization = await tx.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
    await requireRoom(tx, organization, 1)
    await liftByConfirmation({ ...tx, seal: ctx.seal }, subscriber)
    return [await activate(tx, organization, subscriber.id)]
  })
}

const edit = z.object({ token: z.string(), ...choiceMembers })

/**
 * Changes what a subscriber is told of, as the holder of its token: all of it, in place of what was chosen before.
 * @throws Invalid, and NotFound for a token or services that are not there.
 */
export async function updateSubscription(ctx: Context, input: unknown): Promise<Subscriber> {
  const { token, ...chosen } = validate(edit, input)
  const choices = readChoices(chosen)
  const { organizationId } = await subscriberOf(ctx, token)
  return change(ctx, organizationId, async (tx) => {
    const { id } = await subscriberOf(tx, token)
    await requireChoices(tx, organizationId, choices)
    await setServices(tx, id, choices.serviceIds)
    const data = { topics: choices.topics, allServices: choices.serviceIds.length === 0 }
    return [await tx.db.subscriber.update({ where: { id }, data })]
  })
}

/**
 * Ends a subscription, as the holder of its token; what waits to be sent is not sent. One that is over stays so. The
 * organization cannot subscribe the address again, also when it deletes the subscriber.
 * @throws NotFound when there is none.
 */
export async function unsubscribe(ctx: SuppressionContext, token: string): Promise<Subscriber> {
  const { id, organizationId } = await subscriberOf(ctx, token)
  return change(ctx, organizationId, async (tx) => {
    await stop({ ...tx, seal: ctx.seal }, [id], 'UNSUBSCRIBED')
    return [await subscriberOf(tx, token)]
  })
}

/**
 * Stops those of these subscribers who are not stopped yet, and suppresses their addresses; gives how many that were. A
 * complaint outweighs other reasons. Where mail is refused, or unwanted, all subscriptions of the mailbox are stopped.
 */
export async function stop(ctx: SuppressionContext, given: readonly string[], stopReason: StopReason): Promise<number> {
  if (given.length === 0) return 0
  const { db, now } = ctx
  const ids = await alsoOfMailbox(ctx, given, stopReason)
  const { count } = await db.subscriber.updateMany({
    where: { id: { in: ids }, stoppedAt: null },
    data: { stoppedAt: now(), stopReason, confirmableUntil: now() },
  })
  if (stopReason === 'COMPLAINED') {
    await db.subscriber.updateMany({ where: { id: { in: ids } }, data: { stopReason } })
  }
  await suppress(ctx, await db.subscriber.findMany({ where: { id: { in: ids } } }))
  await db.delivery.updateMany({
    where: { subscriberId: { in: ids }, status: 'PENDING' },
    data: { status: 'CANCELLED', dueAt: null, endedAt: now() },
  })
  return count
}

/** These subscribers, with all others of their mailboxes when the reason is about the mailbox. */
async function alsoOfMailbox(ctx: SuppressionContext, ids: readonly string[], reason: StopReason): Promise<string[]> {
  if (suppressedFor(reason, 'EMAIL') !== 'EVERYBODY') return [...ids]
  const where: Prisma.SubscriberWhereInput = { id: { in: [...ids] }, channel: 'EMAIL' }
  const addresses = (await ctx.db.subscriber.findMany({ where, select: { address: true } })).map((row) => row.address)
  return [...new Set([...ids, ...(addresses.length === 0 ? [] : await subscribersAt(ctx, addresses))])]
}

/**
 * Gives a webhook a new secret, as the holder of its token; for a day messages are signed with the old one as well.
 * @throws NotFound. @throws Conflict when the subscriber is no webhook.
 */
export async function rotateWebhookSecret(
  ctx: Pick<NotificationContext, 'db' | 'now' | 'seal'>,
  token: string,
): Promise<Subscriber> {
  const { id, channel, secret } = await subscriberOf(ctx, token)
  if (channel !== 'WEBHOOK') throw new Conflict('Only webhooks have a secret.')
  const formerSecretUntil = new Date(ctx.now().getTime() + ROTATION)
  const data = { secret: newSecret(ctx.seal, id), formerSecret: secret, formerSecretUntil }
  return ctx.db.subscriber.update({ where: { id }, data })
}

/**
 * Deletes a subscriber with what was sent to it. If it had unsubscribed, bounced or complained, its address stays suppressed.
 * Gives what it was. Needs a key with scope WRITE.
 * @throws NotFound when the organization has none such.
 */
export async function deleteSubscriber(ctx: SuppressionContext, id: string): Promise<Subscriber> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const subscriber = await own('Subscriber', id, (known) =>
      tx.db.subscriber.findUnique({ where: { id: known, organizationId } }),
    )
    await suppress({ ...tx, seal: ctx.seal }, [subscriber])
    await tx.db.subscriber.delete({ where: { id } })
    // No address: the log keeps it when the subscriber is long gone.
    return [subscriber, { kind: 'SUBSCRIBER_DELETED', subjectId: id, subjectName: subscriber.channel }]
  })
}
