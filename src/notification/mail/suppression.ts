import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { requireOperator } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { transaction } from '../../core/context.ts'
import { emailAddress } from '../../core/email-address.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { DAY } from '../../core/time.ts'
import { validate } from '../../core/validation.ts'
import type { Subscriber } from '../../generated/prisma/client.ts'
import type { ChannelKind, StopReason } from '../../generated/prisma/enums.ts'
import { email } from '../channel/email.ts'
import { foldMailbox, mailboxStart } from '../channel/mailbox.ts'
import { addressOf } from '../channel/sealed-address.ts'

/** The context of suppressions. */
export interface SuppressionContext extends Context {
  /** Its key computes the hashes, so that someone with the database alone cannot test addresses. */
  readonly seal: SecretBox
}

/** Why an organization cannot send to an address: it unsubscribed there, or is blocked for all organizations. */
export type SuppressionReason = 'UNSUBSCRIBED' | 'BLOCKED'

/** How long a bounced mailbox gets no confirmation messages; after that its owner can subscribe again. */
const BOUNCE_SUPPRESSION = 30 * DAY

/** An address to look up, as parsed by its channel. */
interface LookupAddress {
  readonly channel: ChannelKind
  readonly text: string
}

/** Returns a function that computes suppression ids: HMAC-SHA256 of the organization, channel and address, in hex. */
export function suppressionIds(seal: SecretBox): (organizationId: string | null, address: LookupAddress) => string {
  const key = seal.keyFor('suppressed addresses')
  return (organizationId, { channel, text }) =>
    createHmac('sha256', key)
      .update(`${organizationId ?? '*'} ${channel} ${channel === 'EMAIL' ? foldMailbox(text) : text}`)
      .digest('hex')
}

/**
 * Returns the scope of a stopped subscriber's suppression: its organization, all organizations, or none. Complaints and
 * bounces concern the mailbox and therefore all senders; a webhook that is gone may come back.
 */
export function suppressionScope(
  reason: StopReason,
  channel: ChannelKind,
): 'ORGANIZATION' | 'ALL_ORGANIZATIONS' | null {
  if (reason === 'UNSUBSCRIBED') return 'ORGANIZATION'
  return channel === 'EMAIL' && reason !== 'GONE' ? 'ALL_ORGANIZATIONS' : null
}

type Stopped = Pick<Subscriber, 'id' | 'organizationId' | 'channel' | 'address' | 'stopReason' | 'stoppedAt'>

/** Suppresses the addresses of stopped subscribers by their reasons. A complaint overrides a bounce. */
export async function suppress({ db, seal }: Pick<SuppressionContext, 'db' | 'seal'>, stopped: readonly Stopped[]) {
  const idOf = suppressionIds(seal)
  const rows = new Map<string, { organizationId: string | null; reason: StopReason; at: Date }>()
  for (const { id, organizationId, channel, address, stopReason, stoppedAt } of stopped) {
    const scope = stopReason === null ? null : suppressionScope(stopReason, channel)
    if (scope === null || stopReason === null || stoppedAt === null) continue
    const owner = scope === 'ORGANIZATION' ? organizationId : null
    const key = idOf(owner, { channel, text: addressOf(seal, { id, channel, address }) })
    if (rows.get(key)?.reason !== 'COMPLAINED')
      rows.set(key, { organizationId: owner, reason: stopReason, at: stoppedAt })
  }
  await insert(db, rows)
}

/** Inserts in the order of the ids, so that two processes lock rows in the same order. */
async function insert(
  db: Context['db'],
  rows: ReadonlyMap<string, { readonly organizationId: string | null; readonly reason: StopReason; readonly at: Date }>,
): Promise<void> {
  if (rows.size === 0) return
  const values = [...rows.values()]
  await db.$executeRaw`
    INSERT INTO "Suppression" AS known (id, "organizationId", reason, "createdAt")
    SELECT * FROM unnest(${[...rows.keys()]}::text[], ${values.map(({ organizationId }) => organizationId)}::text[],
      ${values.map(({ reason }) => reason)}::"StopReason"[], ${values.map(({ at }) => at)}::timestamptz[]) AS stopped (id)
    ORDER BY id
    ON CONFLICT (id) DO UPDATE SET
      reason = CASE WHEN known.reason = 'COMPLAINED' THEN known.reason ELSE EXCLUDED.reason END,
      "createdAt" = GREATEST(known."createdAt", EXCLUDED."createdAt")`
}

/** Suppresses a mailbox for all organizations after a complaint, with or without a subscription. */
export async function suppressMailbox({ db, seal, now }: SuppressionContext, text: string): Promise<void> {
  const id = suppressionIds(seal)(null, { channel: 'EMAIL', text })
  await insert(db, new Map([[id, { organizationId: null, reason: 'COMPLAINED', at: now() }]]))
}

/** Returns those of the addresses that are suppressed, with the reasons. */
export async function suppressedAmong(
  { db, seal }: Pick<SuppressionContext, 'db' | 'seal'>,
  organizationId: string,
  addresses: readonly LookupAddress[],
): Promise<Map<string, SuppressionReason>> {
  const idOf = suppressionIds(seal)
  const sought = addresses.map((address) => ({
    text: address.text,
    own: idOf(organizationId, address),
    blocked: idOf(null, address),
  }))
  const found = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM "Suppression" WHERE id = ANY (${sought.flatMap(({ own, blocked }) => [own, blocked])}::text[])`
  const ids = new Set(found.map(({ id }) => id))
  const suppressed = new Map<string, SuppressionReason>()
  for (const { text, own, blocked } of sought) {
    if (ids.has(blocked)) suppressed.set(text, 'BLOCKED')
    else if (ids.has(own)) suppressed.set(text, 'UNSUBSCRIBED')
  }
  return suppressed
}

/** Returns whether an address can get a confirmation message: not after a complaint, nor soon after a bounce. */
export async function mayRequestConfirmation(
  { db, seal, now }: SuppressionContext,
  address: LookupAddress,
): Promise<boolean> {
  const id = suppressionIds(seal)(null, address)
  const known = await db.suppression.findUnique({ where: { id }, select: { reason: true, createdAt: true } })
  if (known === null) return true
  return known.reason !== 'COMPLAINED' && now().getTime() - known.createdAt.getTime() >= BOUNCE_SUPPRESSION
}

/** Lifts the suppressions that a confirmation disproves: that of the organization and a bounce. Complaints remain. */
export async function liftByConfirmation(
  { db, seal }: Pick<SuppressionContext, 'db' | 'seal'>,
  subscriber: Pick<Subscriber, 'id' | 'organizationId' | 'channel' | 'address'>,
): Promise<void> {
  const idOf = suppressionIds(seal)
  const address = { channel: subscriber.channel, text: addressOf(seal, subscriber) }
  const own = idOf(subscriber.organizationId, address)
  await db.suppression.deleteMany({
    where: { OR: [{ id: own }, { id: idOf(null, address), reason: { not: 'COMPLAINED' } }] },
  })
}

const liftInput = z.object({ email: emailAddress })

/**
 * Lifts the suppression of a mailbox after a complaint or bounces. This restores no subscription: the owner has to
 * subscribe and confirm. Operator only.
 * @returns whether the mailbox was suppressed.
 * @throws Invalid.
 */
export async function liftSuppression(ctx: SuppressionContext, input: unknown): Promise<boolean> {
  requireOperator(ctx)
  const { text } = email.address.parse(validate(liftInput, input).email)
  return transaction(ctx, async (tx) => {
    const id = suppressionIds(ctx.seal)(null, { channel: 'EMAIL', text })
    const { count } = await tx.db.suppression.deleteMany({ where: { id } })
    const ids = await subscribersAt(tx, [text])
    await tx.db.subscriber.updateMany({
      where: { id: { in: ids }, stopReason: { in: ['COMPLAINED', 'BOUNCED'] } },
      data: { stopReason: 'UNSUBSCRIBED' },
    })
    return count > 0
  })
}

/** Returns the ids of all subscribers of any organization with the mailboxes of these addresses. */
export async function subscribersAt({ db }: Pick<Context, 'db'>, addresses: readonly string[]): Promise<string[]> {
  const mailboxes = new Set(addresses.map(foldMailbox))
  const found = await db.$queryRaw<{ id: string; address: string }[]>`
    SELECT id, address FROM "Subscriber" WHERE channel = 'EMAIL'
      AND replace(split_part(split_part(address, '@', 1), '+', 1), '.', '') = ANY (${[...new Set(addresses.map(mailboxStart))]}::text[])`
  return found.filter(({ address }) => mailboxes.has(foldMailbox(address))).map(({ id }) => id)
}

const BATCH = 500

/**
 * Suppresses the addresses of all stopped subscribers, which earlier versions did not do. Can be repeated. Returns the
 * number of stopped subscribers.
 */
export async function suppressStopped(ctx: Pick<SuppressionContext, 'db' | 'seal'>): Promise<number> {
  let after = ''
  for (let count = 0; ; ) {
    const stopped = await ctx.db.subscriber.findMany({
      where: { id: { gt: after }, stoppedAt: { not: null } },
      orderBy: { id: 'asc' },
      take: BATCH,
    })
    await suppress(ctx, stopped)
    count += stopped.length
    const last = stopped.at(-1)
    if (last === undefined || stopped.length < BATCH) return count
    after = last.id
  }
}
