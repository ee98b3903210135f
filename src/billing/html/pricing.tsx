import { checksPerDay, tierLimits } from '../../account/plan.ts'
import type { Config } from '../../config.ts'
import type { Tier } from '../../generated/prisma/enums.ts'
import { checkPlanDays, checkPlanPrice } from '../check-plan-invoice.ts'
import { moneyText, priceOf } from '../price.ts'
import { CoinButtons } from './coins.tsx'
import { tierTitle } from './tier-title.ts'

export interface PricingProps {
  readonly config: Config
  /** Whether coins are taken here. */
  readonly hasCoins: boolean
  readonly problem: Problem | null
}

/** Why what was just sent does not work, and which form it came from. */
export interface Problem {
  readonly of: 'tier' | 'plan'
  /** The field that it is about; null: none of them. */
  readonly field: 'key' | 'email' | null
  readonly message: string
}

/** The page at `/pricing`: limits and prices are those that the service goes by. */
export function Pricing({ config, hasCoins, problem }: PricingProps) {
  return (
    <>
      <section class="hero">
        <h1>Prices</h1>
        <p class="lead">Status pages and blacklist checks are separate plans, and both can be used for free.</p>
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
            <p class="price">{moneyText({ ...checkPlanPrice, amount: 0 })}</p>
            <ul>
              <li>{number(checksPerDay.FREE)} checks a day</li>
              <li>Without an account, counted by address</li>
            </ul>
          </div>
          <div class="tier">
            <h3>Pro</h3>
            <p class="price">
              {moneyText(checkPlanPrice)} <span>for {checkPlanDays} days</span>
            </p>
            <ul>
              <li>{number(checksPerDay.PRO)} checks a day</li>
              <li>Bulk checks of up to 20 targets</li>
              <li>Paid in Bitcoin or Litecoin, without a card; ends by itself</li>
            </ul>
          </div>
        </div>
        {hasCoins ? (
          <BuyForm problem={problem?.of === 'plan' ? problem : null} />
        ) : (
          <p>This service takes no coins yet; its operator can give an organization the pro plan.</p>
        )}
      </section>
    </>
  )
}

function TierCard({ tier, config }: { readonly tier: Tier; readonly config: Config }) {
  const limits = tierLimits[tier]
  const price = tier === 'FREE' ? { amount: 0, currency: config.STRIPE_CURRENCY } : priceOf(tier, config)
  return (
    <div class="tier">
      <h3>{tierTitle(tier)}</h3>
      <p class="price">
        {moneyText(price)} {tier === 'FREE' ? null : <span>a month</span>}
      </p>
      <ul>
        <li>{number(limits.monitors)} monitors</li>
        <li>checked every {limits.minIntervalSeconds} s</li>
        <li>{number(limits.services)} services</li>
        <li>{number(limits.subscribers)} subscribers</li>
        <li>{number(limits.historyDays)} days of history</li>
      </ul>
    </div>
  )
}

function UpgradeForm({ config, problem }: { readonly config: Config; readonly problem: Problem | null }) {
  const links = { pro: config.STRIPE_PAYMENT_LINK_PRO, team: config.STRIPE_PAYMENT_LINK_TEAM }
  const offered = (['pro', 'team'] as const).filter((tier) => links[tier] !== undefined)
  if (offered.length === 0)
    return <p>This service takes no payments yet; its operator can give an organization a tier.</p>
  return (
    <form class="buy" action="/pricing/upgrade" method="post">
      <ProblemText problem={problem} />
      <label for="tier-key">API key of your organization</label>
      <KeyField id="tier-key" required problem={problem} />
      <div class="actions">
        {offered.map((tier) => (
          <button type="submit" name="tier" value={tier}>
            Upgrade to {tier === 'pro' ? 'Pro' : 'Team'}
          </button>
        ))}
      </div>
    </form>
  )
}

function BuyForm({ problem }: { readonly problem: Problem | null }) {
  return (
    <form class="buy" action="/pricing/check-plan" method="post">
      <ProblemText problem={problem} />
      <label for="plan-email">E-mail address</label>
      <input id="plan-email" name="email" type="email" autocomplete="email" {...complaintOf('email', problem)} />
      <label for="plan-key">API key, if you have one: its plan is prolonged</label>
      <KeyField id="plan-key" required={false} problem={problem} />
      <CoinButtons />
      <p class="note">
        Without a key you are shown one when you have paid: on the page you come back to, in this browser.
      </p>
    </form>
  )
}

function KeyField(props: { readonly id: string; readonly required: boolean; readonly problem: Problem | null }) {
  return (
    <input
      id={props.id}
      name="key"
      type="password"
      placeholder="ac_…"
      required={props.required}
      autocomplete="off"
      spellcheck={false}
      {...complaintOf('key', props.problem)}
    />
  )
}

/** What tells of a field that the problem is about it. */
function complaintOf(field: 'key' | 'email', problem: Problem | null) {
  return problem?.field === field ? ({ 'aria-invalid': 'true', 'aria-describedby': problemId(problem) } as const) : {}
}

/** The page is a new one and the form far down on it: the focus leads there. */
function ProblemText({ problem }: { readonly problem: Problem | null }) {
  if (problem === null) return null
  return (
    <p class="problem" id={problemId(problem)} role="alert" tabindex={-1} autofocus>
      {problem.message}
    </p>
  )
}

const problemId = ({ of }: Problem) => `${of}-problem`

const number = (value: number) => value.toLocaleString('en')
