import { z } from 'zod'
import { insertOrganization } from '../../account/organization/organization.ts'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import { writeCheckPlanEnd } from '../../account/organization/plan.ts'
import type { Context } from '../../core/context.ts'
import { transaction } from '../../core/context.ts'
import { Invalid, Unavailable } from '../../core/errors.ts'
import { randomText } from '../../core/id.ts'
import { DAY, HOUR, MINUTE } from '../../core/time.ts'
import { runDue } from '../../database/lease/due-work.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { CheckPlanInvoice, Organization } from '../../generated/prisma/client.ts'
import type { Btcpay, ProviderInvoice } from '../btcpay.ts'
import { LATE_PAYMENT_WINDOW_MS } from '../btcpay.ts'
import type { BillingContext } from '../context.ts'
import type { Money } from '../price.ts'
import { nextReminder } from './reminder.ts'

/** The price and duration of the PRO check plan (specification §1). */
export const checkPlanPrice: Money = { amount: 900, currency: 'eur' }
export const checkPlanDays = 30

/** Returns whether an organization has the PRO plan without an end, which the operator can grant. */
export function isPermanent({
  checkPlan,
  checkPlanUntil,
}: Pick<Organization, 'checkPlan' | 'checkPlanUntil'>): boolean {
  return checkPlan === 'PRO' && checkPlanUntil === null
}

/** Returns whether an organization has no PRO plan, or one that has ended. */
export function isOver({ checkPlanUntil }: Pick<Organization, 'checkPlanUntil'>, now: Date): boolean {
  return checkPlanUntil === null || now >= checkPlanUntil
}

/**
 * Returns the effect of an invoice's status on the plan; null: none, or it is already applied. The operator of the
 * payment server can mark a settled invoice as invalid.
 */
export function planEffectOf(isGranted: boolean, status: CheckPlanInvoice['status']): 'grant' | 'withdraw' | null {
  if (status === 'SETTLED' && !isGranted) return 'grant'
  return status === 'INVALID' && isGranted ? 'withdraw' : null
}

/** Returns whether an invoice waits for its payment, or for the confirmation of one. */
export const isOpen = ({ status }: Pick<CheckPlanInvoice, 'status'>): boolean =>
  status === 'NEW' || status === 'PROCESSING'

/** How often to poll the payment server for a payable invoice, and for an expired one, which may be paid late. */
export const POLL_INTERVAL_MS = 1 * MINUTE
const LATE_POLL_INTERVAL_MS = 10 * MINUTE

/** Returns when to poll for an invoice again; null: it is final, or the server no longer watches it. */
export function nextPollAt(
  { status, expiresAt }: Pick<CheckPlanInvoice, 'status' | 'expiresAt'>,
  now: Date,
): Date | null {
  if (status === 'SETTLED' || status === 'INVALID') return null
  if (status === 'PROCESSING') return new Date(now.getTime() + POLL_INTERVAL_MS)
  if (status === 'NEW' && now <= expiresAt) return new Date(now.getTime() + POLL_INTERVAL_MS)
  const isWatched = now.getTime() <= expiresAt.getTime() + LATE_PAYMENT_WINDOW_MS + HOUR
  return isWatched ? new Date(now.getTime() + LATE_POLL_INTERVAL_MS) : null
}

/**
 * Reads an invoice from the payment server, and grants or withdraws the plan. Only the server's own data is trusted.
 * @throws Unavailable `PAYMENT_PROVIDER_UNAVAILABLE`.
 */
export async function reconcileInvoice(ctx: BillingContext, id: string): Promise<void> {
  const btcpay = requireBtcpay(ctx)
  const known = await ctx.db.checkPlanInvoice.findUnique({ where: { id } })
  if (known === null) return
  const { providerId } = known
  const found = providerId === null ? await btcpay.find(id) : await btcpay.read(providerId)
  if (found !== null) await recordInvoice(ctx, id, found)
  else await recordMissingInvoice(ctx, known)
}

/** The lease of a worker. Its request takes seconds at most; another worker takes over after this time. */
const LEASE_MS = 1 * MINUTE
const BATCH_SIZE = 10

/**
 * Polls the payment server for the due invoices, to find payments whose webhook was lost. Logs a failure and
 * retries it when the lease ends.
 * @returns when the next invoice is due; null: never.
 */
export async function reconcileDueInvoices(ctx: BillingContext): Promise<Date | null> {
  if (ctx.billing.btcpay === null) return null
  return runDue(ctx, {
    table: 'CheckPlanInvoice',
    dueColumn: 'dueAt',
    limit: BATCH_SIZE,
    leaseMs: LEASE_MS,
    each: ({ id }) => reconcileInvoice(ctx, id),
    isParallel: true,
    subject: 'invoice',
    failureMessage: 'billing: could not read an invoice; will retry',
    level: 'warn',
  })
}

const btcpayEventSchema = z.looseObject({
  deliveryId: z.string().regex(/^[\w.-]{1,200}$/),
  type: z.string().max(255),
  storeId: z.string(),
  timestamp: z.int().min(0).max(99_999_999_999),
  invoiceId: z
    .string()
    .regex(/^[\w-]{1,255}$/)
    .nullish(),
  metadata: z
    .looseObject({ orderId: z.string().nullish().catch(null) })
    .nullish()
    .catch(null),
})

/**
 * Handles a webhook request of the payment server with a verified signature. The event is only a hint that an invoice
 * has changed: records it, then reads the invoice from the server immediately, or with the next poll if that fails.
 * @throws Invalid `INVALID_PAYLOAD` when the body is not an event of the payment server.
 */
export async function receiveBtcpayEvent(ctx: BillingContext, body: string): Promise<void> {
  const event = parseBtcpayEvent(body)
  if (event.invoiceId == null || event.storeId !== ctx.billing.btcpay?.storeId) return
  const { invoiceId: providerId, metadata } = event
  const orderId = metadata?.orderId ?? ''
  const invoice = await ctx.db.checkPlanInvoice.findFirst({
    where: { OR: [{ providerId }, { id: /^[0-9a-v]{24}$/.test(orderId) ? orderId : '', providerId: null }] },
  })
  if (invoice === null) return
  await transaction(ctx, async ({ db, now }) => {
    const { deliveryId, type, timestamp } = event
    const row = { id: `btcpay_${deliveryId}`, type, createdAt: new Date(timestamp * 1000), receivedAt: now() }
    const about = { objectId: providerId, organizationId: invoice.organizationId, email: invoice.email }
    await db.paymentEvent.createMany({
      data: { ...row, ...about, provider: 'BTCPAY', outcome: 'APPLIED', payload: body },
      skipDuplicates: true,
    })
    await db.checkPlanInvoice.update({ where: { id: invoice.id }, data: { dueAt: now() } })
  })
  await reconcileInvoice(ctx, invoice.id).catch((error: unknown) =>
    ctx.log.warn({ err: error, invoice: invoice.id }, 'billing: could not read an invoice after a webhook; will retry'),
  )
}

function parseBtcpayEvent(body: string): z.infer<typeof btcpayEventSchema> {
  try {
    return btcpayEventSchema.parse(JSON.parse(body))
  } catch {
    throw new Invalid('INVALID_PAYLOAD', 'The body is not an event of the payment server.')
  }
}

/** Stores the payment server's data about an invoice and applies the effect on the plan. */
export function recordInvoice(
  ctx: ChangeContext,
  id: string,
  providerInvoice: ProviderInvoice,
): Promise<CheckPlanInvoice> {
  return transaction(asSystem(ctx), async (tx) => {
    const before = await lockInvoice(tx, id)
    const isOurs = providerInvoice.orderId === id && providerInvoice.currency.toLowerCase() === checkPlanPrice.currency
    if (!isOurs || providerInvoice.amount * 100 !== checkPlanPrice.amount) {
      tx.log.error(
        { invoice: id, provider: providerInvoice.id },
        'billing: an invoice differs from the one we created; it grants nothing',
      )
      return tx.db.checkPlanInvoice.update({ where: { id }, data: { dueAt: null } })
    }
    const effect = planEffectOf(before.grantedAt !== null, providerInvoice.status)
    const organizationId =
      before.organizationId ?? (effect === 'grant' ? await createBuyerOrganization(tx, before.email) : null)
    if (effect !== null && organizationId !== null) await adjustPlanEnd(tx, organizationId, effect)
    const { status, expiresAt } = providerInvoice
    const now = tx.now()
    await recordUnsettled(tx, { ...before, organizationId }, providerInvoice)
    return tx.db.checkPlanInvoice.update({
      where: { id },
      data: {
        organizationId,
        providerId: providerInvoice.id,
        checkoutUrl: providerInvoice.checkoutUrl,
        status,
        expiresAt,
        dueAt: nextPollAt({ status, expiresAt }, now),
        ...(effect === 'grant' && { grantedAt: now, settledAt: before.settledAt ?? now }),
        ...(effect === 'withdraw' && { grantedAt: null }),
      },
    })
  })
}

/**
 * Extends the plan by thirty days from now or its end, whichever is later, or withdraws them, and reschedules
 * reminders. Does not change a plan without an end.
 */
async function adjustPlanEnd(tx: ChangeContext, organizationId: string, effect: 'grant' | 'withdraw'): Promise<void> {
  await change(tx, organizationId, async (open) => {
    const { now } = open
    const organization = await readOrganization(open, organizationId)
    if (isPermanent(organization)) return [undefined]
    const { checkPlan, checkPlanUntil: until, name } = organization
    const start = effect === 'withdraw' ? until : checkPlan === 'PRO' && until !== null && until > now() ? until : now()
    if (start === null) return [undefined]
    const days = effect === 'grant' ? checkPlanDays : -checkPlanDays
    const end = new Date(start.getTime() + days * DAY)
    await writeCheckPlanEnd(open, organizationId, end, nextReminder(end, now()))
    return [undefined, { kind: 'CHECK_PLAN_CHANGED', subjectId: organizationId, subjectName: name }]
  })
}

/** The id under which a payment of an expired invoice is listed for the operator. */
const unsettledId = (providerId: string) => `btcpay_unsettled_${providerId}`

/**
 * Lists a payment of an expired invoice for the operator, since money arrived that bought nothing; and takes it off the
 * list once the invoice is settled after all.
 */
async function recordUnsettled(
  { db, now }: Context,
  { grantedAt, organizationId, email }: CheckPlanInvoice,
  { id: objectId, status, unsettled }: ProviderInvoice,
): Promise<void> {
  const id = unsettledId(objectId)
  if (status === 'SETTLED') {
    await db.paymentEvent.updateMany({ where: { id }, data: { outcome: 'APPLIED', reason: null, organizationId } })
    return
  }
  if (unsettled === null || grantedAt !== null) return
  const at = now()
  const [amount, currency] = unsettled === 'PAID_LATE' ? [checkPlanPrice.amount, checkPlanPrice.currency] : [null, null]
  const about = { id, objectId, organizationId, email, amount, currency, reason: unsettled } as const
  await db.paymentEvent.createMany({
    data: {
      ...about,
      provider: 'BTCPAY',
      type: 'invoice.expired',
      outcome: 'UNMATCHED',
      payload: '',
      createdAt: at,
      receivedAt: at,
    },
    skipDuplicates: true,
  })
}

/**
 * Grants the plan that the listed payment of an expired invoice was for, on behalf of the operator, in the caller's
 * transaction. Does nothing when the invoice was settled in the meantime.
 */
export async function grantUnsettled(tx: ChangeContext, providerId: string, organizationId: string): Promise<void> {
  const { id } = await tx.db.checkPlanInvoice.findUniqueOrThrow({ where: { providerId } })
  const { grantedAt } = await lockInvoice(tx, id)
  if (grantedAt !== null) return
  await adjustPlanEnd(tx, organizationId, 'grant')
  const now = tx.now()
  await tx.db.checkPlanInvoice.update({ where: { id }, data: { organizationId, grantedAt: now, settledAt: now } })
}

/** Creates an organization for a buyer who has none. Its public name does not contain the buyer's address. */
async function createBuyerOrganization(tx: ChangeContext, contactEmail: string): Promise<string> {
  const fields = { name: 'Blacklist checks', slug: `checks-${randomText(12)}`, contactEmail }
  return (await insertOrganization(tx, fields)).id
}

/** Records that the payment server does not know an invoice: its creation failed, or it was deleted there. */
async function recordMissingInvoice(
  { db, now, log }: Context,
  { id, createdAt, providerId }: CheckPlanInvoice,
): Promise<void> {
  const age = now().getTime() - createdAt.getTime()
  const isGone = age > HOUR
  if (isGone && providerId !== null) log.warn({ invoice: id }, 'billing: the payment server no longer knows an invoice')
  const data = isGone
    ? ({ status: 'INVALID', dueAt: null } as const)
    : { dueAt: new Date(now().getTime() + POLL_INTERVAL_MS) }
  await db.checkPlanInvoice.updateMany({ where: { id, grantedAt: null }, data })
}

/** Returns an invoice and locks it until the transaction ends. */
export async function lockInvoice({ db }: Context, id: string): Promise<CheckPlanInvoice> {
  await db.$queryRaw`SELECT 1 FROM "CheckPlanInvoice" WHERE id = ${id} FOR UPDATE`
  return db.checkPlanInvoice.findUniqueOrThrow({ where: { id } })
}

/** @throws Unavailable `PAYMENT_PROVIDER_NOT_CONFIGURED`. */
export function requireBtcpay({ billing: { btcpay } }: BillingContext): Btcpay {
  if (btcpay !== null) return btcpay
  const message = 'Crypto payments are not set up here.'
  throw new Unavailable(message, 'PAYMENT_PROVIDER_NOT_CONFIGURED')
}

/** Returns the context with the system as actor, for the effects of payments. */
export function asSystem<C extends Context>(ctx: C): C {
  return { ...ctx, actor: { kind: 'system' } }
}
