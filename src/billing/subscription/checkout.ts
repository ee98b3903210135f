import { liveOrganization } from '../../account/organization/organization-queries.ts'
import { requirePayer } from '../../core/access.ts'
import type { Config } from '../../core/config.ts'
import type { Context } from '../../core/context.ts'
import type { CountDeleted } from '../../core/deleted-rows.ts'
import { DELETE_BATCH, uncounted } from '../../core/deleted-rows.ts'
import { Conflict, NotFound, Unauthenticated, Unavailable } from '../../core/errors.ts'
import { DAY, HOUR } from '../../core/time.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import type { Tier } from '../../generated/prisma/enums.ts'
import type { BillingContext } from '../context.ts'
import type { PaidTier } from '../price.ts'
import { higherTiers, isHigher, paymentLinkOf } from '../price.ts'
import { tierFromOwnSubscriptions } from './tier.ts'

/** Path prefix of the billing REST API (specification §4.2). */
export const BILLING_PATH = '/api/v1/billing'

/** How long an upgrade URL is valid (contract §3). */
const CHECKOUT_TOKEN_TTL_MS = 1 * HOUR
/** How long a payer's browser can see the outcome of the payment. */
export const PAYER_TOKEN_TTL_MS = 1 * DAY

/** Tier names in URLs. */
const tierNames = { PRO: 'pro', TEAM: 'team' } as const satisfies Record<PaidTier, string>
export type TierName = (typeof tierNames)[PaidTier]

/** Parses the name of a paid tier. @throws NotFound `UNKNOWN_TIER` for any other name. */
export function parsePaidTier(name: string): PaidTier {
  const tier = (['PRO', 'TEAM'] as const).find((paid) => tierNames[paid] === name)
  if (tier === undefined) throw new NotFound('This tier does not exist. Use pro or team.', 'UNKNOWN_TIER')
  return tier
}

/**
 * Starts the upgrade of the caller's organization to the named tier. Returns our URL that redirects to the payment link. Requires a
 * key with scope READ; people must be owners.
 * @throws NotFound `UNKNOWN_TIER`. @throws the errors of `paymentLink`, so that it never returns a URL that would fail.
 */
export async function startUpgrade(
  ctx: BillingContext,
  name: string,
  options: CheckoutOptions = {},
): Promise<{ organizationId: string; tier: PaidTier; url: string }> {
  const organizationId = requirePayer(ctx)
  const tier = parsePaidTier(name)
  await paymentLink(ctx, organizationId, tier, options)
  return { organizationId, tier, url: upgradeUrl(ctx, organizationId, tier, options) }
}

/** Returns our URL that redirects to the payment link of a tier. It is valid for an hour and needs no key. */
function upgradeUrl(
  { billing, site, now }: BillingContext,
  organizationId: string,
  tier: PaidTier,
  { own = false }: CheckoutOptions = {},
): string {
  const token = billing.tokens.sign('checkout', organizationId, new Date(now().getTime() + CHECKOUT_TOKEN_TTL_MS))
  return `${site.baseUrl}${BILLING_PATH}/checkout/${tierNames[tier]}?token=${token}${own ? '&own=true' : ''}`
}

/** `own`: allows paying for a tier that a gift subscription already pays for. */
interface CheckoutOptions {
  readonly own?: boolean
}

/** Returns the upgrade URLs of all higher tiers. Without a payment link, an upgrade URL answers that none is set up. */
export function upgradeUrls(ctx: BillingContext, { id, tier }: Organization): Partial<Record<TierName, string>> {
  return Object.fromEntries(higherTiers(tier).map((paid) => [tierNames[paid], upgradeUrl(ctx, id, paid)]))
}

/**
 * Returns the organization of an upgrade URL's token.
 * @throws Unauthenticated `INVALID_TOKEN` when the token is invalid or expired.
 */
export function organizationOfToken({ billing, now }: BillingContext, token: string): string {
  const organizationId = billing.tokens.read('checkout', token, now())
  if (organizationId !== null) return organizationId
  throw new Unauthenticated(
    'INVALID_TOKEN',
    'This link is invalid or has expired. Upgrade links are valid for one hour. Request a new one.',
  )
}

/**
 * Returns the Stripe payment link of a tier, with the organization as its reference. With `own`, a gift subscription
 * does not count as having the tier.
 * @throws Unavailable `PAYMENT_LINK_NOT_CONFIGURED`. @throws Conflict `ALREADY_ON_TIER` when the tier would not rise.
 */
export async function paymentLink(
  ctx: Context,
  organizationId: string,
  tier: PaidTier,
  { own = false }: CheckoutOptions = {},
): Promise<string> {
  const link = requirePaymentLink(tier, ctx.config)
  const organization = await liveOrganization(ctx, organizationId)
  if (organization === null) throw new NotFound('Organization not found.')
  if (!isHigher(tier, organization.tier)) {
    const ownTier = await tierFromOwnSubscriptions(ctx, organization)
    if (!own || !isHigher(tier, ownTier)) throw alreadyOnTier(organization.tier, isHigher(tier, ownTier))
  }
  const url = new URL(link)
  url.searchParams.set('client_reference_id', organization.id)
  url.searchParams.set('prefilled_email', organization.contactEmail)
  return url.href
}

function alreadyOnTier(tier: Tier, isGift: boolean): Conflict {
  const gift = isGift ? ' It is a gift subscription. To also pay yourself, add own=true to the checkout URL.' : ''
  return new Conflict(`The organization is already on the ${tierLabel(tier)} tier.${gift}`, 'ALREADY_ON_TIER')
}

/**
 * Records that an organization was redirected to a payment link. The link contains the organization's id, which is
 * public; this record distinguishes its own subscriptions from gifts.
 */
export async function recordCheckout({ db, now }: Context, organizationId: string, tier: PaidTier): Promise<void> {
  const hour = new Date(Math.floor(now().getTime() / HOUR) * HOUR)
  await db.checkoutStart.createMany({ data: { organizationId, tier, hour }, skipDuplicates: true })
}

/** The maximum time from checkout to payment: a session lasts a day, and a bank payment can take some days more. */
const MAX_CHECKOUT_DURATION_MS = 14 * DAY

/** Returns whether an organization was redirected to a payment link within the maximum time before `at`. */
export async function hasRecentCheckout({ db }: Context, organizationId: string, at: Date): Promise<boolean> {
  const hour = { gt: new Date(at.getTime() - MAX_CHECKOUT_DURATION_MS), lte: at }
  return (await db.checkoutStart.findFirst({ where: { organizationId, hour } })) !== null
}

/**
 * Deletes a batch of records of checkouts that a payment can no longer complete, even with a late event. Returns whether there may
 * be more.
 */
export async function deleteOldCheckouts(
  { db, now }: Pick<Context, 'db' | 'now'>,
  count: CountDeleted = uncounted,
): Promise<boolean> {
  const deleted = await db.$executeRaw`
    DELETE FROM "CheckoutStart" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "CheckoutStart"
      WHERE hour < ${new Date(now().getTime() - 4 * MAX_CHECKOUT_DURATION_MS)} LIMIT ${DELETE_BATCH}))`
  count('CheckoutStart', deleted)
  return deleted >= DELETE_BATCH
}

/** Returns a token that lets a payer's browser see the outcome; it contains the organization and the tier. */
export function payerToken({ billing, now }: BillingContext, organizationId: string, tier: PaidTier): string {
  const expiresAt = new Date(now().getTime() + PAYER_TOKEN_TTL_MS)
  return billing.tokens.sign('payer', `${organizationId}-${tier}`, expiresAt)
}

/** The outcome of a payment. */
export interface CheckoutOutcome {
  readonly organization: Organization
  /** The tier that is being bought. */
  readonly wanted: PaidTier
  /** Whether the organization has this tier or a higher one. */
  readonly isDone: boolean
}

/** Returns the outcome of a checkout; null for an invalid or expired token. */
export async function findCheckoutOutcome(ctx: BillingContext, token: string): Promise<CheckoutOutcome | null> {
  const [organizationId, tier = ''] = ctx.billing.tokens.read('payer', token, ctx.now())?.split('-') ?? []
  if (organizationId === undefined) return null
  const organization = await liveOrganization(ctx, organizationId)
  const wanted = parsePaidTier(tier.toLowerCase())
  return organization && { organization, wanted, isDone: !isHigher(wanted, organization.tier) }
}

/** Returns the name of a tier for use in a sentence. */
function tierLabel(tier: Tier): string {
  return ({ FREE: 'free', PRO: 'pro', TEAM: 'team' } as const)[tier]
}

function requirePaymentLink(tier: PaidTier, config: Config): string {
  const link = paymentLinkOf(tier, config)
  if (link !== undefined) return link
  const message = 'No payment link is set up for this tier.'
  throw new Unavailable(message, 'PAYMENT_LINK_NOT_CONFIGURED')
}
