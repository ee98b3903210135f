import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi'
import { errorJson } from '../../http/response/error-schema.ts'
import { BLACKLIST_PATH } from './rest.ts'
import { bulkJson, bulkRequest, checkQuery, domainReportJson, ipReportJson } from './rest-schema.ts'

const limitHeaders = {
  'RateLimit-Policy': { description: 'The daily quota, such as "daily";q=100;w=86400.', schema: { type: 'string' } },
  RateLimit: { description: 'The remaining quota, and the seconds until it resets.', schema: { type: 'string' } },
  'X-RateLimit-Limit': { schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'Epoch seconds of the next UTC midnight.', schema: { type: 'integer' } },
} as const

const errorResponse = (description: string): ZodOpenApiResponseObject => ({
  description,
  headers: limitHeaders,
  content: { 'application/json': { schema: errorJson } },
})

const commonErrors = {
  401: errorResponse('INVALID_API_KEY; for bulk checks also API_KEY_REQUIRED.'),
  405: errorResponse('METHOD_NOT_ALLOWED. The Allow header names the allowed methods.'),
  429: errorResponse('DAILY_LIMIT_EXCEEDED. Retry-After gives the seconds until the next UTC midnight.'),
  500: errorResponse('INTERNAL.'),
}

function checkOperation(
  kind: string,
  what: string,
  schema: typeof ipReportJson | typeof domainReportJson,
): ZodOpenApiOperationObject {
  return {
    operationId: `check${kind}`,
    tags: ['Blacklist checks'],
    summary: `Check ${what}`,
    description:
      'Counts as one check. Limits: 100 a day per client address without a key, 1,000 a day per organization with a pro key.',
    security: [{}, { bearer: [] }, { header: [] }],
    requestParams: { query: checkQuery },
    responses: {
      200: { description: 'The report.', headers: limitHeaders, content: { 'application/json': { schema } } },
      400: errorResponse('MISSING_TARGET, INVALID_TARGET or TARGET_NOT_PUBLIC.'),
      ...commonErrors,
    },
  }
}

/** The OpenAPI paths of the blacklist routes, built from the schemas that validate and type the requests. */
export const blacklistPaths: ZodOpenApiPathsObject = {
  [`${BLACKLIST_PATH}/ip`]: { get: checkOperation('Ip', 'an IP address on 6 blacklists', ipReportJson) },
  [`${BLACKLIST_PATH}/domain`]: {
    get: checkOperation('Domain', 'a domain on 2 blacklists, and its addresses on 6', domainReportJson),
  },
  [`${BLACKLIST_PATH}/bulk`]: {
    post: {
      operationId: 'checkBulk',
      tags: ['Blacklist checks'],
      summary: 'Check up to 20 targets at once',
      description: 'Requires a key with the pro plan, in the body or a header. Counts as one check.',
      security: [{}, { bearer: [] }, { header: [] }],
      requestBody: { required: true, content: { 'application/json': { schema: bulkRequest } } },
      responses: {
        200: {
          description: 'One item per target, in the order sent.',
          headers: limitHeaders,
          content: { 'application/json': { schema: bulkJson } },
        },
        400: errorResponse(
          'INVALID_JSON, NO_TARGETS, TOO_MANY_TARGETS, or INVALID_TARGET for an item that is not a string.',
        ),
        403: errorResponse('PRO_PLAN_REQUIRED.'),
        413: errorResponse('PAYLOAD_TOO_LARGE: more than 64 KiB.'),
        415: errorResponse('UNSUPPORTED_MEDIA_TYPE: not application/json.'),
        ...commonErrors,
      },
    },
  },
}
