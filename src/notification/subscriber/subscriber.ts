import { z } from 'zod'
import { tierLimits } from '../../account/limits.ts'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { Conflict, NotFound, TierLimitReached } from '../../core/errors.ts'
import { hashSecret } from '../../core/hash-secret.ts'
import { DAY } from '../../core/time.ts'
import { validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Organization, Prisma, Subscriber } from '../../generated/prisma/client.ts'
import type { StopReason } from '../../generated/prisma/enums.ts'
import { findOwned } from '../../status/ownership.ts'
import type { NotificationContext } from '../context.ts'
import type { SuppressionContext } from '../mail/suppression.ts'
import { liftByConfirmation, subscribersAt, suppress, suppressionScope } from '../mail/suppression.ts'
import { languageField, preferenceFields, readPreferences, requirePreferences, setServices } from './preferences.ts'
import { active, isActive } from './subscriber-conditions.ts'
import { isToken, newSecret } from './token.ts'

/** How many bounces in a row stop a subscriber. */
export const MAX_BOUNCES = 3

/** How long webhooks are also signed with the previous secret after a rotation. */
const ROTATION = DAY

/** @throws TierLimitReached if the organization cannot have this many more subscribers. */
export async function requireSubscriberCapacity(
  { db }: Pick<Context, 'db'>,
  { id, tier }: Pick<Organization, 'id' | 'tier'>,
  more: number,
): Promise<void> {
  const limit = tierLimits[tier].subscribers
  if ((await db.subscriber.count({ where: { organizationId: id, ...active } })) + more <= limit) return
  throw new TierLimitReached('This page is at its subscriber limit.', limit)
}

/** Activates a subscriber, who is notified from now on. Runs in a transaction. */
export async function activate(
  { db, now }: Pick<Context, 'db' | 'now'>,
  { id: organizationId, lastSeq }: Pick<Organization, 'id' | 'lastSeq'>,
  id: string,
): Promise<Subscriber> {
  await startDispatch(db, organizationId, lastSeq)
  const data = { confirmedAt: now(), sinceSeq: lastSeq, bounces: 0, stoppedAt: null, stopReason: null }
  return db.subscriber.update({ where: { id }, data })
}

/** Starts to dispatch an organization's events after a position, unless it has already started. */
export async function startDispatch(db: Context['db'], organizationId: string, seq: number): Promise<void> {
  await db.dispatch.createMany({ data: { organizationId, seq }, skipDuplicates: true })
}

/** Returns the subscriber with a token. @throws NotFound for an unknown token. */
export async function subscriberByToken({ db }: Pick<Context, 'db'>, token: string): Promise<Subscriber> {
  const subscriber = isToken(token) ? await db.subscriber.findUnique({ where: { tokenHash: hashSecret(token) } }) : null
  if (!subscriber) throw new NotFound('Subscription not found. It may have been deleted.')
  return subscriber
}

/** Returns whether a subscription can be confirmed now. */
export function isConfirmable(
  { confirmedAt, stoppedAt, stopReason, confirmableUntil }: Subscriber,
  now: Date,
): boolean {
  return (confirmedAt === null || stoppedAt !== null) && stopReason !== 'COMPLAINED' && now < confirmableUntil
}

/**
 * Confirms a subscription by its token; does nothing if it is already confirmed. Lifts the suppression of an address
 * that had unsubscribed from this organization.
 * @throws NotFound, also after the confirmation window.
 * @throws TierLimitReached if the page is at its subscriber limit.
 */
export async function confirmSubscription(ctx: SuppressionContext & ChangeContext, token: string): Promise<Subscriber> {
  const { organizationId } = await subscriberByToken(ctx, token)
  return change(ctx, organizationId, async (tx) => {
    const subscriber = await subscriberByToken(tx, token)
    if (isActive(subscriber)) return [subscriber]
    if (!isConfirmable(subscriber, tx.now()))
      throw new NotFound('This confirmation link has expired. Please subscribe again.')
    const organization = await readOrganization(tx, organizationId)
    await requireSubscriberCapacity(tx, organization, 1)
    await liftByConfirmation(tx, subscriber)
    return [await activate(tx, organization, subscriber.id)]
  })
}

const subscriptionUpdate = z.object({ token: z.string(), ...preferenceFields, ...languageField })

/**
 * Replaces the preferences of a subscriber by its token. Without a language, the language stays unchanged.
 * @throws Invalid, and NotFound for an unknown token or service.
 */
export async function updateSubscription(ctx: ChangeContext, input: unknown): Promise<Subscriber> {
  const { token, language, ...chosen } = validate(subscriptionUpdate, input)
  const preferences = readPreferences(chosen)
  const { organizationId } = await subscriberByToken(ctx, token)
  return change(ctx, organizationId, async (tx) => {
    const { id } = await subscriberByToken(tx, token)
    await requirePreferences(tx, organizationId, preferences)
    await setServices(tx, id, preferences.serviceIds)
    const data = {
      topics: preferences.topics,
      allServices: preferences.serviceIds.length === 0,
      ...(language != null && { language }),
    }
    return [await tx.db.subscriber.update({ where: { id }, data })]
  })
}

/**
 * Ends a subscription by its token and cancels its pending deliveries. Does nothing if it has already ended. The
 * organization cannot subscribe the address again, even after it deletes the subscriber.
 * @throws NotFound for an unknown token.
 */
export async function unsubscribe(ctx: SuppressionContext & ChangeContext, token: string): Promise<Subscriber> {
  const { id, organizationId } = await subscriberByToken(ctx, token)
  return change(ctx, organizationId, async (tx) => {
    await stopSubscribers(tx, [id], 'UNSUBSCRIBED')
    return [await subscriberByToken(tx, token)]
  })
}

/**
 * Stops subscribers and suppresses their addresses; returns the number of newly stopped ones. A complaint overrides
 * other reasons. Bounces and complaints stop all subscriptions of the mailbox.
 */
export async function stopSubscribers(
  ctx: SuppressionContext,
  given: readonly string[],
  stopReason: StopReason,
): Promise<number> {
  if (given.length === 0) return 0
  const { db, now } = ctx
  const ids = await withMailboxes(ctx, given, stopReason)
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

/** Adds the other subscribers of the same mailboxes if the reason concerns the mailbox. */
async function withMailboxes(ctx: SuppressionContext, ids: readonly string[], reason: StopReason): Promise<string[]> {
  if (suppressionScope(reason, 'EMAIL') !== 'ALL_ORGANIZATIONS') return [...ids]
  const where: Prisma.SubscriberWhereInput = { id: { in: [...ids] }, channel: 'EMAIL' }
  const addresses = (await ctx.db.subscriber.findMany({ where, select: { address: true } })).map((row) => row.address)
  return [...new Set([...ids, ...(addresses.length === 0 ? [] : await subscribersAt(ctx, addresses))])]
}

/**
 * Rotates the secret of a webhook by its token. For a day, messages are also signed with the previous one.
 * @throws NotFound.
 * @throws Conflict if the subscriber is not a webhook.
 */
export async function rotateWebhookSecret(
  ctx: Pick<NotificationContext, 'db' | 'now' | 'seal'>,
  token: string,
): Promise<Subscriber> {
  const { id, channel, secret } = await subscriberByToken(ctx, token)
  if (channel !== 'WEBHOOK') throw new Conflict('Only webhooks have a secret.')
  const formerSecretUntil = new Date(ctx.now().getTime() + ROTATION)
  const data = { secret: newSecret(ctx.seal, id), formerSecret: secret, formerSecretUntil }
  return ctx.db.subscriber.update({ where: { id }, data })
}

/**
 * Deletes a subscriber and its deliveries, and returns it. The address stays suppressed if it had unsubscribed, bounced
 * or complained. Requires a key with scope WRITE.
 * @throws NotFound.
 */
export async function deleteSubscriber(ctx: SuppressionContext & ChangeContext, id: string): Promise<Subscriber> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const subscriber = await findOwned('Subscriber', id, (known) =>
      tx.db.subscriber.findUnique({ where: { id: known, organizationId } }),
    )
    await suppress(tx, [subscriber])
    await tx.db.subscriber.delete({ where: { id } })
    // Without the address, because the log outlives the subscriber.
    return [subscriber, { kind: 'SUBSCRIBER_DELETED', subjectId: id, subjectName: subscriber.channel }]
  })
}
