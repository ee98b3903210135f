import { liveOrganization } from '../../account/organization/organization-queries.ts'
import { NotFound } from '../../core/errors.ts'
import { DAY } from '../../core/time.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import type { BillingContext } from '../context.ts'
import { extendCheckPlan, invoiceUnavailable, RENEWAL_PATH } from './check-plan.ts'

/** How long after a plan's end its renewal link is valid. */
const LINK_GRACE_MS = 30 * DAY

/** Returns a token that only allows paying for an organization's check plan. It is valid until thirty days after `end`. */
export function renewalToken({ billing }: BillingContext, organizationId: string, end: Date): string {
  return billing.tokens.sign('renewal', organizationId, new Date(end.getTime() + LINK_GRACE_MS))
}

/**
 * Returns the URL for renewing an organization's check plan that ends at `until`. It is valid for thirty days after that.
 */
export function renewalUrl(ctx: BillingContext, organizationId: string, until: Date): string {
  return `${ctx.site.baseUrl}${RENEWAL_PATH}?token=${renewalToken(ctx, organizationId, until)}`
}

/** A plan and the state of its payment, for the holder of a renewal link. */
export interface Renewal {
  readonly organization: Organization
  /**
   * The state of a payment: `SEEN` while the network confirms one, `ARRIVED` within a day after one, `INVOICED` with
   * a payable invoice, otherwise null.
   */
  readonly payment: 'SEEN' | 'ARRIVED' | 'INVOICED' | null
}

/** Returns the renewal of a link's token. @throws NotFound `INVALID_TOKEN` when the token is invalid or expired. */
export async function findRenewal(ctx: BillingContext, token: string): Promise<Renewal> {
  const organization = await organizationOf(ctx, token)
  return { organization, payment: await paymentStateOf(ctx, organization.id) }
}

async function paymentStateOf({ db, now }: BillingContext, organizationId: string): Promise<Renewal['payment']> {
  const payable = { status: 'NEW', checkoutUrl: { not: null }, expiresAt: { gt: now() } } as const
  const recent = { grantedAt: { gt: new Date(now().getTime() - DAY) } }
  const invoices = await db.checkPlanInvoice.findMany({
    where: { organizationId, OR: [{ status: 'PROCESSING' }, recent, payable] },
    select: { status: true, grantedAt: true },
  })
  if (invoices.some(({ status }) => status === 'PROCESSING')) return 'SEEN'
  if (invoices.some(({ grantedAt }) => grantedAt !== null)) return 'ARRIVED'
  return invoices.length > 0 ? 'INVOICED' : null
}

/**
 * Creates the invoice that renews a plan, or reuses a payable one. Returns the URL for paying it.
 * @throws NotFound like `findRenewal`. @throws Invalid when the currency is not accepted. @throws Conflict,
 * LimitExceeded and Unavailable like `extendCheckPlan`.
 */
export async function renewCheckPlan(ctx: BillingContext, token: string, currency: unknown): Promise<string> {
  const { id } = await organizationOf(ctx, token)
  const { checkoutUrl } = await extendCheckPlan(ctx, id, { currency })
  if (checkoutUrl === null) throw invoiceUnavailable()
  return checkoutUrl
}

async function organizationOf({ billing, db, now }: BillingContext, token: string): Promise<Organization> {
  const id = billing.tokens.read('renewal', token, now())
  const organization = id === null ? null : await liveOrganization({ db }, id)
  if (organization !== null) return organization
  throw new NotFound(
    'This link is invalid or has expired. Renewal links work until 30 days after the end of the plan.',
    'INVALID_TOKEN',
  )
}
