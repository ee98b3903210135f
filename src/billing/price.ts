import type { Config } from '../core/config.ts'
import type { Tier } from '../generated/prisma/enums.ts'

/** A paid tier. */
export type PaidTier = Exclude<Tier, 'FREE'>

/** The tiers in ascending order. */
export const tierOrder = ['FREE', 'PRO', 'TEAM'] as const satisfies readonly Tier[]

/** Returns whether a tier is higher than another. */
export function isHigher(tier: Tier, than: Tier): boolean {
  return tierOrder.indexOf(tier) > tierOrder.indexOf(than)
}

/** The settings with the payment links. */
type PaymentLinks = Pick<Config, 'STRIPE_PAYMENT_LINK_PRO' | 'STRIPE_PAYMENT_LINK_TEAM'>

/** Returns the payment link of a tier; absent: none is set up. */
export function paymentLinkOf(tier: PaidTier, config: PaymentLinks): string | undefined {
  return tier === 'PRO' ? config.STRIPE_PAYMENT_LINK_PRO : config.STRIPE_PAYMENT_LINK_TEAM
}

/** Returns the tiers that are higher than another, in ascending order. */
export function higherTiers(tier: Tier): PaidTier[] {
  return (['PRO', 'TEAM'] as const).filter((paid) => isHigher(paid, tier))
}

/** Returns the tiers to which an organization on a tier can upgrade, in ascending order: higher ones with a payment link. */
export function offeredTiers(config: PaymentLinks, tier: Tier): PaidTier[] {
  return higherTiers(tier).filter((paid) => paymentLinkOf(paid, config) !== undefined)
}

/** An amount of money, in minor units of a currency with a lower-case three-letter code. */
export interface Money {
  readonly amount: number
  readonly currency: string
}

/** The billing interval of a price; null when unknown. `other`: an interval in which no tier is sold. */
export type Interval = 'month' | 'year' | 'other'

/** A unit price. */
export interface Price extends Money {
  readonly interval: Interval | null
  readonly quantity: number
}

type PriceSettings = Pick<
  Config,
  | 'STRIPE_PRO_AMOUNT'
  | 'STRIPE_TEAM_AMOUNT'
  | 'STRIPE_PRO_YEARLY_AMOUNT'
  | 'STRIPE_TEAM_YEARLY_AMOUNT'
  | 'STRIPE_CURRENCY'
>

/** Returns the monthly price of a tier, before coupons and taxes. */
export function priceOf(tier: PaidTier, config: PriceSettings): Money {
  const amount = tier === 'PRO' ? config.STRIPE_PRO_AMOUNT : config.STRIPE_TEAM_AMOUNT
  return { amount, currency: config.STRIPE_CURRENCY }
}

/** Returns the yearly price of a tier, before coupons and taxes; null when the tier has none. */
function yearlyPriceOf(tier: PaidTier, config: PriceSettings): Money | null {
  const amount = tier === 'PRO' ? config.STRIPE_PRO_YEARLY_AMOUNT : config.STRIPE_TEAM_YEARLY_AMOUNT
  return amount === undefined ? null : { amount, currency: config.STRIPE_CURRENCY }
}

/**
 * Returns the tier with exactly this price, without rounding or currency conversion; null: none. A price with an unknown
 * interval matches monthly and yearly prices; the settings reject equal prices.
 */
export function tierOfPrice(price: Money & Partial<Price>, config: PriceSettings): PaidTier | null {
  const { interval = null } = price
  const costs = (tier: PaidTier) => {
    const sold = [
      interval === null || interval === 'month' ? priceOf(tier, config) : null,
      interval === null || interval === 'year' ? yearlyPriceOf(tier, config) : null,
    ]
    return sold.some((each) => each?.amount === price.amount && each.currency === price.currency)
  }
  return (['TEAM', 'PRO'] as const).find(costs) ?? null
}

/**
 * Returns the highest tier that one of the prices buys, in any quantity, or that their sum buys. An extra item next to
 * a tier does not lower it, and two units of a tier count as one.
 */
export function tierOfPrices(prices: readonly Price[], config: PriceSettings): PaidTier | null {
  const intervals = [...new Set(prices.map(({ interval }) => interval))]
  const sums = intervals.flatMap((interval) => {
    const total = totalOf(prices.filter((price) => price.interval === interval))
    return total === null ? [] : [{ ...total, interval }]
  })
  const tiers = [...prices, ...sums].map((price) => tierOfPrice(price, config))
  return tiers.find((tier) => tier === 'TEAM') ?? tiers.find((tier) => tier !== null) ?? null
}

/** Returns the sum of the prices; null when there are none or their currencies differ. */
export function totalOf(prices: readonly Price[]): Money | null {
  const [first, ...others] = prices
  if (first === undefined || others.some(({ currency }) => currency !== first.currency)) return null
  return { amount: prices.reduce((sum, each) => sum + each.amount * each.quantity, 0), currency: first.currency }
}

/** Formats money, such as €29 or €9.50. */
export function moneyText({ amount, currency }: Money): string {
  const format = { style: 'currency', currency: currency.toUpperCase() } as const
  const digits = new Intl.NumberFormat('en', format).resolvedOptions().maximumFractionDigits ?? 2
  const units = amount / 10 ** digits
  return new Intl.NumberFormat('en', { ...format, trailingZeroDisplay: 'stripIfInteger' }).format(units)
}
