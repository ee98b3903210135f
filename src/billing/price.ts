import type { Config } from '../config.ts'
import type { Tier } from '../generated/prisma/enums.ts'

/** A tier that is paid for. */
export type PaidTier = Exclude<Tier, 'FREE'>

/** The tiers by what they include, the least first. */
export const tierOrder = ['FREE', 'PRO', 'TEAM'] as const satisfies readonly Tier[]

/** Whether a tier includes more than another. */
export function isHigher(tier: Tier, than: Tier): boolean {
  return tierOrder.indexOf(tier) > tierOrder.indexOf(than)
}

/** An amount of money, in minor units of a currency with a code of three small letters. */
export interface Money {
  readonly amount: number
  readonly currency: string
}

/** How often a price is paid; null when it is not known. `other`: in no interval in which a tier is sold. */
export type Interval = 'month' | 'year' | 'other'

/** A price, for one of what it buys. */
export interface Price extends Money {
  readonly interval: Interval | null
  readonly quantity: number
}

type Prices = Pick<
  Config,
  | 'STRIPE_PRO_AMOUNT'
  | 'STRIPE_TEAM_AMOUNT'
  | 'STRIPE_PRO_YEARLY_AMOUNT'
  | 'STRIPE_TEAM_YEARLY_AMOUNT'
  | 'STRIPE_CURRENCY'
>

/** The price of a tier for a month, before coupons and taxes. */
export function priceOf(tier: PaidTier, config: Prices): Money {
  const amount = tier === 'PRO' ? config.STRIPE_PRO_AMOUNT : config.STRIPE_TEAM_AMOUNT
  return { amount, currency: config.STRIPE_CURRENCY }
}

/** The price of a tier for a year, before coupons and taxes; null when it is not sold by the year. */
export function yearlyPriceOf(tier: PaidTier, config: Prices): Money | null {
  const amount = tier === 'PRO' ? config.STRIPE_PRO_YEARLY_AMOUNT : config.STRIPE_TEAM_YEARLY_AMOUNT
  return amount === undefined ? null : { amount, currency: config.STRIPE_CURRENCY }
}

/**
 * The tier that costs exactly this, or null when none does: there is no rounding and no exchange. A price whose interval is
 * not known may be that of a month or of a year; the settings allow no two that are equal.
 */
export function tierOfPrice(price: Money & Partial<Price>, config: Prices): PaidTier | null {
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
 * The tier that several prices buy together: the highest of those that one of them buys by itself, in whatever quantity, and
 * of what their sum buys. So an extra beside a tier takes nothing away, and two of one tier are one.
 */
export function tierOfPrices(prices: readonly Price[], config: Prices): PaidTier | null {
  const intervals = [...new Set(prices.map(({ interval }) => interval))]
  const sums = intervals.flatMap((interval) => {
    const total = totalOf(prices.filter((price) => price.interval === interval))
    return total === null ? [] : [{ ...total, interval }]
  })
  const tiers = [...prices, ...sums].map((price) => tierOfPrice(price, config))
  return tiers.find((tier) => tier === 'TEAM') ?? tiers.find((tier) => tier !== null) ?? null
}

/** What prices cost together; null when they have no common currency, or there are none. */
export function totalOf(prices: readonly Price[]): Money | null {
  const [first, ...others] = prices
  if (first === undefined || others.some(({ currency }) => currency !== first.currency)) return null
  return { amount: prices.reduce((sum, each) => sum + each.amount * each.quantity, 0), currency: first.currency }
}

/** Money for people, such as €29 or €9.50. */
export function moneyText({ amount, currency }: Money): string {
  const format = { style: 'currency', currency: currency.toUpperCase() } as const
  const digits = new Intl.NumberFormat('en', format).resolvedOptions().maximumFractionDigits ?? 2
  const units = amount / 10 ** digits
  return new Intl.NumberFormat('en', { ...format, trailingZeroDisplay: 'stripIfInteger' }).format(units)
}
