import { planAt } from '../../../account/limits.ts'
import { buyCheckPlan, listInvoices } from '../../../billing/check-plan/check-plan.ts'
import type { Limits, LimitUsage } from '../../../billing/overview.ts'
import { limitsOf, usageOf } from '../../../billing/overview.ts'
import { offeredTiers } from '../../../billing/price.ts'
import { startUpgrade } from '../../../billing/subscription/checkout.ts'
import type { CheckPlanInvoice } from '../../../generated/prisma/client.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { FormProblem } from '../../../http/page/form.tsx'
import { Table } from '../../../http/page/table.tsx'
import { Time } from '../../../status-page/html/time.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'

const tierTexts = { FREE: 'Free', PRO: 'Pro', TEAM: 'Team' } as const
const invoiceTexts = {
  NEW: 'Waiting for payment',
  PROCESSING: 'Waiting for confirmation',
  SETTLED: 'Paid',
  EXPIRED: 'Expired',
  INVALID: 'Invalid',
} as const

/** The maximum number of invoices shown. */
const MAX_INVOICES = 20

/** Adds the plan: limits, usage, upgrades and invoices. */
export function planScreens({ get, action }: Screens): void {
  get('plan', (screen) => showPlan(screen, { fields: new URLSearchParams(), problem: null }))
  action(
    'plan/upgrade',
    async (screen, { fields }) => {
      const { url } = await startUpgrade(screen.ctx, fields.get('tier') ?? '')
      return showPayment(screen, url)
    },
    showPlan,
  )
  action(
    'plan/checks',
    async (screen, { fields }) => {
      const { invoice } = await buyCheckPlan(screen.ctx, { currency: fields.get('currency') })
      return invoice.checkoutUrl === null ? 'plan' : showPayment(screen, invoice.checkoutUrl)
    },
    showPlan,
  )
}

/** A page with a link, because the policy forbids forms that lead to another site. */
function showPayment(screen: Screen, url: string): Response {
  const content = (
    <p class="actions">
      <a class="button" href={url} rel="noreferrer">
        Continue to payment
      </a>
      <a href={screen.path('plan')}>Cancel</a>
    </p>
  )
  return screen.show({ title: 'Payment', section: 'plan', content })
}

async function showPlan(screen: Screen, state: FormState): Promise<Response> {
  const { ctx, organization } = screen
  const [usage, invoices] = await Promise.all([
    usageOf(ctx, organization),
    listInvoices(ctx, organization.id, MAX_INVOICES),
  ])
  const content = (
    <>
      <FormProblem state={state} />
      <Limited {...{ limits: limitsOf(ctx, organization), usage }} />
      {screen.role === 'OWNER' ? <Upgrades screen={screen} /> : null}
      {invoices.length === 0 ? null : <Invoices {...{ screen, invoices }} />}
    </>
  )
  return screen.show({ title: 'Plan', section: 'plan', content }, state)
}

function Limited({ limits, usage }: { readonly limits: Limits; readonly usage: LimitUsage }) {
  const rows = [
    ['Monitors', usage.monitors, limits.monitors],
    ['Services', usage.services, limits.services],
    ['Subscribers', usage.subscribers, limits.subscribers],
    ['Blacklist checks today', usage.checksPerDay, limits.checksPerDay],
    ['Days of history', usage.historyDays, limits.historyDays],
  ] as const
  return (
    <Table label="Limits" heads={['Limit', 'In use', 'At most']}>
      {rows.map(([name, used, most]) => (
        <tr>
          <th scope="row">{name}</th>
          <td>{used.toLocaleString('en')}</td>
          <td>{most.toLocaleString('en')}</td>
        </tr>
      ))}
      <tr>
        <th scope="row">Shortest interval</th>
        <td>{usage.minIntervalSeconds === null ? '–' : `${usage.minIntervalSeconds} s`}</td>
        <td>{limits.minIntervalSeconds} s</td>
      </tr>
    </Table>
  )
}

function Upgrades({ screen }: { readonly screen: Screen }) {
  const { ctx, organization } = screen
  const plan = planAt(organization, ctx.now())
  return (
    <section>
      <h2>Tier: {tierTexts[organization.tier]}</h2>
      {offeredTiers(ctx.config, organization.tier).map((tier) => (
        <form method="post" action={screen.path('plan/upgrade')}>
          <input type="hidden" name="tier" value={tier.toLowerCase()} />
          <button type="submit">Upgrade to {tierTexts[tier]}</button>
        </form>
      ))}
      <h2>Blacklist checks: {tierTexts[plan]}</h2>
      {organization.checkPlanUntil === null ? null : (
        <p>
          Until <Time at={organization.checkPlanUntil} zone={screen.zone} />
        </p>
      )}
      {ctx.billing.btcpay === null ? null : (
        <form method="post" action={screen.path('plan/checks')} class="actions">
          <button type="submit" name="currency" value="BTC" class="quiet">
            Pay with Bitcoin
          </button>
          <button type="submit" name="currency" value="LTC" class="quiet">
            Pay with Litecoin
          </button>
        </form>
      )}
    </section>
  )
}

function Invoices({ screen, invoices }: { readonly screen: Screen; readonly invoices: readonly CheckPlanInvoice[] }) {
  return (
    <section>
      <h2>Invoices</h2>
      <ul class="rows">
        {invoices.map(({ id, currency, status, createdAt }) => (
          <li id={id}>
            <Time at={createdAt} zone={screen.zone} />
            <span class="row-facts">
              {currency} · {invoiceTexts[status]}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
