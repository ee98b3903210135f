import { z } from 'zod'
import type {
  ZodOpenApiObject,
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi'
import { errorJson } from '../http/error-schema.ts'
import { BILLING_PATH } from './checkout.ts'
import { receivedJson, returnedJson, statusJson } from './rest-schema.ts'

const tags = ['Billing']
const keys: NonNullable<ZodOpenApiObject['security']> = [{ bearer: [] }, { header: [] }]

const refusal = (description: string): ZodOpenApiResponseObject => ({
  description,
  content: { 'application/json': { schema: errorJson } },
})

const refusals = { 405: refusal('METHOD_NOT_ALLOWED; Allow names the right one.'), 500: refusal('INTERNAL.') }

function returned(id: string, when: string): ZodOpenApiOperationObject {
  return {
    operationId: id,
    tags,
    summary: `Where the payment provider sends a payer back to ${when}`,
    description: 'Changes nothing: only the webhook does. A page for browsers.',
    security: [],
    responses: {
      200: {
        description: 'JSON for Accept: application/json, else a page.',
        content: { 'application/json': { schema: returnedJson }, 'text/html': { schema: { type: 'string' } } },
      },
      ...refusals,
    },
  }
}

function webhook(id: string, provider: string, header: string): ZodOpenApiOperationObject {
  return {
    operationId: id,
    tags,
    summary: `Take an event of ${provider}`,
    description: 'The signature is over the raw body. An event takes effect once, however often it is delivered.',
    security: [],
    requestParams: { header: z.object({ [header]: z.string() }) },
    requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
    responses: {
      200: { description: 'It is stored.', content: { 'application/json': { schema: receivedJson } } },
      400: refusal('INVALID_SIGNATURE or INVALID_PAYLOAD.'),
      413: refusal('PAYLOAD_TOO_LARGE: more than 256 KiB.'),
      503: refusal('WEBHOOK_NOT_CONFIGURED.'),
      ...refusals,
    },
  }
}

/** The billing routes as OpenAPI describes them. */
export const billingPaths: ZodOpenApiPathsObject = {
  [`${BILLING_PATH}/checkout/{tier}`]: {
    get: {
      operationId: 'startCheckout',
      tags,
      summary: 'Go to the payment link of a tier',
      security: [...keys, {}],
      requestParams: {
        path: z.object({ tier: z.enum(['pro', 'team']) }),
        query: z.object({
          token: z.string().optional().meta({ description: 'Of an upgrade URL, in place of a key.' }),
        }),
      },
      responses: {
        303: {
          description: 'To the payment link, with client_reference_id and prefilled_email.',
          headers: { Location: { schema: { type: 'string' } } },
        },
        401: refusal('UNAUTHENTICATED, INVALID_API_KEY or INVALID_TOKEN.'),
        404: refusal('UNKNOWN_TIER.'),
        409: refusal('ALREADY_ON_TIER: on this one, or on a higher one.'),
        503: refusal('PAYMENT_LINK_NOT_CONFIGURED.'),
        ...refusals,
      },
    },
  },
  [`${BILLING_PATH}/status`]: {
    get: {
      operationId: 'billingStatus',
      tags,
      summary: 'Tier, limits, usage and upgrade URLs of the organization',
      security: keys,
      responses: {
        200: { description: 'The status.', content: { 'application/json': { schema: statusJson } } },
        401: refusal('UNAUTHENTICATED or INVALID_API_KEY.'),
        ...refusals,
      },
    },
  },
  [`${BILLING_PATH}/success`]: { get: returned('paymentSuccess', 'after a payment') },
  [`${BILLING_PATH}/cancel`]: { get: returned('paymentCancelled', 'without one') },
  [`${BILLING_PATH}/webhook`]: { post: webhook('takeStripeEvent', 'Stripe', 'Stripe-Signature') },
  [`${BILLING_PATH}/btcpay/webhook`]: { post: webhook('takeBtcpayEvent', 'BTCPay Server', 'BTCPay-Sig') },
}
