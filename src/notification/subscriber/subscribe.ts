import { z } from 'zod'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import { readPage } from '../../account/page/page.ts'
import { slugText } from '../../account/page/page-settings.ts'
import { consumeHourly, consumeMany } from '../../account/quota.ts'
import { hasScope } from '../../core/access.ts'
import { transaction } from '../../core/context.ts'
import { Conflict, LimitExceeded, NotFound, RateLimited } from '../../core/errors.ts'
import { hashSecret } from '../../core/hash-secret.ts'
import { newId } from '../../core/id.ts'
import type { AnswerSerializer } from '../../core/idempotency.ts'
import { requireRow, storedId } from '../../core/idempotency.ts'
import { clientSubject } from '../../core/ip-address.ts'
import { HOUR, nextUtcDay, nextUtcHour, utcDay } from '../../core/time.ts'
import { validate } from '../../core/validation.ts'
import { change } from '../../event-log/change.ts'
import type { Organization, Subscriber } from '../../generated/prisma/client.ts'
import type { Language } from '../../language/catalogue.ts'
import { languageNamed, offeredLanguages } from '../../language/choice.ts'
import { shows } from '../../status/page-scope.ts'
import { sealAddress } from '../channel/sealed-address.ts'
import type { NotificationContext } from '../context.ts'
import { mailBudgets } from '../mail/budget.ts'
import type { SuppressionReason } from '../mail/suppression.ts'
import { mayRequestConfirmation, suppressedAmong } from '../mail/suppression.ts'
import { notifyDeliveryWorkers } from '../queue/wake-up.ts'
import type { ParsedAddress } from './address.ts'
import { addressFields, readAddress, requireReachableAddress } from './address.ts'
import type { Preferences } from './preferences.ts'
import {
  followIncident,
  languageField,
  readPreferences,
  requireOpenIncident,
  requirePreferences,
  setServices,
  subscriptionFields,
} from './preferences.ts'
import { activate, requireSubscriberCapacity } from './subscriber.ts'
import { activeSql } from './subscriber-conditions.ts'
import { newSecret, tokenFields } from './token.ts'

/** How long a subscription can be confirmed after the request. */
const CONFIRMATION_WINDOW = 48 * HOUR

/** Requests per hour and day (UTC) from one client address (IPv6: /64). */
const MAX_REQUESTS_PER_HOUR = 10
const MAX_REQUESTS_PER_DAY = 20
/** Confirmation messages per hour and day (UTC) to one mailbox or webhook host, from all clients together. */
const MAX_CONFIRMATIONS_PER_HOUR = 3
const MAX_CONFIRMATIONS_PER_DAY = 5

const newSubscriber = z.object({ slug: z.string(), ...addressFields, ...subscriptionFields, ...languageField })

/**
 * Subscribes an address to a page, or to one open incident until it is resolved. For a visitor, sends a message to
 * confirm within 48 hours, and returns null whether or not the address was known. For a key of the organization with
 * scope WRITE, subscribes without a confirmation and returns the subscriber.
 * @throws Invalid, NotFound for an unknown page, service or incident, Conflict for a resolved incident, LimitExceeded
 * and RateLimited for too many requests from this client or for this address, and TierLimitReached if the page is at
 * its subscriber limit.
 * @throws Conflict, only for the organization, if the address is subscribed, or has unsubscribed, which only its owner
 * can undo.
 */
export async function subscribe(ctx: NotificationContext, input: unknown): Promise<Subscriber | null> {
  const { slug, topics, serviceIds, incidentId = null, language, ...where } = validate(newSubscriber, input)
  const given = readAddress(ctx, where)
  const preferences = readPreferences({ topics: topics ?? (incidentId === null ? null : []), serviceIds })
  const page = slugText.safeParse(slug).success ? await readPage(ctx.db, 'slug', slug) : null
  if (!page) throw new NotFound('Status page not found.')
  const { organizationId: id, tier } = page
  const isOwnChoice = hasScope(ctx.actor, id, 'WRITE')
  await requireReachableAddress(ctx, given, isOwnChoice ? id : null)
  await requirePreferences(ctx, id, preferences)
  if (preferences.serviceIds.some((serviceId) => !shows(page, serviceId))) throw new NotFound('Service not found.')
  if (incidentId !== null) await requireOpenIncident(ctx, page, incidentId)
  const pageId = page.isFirst ? null : page.id
  const address = { ...given, hash: hashOnPage(given.hash, pageId) }
  const offered = offeredLanguages(page.languages, page.defaultLanguage)
  const wanted = { ...preferences, incidentId, pageId, language: languageNamed(language ?? null, offered) }
  if (isOwnChoice) return subscribeUnconfirmed(ctx, id, address, wanted)
  await requestSubscription(ctx, { id, tier }, address, wanted)
  return null
}

/** Returns the hash of an address on a page, because an address can follow several pages; null for the first page. */
export function hashOnPage(hash: string, pageId: string | null): string {
  return pageId === null ? hash : hashSecret(`${hash} ${pageId}`)
}

/** Serializes the subscriber for a repeated request of an organization; for a visitor, only the fact of the request. */
export function subscriberSerializer(
  ctx: Pick<NotificationContext, 'db'>,
): AnswerSerializer<Subscriber | null, Subscriber | undefined> {
  return {
    serialize: (subscriber) => ({ id: subscriber?.id ?? '' }),
    async restore(kept) {
      const id = storedId(kept)
      return { value: id === '' ? null : await requireRow<Subscriber>(ctx.db, id) }
    },
  }
}

/** The notifications that a subscriber asks for. */
interface WantedSubscription extends Preferences {
  /** The incident to follow, or null. */
  readonly incidentId: string | null
  /** The page to follow; null for the first page. */
  readonly pageId: string | null
  /** The language of its messages. */
  readonly language: Language
}

/** Requests a confirmation, with the same statements for known and new addresses. */
async function requestSubscription(
  ctx: NotificationContext,
  organization: Pick<Organization, 'id' | 'tier'>,
  address: ParsedAddress,
  { incidentId, ...preferences }: WantedSubscription,
): Promise<void> {
  const now = ctx.now()
  await consumeRequestQuota(ctx)
  await requireSubscriberCapacity(ctx, organization, 1)
  await consumeConfirmationQuota(ctx, organization, address)
  const silent = !(await mayRequestConfirmation(ctx, address))
  await transaction(ctx, async (tx) => {
    const { id, isActive } = await upsertSubscriber(tx, organization.id, address, {
      ...preferences,
      isOwnChoice: false,
    })
    await setServices(tx, id, preferences.serviceIds, !isActive)
    await followIncident(tx, id, incidentId)
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
    await notifyDeliveryWorkers(tx, 'Delivery')
  })
}

/** Counts a request of a client. @throws RateLimited and LimitExceeded if there are too many. */
async function consumeRequestQuota({ usage, clientAddress, now }: NotificationContext): Promise<void> {
  const [subject, at] = [`subscribe ${clientSubject(clientAddress)}`, now()]
  if (!(await consumeHourly(usage, subject, at, MAX_REQUESTS_PER_HOUR))) {
    const message = `One network can request at most ${MAX_REQUESTS_PER_HOUR} subscriptions an hour. Please try again later.`
    throw new RateLimited(message, nextUtcHour(at))
  }
  if ((await usage.consume(subject, utcDay(at), MAX_REQUESTS_PER_DAY)).granted) return
  const message = `Your network has used up its ${MAX_REQUESTS_PER_DAY} subscription requests for today (UTC).`
  throw new LimitExceeded(message, MAX_REQUESTS_PER_DAY, nextUtcDay(at))
}

/** Counts a confirmation message, for known and new addresses alike. @throws RateLimited if there are too many. */
async function consumeConfirmationQuota(
  { usage, now }: NotificationContext,
  { id, tier }: Pick<Organization, 'id' | 'tier'>,
  { channel, target }: ParsedAddress,
): Promise<void> {
  const [subject, at] = [`letters ${hashSecret(`${channel} ${target}`)}`, now()]
  const enough =
    'We have already sent several messages to this address. Check its inbox and spam folder, or try again later.'
  if (!(await consumeHourly(usage, subject, at, MAX_CONFIRMATIONS_PER_HOUR)))
    throw new RateLimited(enough, nextUtcHour(at))
  if (!(await usage.consume(subject, utcDay(at), MAX_CONFIRMATIONS_PER_DAY)).granted)
    throw new RateLimited(enough, nextUtcDay(at))
  const { confirmations } = mailBudgets[tier]
  if ((await usage.consume(`confirmations ${id}`, utcDay(at), confirmations)).granted) return
  throw new RateLimited('This page accepts no more subscriptions today. Please try again tomorrow.', nextUtcDay(at))
}

/**
 * Counts addresses that an organization subscribes without a confirmation, in its transaction.
 * @throws RateLimited if they exceed the day's quota.
 */
export async function consumeUnconfirmedQuota(
  { db, now }: Pick<NotificationContext, 'db' | 'now'>,
  { id, tier }: Pick<Organization, 'id' | 'tier'>,
  amount: number,
): Promise<void> {
  const limit = mailBudgets[tier].unconfirmed
  if (await consumeMany({ db }, `vouched ${id}`, utcDay(now()), { amount, limit })) return
  const message = `The ${tier} tier allows ${limit} unconfirmed addresses a day (UTC). This import would exceed that limit.`
  throw new RateLimited(message, nextUtcDay(now()))
}

/** The messages that an organization gets about suppressed addresses. */
export const suppressionMessages = {
  UNSUBSCRIBED: 'This address unsubscribed. Only its owner can subscribe it again.',
  BLOCKED: 'This service can’t send to this address.',
} as const satisfies Record<SuppressionReason, string>

/** Subscribes an address as the organization, without a confirmation. */
function subscribeUnconfirmed(
  ctx: NotificationContext,
  organizationId: string,
  address: ParsedAddress,
  { incidentId, ...preferences }: WantedSubscription,
): Promise<Subscriber> {
  return change(ctx, organizationId, async (tx) => {
    const known = await tx.db.subscriber.findUnique({
      where: { organizationId_addressHash: { organizationId, addressHash: address.hash } },
    })
    if (known?.stoppedAt) throw new Conflict(suppressionMessages.UNSUBSCRIBED)
    if (known?.confirmedAt) throw new Conflict('This address is already subscribed.')
    const suppressed = await suppressedAmong({ ...ctx, ...tx }, organizationId, [address])
    for (const reason of suppressed.values()) throw new Conflict(suppressionMessages[reason])
    const organization = await readOrganization(tx, organizationId)
    await requireSubscriberCapacity(tx, organization, 1)
    await consumeUnconfirmedQuota(tx, organization, 1)
    const own = { ...preferences, isOwnChoice: true }
    const { id } = await upsertSubscriber({ ...ctx, ...tx }, organizationId, address, own)
    await setServices(tx, id, preferences.serviceIds)
    await followIncident(tx, id, incidentId)
    return [await activate(tx, organization, id)]
  })
}

interface UpsertedSubscriber {
  readonly id: string
  readonly isActive: boolean
}

/** Inserts a subscriber to confirm, or updates the preferences of an inactive one; an active one stays unchanged. */
async function upsertSubscriber(
  { db, now, seal }: NotificationContext,
  organizationId: string,
  { channel, text, hash, label, destination }: ParsedAddress,
  {
    topics,
    serviceIds,
    pageId,
    language,
    isOwnChoice,
  }: Omit<WantedSubscription, 'incidentId'> & Pick<Subscriber, 'isOwnChoice'>,
): Promise<UpsertedSubscriber> {
  const id = newId('Subscriber')
  const { tokenHash, token } = tokenFields(seal, id)
  const secret = channel === 'WEBHOOK' ? newSecret(seal, id) : null
  const until = new Date(now().getTime() + CONFIRMATION_WINDOW)
  const [row] = await db.$queryRaw<UpsertedSubscriber[]>`
    INSERT INTO "Subscriber" AS subscriber (id, "organizationId", "pageId", channel, address, "addressHash", label, destination,
      "tokenHash", token, secret, topics, language, "allServices", "isOwnChoice", "createdAt", "confirmableUntil")
    VALUES (${id}, ${organizationId}, ${pageId}, ${channel}::"ChannelKind", ${sealAddress(seal, { id, channel }, text)}, ${hash},
      ${label}, ${destination}, ${tokenHash}, ${token}, ${secret}, ${topics}::"Topic"[], ${language}, ${serviceIds.length === 0},
      ${isOwnChoice}, ${now()}, ${until})
    ON CONFLICT ("organizationId", "addressHash") DO UPDATE SET
      topics = CASE WHEN ${activeSql} THEN subscriber.topics ELSE EXCLUDED.topics END,
      language = CASE WHEN ${activeSql} THEN subscriber.language ELSE EXCLUDED.language END,
      "allServices" = CASE WHEN ${activeSql} THEN subscriber."allServices" ELSE EXCLUDED."allServices" END,
      "isOwnChoice" = subscriber."isOwnChoice" OR EXCLUDED."isOwnChoice", "confirmableUntil" = EXCLUDED."confirmableUntil", "vouchedAt" = EXCLUDED."createdAt"
    RETURNING id, ${activeSql} AS "isActive"`
  if (!row) throw new Error('The subscriber was neither inserted nor found.')
  return row
}
