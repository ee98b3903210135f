import { z } from 'zod'
import type { CreatedApiKey } from '../account/api-key.ts'
import { insertFirstKey } from '../account/organization.ts'
import { emailText } from '../account/page-settings.ts'
import { hashSecret } from '../account/secret.ts'
import type { Context } from '../context.ts'
import { transaction } from '../context.ts'
import { NotFound } from '../errors.ts'
import type { CheckPlanInvoice } from '../generated/prisma/client.ts'
import { CheckPlanCurrency } from '../generated/prisma/enums.ts'
import { randomText } from '../id.ts'
import { HOUR, MINUTE } from '../time.ts'
import { invalid, validate } from '../validate.ts'
import { asSystem, checkPlanPrice, lockInvoice, POLL, recordInvoice, requireBtcpay } from './check-plan-invoice.ts'
import type { BillingContext } from './context.ts'

const purchase = z.object({ currency: z.enum(CheckPlanCurrency), email: emailText.nullish() })

/** An invoice to pay, and what its buyer has to keep to be shown the key; null when the buyer has a key already. */
export interface Purchase {
  readonly invoice: CheckPlanInvoice
  readonly secret: string | null
}

/**
 * Makes an invoice for thirty days of the pro check plan: for the caller's organization, or else for one that is made when
 * it is settled, whether or not signing up is open.
 * @throws Invalid when the e-mail address is missing or none. @throws Unavailable as `prolongCheckPlan` does.
 */
export async function buyCheckPlan(ctx: BillingContext, input: unknown): Promise<Purchase> {
  requireBtcpay(ctx)
  const { currency, email } = validate(purchase, input)
  if (ctx.actor.kind === 'apiKey') {
    const { organizationId } = ctx.actor
    return { invoice: await prolongCheckPlan(ctx, organizationId, { currency, email }), secret: null }
  }
  if (email == null) throw invalid([{ path: ['email'], message: 'is needed' }])
  const secret = randomText(32)
  const secretHash = hashSecret(secret)
  return { invoice: await makeInvoice(ctx, { organizationId: null, currency, email, secretHash }), secret }
}

/**
 * An invoice for thirty days more of an organization's pro check plan; one that can still be paid is given again. Who may
 * have it is the caller's business.
 * @throws Invalid when the e-mail address is none; without one the organization's contact address is taken.
 * @throws Unavailable `PAYMENT_PROVIDER_NOT_CONFIGURED` or `PAYMENT_PROVIDER_UNAVAILABLE`; nothing can have been paid
 * then, for nobody has seen the invoice.
 */
export async function prolongCheckPlan(
  ctx: BillingContext,
  organizationId: string,
  input: unknown,
): Promise<CheckPlanInvoice> {
  requireBtcpay(ctx)
  const { currency, email } = validate(purchase, input)
  const open = await openInvoice(ctx, organizationId, currency)
  if (open) return open
  const { contactEmail } = await ctx.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
  return makeInvoice(ctx, { organizationId, currency, email: email ?? contactEmail, secretHash: null })
}

/** The invoice is stored before the payment server is asked for it, so that one whose answer gets lost is found again. */
async function makeInvoice(
  ctx: BillingContext,
  buyer: Pick<CheckPlanInvoice, 'organizationId' | 'currency' | 'email' | 'secretHash'>,
): Promise<CheckPlanInvoice> {
  const id = randomText(24)
  const now = ctx.now()
  await ctx.db.checkPlanInvoice.create({
    data: {
      id,
      ...buyer,
      createdAt: now,
      expiresAt: new Date(now.getTime() + HOUR),
      dueAt: new Date(now.getTime() + POLL),
    },
  })
  const made = await requireBtcpay(ctx).create({
    orderId: id,
    amount: (checkPlanPrice.amount / 100).toFixed(2),
    currency: checkPlanPrice.currency.toUpperCase(),
    coin: buyer.currency,
    email: buyer.email,
    returnUrl: ctx.site.baseUrl + (buyer.organizationId === null ? purchasePath(id) : RENEWAL_PATH),
  })
  return recordInvoice(ctx, id, made)
}

/** The page of a purchase; its address alone shows nothing of it. */
export function purchasePath(invoiceId: string): string {
  return `/billing/check-plan/${invoiceId}`
}

/** The page on which a check plan is renewed without a key, and to which those come back who have paid for their own. */
export const RENEWAL_PATH = '/billing/check-plan/renew'

/** A purchase as its buyer sees it. @throws NotFound when the secret is not that of the invoice. */
export async function findPurchase(ctx: Context, id: string, secret: string): Promise<CheckPlanInvoice> {
  const invoice = /^[0-9a-v]{24}$/.test(id) ? await ctx.db.checkPlanInvoice.findUnique({ where: { id } }) : null
  if (invoice !== null && invoice.secretHash === hashSecret(secret)) return invoice
  throw new NotFound('There is no such purchase.')
}

/**
 * Gives the buyer who had no organization the first key of the one that was made: once, when the invoice is settled. The key
 * is null before that, and when it was given already.
 * @throws NotFound when the secret is not that of the invoice.
 */
export async function claimCheckPlan(
  ctx: Context,
  id: string,
  secret: string,
): Promise<{ readonly invoice: CheckPlanInvoice; readonly apiKey: CreatedApiKey | null }> {
  await findPurchase(ctx, id, secret)
  return transaction(asSystem(ctx), async (tx) => {
    const invoice = await lockInvoice(tx, id)
    if (invoice.organizationId === null || invoice.grantedAt === null || invoice.claimedAt !== null) {
      return { invoice, apiKey: null }
    }
    const apiKey = await insertFirstKey(tx, invoice.organizationId)
    const data = { claimedAt: tx.now() }
    return { invoice: await tx.db.checkPlanInvoice.update({ where: { id }, data }), apiKey }
  })
}

/** An invoice that can still be paid, with time enough to do so. */
function openInvoice(
  { db, now }: Context,
  organizationId: string,
  currency: CheckPlanCurrency,
): Promise<CheckPlanInvoice | null> {
  const expiresAt = { gt: new Date(now().getTime() + 5 * MINUTE) }
  const where = { organizationId, currency, status: 'NEW', checkoutUrl: { not: null }, expiresAt } as const
  return db.checkPlanInvoice.findFirst({ where, orderBy: { createdAt: 'desc' } })
}
