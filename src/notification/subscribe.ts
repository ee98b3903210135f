import { z } from 'zod'
import { hasScope } from '../account/access.ts'
import { slugText } from '../account/page-settings.ts'
import { hashSecret } from '../account/secret.ts'
import { clientSubject, takeAtOnce, takeThisHour } from '../account/usage.ts'
import { transaction } from '../context.ts'
import { Conflict, LimitExceeded, NotFound, RateLimited } from '../errors.ts'
import { change } from '../eventlog/change.ts'
import type { Organization, Subscriber } from '../generated/prisma/client.ts'
import { newId } from '../id.ts'
import type { Memory } from '../idempotency.ts'
import { idIn, rowById } from '../idempotency.ts'
import { HOUR, nextUtcDay, nextUtcHour, utcDay } from '../time.ts'
import { validate } from '../validate.ts'
import type { KnownAddress } from './address.ts'
import { addressMembers, readAddress } from './address.ts'
import { mailBudgets } from './budget.ts'
import type { Choices } from './choices.ts'
import { choiceMembers, readChoices, requireChoices, setServices } from './choices.ts'
import type { NotificationContext } from './context.ts'
import { announceDeliveries } from './delivery.ts'
import { activate, requireRoom } from './subscriber.ts'
import type { Suppressed } from './suppression.ts'
import { mayBeAsked, suppressedAmong } from './suppression.ts'
import { newSecret, sealAddress, tokenFields } from './token.ts'

/** How long a subscription may be confirmed after it was asked for. */
export const CONFIRMABLE = 48 * HOUR

/** How often an hour and a day (UTC) somebody may ask from one client address (IPv6: /64). */
const ASKS_AN_HOUR = 10
const ASKS_A_DAY = 20
/** How many letters an hour and a day (UTC) asking makes us write to one mailbox, or to one host of webhooks, whoever asks. */
const LETTERS_AN_HOUR = 3
const LETTERS_A_DAY = 5

const newSubscriber = z.object({ slug: z.string(), ...addressMembers, ...choiceMembers })

/**
 * Subscribes an address to a page. A stranger is told nothing (null), whether the address was there already or not: it is
 * written to, and whoever reads that confirms within 48 hours. An organization that subscribes somebody to its own page, with a
 * key of scope WRITE, vouches for it: that is confirmed at once, and given.
 * @throws Invalid, NotFound for a page or services that are not there, LimitExceeded and RateLimited when too much was asked
 * from here or for this address, and TierLimitReached when the page has all the subscribers it may have. @throws Conflict, to
 * the organization alone, when the address is subscribed, or has unsubscribed: nobody but its owner can undo that.
 */
export async function subscribe(ctx: NotificationContext, input: unknown): Promise<Subscriber | null> {
  const { slug, topics, serviceIds, ...where } = validate(newSubscriber, input)
  const address = readAddress(ctx, where)
  const choices = readChoices({ topics, serviceIds })
  const organization = slugText.safeParse(slug).success
    ? await ctx.db.organization.findUnique({ where: { slug, deletedAt: null } })
    : null
  if (!organization) throw new NotFound('There is no such status page.')
  await requireChoices(ctx, organization.id, choices)
  const { actor } = ctx
  if (hasScope(actor, organization.id, 'WRITE')) {
    return vouchFor(ctx, organization.id, address, choices)
  }
  await ask(ctx, organization, address, choices)
  return null
}

/** Keeps the subscriber that an organization has subscribed; of what a stranger asked for nothing but that it was asked. */
export function subscriberMemory(
  ctx: Pick<NotificationContext, 'db'>,
): Memory<Subscriber | null, Subscriber | undefined> {
  return {
    write: (subscriber) => ({ id: subscriber?.id ?? '' }),
    async read(kept) {
      const id = idIn(kept)
      return { value: id === '' ? null : await rowById<Subscriber>(ctx.db, id) }
    },
  }
}

/** Does the same, in the same statements, whatever is known of the address. */
async function ask(
  ctx: NotificationContext,
  organization: Pick<Organization, 'id' | 'tier'>,
  address: KnownAddress,
  choices: Choices,
): Promise<void> {
  const now = ctx.now()
  await spendAsk(ctx)
  await requireRoom(ctx, organization, 1)
  await spendLetter(ctx, organization, address)
  const silent = !(await mayBeAsked(ctx, address))
  await transaction(ctx, async (tx) => {
    const { id, isActive } = await put(tx, organization.id, address, choices)
    await setServices(tx, id, choices.serviceIds, !isActive)
    await tx.db.delivery.create({
      data: {
        id: newId('Delivery'),
        organizationId: organization.id,
        subscriberId: id,
        channel: address.channel,
        subjectId: id,
        destination: address.destination,
        status: silent ? 'CANCELLED' : 'PENDING',
        dueAt: silent ? null : now,
        createdAt: now,
        endedAt: silent ? now : null,
      },
    })
    await announceDeliveries(tx)
  })
}

/** Counts that a client asks. @throws RateLimited, LimitExceeded when it asked too often. */
async function spendAsk({ usage, clientAddress, now }: NotificationContext): Promise<void> {
  const [subject, at] = [`subscribe ${clientSubject(clientAddress)}`, now()]
  if (!(await takeThisHour(usage, subject, at, ASKS_AN_HOUR))) {
    const message = `At most ${ASKS_AN_HOUR} subscriptions an hour can be asked for from one network. Please try again later.`
    throw new RateLimited(message, nextUtcHour(at))
  }
  if ((await usage.take(subject, utcDay(at), ASKS_A_DAY)).granted) return
  const message = `All ${ASKS_A_DAY} subscriptions a day (UTC) from your address are used up.`
  throw new LimitExceeded(message, ASKS_A_DAY, nextUtcDay(at))
}

/** Counts a letter that asks to confirm, whatever is known of its address. @throws RateLimited when there were enough. */
async function spendLetter(
  { usage, now }: NotificationContext,
  { id, tier }: Pick<Organization, 'id' | 'tier'>,
  { channel, target }: KnownAddress,
): Promise<void> {
  const [subject, at] = [`letters ${hashSecret(`${channel} ${target}`)}`, now()]
  const enough =
    'Enough messages went to this address already. Look for them, in the spam folder too, or try again later.'
  if (!(await takeThisHour(usage, subject, at, LETTERS_AN_HOUR))) throw new RateLimited(enough, nextUtcHour(at))
  if (!(await usage.take(subject, utcDay(at), LETTERS_A_DAY)).granted) throw new RateLimited(enough, nextUtcDay(at))
  const { confirmations } = mailBudgets[tier]
  if ((await usage.take(`confirmations ${id}`, utcDay(at), confirmations)).granted) return
  throw new RateLimited('This page can take no more subscriptions today. Please try again tomorrow.', nextUtcDay(at))
}

/**
 * Counts addresses that an organization subscribes without asking them, in its transaction.
 * @throws RateLimited when it may subscribe fewer on this day.
 */
export async function spendVouched(
  { db, now }: Pick<NotificationContext, 'db' | 'now'>,
  { id, tier }: Pick<Organization, 'id' | 'tier'>,
  amount: number,
): Promise<void> {
  const limit = mailBudgets[tier].vouched
  if (await takeAtOnce({ db }, `vouched ${id}`, utcDay(now()), { amount, limit })) return
  const message = `The tier ${tier} can subscribe ${limit} addresses a day (UTC) without their confirmation; this would be more.`
  throw new RateLimited(message, nextUtcDay(now()))
}

/** What an organization is told of an address that it may not write to. */
export const suppressedWords = {
  UNSUBSCRIBED:
    'This address does not want to be told any more: it unsubscribed, and has to subscribe again by itself.',
  BLOCKED: 'Nothing can be sent to this address from here.',
} as const satisfies Record<Suppressed, string>

/** Subscribes an address, confirmed, as the organization. */
function vouchFor(
  ctx: NotificationContext,
  organizationId: string,
  address: KnownAddress,
  choices: Choices,
): Promise<Subscriber> {
  return change(ctx, organizationId, async (tx) => {
    const known = await tx.db.subscriber.findUnique({
      where: { organizationId_addressHash: { organizationId, addressHash: address.hash } },
    })
    if (known?.stoppedAt) throw new Conflict(suppressedWords.UNSUBSCRIBED)
    if (known?.confirmedAt) throw new Conflict('This address is subscribed already.')
    const suppressed = await suppressedAmong({ ...ctx, ...tx }, organizationId, [address])
    for (const reason of suppressed.values()) throw new Conflict(suppressedWords[reason])
    const organization = await tx.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
    await requireRoom(tx, organization, 1)
    await spendVouched(tx, organization, 1)
    const { id } = await put({ ...ctx, ...tx }, organizationId, address, choices)
    await setServices(tx, id, choices.serviceIds)
    return [await activate(tx, organization, id)]
  })
}

interface Put {
  readonly id: string
  readonly isActive: boolean
}

/** Makes the row of an address, to be confirmed, or changes what it is to be told of; one that is active stays as it is. */
async function put(
  { db, now, seal }: NotificationContext,
  organizationId: string,
  { channel, text, hash, label, destination }: KnownAddress,
  { topics, serviceIds }: Choices,
): Promise<Put> {
  const id = newId('Subscriber')
  const { tokenHash, token } = tokenFields(seal, id)
  const secret = channel === 'WEBHOOK' ? newSecret(seal, id) : null
  const until = new Date(now().getTime() + CONFIRMABLE)
  const [row] = await db.$queryRaw<Put[]>`
    INSERT INTO "Subscriber" AS known (id, "organizationId", channel, address, "addressHash", label, destination,
      "tokenHash", token, secret, topics, "allServices", "createdAt", "confirmableUntil")
    VALUES (${id}, ${organizationId}, ${channel}::"ChannelKind", ${sealAddress(seal, { id, channel }, text)}, ${hash},
      ${label}, ${destination}, ${tokenHash}, ${token}, ${secret}, ${topics}::"Topic"[], ${serviceIds.length === 0},
      ${now()}, ${until})
    ON CONFLICT ("organizationId", "addressHash") DO UPDATE SET
      topics = CASE WHEN known."confirmedAt" IS NOT NULL AND known."stoppedAt" IS NULL
        THEN known.topics ELSE EXCLUDED.topics END,
      "allServices" = CASE WHEN known."confirmedAt" IS NOT NULL AND known."stoppedAt" IS NULL
        THEN known."allServices" ELSE EXCLUDED."allServices" END,
      "confirmableUntil" = EXCLUDED."confirmableUntil"
    RETURNING id, ("confirmedAt" IS NOT NULL AND "stoppedAt" IS NULL) AS "isActive"`
  if (!row) throw new Error('The row of a subscriber was neither made nor found.')
  return row
}
