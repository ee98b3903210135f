import type { CheckPlanCurrency } from '../../generated/prisma/enums.ts'

/** The names of the cryptocurrencies in which the check plan can be paid. */
export const coinNames = { BTC: 'Bitcoin', LTC: 'Litecoin' } as const satisfies Record<CheckPlanCurrency, string>

/** Renders the submit buttons of a payment form, one for each cryptocurrency, which is sent as `currency`. */
export function CoinButtons() {
  return (
    <div class="actions">
      {Object.entries(coinNames).map(([coin, name]) => (
        <button type="submit" name="currency" value={coin}>
          Pay in {name}
        </button>
      ))}
    </div>
  )
}
