import { z } from 'zod'
import { insertOrganization } from '../account/organization.ts'
import type { Context } from '../context.ts'
import { transaction } from '../context.ts'
import { takeDue } from '../database/lease.ts'
import { Invalid, Unavailable } from '../errors.ts'
import { change } from '../eventlog/change.ts'
import type { CheckPlanInvoice, Organization } from '../generated/prisma/client.ts'
import { randomText } from '../id.ts'
import { DAY, HOUR, MINUTE } from '../time.ts'
import type { Btcpay, ProviderInvoice } from './btcpay.ts'
import { LATE_PAYMENT } from './btcpay.ts'
import type { BillingContext } from './context.ts'
import type { Money } from './price.ts'
import { nextReminder } from './reminder.ts'

/** What the pro check plan costs, and for how many days (specification §1). */
export const checkPlanPrice: Money = { amount: 900, currency: 'eur' }
export const checkPlanDays = 30

/** Whether an organization has the pro plan for good, as the operator can give it: no payment adds anything to it. */
export function isEndless({ checkPlan, checkPlanUntil }: Pick<Organization, 'checkPlan' | 'checkPlanUntil'>): boolean {
  return checkPlan === 'PRO' && checkPlanUntil === null
}

/** What an invoice's status does to the plan that it pays for, once each: a settled one can be declared invalid by hand. */
export function effectOf(isGranted: boolean, status: CheckPlanInvoice['status']): 'grant' | 'withdraw' | null {
  if (status === 'SETTLED' && !isGranted) return 'grant'
  return status === 'INVALID' && isGranted ? 'withdraw' : null
}

/** How often the payment server is asked about an invoice that may be paid, and about one that may be paid late. */
export const POLL = 1 * MINUTE
const LATE_POLL = 10 * MINUTE

/** When to ask about an invoice again; null: never, for it is over, or the server does not watch it any more. */
export function nextAsked(
  { status, expiresAt }: Pick<CheckPlanInvoice, 'status' | 'expiresAt'>,
  now: Date,
): Date | null {
  if (status === 'SETTLED' || status === 'INVALID') return null
  if (status === 'PROCESSING') return new Date(now.getTime() + POLL)
  if (status === 'NEW' && now <= expiresAt) return new Date(now.getTime() + POLL)
  const isWatched = now.getTime() <= expiresAt.getTime() + LATE_PAYMENT + HOUR
  return isWatched ? new Date(now.getTime() + LATE_POLL) : null
}

/**
 * Reads an invoice back from the payment server, and gives or takes back what it pays for: the server's own word is the only
 * one that counts.
 * @throws Unavailable `PAYMENT_PROVIDER_UNAVAILABLE`.
 */
export async function reconcileInvoice(ctx: BillingContext, id: string): Promise<void> {
  const btcpay = requireBtcpay(ctx)
  const known = await ctx.db.checkPlanInvoice.findUnique({ where: { id } })
  if (known === null) return
  const { providerId } = known
  const found = providerId === null ? await btcpay.find(id) : await btcpay.read(providerId)
  if (found !== null) await recordInvoice(ctx, id, found)
  else await miss(ctx, known)
}

/** An answer takes a worker seconds at most; when it dies, another takes its work over after this. */
const LEASE = 1 * MINUTE
const AT_ONCE = 10

/**
 * Asks about the invoices that are due, so that a payment of which we were not told is found. One that fails is logged, and
 * asked about again when its lease is over. Gives the time at which the next one is due; null: none is.
 */
export async function reconcileDueInvoices(ctx: BillingContext): Promise<Date | null> {
  if (ctx.billing.btcpay === null) return null
  const { taken } = await takeDue(ctx, {
    table: 'CheckPlanInvoice',
    dueColumn: 'dueAt',
    limit: AT_ONCE,
    leaseMs: LEASE,
  })
  const failed = (id: string) => (error: unknown) =>
    ctx.log.warn({ err: error, invoice: id }, 'billing: could not ask about an invoice; trying again')
  await Promise.all(taken.map(({ id }) => reconcileInvoice(ctx, id).catch(failed(id))))
  const next = await ctx.db.checkPlanInvoice.findFirst({ where: { dueAt: { not: null } }, orderBy: { dueAt: 'asc' } })
  return next?.dueAt ?? null
}

const delivery = z.looseObject({
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
 * Takes a delivery of the payment server whose signature has been checked. All it is believed is that something is new about
 * an invoice: that is noted for good, and the invoice is read back at once, or by the next round when that fails.
 * @throws Invalid `INVALID_PAYLOAD` when the body is no delivery of the server.
 */
export async function takeBtcpayDelivery(ctx: BillingContext, body: string): Promise<void> {
  const said = parseDelivery(body)
  if (said.invoiceId == null || said.storeId !== ctx.billing.btcpay?.storeId) return
  const { invoiceId: providerId, metadata } = said
  const orderId = metadata?.orderId ?? ''
  const invoice = await ctx.db.checkPlanInvoice.findFirst({
    where: { OR: [{ providerId }, { id: /^[0-9a-v]{24}$/.test(orderId) ? orderId : '', providerId: null }] },
  })
  if (invoice === null) return
  await transaction(ctx, async ({ db, now }) => {
    const { deliveryId, type, timestamp } = said
    const event = { id: `btcpay_${deliveryId}`, type, createdAt: new Date(timestamp * 1000), receivedAt: now() }
    const about = { objectId: providerId, organizationId: invoice.organizationId, email: invoice.email }
    await db.paymentEvent.createMany({
      data: { ...event, ...about, provider: 'BTCPAY', outcome: 'APPLIED', payload: body },
      skipDuplicates: true,
    })
    await db.checkPlanInvoice.update({ where: { id: invoice.id }, data: { dueAt: now() } })
  })
  await reconcileInvoice(ctx, invoice.id).catch((error: unknown) =>
    ctx.log.warn({ err: error, invoice: invoice.id }, 'billing: could not read an invoice back; trying again'),
  )
}

function parseDelivery(body: string): z.infer<typeof delivery> {
  try {
    return delivery.parse(JSON.parse(body))
  } catch {
    throw new Invalid('INVALID_PAYLOAD', 'The body is no delivery of the payment server.')
  }
}

/** Writes down what the payment server says of an invoice, with what follows from it. */
export function recordInvoice(ctx: Context, id: string, said: ProviderInvoice): Promise<CheckPlanInvoice> {
  return transaction(asSystem(ctx), async (tx) => {
    const before = await lockInvoice(tx, id)
    const isOurs = said.orderId === id && said.currency.toLowerCase() === checkPlanPrice.currency
    if (!isOurs || said.amount * 100 !== checkPlanPrice.amount) {
      tx.log.error(
        { invoice: id, provider: said.id },
        'billing: an invoice is not the one that was made; it gives nothing',
      )
      return tx.db.checkPlanInvoice.update({ where: { id }, data: { dueAt: null } })
    }
    const effect = effectOf(before.grantedAt !== null, said.status)
    const organizationId = before.organizationId ?? (effect === 'grant' ? await newBuyer(tx, before.email) : null)
    if (effect !== null && organizationId !== null) await shiftPlan(tx, organizationId, effect)
    const { status, expiresAt } = said
    const now = tx.now()
    return tx.db.checkPlanInvoice.update({
      where: { id },
      data: {
        organizationId,
        providerId: said.id,
        checkoutUrl: said.checkoutUrl,
        status,
        expiresAt,
        dueAt: nextAsked({ status, expiresAt }, now),
        ...(effect === 'grant' && { grantedAt: now, settledAt: before.settledAt ?? now }),
        ...(effect === 'withdraw' && { grantedAt: null }),
      },
    })
  })
}

/**
 * Gives thirty days from the later of now and the plan's end, or takes them back; reminders follow the new end. A plan
 * without an end stays without.
 */
async function shiftPlan(tx: Context, organizationId: string, effect: 'grant' | 'withdraw'): Promise<void> {
  const where = { id: organizationId }
  await change(tx, organizationId, async ({ db, now }) => {
    const organization = await db.organization.findUniqueOrThrow({ where })
    if (isEndless(organization)) return [undefined]
    const { checkPlan, checkPlanUntil: until, name } = organization
    const start = effect === 'withdraw' ? until : checkPlan === 'PRO' && until !== null && until > now() ? until : now()
    if (start === null) return [undefined]
    const days = effect === 'grant' ? checkPlanDays : -checkPlanDays
    const end = new Date(start.getTime() + days * DAY)
    const data = { checkPlan: 'PRO', checkPlanUntil: end, checkPlanReminderAt: nextReminder(end, now()) } as const
    await db.organization.update({ where, data })
    return [undefined, { kind: 'CHECK_PLAN_CHANGED', subjectId: organizationId, subjectName: name }]
  })
}

/** An organization for who has paid without having one; its name is on a public page, so it is not the buyer's address. */
async function newBuyer(tx: Context, contactEmail: string): Promise<string> {
  const fields = { name: 'Blacklist checks', slug: `checks-${randomText(12)}`, contactEmail }
  return (await insertOrganization(tx, fields)).id
}

/** The payment server does not know an invoice: its making failed, or it was deleted there. */
async function miss({ db, now, log }: Context, { id, createdAt, providerId }: CheckPlanInvoice): Promise<void> {
  const age = now().getTime() - createdAt.getTime()
  const isGone = age > HOUR
  if (isGone && providerId !== null)
    log.warn({ invoice: id }, 'billing: the payment server does not know an invoice any more')
  const data = isGone ? ({ status: 'INVALID', dueAt: null } as const) : { dueAt: new Date(now().getTime() + POLL) }
  await db.checkPlanInvoice.updateMany({ where: { id, grantedAt: null }, data })
}

/** The invoice, which nobody else changes until the transaction ends. */
export async function lockInvoice({ db }: Context, id: string): Promise<CheckPlanInvoice> {
  await db.$queryRaw`SELECT 1 FROM "CheckPlanInvoice" WHERE id = ${id} FOR UPDATE`
  return db.checkPlanInvoice.findUniqueOrThrow({ where: { id } })
}

/** @throws Unavailable `PAYMENT_PROVIDER_NOT_CONFIGURED`. */
export function requireBtcpay({ billing: { btcpay } }: BillingContext): Btcpay {
  if (btcpay !== null) return btcpay
  const message = 'The operator of this service has set up no payment server for coins.'
  throw new Unavailable(message, 'PAYMENT_PROVIDER_NOT_CONFIGURED')
}

/** What a payment does is done by the system, whoever brings the word. */
export function asSystem<C extends Context>(ctx: C): C {
  return { ...ctx, actor: { kind: 'system' } }
}
