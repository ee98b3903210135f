import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { Context } from '../context.ts'
import { Invalid, Unavailable } from '../errors.ts'
import { readBytes } from '../http/body.ts'
import { errorResponse } from '../http/errors.ts'
import { incoming } from '../http/incoming.ts'
import { takeBtcpayDelivery } from './check-plan-invoice.ts'
import type { BillingContext } from './context.ts'
import { takeStripeEvent } from './payment.ts'
import type { Delivery } from './signature.ts'
import { isSignedByBtcpay } from './signature.ts'
import type { VerifyStripe } from './stripe.ts'

/** No event of the providers is larger. */
const LARGEST_BODY = 256 * 1024

/**
 * Where the payment providers deliver their events. What is answered with 200 is stored; anything else they send again, an
 * error of ours among it.
 */
export function webhookRoutes(options: {
  readonly visitorOf: (c: HttpContext) => BillingContext
  readonly verifyStripe: VerifyStripe
}): Hono {
  const { visitorOf, verifyStripe } = options
  const app = new Hono()

  app.all('/webhook', (c) =>
    take(c, 'stripe-signature', async (ctx, delivery) => {
      const secret = secretOf(ctx.config.STRIPE_WEBHOOK_SECRET)
      return {
        isSigned: await verifyStripe(delivery, secret, ctx.now()),
        apply: () => takeStripeEvent(ctx, delivery.body),
      }
    }),
  )

  app.all('/btcpay/webhook', (c) =>
    take(c, 'btcpay-sig', async (ctx, delivery) => {
      const secret = secretOf(ctx.billing.btcpay === null ? undefined : ctx.config.BTCPAY_WEBHOOK_SECRET)
      return { isSigned: isSignedByBtcpay(delivery, secret), apply: () => takeBtcpayDelivery(ctx, delivery.body) }
    }),
  )

  async function take(
    c: HttpContext,
    header: string,
    read: (ctx: BillingContext, delivery: Delivery) => Promise<{ isSigned: boolean; apply: () => Promise<void> }>,
  ): Promise<Response> {
    const ctx = visitorOf(c)
    c.header('Cache-Control', 'no-store')
    try {
      if (c.req.method !== 'POST') {
        c.header('Allow', 'POST')
        throw new HTTPException(405, { message: 'This path takes POST only.' })
      }
      const { isSigned, apply } = await read(ctx, { body: await readText(c), header: c.req.header(header) })
      if (!isSigned) throw new Invalid('INVALID_SIGNATURE', 'The delivery is not signed, or was signed too long ago.')
      await apply()
      return c.json({ received: true })
    } catch (error) {
      if (isRefusal(error)) ctx.log.warn({ code: error.code }, 'billing: a delivery was refused')
      return errorResponse(c, error, ctx.now(), ctx.log)
    }
  }

  return app
}

const isRefusal = (error: unknown): error is Invalid => error instanceof Invalid

/** The body as text that stands for the very bytes that were signed. */
async function readText(c: HttpContext): Promise<string> {
  const bytes = await readBytes(incoming(c), LARGEST_BODY)
  const text = bytes.toString('utf8')
  if (Buffer.from(text).equals(bytes)) return text
  throw new Invalid('INVALID_PAYLOAD', 'The body is not UTF-8.')
}

function secretOf(secret: Context['config']['STRIPE_WEBHOOK_SECRET']): string {
  if (secret !== undefined) return secret
  throw new Unavailable('The operator of this service has set up no secret for this webhook.', 'WEBHOOK_NOT_CONFIGURED')
}
