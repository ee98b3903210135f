import { ErrorContent } from '../../http/page/error-page.tsx'
import { UtcTime } from '../../http/page/utc-time.tsx'
import { RENEWAL_PATH } from '../check-plan/check-plan.ts'
import { checkPlanDays, checkPlanPrice, isOver, isPermanent } from '../check-plan/check-plan-invoice.ts'
import type { Renewal } from '../check-plan/renewal.ts'
import { moneyText } from '../price.ts'
import { CoinButtons } from './coins.tsx'

export interface RenewProps {
  readonly renewal: Renewal
  readonly now: Date
  /** Whether crypto payments are set up. */
  readonly hasCoins: boolean
  /** The token of the renewal link. */
  readonly token: string
  /** The error of the submitted form, or null. */
  readonly problem: string | null
}

/** Renders the page of a renewal link, with the end of the plan and the ways to pay for thirty more days. */
export function Renew(props: RenewProps) {
  const { renewal, problem } = props
  return (
    <section class="hero">
      <p class="eyebrow">{renewal.organization.name}</p>
      <h1>{titles[renewal.payment ?? 'INVOICED']}</h1>
      <p class="lead">
        <PlanEnd {...props} />
      </p>
      {problem === null ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {renewal.payment === 'SEEN' ? (
        <p>Waiting for the network to confirm it, which takes minutes to an hour. Then we add {checkPlanDays} days.</p>
      ) : renewal.payment === 'ARRIVED' ? (
        <p>You don’t need to do anything.</p>
      ) : (
        <PayForm {...props} />
      )}
    </section>
  )
}

const titles = {
  SEEN: 'Payment detected',
  ARRIVED: 'Payment received',
  INVOICED: 'Renew the pro check plan',
} as const satisfies Record<NonNullable<Renewal['payment']>, string>

function PlanEnd({ renewal: { organization }, now }: RenewProps) {
  const { checkPlanUntil: until } = organization
  if (isPermanent(organization)) return <>The pro check plan has no end.</>
  if (until === null) return <>This organization has no pro check plan.</>
  return (
    <>
      The pro check plan {isOver(organization, now) ? 'ended' : 'ends'} on <UtcTime at={until} />.
    </>
  )
}

function PayForm({ renewal: { organization, payment }, now, hasCoins, token }: RenewProps) {
  if (isPermanent(organization)) return <p>There is nothing to renew.</p>
  if (!hasCoins) return <p>Crypto payments aren’t set up here. Ask the operator to extend the plan.</p>
  return (
    <form class="buy" action={RENEWAL_PATH} method="post">
      <input type="hidden" name="token" value={token} />
      <p>
        {moneyText(checkPlanPrice)} for {checkPlanDays} more days, starting{' '}
        {isOver(organization, now) ? 'when the payment arrives' : 'when the current plan ends'}.
      </p>
      <CoinButtons />
      <p class="note">
        We never charge automatically.
        {payment === 'INVOICED' ? ' If you have just paid, this page shows it within a minute.' : null}
      </p>
    </form>
  )
}

/** Renders the page for an invalid link, and for a payer who returns without the cookie. */
export function NothingToRenew({ reason }: { readonly reason: string }) {
  return (
    <ErrorContent status={404} title="No plan to renew">
      <p class="lead">{reason}</p>
      <p>
        If you have just paid, you don’t need to do anything: we add the days once the network confirms the payment. To
        pay for a plan without a link, use a key of its organization.
      </p>
      <p class="actions">
        <a class="button" href="/pricing#checks">
          View prices
        </a>
      </p>
    </ErrorContent>
  )
}
