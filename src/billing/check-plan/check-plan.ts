import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { CreatedApiKey } from '../../account/api-key/api-key.ts'
import { insertFirstKey } from '../../account/organization/organization.ts'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import { organizationOf, requirePayer } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { transaction } from '../../core/context.ts'
import { emailAddress } from '../../core/email-address.ts'
import { Conflict, LimitExceeded, NotFound, Unavailable } from '../../core/errors.ts'
import { hashSecret } from '../../core/hash-secret.ts'
import { randomText } from '../../core/id.ts'
import type { AnswerSerializer } from '../../core/idempotency.ts'
import { clientSubject } from '../../core/ip-address.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { HOUR, MINUTE, nextUtcDay, SECOND, utcDay } from '../../core/time.ts'
import { invalid, validate } from '../../core/validation.ts'
import type { ChangeContext, ChangeResult } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { CheckPlanInvoice } from '../../generated/prisma/client.ts'
import { CheckPlanCurrency } from '../../generated/prisma/enums.ts'
import type { BillingContext, BuyerContext } from '../context.ts'
import {
  asSystem,
  checkPlanPrice,
  isPermanent,
  lockInvoice,
  POLL_INTERVAL_MS,
  recordInvoice,
  requireBtcpay,
} from './check-plan-invoice.ts'

const purchaseInput = z.object({ currency: z.enum(CheckPlanCurrency), email: emailAddress.nullish() })

/** An invoice to pay, and the secret for claiming the key; null for a buyer who has a key. */
export interface Purchase {
  readonly invoice: CheckPlanInvoice
  readonly secret: string | null
}

/** Maximum invoices per UTC day for a client address (IPv6: /64) without a key, and for an organization. */
const MAX_INVOICES_PER_DAY = 20

/** Maximum time to create an invoice: the timeout of the payment server plus a margin. */
const CREATION_TIMEOUT_MS = 15 * SECOND
/** How often to check whether a concurrent request has created the invoice. */
const CREATION_POLL_MS = SECOND / 10

/**
 * Creates an invoice for thirty days of the PRO check plan: for the caller's organization, or otherwise for a new
 * organization, which is created when the invoice is settled, even if sign-up is closed.
 * @throws Invalid when the email address is missing or invalid. @throws LimitExceeded when this address has created
 * too many invoices.
 * @throws Conflict and Unavailable like `extendCheckPlan`.
 */
export async function buyCheckPlan(ctx: BuyerContext, input: unknown): Promise<Purchase> {
  requireBtcpay(ctx)
  const { currency, email } = validate(purchaseInput, input)
  const { actor } = ctx
  const organizationId = organizationOf(actor)
  if (organizationId !== null) {
    requirePayer(ctx)
    return { invoice: await extendCheckPlan(ctx, organizationId, { currency, email }), secret: null }
  }
  if (email == null) throw invalid([{ path: ['email'], message: 'is required' }])
  const now = ctx.now()
  const subject = `invoices ${clientSubject(ctx.clientAddress)}`
  const { granted } = await ctx.usage.consume(subject, utcDay(now), MAX_INVOICES_PER_DAY)
  if (!granted) throw invoiceLimitExceeded('from your address', now)
  const secret = randomText(32)
  const buyer = { organizationId: null, currency, email, secretHash: hashSecret(secret) }
  const stored = await transaction(ctx, async (tx) => ({ invoice: await insertInvoice(tx, buyer), secret }))
  return { invoice: await createProviderInvoice(ctx, stored.invoice), secret }
}

/**
 * Returns how to store a purchase under an idempotency key, with the secret sealed. An invoice that the payment server
 * did not create is not replayed: the next request creates another.
 */
export function purchaseSerializer(
  ctx: BillingContext & { readonly seal: SecretBox },
): AnswerSerializer<Purchase, { readonly invoice: { readonly id: string }; readonly secret?: string }> {
  const about = (id: string) => `${id} purchase`
  return {
    serialize: ({ invoice: { id }, secret }) => ({
      id,
      secret: secret === undefined ? null : ctx.seal.seal(secret, about(id)),
    }),
    async restore(stored) {
      // Only `serialize` creates this value.
      const { id, secret } = stored as { readonly id: string; readonly secret: string | null }
      const invoice = await waitForCreation(ctx, id)
      return invoice && { value: { invoice, secret: secret === null ? null : ctx.seal.open(secret, about(id)) } }
    },
  }
}

/**
 * Creates an invoice that extends an organization's PRO check plan by thirty days, or returns one that can still be
 * paid. Uses the organization's contact address when no email address is given. The caller checks access.
 * @throws Invalid when the email address is invalid. @throws Conflict when the plan has no end. @throws LimitExceeded
 * when the organization has too many invoices today.
 * @throws Unavailable `PAYMENT_PROVIDER_NOT_CONFIGURED` or `PAYMENT_PROVIDER_UNAVAILABLE`. Nothing can have been paid
 * in that case, because no caller has seen the invoice.
 */
export async function extendCheckPlan(
  ctx: BillingContext,
  organizationId: string,
  input: unknown,
): Promise<CheckPlanInvoice> {
  requireBtcpay(ctx)
  const { currency, email } = validate(purchaseInput, input)
  const { invoice, isNew } = await reserveInvoice(ctx, organizationId, currency, email ?? null)
  if (isNew) return createProviderInvoice(ctx, invoice)
  return invoice.checkoutUrl === null ? waitForInvoice(ctx, invoice.id) : invoice
}

/** An invoice of an organization. A new one does not exist on the payment server yet. */
interface ReservedInvoice {
  readonly invoice: CheckPlanInvoice
  readonly isNew: boolean
}

/**
 * Returns the organization's invoice that is payable or being created. Otherwise inserts a new row. Callers run one at
 * a time, so that two concurrent requests share one invoice. The transaction only inserts the row; the request to the
 * payment server follows it.
 */
function reserveInvoice(
  ctx: ChangeContext,
  organizationId: string,
  currency: CheckPlanCurrency,
  email: string | null,
): Promise<ReservedInvoice> {
  return change(ctx, organizationId, async (tx): Promise<ChangeResult<ReservedInvoice>> => {
    const organization = await readOrganization(tx, organizationId)
    if (isPermanent(organization)) {
      throw new Conflict('The pro check plan of this organization has no end, so there is nothing to pay for.')
    }
    const open = await findOpenInvoice(tx, organizationId, currency)
    if (open) return [{ invoice: open, isNew: false }]
    const now = tx.now()
    const today = { organizationId, createdAt: { gte: utcDay(now) } }
    if ((await tx.db.checkPlanInvoice.count({ where: today })) >= MAX_INVOICES_PER_DAY) {
      throw invoiceLimitExceeded('for this organization', now)
    }
    const buyer = { organizationId, currency, email: email ?? organization.contactEmail, secretHash: null }
    return [{ invoice: await insertInvoice(tx, buyer), isNew: true }]
  })
}

/**
 * Inserts an invoice before the request to the payment server, so that the invoice can be found again when the
 * response is lost.
 */
function insertInvoice(
  { db, now }: Context,
  buyer: Pick<CheckPlanInvoice, 'organizationId' | 'currency' | 'email' | 'secretHash'>,
): Promise<CheckPlanInvoice> {
  const createdAt = now()
  const expiresAt = new Date(createdAt.getTime() + HOUR)
  const dueAt = new Date(createdAt.getTime() + POLL_INTERVAL_MS)
  return db.checkPlanInvoice.create({ data: { id: randomText(24), ...buyer, createdAt, expiresAt, dueAt } })
}

/** Creates a stored invoice on the payment server. */
async function createProviderInvoice(claiming: BillingContext, invoice: CheckPlanInvoice): Promise<CheckPlanInvoice> {
  // The insertion of the invoice has already claimed the idempotency key.
  const ctx = { ...claiming, claim: undefined }
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
    ctx.log.warn({ err: error, invoice: id }, 'billing: the payment server did not create an invoice')
    // No caller has seen the invoice. Once it is expired, waiting requests fail and the next request creates another.
    await ctx.db.checkPlanInvoice.updateMany({ where: { id, checkoutUrl: null }, data: { expiresAt: ctx.now() } })
    throw error
  }
}

/** Waits for an invoice that a concurrent request, possibly in another process, is creating. */
async function waitForInvoice(ctx: BillingContext, id: string): Promise<CheckPlanInvoice> {
  const invoice = await waitForCreation(ctx, id)
  if (invoice === null) throw invoiceUnavailable()
  return invoice
}

/** Returns a stored invoice once it exists on the payment server; null when its creation fails or times out. */
async function waitForCreation({ db, now }: BillingContext, id: string): Promise<CheckPlanInvoice | null> {
  for (let waited = 0; waited < CREATION_TIMEOUT_MS; waited += CREATION_POLL_MS) {
    const invoice = await db.checkPlanInvoice.findUnique({ where: { id } })
    if (invoice === null || invoice.checkoutUrl !== null) return invoice
    const age = now().getTime() - invoice.createdAt.getTime()
    if (invoice.expiresAt <= now() || age >= CREATION_TIMEOUT_MS) return null
    await sleep(CREATION_POLL_MS)
  }
  return null
}

/** Returns the error for an invoice that cannot be paid. */
export function invoiceUnavailable(): Unavailable {
  const message = 'The payment server could not create an invoice. Nothing was charged. Try again later.'
  return new Unavailable(message, 'PAYMENT_PROVIDER_UNAVAILABLE')
}

function invoiceLimitExceeded(whose: string, now: Date): LimitExceeded {
  const message = `The limit of ${MAX_INVOICES_PER_DAY} invoices a day (UTC) ${whose} is reached.`
  return new LimitExceeded(message, MAX_INVOICES_PER_DAY, nextUtcDay(now))
}

/** Returns the path of a purchase's page; the path alone gives no access. */
export function purchasePath(invoiceId: string): string {
  return `/billing/check-plan/${invoiceId}`
}

/** The page for renewing a check plan without a key. Payers with a key return to it too. */
export const RENEWAL_PATH = '/billing/check-plan/renew'

/** Returns a purchase, given its secret. @throws NotFound when the secret is not that of the invoice. */
export async function findPurchase(ctx: Context, id: string, secret: string): Promise<CheckPlanInvoice> {
  const invoice = /^[0-9a-v]{24}$/.test(id) ? await ctx.db.checkPlanInvoice.findUnique({ where: { id } }) : null
  if (invoice !== null && invoice.secretHash === hashSecret(secret)) return invoice
  throw new NotFound('Purchase not found.')
}

/**
 * Returns the first key of the organization that was created for a buyer. The key is returned once, after the invoice
 * is settled; it is null before that and afterwards.
 * @throws NotFound when the secret is not that of the invoice.
 */
export async function claimCheckPlan(
  ctx: ChangeContext,
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

/** Returns the newest invoices of an organization's check plan. */
export function listInvoices(
  { db }: Pick<Context, 'db'>,
  organizationId: string,
  limit: number,
): Promise<CheckPlanInvoice[]> {
  return db.checkPlanInvoice.findMany({
    where: { organizationId },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit,
  })
}

/** Returns an invoice that can be paid for at least five more minutes or is being created; null: none. */
function findOpenInvoice(
  { db, now }: Context,
  organizationId: string,
  currency: CheckPlanCurrency,
): Promise<CheckPlanInvoice | null> {
  const at = now().getTime()
  const payable = { checkoutUrl: { not: null }, expiresAt: { gt: new Date(at + 5 * MINUTE) } }
  const beingCreated = {
    checkoutUrl: null,
    createdAt: { gt: new Date(at - CREATION_TIMEOUT_MS) },
    expiresAt: { gt: new Date(at) },
  }
  return db.checkPlanInvoice.findFirst({
    where: { organizationId, currency, status: 'NEW', OR: [payable, beingCreated] },
    orderBy: { createdAt: 'desc' },
  })
}
