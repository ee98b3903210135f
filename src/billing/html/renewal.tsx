import type { Organization } from '../../generated/prisma/client.ts'
import { ErrorContent } from '../../http/error-page.tsx'
import { UtcTime } from '../../http/utc-time.tsx'
import { RENEWAL_PATH } from '../check-plan.ts'
import { checkPlanDays, checkPlanPrice, isEndless } from '../check-plan-invoice.ts'
import { moneyText } from '../price.ts'
import type { Renewal } from '../renewal.ts'
import { CoinButtons } from './coins.tsx'

export interface RenewProps {
  readonly renewal: Renewal
  readonly now: Date
  /** Whether coins are taken here. */
  readonly hasCoins: boolean
  /** What lets its bearer pay. */
  readonly token: string
  /** Why what was just asked for cannot be done; null: nothing was, or it can. */
  readonly problem: string | null
}

/** The page that a reminder leads to: whose plan ends when, and how to pay for thirty days more. */
export function Renew(props: RenewProps) {
  const { renewal, problem } = props
  return (
    <section class="hero">
      <p class="eyebrow">{renewal.organization.name}</p>
      <h1>{titles[renewal.payment ?? 'INVOICED']}</h1>
      <p class="lead">
        <End {...props} />
      </p>
      {problem === null ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {renewal.payment === 'SEEN' ? (
        <p>
          The network is confirming it, which takes minutes to an hour. Then {checkPlanDays} days are added by
          themselves.
        </p>
      ) : renewal.payment === 'ARRIVED' ? (
        <p>Nothing more is needed.</p>
      ) : (
        <Pay {...props} />
      )}
    </section>
  )
}

const titles = {
  SEEN: 'Your payment has been seen',
  ARRIVED: 'Your payment has arrived',
  INVOICED: 'Renew the pro check plan',
} as const satisfies Record<NonNullable<Renewal['payment']>, string>

function End({ renewal: { organization }, now }: RenewProps) {
  const { checkPlanUntil: until } = organization
  if (isEndless(organization)) return <>The pro check plan has no end.</>
  if (until === null) return <>The organization has no pro check plan at present.</>
  return (
    <>
      The pro check plan {isOver(organization, now) ? 'ended' : 'ends'} on <UtcTime at={until} />.
    </>
  )
}

function Pay({ renewal: { organization, payment }, now, hasCoins, token }: RenewProps) {
  if (isEndless(organization)) return <p>There is nothing to renew.</p>
  if (!hasCoins) return <p>This service takes no coins at present; its operator can prolong the plan.</p>
  return (
    <form class="buy" action={RENEWAL_PATH} method="post">
      <input type="hidden" name="token" value={token} />
      <p>
        {moneyText(checkPlanPrice)} for {checkPlanDays} days more, counted from{' '}
        {isOver(organization, now) ? 'when the payment arrives' : 'that end, so that no day is lost'}.
      </p>
      <CoinButtons />
      <p class="note">
        Nothing is charged by itself, now or later.
        {payment === 'INVOICED' ? ' If you have just paid, this page shows it within a minute.' : null}
      </p>
    </form>
  )
}

function isOver({ checkPlanUntil }: Organization, now: Date): boolean {
  return checkPlanUntil === null || now >= checkPlanUntil
}

/** What is shown for a link that is no good, and to who comes back from paying in a browser that keeps none. */
export function NothingToRenew({ reason }: { readonly reason: string }) {
  return (
    <ErrorContent status={404} title="There is no plan to renew here">
      <p class="lead">{reason}</p>
      <p>
        If you have just paid, nothing more is needed: the days are added by themselves once the network has confirmed
        the payment. To pay for a plan without such a link, use a key of its organization.
      </p>
      <p class="actions">
        <a class="button" href="/pricing#checks">
          To the prices
        </a>
      </p>
    </ErrorContent>
  )
}
