import { checksPerDay, tierLimits } from '../../account/limits.ts'
import type { Config } from '../../core/config.ts'
import type { Tier } from '../../generated/prisma/enums.ts'
import { checkPlanDays, checkPlanPrice } from '../check-plan/check-plan-invoice.ts'
import { moneyText, offeredTiers, priceOf } from '../price.ts'
import { CoinButtons } from './coins.tsx'
import { tierTitle } from './tier-title.ts'

export interface PricingProps {
  readonly config: Config
  /** Whether crypto payments are set up. */
  readonly hasCoins: boolean
  readonly problem: FormError | null
}

const hasPayments = (config: Config, hasCoins: boolean) => hasCoins || offeredTiers(config, 'FREE').length > 0

/** Returns the title of the page: without a way to pay, it shows no prices. */
export function pricingTitle(config: Config, hasCoins: boolean): string {
  return hasPayments(config, hasCoins) ? 'Prices' : 'Limits'
}

/** The error of a submitted form. */
export interface FormError {
  readonly of: 'tier' | 'plan'
  /** The invalid field; null when the error concerns no field. */
  readonly field: 'key' | 'email' | null
  readonly message: string
}

/** Renders the page at `/pricing` with the current limits, and the prices of what can be paid here. */
export function Pricing({ config, hasCoins, problem }: PricingProps) {
  return (
    <>
      <section class="hero">
        <h1>{pricingTitle(config, hasCoins)}</h1>
        <p class="lead">
          Status pages and blacklist checks are separate plans.
          {hasPayments(config, hasCoins) ? ' Both have a free tier.' : null}
        </p>
      </section>
      <section aria-labelledby="pages">
        <h2 id="pages">Status pages</h2>
        <div class="tiers">
          {(['FREE', 'PRO', 'TEAM'] as const).map((tier) => (
            <TierCard tier={tier} config={config} />
          ))}
        </div>
        <UpgradeForm config={config} problem={problem?.of === 'tier' ? problem : null} />
      </section>
      <section aria-labelledby="checks">
        <h2 id="checks">Blacklist checks</h2>
        <div class="tiers">
          <div class="tier">
            <h3>Free</h3>
            {hasCoins ? <p class="price">{moneyText({ ...checkPlanPrice, amount: 0 })}</p> : null}
            <ul>
              <li>{formatNumber(checksPerDay.FREE)} checks a day</li>
              <li>No account needed; counted per IP address</li>
            </ul>
          </div>
          <div class="tier">
            <h3>Pro</h3>
            {hasCoins ? (
              <p class="price">
                {moneyText(checkPlanPrice)} <span>for {checkPlanDays} days</span>
              </p>
            ) : null}
            <ul>
              <li>{formatNumber(checksPerDay.PRO)} checks a day</li>
              <li>Bulk checks of up to 20 targets</li>
              {hasCoins ? <li>Pay with Bitcoin or Litecoin; does not renew automatically</li> : null}
            </ul>
          </div>
        </div>
        {hasCoins ? (
          <BuyForm problem={problem?.of === 'plan' ? problem : null} />
        ) : (
          <p>Crypto payments aren’t set up here. Ask the operator for the pro plan.</p>
        )}
      </section>
    </>
  )
}

function TierCard({ tier, config }: { readonly tier: Tier; readonly config: Config }) {
  const limits = tierLimits[tier]
  const sold = offeredTiers(config, 'FREE')
  const isSold = tier === 'FREE' ? sold.length > 0 : sold.includes(tier)
  const price = tier === 'FREE' ? { amount: 0, currency: config.STRIPE_CURRENCY } : priceOf(tier, config)
  return (
    <div class="tier">
      <h3>{tierTitle(tier)}</h3>
      {isSold ? (
        <p class="price">
          {moneyText(price)} {tier === 'FREE' ? null : <span>a month</span>}
        </p>
      ) : null}
      <ul>
        <li>{formatNumber(limits.monitors)} monitors</li>
        <li>Probes every {limits.minIntervalSeconds} s</li>
        <li>{formatNumber(limits.services)} services</li>
        <li>{formatNumber(limits.subscribers)} subscribers</li>
        <li>{formatNumber(limits.historyDays)} days of history</li>
      </ul>
    </div>
  )
}

function UpgradeForm({ config, problem }: { readonly config: Config; readonly problem: FormError | null }) {
  const offered = offeredTiers(config, 'FREE')
  if (offered.length === 0) return <p>Payments aren’t set up here. Ask the operator for a higher tier.</p>
  return (
    <form class="buy" action="/pricing/upgrade" method="post">
      <ProblemText problem={problem} />
      <label for="tier-key">API key of your organization</label>
      <KeyField id="tier-key" required problem={problem} />
      <div class="actions">
        {offered.map((tier) => (
          <button type="submit" name="tier" value={tier.toLowerCase()}>
            Upgrade to {tierTitle(tier)}
          </button>
        ))}
      </div>
    </form>
  )
}

function BuyForm({ problem }: { readonly problem: FormError | null }) {
  return (
    <form class="buy" action="/pricing/check-plan" method="post">
      <ProblemText problem={problem} />
      <label for="plan-email">Email address</label>
      <input id="plan-email" name="email" type="email" autocomplete="email" {...errorAttributesOf('email', problem)} />
      <label for="plan-key">API key (optional; extends its organization’s plan)</label>
      <KeyField id="plan-key" required={false} problem={problem} />
      <CoinButtons />
      <p class="note">Without a key, you get one after the payment, on the page you return to in this browser.</p>
    </form>
  )
}

function KeyField(props: { readonly id: string; readonly required: boolean; readonly problem: FormError | null }) {
  return (
    <input
      id={props.id}
      name="key"
      type="password"
      placeholder="ac_…"
      required={props.required}
      autocomplete="off"
      spellcheck={false}
      {...errorAttributesOf('key', props.problem)}
    />
  )
}

/** Returns the ARIA attributes of an invalid field. */
function errorAttributesOf(field: 'key' | 'email', problem: FormError | null) {
  return problem?.field === field ? ({ 'aria-invalid': 'true', 'aria-describedby': problemId(problem) } as const) : {}
}

/** Renders the error and moves the focus to it, because the form is far down the reloaded page. */
function ProblemText({ problem }: { readonly problem: FormError | null }) {
  if (problem === null) return null
  return (
    <p class="problem" id={problemId(problem)} role="alert" tabindex={-1} autofocus>
      {problem.message}
    </p>
  )
}

const problemId = ({ of }: FormError) => `${of}-problem`

const formatNumber = (value: number) => value.toLocaleString('en')
