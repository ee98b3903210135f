import { Conflict, NotFound, Unavailable } from '../errors.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { DAY } from '../time.ts'
import { prolongCheckPlan, RENEWAL_PATH } from './check-plan.ts'
import type { BillingContext } from './context.ts'

/** For how long after a plan's end its link is good. */
const LINK_KEPT = 30 * DAY

/**
 * The address at which an organization's check plan that ends at `until` is renewed: good until thirty days after that end.
 * Who has it can pay for that plan, and nothing else.
 */
export function renewalUrl({ billing, site }: BillingContext, organizationId: string, until: Date): string {
  const token = billing.tokens.sign('renewal', organizationId, new Date(until.getTime() + LINK_KEPT))
  return `${site.baseUrl}${RENEWAL_PATH}?token=${token}`
}

/** A plan as whoever has its link is shown it. */
export interface Renewal {
  readonly organization: Organization
  /** What is known of a payment for it: the network confirms one, one has arrived within the last day, or (null) neither. */
  readonly payment: 'SEEN' | 'ARRIVED' | null
}

/** @throws NotFound `INVALID_TOKEN` when the token of a link is none of ours, or no longer good. */
export async function findRenewal(ctx: BillingContext, token: string): Promise<Renewal> {
  const organization = await organizationOf(ctx, token)
  const invoices = await ctx.db.checkPlanInvoice.findMany({
    where: {
      organizationId: organization.id,
      OR: [{ status: 'PROCESSING' }, { grantedAt: { gt: new Date(ctx.now().getTime() - DAY) } }],
    },
    select: { status: true },
  })
  const isSeen = invoices.some(({ status }) => status === 'PROCESSING')
  return { organization, payment: isSeen ? 'SEEN' : invoices.length > 0 ? 'ARRIVED' : null }
}

/**
 * Makes the invoice that renews a plan, or gives the one that can still be paid. Gives the address at which it is paid.
 * @throws NotFound as `findRenewal` does. @throws Invalid when the coin is none that is taken. @throws Conflict when the
 * plan has no end. @throws Unavailable as `prolongCheckPlan` does.
 */
export async function renewCheckPlan(ctx: BillingContext, token: string, currency: unknown): Promise<string> {
  const organization = await organizationOf(ctx, token)
  if (isEndless(organization)) throw new Conflict('The plan has no end: there is nothing to renew.')
  const { checkoutUrl } = await prolongCheckPlan(ctx, organization.id, { currency })
  if (checkoutUrl !== null) return checkoutUrl
  const message = 'The payment server has made no invoice that can be paid. Nothing has been charged; try again later.'
  throw new Unavailable(message, 'PAYMENT_PROVIDER_UNAVAILABLE')
}

/** Whether an organization has the pro plan for good, as the operator can give it. */
export function isEndless({ checkPlan, checkPlanUntil }: Organization): boolean {
  return checkPlan === 'PRO' && checkPlanUntil === null
}

async function organizationOf({ billing, db, now }: BillingContext, token: string): Promise<Organization> {
  const id = billing.tokens.read('renewal', token, now())
  const organization = id === null ? null : await db.organization.findUnique({ where: { id } })
  if (organization !== null) return organization
  throw new NotFound('The link of a reminder can be used until 30 days after the end of its plan.', 'INVALID_TOKEN')
}
