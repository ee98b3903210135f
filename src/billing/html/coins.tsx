import type { CheckPlanCurrency } from '../../generated/prisma/enums.ts'

/** What the coins are called that the check plan is paid in. */
export const coinNames = { BTC: 'Bitcoin', LTC: 'Litecoin' } as const satisfies Record<CheckPlanCurrency, string>

/** The buttons of a form that pays: one for each coin, sent as `currency`. */
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
