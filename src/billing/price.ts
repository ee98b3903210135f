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

type Prices = Pick<Config, 'STRIPE_PRO_AMOUNT' | 'STRIPE_TEAM_AMOUNT' | 'STRIPE_CURRENCY'>

/** The price of a tier for a month, before coupons and taxes. */
export function priceOf(tier: PaidTier, config: Prices): Money {
  const amount = tier === 'PRO' ? config.STRIPE_PRO_AMOUNT : config.STRIPE_TEAM_AMOUNT
  return { amount, currency: config.STRIPE_CURRENCY }
}

/** The tier that costs exactly this a month, or null when none does: there is no rounding and no exchange. */
export function tierOfPrice(price: Money, config: Prices): PaidTier | null {
  const costs = (tier: PaidTier) => {
    const { amount, currency } = priceOf(tier, config)
    return amount === price.amount && currency === price.currency
  }
  return (['TEAM', 'PRO'] as const).find(costs) ?? null
}

/** Money for people, such as €29 or €9.50. */
export function moneyText({ amount, currency }: Money): string {
  const format = { style: 'currency', currency: currency.toUpperCase() } as const
  const digits = new Intl.NumberFormat('en', format).resolvedOptions().maximumFractionDigits ?? 2
  const units = amount / 10 ** digits
  return new Intl.NumberFormat('en', { ...format, trailingZeroDisplay: 'stripIfInteger' }).format(units)
}
