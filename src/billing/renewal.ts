import { NotFound } from '../errors.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { DAY } from '../time.ts'
import { notMade, prolongCheckPlan, RENEWAL_PATH } from './check-plan.ts'
import type { BillingContext } from './context.ts'

/** For how long after a plan's end its link is good. */
const LINK_KEPT = 30 * DAY

/** What lets its bearer pay for an organization's check plan, and do nothing else: good until thirty days after `end`. */
export function renewalToken({ billing }: BillingContext, organizationId: string, end: Date): string {
  return billing.tokens.sign('renewal', organizationId, new Date(end.getTime() + LINK_KEPT))
}

/**
 * The address at which an organization's check plan that ends at `until` is renewed: good until thirty days after that end.
 */
export function renewalUrl(ctx: BillingContext, organizationId: string, until: Date): string {
  return `${ctx.site.baseUrl}${RENEWAL_PATH}?token=${renewalToken(ctx, organizationId, until)}`
}

/** A plan as whoever has its link is shown it. */
export interface Renewal {
  readonly organization: Organization
  /**
   * What is known of a payment for it: the network confirms one, one has arrived within the last day, there is an invoice
   * at which one can be made, or (null) none of these.
   */
  readonly payment: 'SEEN' | 'ARRIVED' | 'INVOICED' | null
}

/** @throws NotFound `INVALID_TOKEN` when the token of a link is none of ours, or no longer good. */
export async function findRenewal(ctx: BillingContext, token: string): Promise<Renewal> {
  const organization = await organizationOf(ctx, token)
  return { organization, payment: await paymentOf(ctx, organization.id) }
}

async function paymentOf({ db, now }: BillingContext, organizationId: string): Promise<Renewal['payment']> {
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
 * Makes the invoice that renews a plan, or gives the one that can still be paid. Gives the address at which it is paid.
 * @throws NotFound as `findRenewal` does. @throws Invalid when the coin is none that is taken. @throws Conflict,
 * LimitExceeded and Unavailable as `prolongCheckPlan` does.
 */
export async function renewCheckPlan(ctx: BillingContext, token: string, currency: unknown): Promise<string> {
  const { id } = await organizationOf(ctx, token)
  const { checkoutUrl } = await prolongCheckPlan(ctx, id, { currency })
  if (checkoutUrl === null) throw notMade()
  return checkoutUrl
}

async function organizationOf({ billing, db, now }: BillingContext, token: string): Promise<Organization> {
  const id = billing.tokens.read('renewal', token, now())
  const organization = id === null ? null : await db.organization.findUnique({ where: { id, deletedAt: null } })
  if (organization !== null) return organization
  throw new NotFound('The link of a reminder can be used until 30 days after the end of its plan.', 'INVALID_TOKEN')
}
