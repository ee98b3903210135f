import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi'
import { errorJson } from '../http/error-schema.ts'
import { BLACKLIST_PATH } from './rest.ts'
import { bulkJson, bulkRequest, checkQuery, domainReportJson, ipReportJson } from './rest-schema.ts'

const limitHeaders = {
  'RateLimit-Policy': { description: 'The plan: checks a day, as "daily";q=100;w=86400.', schema: { type: 'string' } },
  RateLimit: { description: 'What is left, and seconds until it resets.', schema: { type: 'string' } },
  'X-RateLimit-Limit': { schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'Epoch seconds of the next UTC midnight.', schema: { type: 'integer' } },
} as const

const refusal = (description: string): ZodOpenApiResponseObject => ({
  description,
  headers: limitHeaders,
  content: { 'application/json': { schema: errorJson } },
})

const refusals = {
  401: refusal('INVALID_API_KEY; in bulk also API_KEY_REQUIRED.'),
  405: refusal('METHOD_NOT_ALLOWED; Allow names the right one.'),
  429: refusal('DAILY_LIMIT_EXCEEDED; Retry-After gives the seconds to the next UTC midnight.'),
  500: refusal('INTERNAL.'),
}

function check(
  kind: string,
  what: string,
  schema: typeof ipReportJson | typeof domainReportJson,
): ZodOpenApiOperationObject {
  return {
    operationId: `check${kind}`,
    tags: ['Blacklist checks'],
    summary: `Check ${what}`,
    description:
      'Counts as one check: 100 a day per client address without a key, 1,000 per organization with a pro key.',
    security: [{}, { bearer: [] }, { header: [] }],
    requestParams: { query: checkQuery },
    responses: {
      200: { description: 'The report.', headers: limitHeaders, content: { 'application/json': { schema } } },
      400: refusal('MISSING_TARGET, INVALID_TARGET or TARGET_NOT_PUBLIC.'),
      ...refusals,
    },
  }
}

/** The blacklist routes as OpenAPI describes them, from the schemas that validate and type them. */
export const blacklistPaths: ZodOpenApiPathsObject = {
  [`${BLACKLIST_PATH}/ip`]: { get: check('Ip', 'an IP address on 6 blacklists', ipReportJson) },
  [`${BLACKLIST_PATH}/domain`]: {
    get: check('Domain', 'a domain on 2 blacklists, and the addresses it resolves to', domainReportJson),
  },
  [`${BLACKLIST_PATH}/bulk`]: {
    post: {
      operationId: 'checkBulk',
      tags: ['Blacklist checks'],
      summary: 'Check up to 20 targets at once',
      description: 'Needs a key with the pro plan, in the body or in a header; counts as one check.',
      security: [{}, { bearer: [] }, { header: [] }],
      requestBody: { required: true, content: { 'application/json': { schema: bulkRequest } } },
      responses: {
        200: {
          description: 'One item per target, in their order.',
          headers: limitHeaders,
          content: { 'application/json': { schema: bulkJson } },
        },
        400: refusal('INVALID_JSON, NO_TARGETS, TOO_MANY_TARGETS, or INVALID_TARGET of an item that is no text.'),
        403: refusal('PRO_PLAN_REQUIRED.'),
        413: refusal('PAYLOAD_TOO_LARGE: more than 64 KiB.'),
        415: refusal('UNSUPPORTED_MEDIA_TYPE: not application/json.'),
        ...refusals,
      },
    },
  },
}
