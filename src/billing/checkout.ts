import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { Conflict, NotFound, Unauthenticated, Unavailable } from '../errors.ts'
import type { Organization } from '../generated/prisma/client.ts'
import type { Tier } from '../generated/prisma/enums.ts'
import { DAY, HOUR } from '../time.ts'
import type { BillingContext } from './context.ts'
import type { PaidTier } from './price.ts'
import { isHigher } from './price.ts'
import { tierWithoutGifts } from './tier.ts'

/** Where the REST door of billing is (specification §4.2). */
export const BILLING_PATH = '/api/v1/billing'

/** For how long an upgrade address is good (contract §3). */
const CHECKOUT_TOKEN = 1 * HOUR
/** For how long a payer's browser is shown what came of the payment. */
export const PAYER_TOKEN = 1 * DAY

/** How a tier is spelt in addresses. */
const tierNames = { pro: 'PRO', team: 'TEAM' } as const satisfies Record<string, PaidTier>
export type TierName = keyof typeof tierNames

/** @throws NotFound `UNKNOWN_TIER` unless the name is that of a tier that is paid for. */
export function paidTierNamed(name: string): PaidTier {
  const tier = Object.entries(tierNames).find(([known]) => known === name)?.[1]
  if (tier === undefined)
    throw new NotFound('There is no such tier to pay for; there are pro and team.', 'UNKNOWN_TIER')
  return tier
}

/** Our address that leads on to the payment link of a tier: good for an hour, and without a key. */
export function upgradeUrl(
  { billing, site, now }: BillingContext,
  organizationId: string,
  name: TierName,
  { own = false }: Choice = {},
): string {
  const token = billing.tokens.sign('checkout', organizationId, new Date(now().getTime() + CHECKOUT_TOKEN))
  return `${site.baseUrl}${BILLING_PATH}/checkout/${name}?token=${token}${own ? '&own=true' : ''}`
}

/** `own`: to pay also for what somebody else pays for already. */
interface Choice {
  readonly own?: boolean
}

/** The upgrade addresses of the tiers that are higher than an organization's own. */
export function upgradeUrls(ctx: BillingContext, { id, tier }: Organization): Partial<Record<TierName, string>> {
  const names = (['pro', 'team'] as const).filter((name) => isHigher(tierNames[name], tier))
  return Object.fromEntries(names.map((name) => [name, upgradeUrl(ctx, id, name)]))
}

/**
 * The organization that a token of an upgrade address is for.
 * @throws Unauthenticated `INVALID_TOKEN` when it is no longer good.
 */
export function organizationOfToken({ billing, now }: BillingContext, token: string): string {
  const organizationId = billing.tokens.read('checkout', token, now())
  if (organizationId !== null) return organizationId
  throw new Unauthenticated('INVALID_TOKEN', 'This address is no longer good: it is for one hour. Ask for a new one.')
}

/**
 * The provider's payment link of a tier, for an organization: it tells the provider whose payment it is. With `own`, what
 * others pay for the organization does not count as having the tier.
 * @throws Unavailable `PAYMENT_LINK_NOT_CONFIGURED`. @throws Conflict `ALREADY_ON_TIER` when there is nothing to gain.
 */
export async function paymentLink(
  ctx: Context,
  organizationId: string,
  tier: PaidTier,
  { own = false }: Choice = {},
): Promise<string> {
  const link = linkOf(tier, ctx.config)
  const organization = await ctx.db.organization.findUnique({ where: { id: organizationId, deletedAt: null } })
  if (organization === null) throw new NotFound('There is no such organization.')
  if (!isHigher(tier, organization.tier)) {
    const ownTier = await tierWithoutGifts(ctx, organization)
    if (!own || !isHigher(tier, ownTier)) throw alreadyOn(organization.tier, isHigher(tier, ownTier))
  }
  const url = new URL(link)
  url.searchParams.set('client_reference_id', organization.id)
  url.searchParams.set('prefilled_email', organization.contactEmail)
  return url.href
}

function alreadyOn(tier: Tier, isGift: boolean): Conflict {
  const gift = isGift
    ? ' Somebody else pays for that: to pay yourself as well, add own=true to the checkout’s address.'
    : ''
  return new Conflict(`The organization is on the ${tierWord(tier)} tier already.${gift}`, 'ALREADY_ON_TIER')
}

/**
 * Notes that an organization is led to a payment link. Its id, which the link carries, is known to many; this is not, and so
 * tells the organization's own subscriptions from those that others begin for it.
 */
export async function noteCheckout({ db, now }: Context, organizationId: string, tier: PaidTier): Promise<void> {
  const hour = new Date(Math.floor(now().getTime() / HOUR) * HOUR)
  await db.checkoutStart.createMany({ data: { organizationId, tier, hour }, skipDuplicates: true })
}

/** A session at the provider lasts a day, and a payment by bank may take some more. */
const CHECKOUT_LASTS = 14 * DAY

/** Whether an organization was led to a payment link not long before a moment. */
export async function hasBegunCheckout({ db }: Context, organizationId: string, at: Date): Promise<boolean> {
  const hour = { gt: new Date(at.getTime() - CHECKOUT_LASTS), lte: at }
  return (await db.checkoutStart.findFirst({ where: { organizationId, hour } })) !== null
}

/** Forgets when checkouts began that can no longer be paid, also by an event that comes late. */
export async function forgetOldCheckouts({ db, now }: Pick<Context, 'db' | 'now'>): Promise<void> {
  await db.checkoutStart.deleteMany({ where: { hour: { lt: new Date(now().getTime() - 4 * CHECKOUT_LASTS) } } })
}

/** What a payer's browser is given to be shown the outcome: the organization and what is being bought. */
export function payerToken({ billing, now }: BillingContext, organizationId: string, tier: PaidTier): string {
  const expiresAt = new Date(now().getTime() + PAYER_TOKEN)
  return billing.tokens.sign('payer', `${organizationId}-${tier}`, expiresAt)
}

/** How a payment came out, for the browser that made it. */
export interface Outcome {
  readonly organization: Organization
  /** What was being bought. */
  readonly wanted: PaidTier
  /** Whether the organization has it, or more. */
  readonly isDone: boolean
}

/** What came of a checkout; null for a token that is no longer good. */
export async function outcomeOfCheckout(ctx: BillingContext, token: string): Promise<Outcome | null> {
  const [organizationId, tier = ''] = ctx.billing.tokens.read('payer', token, ctx.now())?.split('-') ?? []
  if (organizationId === undefined) return null
  const organization = await ctx.db.organization.findUnique({ where: { id: organizationId, deletedAt: null } })
  const wanted = paidTierNamed(tier.toLowerCase())
  return organization && { organization, wanted, isDone: !isHigher(wanted, organization.tier) }
}

/** A tier in a sentence. */
export function tierWord(tier: Tier): string {
  return ({ FREE: 'free', PRO: 'pro', TEAM: 'team' } as const)[tier]
}

function linkOf(tier: PaidTier, { STRIPE_PAYMENT_LINK_PRO: pro, STRIPE_PAYMENT_LINK_TEAM: team }: Config): string {
  const link = tier === 'PRO' ? pro : team
  if (link !== undefined) return link
  const message = 'The operator of this service has set up no payment link for this tier.'
  throw new Unavailable(message, 'PAYMENT_LINK_NOT_CONFIGURED')
}
