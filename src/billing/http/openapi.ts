import { z } from 'zod'
import type {
  ZodOpenApiObject,
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi'
import { errorJson } from '../../http/response/error-schema.ts'
import { BILLING_PATH } from '../subscription/checkout.ts'
import { receivedJson, returnedJson, statusJson } from './rest-schema.ts'

const tags = ['Billing']
const keys: NonNullable<ZodOpenApiObject['security']> = [{ bearer: [] }, { header: [] }]

const errorResponse = (description: string): ZodOpenApiResponseObject => ({
  description,
  content: { 'application/json': { schema: errorJson } },
})

const commonErrors = {
  405: errorResponse('METHOD_NOT_ALLOWED; the Allow header names the allowed methods.'),
  500: errorResponse('INTERNAL.'),
}

function returnOperation(id: string, when: string): ZodOpenApiOperationObject {
  return {
    operationId: id,
    tags,
    summary: `Return page ${when}`,
    description: 'The payment provider redirects the payer here. Only the webhook changes the tier.',
    security: [],
    responses: {
      200: {
        description: 'JSON for Accept: application/json, otherwise a page.',
        content: { 'application/json': { schema: returnedJson }, 'text/html': { schema: { type: 'string' } } },
      },
      ...commonErrors,
    },
  }
}

function webhookOperation(id: string, provider: string, header: string): ZodOpenApiOperationObject {
  return {
    operationId: id,
    tags,
    summary: `Receive an event of ${provider}`,
    description: 'The signature covers the raw body. A repeated event has no effect.',
    security: [],
    requestParams: { header: z.object({ [header]: z.string() }) },
    requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
    responses: {
      200: { description: 'The event is stored.', content: { 'application/json': { schema: receivedJson } } },
      400: errorResponse('INVALID_SIGNATURE or INVALID_PAYLOAD.'),
      413: errorResponse('PAYLOAD_TOO_LARGE: more than 256 KiB.'),
      503: errorResponse('WEBHOOK_NOT_CONFIGURED.'),
      ...commonErrors,
    },
  }
}

/** The OpenAPI paths of the billing routes. */
export const billingPaths: ZodOpenApiPathsObject = {
  [`${BILLING_PATH}/checkout/{tier}`]: {
    get: {
      operationId: 'startCheckout',
      tags,
      summary: 'Redirect to the payment link of a tier',
      security: [...keys, {}],
      requestParams: {
        path: z.object({ tier: z.enum(['pro', 'team']) }),
        query: z.object({
          token: z.string().optional().meta({ description: 'The token of an upgrade URL, in place of a key.' }),
        }),
      },
      responses: {
        303: {
          description: 'Redirects to the payment link with client_reference_id and prefilled_email.',
          headers: { Location: { schema: { type: 'string' } } },
        },
        401: errorResponse('UNAUTHENTICATED, INVALID_API_KEY or INVALID_TOKEN.'),
        404: errorResponse('UNKNOWN_TIER.'),
        409: errorResponse('ALREADY_ON_TIER: the organization is on this tier or a higher one.'),
        503: errorResponse('PAYMENT_LINK_NOT_CONFIGURED.'),
        ...commonErrors,
      },
    },
  },
  [`${BILLING_PATH}/status`]: {
    get: {
      operationId: 'billingStatus',
      tags,
      summary: 'Get the tier, limits, usage and upgrade URLs of the organization',
      security: keys,
      responses: {
        200: { description: 'The status.', content: { 'application/json': { schema: statusJson } } },
        401: errorResponse('UNAUTHENTICATED or INVALID_API_KEY.'),
        ...commonErrors,
      },
    },
  },
  [`${BILLING_PATH}/success`]: { get: returnOperation('paymentSuccess', 'after a payment') },
  [`${BILLING_PATH}/cancel`]: { get: returnOperation('paymentCancelled', 'after a cancelled payment') },
  [`${BILLING_PATH}/webhook`]: { post: webhookOperation('takeStripeEvent', 'Stripe', 'Stripe-Signature') },
  [`${BILLING_PATH}/btcpay/webhook`]: { post: webhookOperation('takeBtcpayEvent', 'BTCPay Server', 'BTCPay-Sig') },
}
