import type { Config } from '../../core/config.ts'
import type { CheckPlanInvoice, Organization } from '../../generated/prisma/client.ts'
import { UtcTime } from '../../http/page/utc-time.tsx'
import { checkPlanDays, checkPlanPrice } from '../check-plan/check-plan-invoice.ts'
import type { PaidTier } from '../price.ts'
import { moneyText, priceOf } from '../price.ts'
import { coinNames } from './coins.tsx'
import { tierTitle } from './tier-title.ts'

/** Renders the confirmation of an upgrade before the redirect to Stripe. */
export function ConfirmUpgrade(props: {
  readonly organization: Organization
  readonly tier: PaidTier
  readonly config: Config
  readonly url: string
}) {
  const { organization, tier, config, url } = props
  return (
    <section class="hero">
      <p class="eyebrow">{organization.name}</p>
      <h1>Upgrade to {tierTitle(tier)}</h1>
      <p class="lead">
        {moneyText(priceOf(tier, config))} a month, until you cancel. You pay on the payment provider’s page, then
        return here.
      </p>
      {organization.tier === 'FREE' ? null : (
        <p>
          Your current {tierTitle(organization.tier)} subscription is separate. Cancel it through its receipt once the
          new one is active.
        </p>
      )}
      <p class="actions">
        <a class="button" href={url}>
          Continue to payment
        </a>
      </p>
    </section>
  )
}

/** Renders the confirmation of a plan extension before the redirect to the payment server. */
export function ConfirmExtension({
  organization,
  invoice,
}: {
  readonly organization: Organization
  readonly invoice: CheckPlanInvoice
}) {
  return (
    <section class="hero">
      <p class="eyebrow">{organization.name}</p>
      <h1>{checkPlanDays} days of the pro check plan</h1>
      <p class="lead">
        {moneyText(checkPlanPrice)}, payable until <UtcTime at={invoice.expiresAt} />. We add the days once the network
        confirms the payment, which takes minutes to an hour.
      </p>
      <PayLink invoice={invoice} />
    </section>
  )
}

/** Renders the purchase of a buyer without a key. */
export function PurchaseStatus({
  invoice,
  secret,
}: {
  readonly invoice: CheckPlanInvoice
  readonly secret: string | null
}) {
  return (
    <section class="hero">
      <p class="eyebrow">
        {checkPlanDays} days of the pro check plan · {moneyText(checkPlanPrice)} in {invoice.currency}
      </p>
      {secret === null ? <PaymentProgress invoice={invoice} /> : <NewKey secret={secret} />}
    </section>
  )
}

function NewKey({ secret }: { readonly secret: string }) {
  return (
    <>
      <h1>Your key</h1>
      <p class="lead">Copy it now. We don’t store it, so you won’t see it again.</p>
      <pre>
        <code>{secret}</code>
      </pre>
      <p>
        Send it as <code>Authorization: Bearer</code>. Use it to extend the plan, too. See the{' '}
        <a href="/docs">documentation</a>.
      </p>
    </>
  )
}

function PaymentProgress({ invoice }: { readonly invoice: CheckPlanInvoice }) {
  switch (invoice.status) {
    case 'NEW':
      return (
        <>
          <h1>Waiting for your payment</h1>
          <p class="lead">
            Pay by <UtcTime at={invoice.expiresAt} />. Return to this page in this browser to get your key.
          </p>
          <PayLink invoice={invoice} />
        </>
      )
    case 'PROCESSING':
      return (
        <>
          <h1>Payment detected</h1>
          <p class="lead">
            Waiting for the network to confirm it, which takes minutes to an hour. Return to this page in this browser
            to get your key.
          </p>
        </>
      )
    case 'SETTLED':
      return invoice.claimedAt === null ? (
        <>
          <h1>Payment received</h1>
          <p class="lead">We show the key only once. Be ready to save it.</p>
          <form class="buy" method="post">
            <button type="submit">Show my key</button>
          </form>
        </>
      ) : (
        <>
          <h1>Your key was already shown</h1>
          <p class="lead">
            We showed it on <UtcTime at={invoice.claimedAt} /> and don’t store it. If you lost it, contact the operator
            with this number: <code>{invoice.id}</code>.
          </p>
        </>
      )
    case 'EXPIRED':
      return (
        <>
          <h1>Invoice expired</h1>
          <p class="lead">
            A full payment that arrives late still counts and appears here. Otherwise, nothing was bought.
          </p>
          <BuyAgain />
        </>
      )
    case 'INVALID':
      return (
        <>
          <h1>Payment rejected</h1>
          <p class="lead">
            The payment server rejected it. If you have paid, contact the operator with this number:{' '}
            <code>{invoice.id}</code>.
          </p>
          <BuyAgain />
        </>
      )
  }
}

function PayLink({ invoice: { checkoutUrl, currency } }: { readonly invoice: CheckPlanInvoice }) {
  if (checkoutUrl === null) return null
  return (
    <p class="actions">
      <a class="button" href={checkoutUrl}>
        Pay in {coinNames[currency]}
      </a>
    </p>
  )
}

function BuyAgain() {
  return (
    <p class="actions">
      <a class="button" href="/pricing#checks">
        Buy again
      </a>
    </p>
  )
}
