import { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi'
import { INTEGRATION_PATH } from '../integration.ts'
import { ENQUEUE_PATH } from './routes.ts'

const error = z.object({ error: z.looseObject({ code: z.string(), message: z.string() }) })
const refusal = (description: string): ZodOpenApiResponseObject => ({
  description,
  content: { 'application/json': { schema: error } },
})

const operation = (operationId: string, summary: string, answer: z.ZodObject): ZodOpenApiOperationObject => ({
  operationId,
  tags: ['Integrations'],
  summary,
  security: [],
  requestBody: { required: true, content: { 'application/json': { schema: z.looseObject({}) } } },
  responses: {
    202: { description: 'Accepted. A worker reads it later.', content: { 'application/json': { schema: answer } } },
    400: refusal('INVALID_INPUT; INVALID_SIGNATURE.'),
    404: refusal('NOT_FOUND: no integration has this secret.'),
    405: refusal('METHOD_NOT_ALLOWED; the Allow header lists the valid methods.'),
    413: refusal('PAYLOAD_TOO_LARGE: over 256 KiB.'),
    429: refusal('RATE_LIMITED: more than 3,000 requests a minute, or 64 MiB a day.'),
    500: refusal('INTERNAL.'),
  },
})

const received = z.object({ received: z.literal(true) })
const params = z.object({ secret: z.string().meta({ description: 'The secret part of the integration’s URL.' }) })
const incoming = (id: string) => ({
  ...operation(id, 'Send alerts to an integration', received),
  requestParams: { path: params },
})

/** The OpenAPI paths of the routes that receive alerts. */
export const integrationPaths: ZodOpenApiPathsObject = {
  [`${INTEGRATION_PATH}/{secret}`]: { post: incoming('postIncoming'), put: incoming('putIncoming') },
  [ENQUEUE_PATH]: {
    post: operation(
      'postEvent',
      'Send an event of PagerDuty’s Events API, version 2, with an integration’s secret as its routing_key',
      z.object({ status: z.literal('success'), message: z.string(), dedup_key: z.string() }),
    ),
  },
}
