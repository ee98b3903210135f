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
 * it is settled, whether or not signing up is open. It is stored before the payment server is asked for it, so that one
 * whose answer gets lost is found again. An invoice of the organization that can still be paid is given again.
 * @throws Invalid when the e-mail address is missing or none. @throws Unavailable `PAYMENT_PROVIDER_NOT_CONFIGURED` or
 * `PAYMENT_PROVIDER_UNAVAILABLE`; nothing can have been paid then, for nobody has seen the invoice.
 */
export async function buyCheckPlan(ctx: BillingContext, input: unknown): Promise<Purchase> {
  const btcpay = requireBtcpay(ctx)
  const { currency, email: given } = validate(purchase, input)
  const organizationId = ctx.actor.kind === 'apiKey' ? ctx.actor.organizationId : null
  const open = organizationId === null ? null : await openInvoice(ctx, organizationId, currency)
  if (open) return { invoice: open, secret: null }
  const email = given ?? (await contactOf(ctx, organizationId))
  const id = randomText(24)
  const secret = organizationId === null ? randomText(32) : null
  const now = ctx.now()
  await ctx.db.checkPlanInvoice.create({
    data: {
      id,
      organizationId,
      currency,
      email,
      secretHash: secret === null ? null : hashSecret(secret),
      createdAt: now,
      expiresAt: new Date(now.getTime() + HOUR),
      dueAt: new Date(now.getTime() + POLL),
    },
  })
  const made = await btcpay.create({
    orderId: id,
    amount: (checkPlanPrice.amount / 100).toFixed(2),
    currency: checkPlanPrice.currency.toUpperCase(),
    coin: currency,
    email,
    returnUrl: purchaseUrl(ctx, id),
  })
  return { invoice: await recordInvoice(ctx, id, made), secret }
}

/** The page of a purchase; its address alone shows nothing of it. */
export function purchaseUrl({ billing }: BillingContext, invoiceId: string): string {
  return `${billing.baseUrl()}/billing/check-plan/${invoiceId}`
}

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

async function contactOf({ db }: Context, organizationId: string | null): Promise<string> {
  if (organizationId === null) throw invalid([{ path: ['email'], message: 'is needed' }])
  return (await db.organization.findUniqueOrThrow({ where: { id: organizationId } })).contactEmail
}
