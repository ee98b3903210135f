import type { Config } from '../../config.ts'
import type { CheckPlanInvoice, Organization } from '../../generated/prisma/client.ts'
import { UtcTime } from '../../http/utc-time.tsx'
import { checkPlanDays, checkPlanPrice } from '../check-plan-invoice.ts'
import type { PaidTier } from '../price.ts'
import { moneyText, priceOf } from '../price.ts'
import { coinNames } from './coins.tsx'
import { tierTitle } from './tier-title.ts'

/** The last step here before the provider's own pages: who buys what, for how much. */
export function Confirm(props: {
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
        {moneyText(priceOf(tier, config))} a month, until you cancel. You pay on the payment provider’s page, and come
        back here.
      </p>
      {organization.tier === 'FREE' ? null : (
        <p>
          What you pay now for {tierTitle(organization.tier)} is a subscription of its own: cancel it through its
          receipt once the new one runs.
        </p>
      )}
      <p class="actions">
        <a class="button" href={url}>
          Go on to pay
        </a>
      </p>
    </section>
  )
}

/** The last step here before the payment server's page, for who has a key: whose plan is paid for, and until when. */
export function Prolong({
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
        {moneyText(checkPlanPrice)}, to be paid until <UtcTime at={invoice.expiresAt} />. The days are added by
        themselves once the network has confirmed the payment, which takes minutes to an hour.
      </p>
      <PayLink invoice={invoice} />
    </section>
  )
}

/** A purchase of the check plan by who had no key, as the browser that made it is shown it. */
export function Purchased({ invoice, secret }: { readonly invoice: CheckPlanInvoice; readonly secret: string | null }) {
  return (
    <section class="hero">
      <p class="eyebrow">
        {checkPlanDays} days of the pro check plan · {moneyText(checkPlanPrice)} in {invoice.currency}
      </p>
      {secret === null ? <Progress invoice={invoice} /> : <Key secret={secret} />}
    </section>
  )
}

function Key({ secret }: { readonly secret: string }) {
  return (
    <>
      <h1>Your key</h1>
      <p class="lead">Copy it now: it is shown this once, and is not kept here.</p>
      <pre>
        <code>{secret}</code>
      </pre>
      <p>
        Send it as <code>Authorization: Bearer</code>; it is also what prolongs the plan. The{' '}
        <a href="/docs">API docs</a> tell the rest.
      </p>
    </>
  )
}

function Progress({ invoice }: { readonly invoice: CheckPlanInvoice }) {
  switch (invoice.status) {
    case 'NEW':
      return (
        <>
          <h1>Waiting for your payment</h1>
          <p class="lead">
            It can be paid until <UtcTime at={invoice.expiresAt} />. Come back to this page in this browser to get your
            key.
          </p>
          <PayLink invoice={invoice} />
        </>
      )
    case 'PROCESSING':
      return (
        <>
          <h1>Your payment has been seen</h1>
          <p class="lead">
            The network is confirming it, which takes minutes to an hour. Come back to this page in this browser to get
            your key.
          </p>
        </>
      )
    case 'SETTLED':
      return invoice.claimedAt === null ? (
        <>
          <h1>Your payment has arrived</h1>
          <p class="lead">The key is shown once: have a place ready to keep it.</p>
          <form class="buy" method="post">
            <button type="submit">Show my key</button>
          </form>
        </>
      ) : (
        <>
          <h1>Your key was shown</h1>
          <p class="lead">
            That was on <UtcTime at={invoice.claimedAt} />, and it is not kept here. If it is lost, the operator of this
            service can help: give this number, <code>{invoice.id}</code>.
          </p>
        </>
      )
    case 'EXPIRED':
      return (
        <>
          <h1>The time to pay is over</h1>
          <p class="lead">
            A full payment that comes late still counts, and shows here. Without one, nothing was bought.
          </p>
          <Again />
        </>
      )
    case 'INVALID':
      return (
        <>
          <h1>This payment is not valid</h1>
          <p class="lead">
            The payment server has refused it. If you have paid, the operator of this service can help: give this
            number, <code>{invoice.id}</code>.
          </p>
          <Again />
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

function Again() {
  return (
    <p class="actions">
      <a class="button" href="/pricing#checks">
        Buy anew
      </a>
    </p>
  )
}
