import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { CreatedApiKey } from '../account/api-key.ts'
import { insertFirstKey } from '../account/organization.ts'
import { emailText } from '../account/page-settings.ts'
import { hashSecret } from '../account/secret.ts'
import { clientSubject } from '../account/usage.ts'
import type { Context } from '../context.ts'
import { transaction } from '../context.ts'
import { Conflict, LimitExceeded, NotFound, Unavailable } from '../errors.ts'
import { change } from '../eventlog/change.ts'
import type { CheckPlanInvoice } from '../generated/prisma/client.ts'
import { CheckPlanCurrency } from '../generated/prisma/enums.ts'
import { randomText } from '../id.ts'
import { HOUR, MINUTE, nextUtcDay, SECOND, utcDay } from '../time.ts'
import { invalid, validate } from '../validate.ts'
import {
  asSystem,
  checkPlanPrice,
  isEndless,
  lockInvoice,
  POLL,
  recordInvoice,
  requireBtcpay,
} from './check-plan-invoice.ts'
import type { BillingContext, BuyerContext } from './context.ts'

const purchase = z.object({ currency: z.enum(CheckPlanCurrency), email: emailText.nullish() })

/** An invoice to pay, and what its buyer has to keep to be shown the key; null when the buyer has a key already. */
export interface Purchase {
  readonly invoice: CheckPlanInvoice
  readonly secret: string | null
}

/** How many invoices a day (UTC) are made for one client address (IPv6: /64) without a key, and for one organization. */
const INVOICES_A_DAY = 20

/** For how long an invoice can be in the making: the payment server's deadline, and a margin. */
const MAKING = 15 * SECOND
/** How soon it is looked again whether an invoice that somebody else has asked for is made. */
const LOOK = SECOND / 10

/**
 * Makes an invoice for thirty days of the pro check plan: for the caller's organization, or else for one that is made when
 * it is settled, whether or not signing up is open.
 * @throws Invalid when the e-mail address is missing or none. @throws LimitExceeded when too many were asked for from here.
 * @throws Conflict and Unavailable as `prolongCheckPlan` does.
 */
export async function buyCheckPlan(ctx: BuyerContext, input: unknown): Promise<Purchase> {
  requireBtcpay(ctx)
  const { currency, email } = validate(purchase, input)
  const { actor } = ctx
  const organizationId = actor.kind === 'apiKey' || actor.kind === 'operator' ? actor.organizationId : undefined
  if (organizationId !== undefined) {
    return { invoice: await prolongCheckPlan(ctx, organizationId, { currency, email }), secret: null }
  }
  if (email == null) throw invalid([{ path: ['email'], message: 'is needed' }])
  const now = ctx.now()
  const subject = `invoices ${clientSubject(ctx.clientAddress)}`
  const { granted } = await ctx.usage.take(subject, utcDay(now), INVOICES_A_DAY)
  if (!granted) throw tooMany('from your address', now)
  const secret = randomText(32)
  const buyer = { organizationId: null, currency, email, secretHash: hashSecret(secret) }
  return { invoice: await makeInvoice(ctx, await insertInvoice(ctx, buyer)), secret }
}

/**
 * An invoice for thirty days more of an organization's pro check plan; one that can still be paid is given again. Who may
 * have it is the caller's business.
 * @throws Invalid when the e-mail address is none; without one the organization's contact address is taken.
 * @throws Conflict when the plan has no end. @throws LimitExceeded when too many were made for the organization today.
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
  const { invoice, isNew } = await reserveInvoice(ctx, organizationId, currency, email ?? null)
  if (isNew) return makeInvoice(ctx, invoice)
  return invoice.checkoutUrl === null ? madeByAnother(ctx, invoice.id) : invoice
}

/** An invoice of an organization: a new one is still to be made by the payment server. */
interface Reserved {
  readonly invoice: CheckPlanInvoice
  readonly isNew: boolean
}

/**
 * The organization's invoice that can still be paid or is being made, else the row of a new one. One caller at a time: who
 * asks twice at once has one invoice to pay. Only the row is made in the transaction, and the payment server is asked after it.
 */
function reserveInvoice(
  ctx: Context,
  organizationId: string,
  currency: CheckPlanCurrency,
  email: string | null,
): Promise<Reserved> {
  return change<Reserved>(ctx, organizationId, async (tx) => {
    const organization = await tx.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
    if (isEndless(organization)) {
      throw new Conflict('The pro check plan of this organization has no end: there is nothing to pay for.')
    }
    const open = await openInvoice(tx, organizationId, currency)
    if (open) return [{ invoice: open, isNew: false }]
    const now = tx.now()
    const today = { organizationId, createdAt: { gte: utcDay(now) } }
    if ((await tx.db.checkPlanInvoice.count({ where: today })) >= INVOICES_A_DAY) {
      throw tooMany('for this organization', now)
    }
    const buyer = { organizationId, currency, email: email ?? organization.contactEmail, secretHash: null }
    return [{ invoice: await insertInvoice(tx, buyer), isNew: true }]
  })
}

/** The invoice is stored before the payment server is asked for it, so that one whose answer gets lost is found again. */
function insertInvoice(
  { db, now }: Context,
  buyer: Pick<CheckPlanInvoice, 'organizationId' | 'currency' | 'email' | 'secretHash'>,
): Promise<CheckPlanInvoice> {
  const createdAt = now()
  const expiresAt = new Date(createdAt.getTime() + HOUR)
  const dueAt = new Date(createdAt.getTime() + POLL)
  return db.checkPlanInvoice.create({ data: { id: randomText(24), ...buyer, createdAt, expiresAt, dueAt } })
}

/** Has the payment server make a stored invoice. */
async function makeInvoice(ctx: BillingContext, invoice: CheckPlanInvoice): Promise<CheckPlanInvoice> {
  const { id, organizationId, currency: coin, email } = invoice
  try {
    const made = await requireBtcpay(ctx).create({
      orderId: id,
      amount: (checkPlanPrice.amount / 100).toFixed(2),
      currency: checkPlanPrice.currency.toUpperCase(),
      coin,
      email,
      returnUrl: ctx.site.baseUrl + (organizationId === null ? purchasePath(id) : RENEWAL_PATH),
    })
    return await recordInvoice(ctx, id, made)
  } catch (error) {
    ctx.log.warn({ err: error, invoice: id }, 'billing: the payment server has made no invoice')
    // Nobody has seen it: who waits for it is told so, and who tries again gets another.
    await ctx.db.checkPlanInvoice.updateMany({ where: { id, checkoutUrl: null }, data: { expiresAt: ctx.now() } })
    throw error
  }
}

/** An invoice that somebody else, maybe in another process, is having made for the same organization. */
async function madeByAnother(ctx: BillingContext, id: string): Promise<CheckPlanInvoice> {
  for (let waited = 0; waited < MAKING; waited += LOOK) {
    const invoice = await ctx.db.checkPlanInvoice.findUniqueOrThrow({ where: { id } })
    if (invoice.checkoutUrl !== null) return invoice
    if (invoice.expiresAt <= ctx.now()) break
    await sleep(LOOK)
  }
  throw notMade()
}

/** The error for an invoice that was asked for, and at which nothing can be paid. */
export function notMade(): Unavailable {
  const message = 'The payment server has made no invoice that can be paid. Nothing has been charged; try again later.'
  return new Unavailable(message, 'PAYMENT_PROVIDER_UNAVAILABLE')
}

function tooMany(whose: string, now: Date): LimitExceeded {
  const message = `All ${INVOICES_A_DAY} invoices a day (UTC) ${whose} are used up.`
  return new LimitExceeded(message, INVOICES_A_DAY, nextUtcDay(now))
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

/** An invoice that can still be paid, with time enough to do so, or that is being made. */
function openInvoice(
  { db, now }: Context,
  organizationId: string,
  currency: CheckPlanCurrency,
): Promise<CheckPlanInvoice | null> {
  const at = now().getTime()
  const payable = { checkoutUrl: { not: null }, expiresAt: { gt: new Date(at + 5 * MINUTE) } }
  const inTheMaking = { checkoutUrl: null, createdAt: { gt: new Date(at - MAKING) }, expiresAt: { gt: new Date(at) } }
  return db.checkPlanInvoice.findFirst({
    where: { organizationId, currency, status: 'NEW', OR: [payable, inTheMaking] },
    orderBy: { createdAt: 'desc' },
  })
}
