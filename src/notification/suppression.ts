import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { requireOperator } from '../account/access.ts'
import { emailText } from '../account/page-settings.ts'
import type { Context } from '../context.ts'
import { transaction } from '../context.ts'
import type { Subscriber } from '../generated/prisma/client.ts'
import type { ChannelKind, StopReason } from '../generated/prisma/enums.ts'
import type { Seal } from '../seal.ts'
import { DAY } from '../time.ts'
import { validate } from '../validate.ts'
import { email } from './channel/email.ts'
import { foldMailbox, mailboxStart } from './mailbox.ts'
import { addressOf } from './token.ts'

/** What suppressing addresses takes beside the context. */
export interface SuppressionContext extends Context {
  /** Its key makes the hashes, so that who reads the database cannot try addresses out. */
  readonly seal: Seal
}

/** Why an organization may not write to an address: its owner unsubscribed there, or nobody may write to it from here. */
export type Suppressed = 'UNSUBSCRIBED' | 'BLOCKED'

/** For how long a mailbox that refused mail is not even asked to confirm; then its owner may ask again. */
const BOUNCE_LASTS = 30 * DAY

/** An address to look up: as its channel has read it. */
interface Sought {
  readonly channel: ChannelKind
  readonly text: string
}

/** Makes the ids of suppressions: HMAC-SHA256 of whose it is, the channel and the address, in hex. */
export function suppressionIds(seal: Seal): (organizationId: string | null, address: Sought) => string {
  const key = seal.keyFor('suppressed addresses')
  return (organizationId, { channel, text }) =>
    createHmac('sha256', key)
      .update(`${organizationId ?? '*'} ${channel} ${channel === 'EMAIL' ? foldMailbox(text) : text}`)
      .digest('hex')
}

/**
 * Whom a stopped subscriber's address is suppressed for: its own organization, everybody, or nobody. Complaints and bounces
 * are about a mailbox, whoever writes to it; a webhook that is gone may come back.
 */
export function suppressedFor(reason: StopReason, channel: ChannelKind): 'ORGANIZATION' | 'EVERYBODY' | null {
  if (reason === 'UNSUBSCRIBED') return 'ORGANIZATION'
  return channel === 'EMAIL' && reason !== 'GONE' ? 'EVERYBODY' : null
}

type Stopped = Pick<Subscriber, 'id' | 'organizationId' | 'channel' | 'address' | 'stopReason' | 'stoppedAt'>

/** Suppresses the addresses of stopped subscribers, each as its reason says. A complaint outweighs a bounce. */
export async function suppress({ db, seal }: Pick<SuppressionContext, 'db' | 'seal'>, stopped: readonly Stopped[]) {
  const idOf = suppressionIds(seal)
  const rows = new Map<string, { organizationId: string | null; reason: StopReason; at: Date }>()
  for (const { id, organizationId, channel, address, stopReason, stoppedAt } of stopped) {
    const scope = stopReason === null ? null : suppressedFor(stopReason, channel)
    if (scope === null || stopReason === null || stoppedAt === null) continue
    const owner = scope === 'ORGANIZATION' ? organizationId : null
    const key = idOf(owner, { channel, text: addressOf(seal, { id, channel, address }) })
    if (rows.get(key)?.reason !== 'COMPLAINED')
      rows.set(key, { organizationId: owner, reason: stopReason, at: stoppedAt })
  }
  await insert(db, rows)
}

/** In the order of the ids, so that two processes lock the same rows in the same order. */
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

/** Suppresses a mailbox for everybody because its reader complained, whether it is subscribed anywhere or not. */
export async function suppressMailbox({ db, seal, now }: SuppressionContext, text: string): Promise<void> {
  const id = suppressionIds(seal)(null, { channel: 'EMAIL', text })
  await insert(db, new Map([[id, { organizationId: null, reason: 'COMPLAINED', at: now() }]]))
}

/** Which of these addresses an organization may not write to, by their texts. */
export async function suppressedAmong(
  { db, seal }: Pick<SuppressionContext, 'db' | 'seal'>,
  organizationId: string,
  addresses: readonly Sought[],
): Promise<Map<string, Suppressed>> {
  const idOf = suppressionIds(seal)
  const own = new Map(addresses.map((address) => [idOf(organizationId, address), address.text]))
  const blocked = new Map(addresses.map((address) => [idOf(null, address), address.text]))
  const found = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM "Suppression" WHERE id = ANY (${[...own.keys(), ...blocked.keys()]}::text[])`
  const ids = new Set(found.map(({ id }) => id))
  const suppressed = new Map<string, Suppressed>()
  for (const address of addresses) {
    if (ids.has(idOf(null, address))) suppressed.set(address.text, 'BLOCKED')
    else if (ids.has(idOf(organizationId, address))) suppressed.set(address.text, 'UNSUBSCRIBED')
  }
  return suppressed
}

/** Whether a letter may ask an address to confirm: not after a complaint, nor soon after mail to it bounced. */
export async function mayBeAsked({ db, seal, now }: SuppressionContext, address: Sought): Promise<boolean> {
  const id = suppressionIds(seal)(null, address)
  const known = await db.suppression.findUnique({ where: { id }, select: { reason: true, createdAt: true } })
  if (known === null) return true
  return known.reason !== 'COMPLAINED' && now().getTime() - known.createdAt.getTime() >= BOUNCE_LASTS
}

/** Lifts what a confirmation proves wrong: its own organization's suppression, and a bounce's. Complaints stay. */
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

const lifting = z.object({ email: emailText })

/**
 * Lets a mailbox be written to again that complained or refused mail. It is subscribed nowhere by that: its owner has to ask,
 * and to confirm. Operator only.
 * @returns whether it was suppressed. @throws Invalid.
 */
export async function liftSuppression(ctx: SuppressionContext, input: unknown): Promise<boolean> {
  requireOperator(ctx)
  const { text } = email.address.parse(validate(lifting, input).email)
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

/** The ids of all subscribers, of any organization, whose mail goes to the mailboxes of these addresses. */
export async function subscribersAt({ db }: Pick<Context, 'db'>, addresses: readonly string[]): Promise<string[]> {
  const mailboxes = new Set(addresses.map(foldMailbox))
  const found = await db.$queryRaw<{ id: string; address: string }[]>`
    SELECT id, address FROM "Subscriber" WHERE channel = 'EMAIL'
      AND replace(split_part(split_part(address, '@', 1), '+', 1), '.', '') = ANY (${[...new Set(addresses.map(mailboxStart))]}::text[])`
  return found.filter(({ address }) => mailboxes.has(foldMailbox(address))).map(({ id }) => id)
}

const BATCH = 500

/**
 * Suppresses the addresses of all who were stopped, for those of earlier versions were not. Does no harm when it is done
 * again. Gives how many subscribers it went through.
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
