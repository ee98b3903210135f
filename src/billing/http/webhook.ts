import { isUtf8 } from 'node:buffer'
import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { Context } from '../../core/context.ts'
import { Invalid, Unavailable } from '../../core/errors.ts'
import { bodyLimits } from '../../core/input-limits.ts'
import { readBytes } from '../../http/request/body.ts'
import { nodeRequest } from '../../http/request/node-request.ts'
import { errorResponse } from '../../http/response/errors.ts'
import { receiveBtcpayEvent } from '../check-plan/check-plan-invoice.ts'
import type { BillingContext } from '../context.ts'
import { receiveStripeEvent } from '../subscription/payment.ts'
import type { WebhookRequest } from '../subscription/signature.ts'
import { isSignedByBtcpay } from '../subscription/signature.ts'
import type { VerifyStripe } from '../subscription/stripe-verifier.ts'

/** The maximum size of an event. */
const MAX_BODY_BYTES = bodyLimits.paymentEvent.most

/**
 * Creates the webhook routes of the payment providers. A 200 response means that the event is stored. The providers
 * retry after any other response, including our own errors.
 */
export function webhookRoutes(options: {
  readonly visitorOf: (c: HttpContext) => BillingContext
  readonly verifyStripe: VerifyStripe
}): Hono {
  const { visitorOf, verifyStripe } = options
  const app = new Hono()

  app.all('/webhook', (c) =>
    handleWebhook(c, 'stripe-signature', async (ctx, request) => {
      const secret = requireSecret(ctx.config.STRIPE_WEBHOOK_SECRET)
      return {
        isSigned: await verifyStripe(request, secret, ctx.now()),
        apply: () => receiveStripeEvent(ctx, request.body),
      }
    }),
  )

  app.all('/btcpay/webhook', (c) =>
    handleWebhook(c, 'btcpay-sig', async (ctx, request) => {
      const secret = requireSecret(ctx.billing.btcpay === null ? undefined : ctx.config.BTCPAY_WEBHOOK_SECRET)
      return { isSigned: isSignedByBtcpay(request, secret), apply: () => receiveBtcpayEvent(ctx, request.body) }
    }),
  )

  async function handleWebhook(
    c: HttpContext,
    header: string,
    read: (ctx: BillingContext, request: WebhookRequest) => Promise<{ isSigned: boolean; apply: () => Promise<void> }>,
  ): Promise<Response> {
    const ctx = visitorOf(c)
    c.header('Cache-Control', 'no-store')
    try {
      if (c.req.method !== 'POST') {
        c.header('Allow', 'POST')
        throw new HTTPException(405, { message: 'This path accepts POST only.' })
      }
      const { isSigned, apply } = await read(ctx, { body: await readText(c), header: c.req.header(header) })
      if (!isSigned) throw new Invalid('INVALID_SIGNATURE', 'The signature is missing, invalid or too old.')
      await apply()
      return c.json({ received: true })
    } catch (error) {
      if (isInvalid(error)) ctx.log.warn({ code: error.code }, 'billing: rejected a webhook request')
      return errorResponse(c, error, ctx.now(), ctx.log)
    }
  }

  return app
}

const isInvalid = (error: unknown): error is Invalid => error instanceof Invalid

/** Reads the body as text that encodes to the signed bytes. */
async function readText(c: HttpContext): Promise<string> {
  const bytes = await readBytes(nodeRequest(c), MAX_BODY_BYTES)
  if (isUtf8(bytes)) return bytes.toString('utf8')
  throw new Invalid('INVALID_PAYLOAD', 'The body is not UTF-8.')
}

function requireSecret(secret: Context['config']['STRIPE_WEBHOOK_SECRET']): string {
  if (secret !== undefined) return secret
  throw new Unavailable('No secret is set up for this webhook.', 'WEBHOOK_NOT_CONFIGURED')
}
