/**
 * How errors are reported. Every error has a stable code.
 *
 * - Expected failures of mutations and checks are members of the field's union, with `code` and `message`:
 *   `ValidationError` for fields with an input; `NotFoundError` for fields with an id or a token; `ConflictError` for fields
 *   with a `version` or an `idempotencyKey`; `ManagedByFileError` for fields that change what configuration files manage; `TierLimitReachedError`, `LimitExceededError`, `RateLimitedError` and
 *   `UnavailableError` where they can occur. In bulk calls, each item has its own.
 * - All other errors are in `errors`, with `extensions.code`: about the request (`GRAPHQL_PARSE_FAILED`,
 *   `GRAPHQL_VALIDATION_FAILED`, `BAD_USER_INPUT`, `OPERATION_TOO_LARGE`, `BAD_REQUEST`), the caller (`UNAUTHENTICATED`,
 *   `FORBIDDEN`, `RATE_LIMITED`), arguments of queries (`INVALID_INPUT`, `NOT_FOUND`), and the service (`UNAVAILABLE`,
 *   `INTERNAL`). Queries have no error unions, except for checks: an object that does not exist, or that the caller may not
 *   see, is null.
 * - A response with data has status 200, and errors have paths. Without data, the status is 401, 403, 429 or 503, or 400
 *   for an invalid request (200 in `application/json`). While the database is unavailable, a response whose fields are all
 *   null has status 503.
 */

import { GraphQLError } from 'graphql'
import type { Logger } from 'pino'
import { newErrorId } from '../../core/error-id.ts'
import type { ErrorCode as Code, Issue } from '../../core/errors.ts'
import {
  Conflict,
  DomainError,
  Forbidden,
  Invalid,
  LimitExceeded,
  ManagedByFile,
  NotFound,
  RateLimited,
  TierLimitReached,
  Unauthenticated,
  Unavailable,
} from '../../core/errors.ts'
import type { Clock } from '../../core/time.ts'
import { refusedText } from '../../database/connection/refused-text.ts'
import { unavailability } from '../../database/connection/unavailable.ts'
import { secondsUntil } from '../../http/response/limit-headers.ts'
import { costs } from '../document/cost.ts'
import { requestError } from '../document/request-error.ts'
import { builder } from './builder.ts'
import { describedValues } from './descriptions.ts'

/** The codes of expected failures. */
export const ErrorCode = builder.enumType('ErrorCode', {
  description: 'Stable codes of expected failures.',
  values: describedValues<Code>({
    ALREADY_ON_TIER: 'The organization already has this tier or a higher one.',
    API_KEY_REQUIRED: 'The request requires an API key.',
    CONFIRMATION_REQUIRED: 'Confirm that it is you, with your password or passkey, and try again.',
    CONFLICT:
      'The current state does not allow this: for example, the object has changed since you read it, already exists, or has reached a limit. The message says which.',
    MANAGED_BY_FILE: 'A configuration file manages what would change. Change the file, or unlock the object first.',
    IDEMPOTENCY_KEY_REUSED: 'The idempotency key was used for another request.',
    NOT_APPLIED: 'Not applied, because another item of the call was rejected.',
    DAILY_LIMIT_EXCEEDED: 'The daily check limit of the plan is exceeded.',
    RATE_LIMITED: 'Too many requests. Try again later.',
    FORBIDDEN: 'The caller’s key or role does not permit this.',
    INTERNAL: 'An unexpected error on the server.',
    INVALID_API_KEY: 'The API key is unknown, revoked or expired.',
    INVALID_INPUT: 'The input is invalid.',
    INVALID_JSON: 'The body is not valid JSON, or does not have the expected structure.',
    INVALID_PAYLOAD: 'The webhook’s body is not a valid event.',
    INVALID_SIGNATURE: 'The webhook’s signature does not match its body.',
    INVALID_TARGET: 'The target is not an IP address or a domain name.',
    INVALID_TOKEN: 'The token is wrong or has expired.',
    METHOD_NOT_ALLOWED: 'The path does not support this HTTP method.',
    MISSING_TARGET: 'No target was given.',
    NOT_FOUND: 'The object does not exist, or the caller may not see it.',
    NO_TARGETS: 'The list of targets is empty.',
    PAGE_IS_PRIVATE: 'The status page is private: send a read token.',
    PAYLOAD_TOO_LARGE: 'The request body is too large.',
    PAYMENT_LINK_NOT_CONFIGURED: 'The operator has not configured a payment link for this tier.',
    PAYMENT_PROVIDER_NOT_CONFIGURED: 'The operator has not configured a payment server.',
    PAYMENT_PROVIDER_UNAVAILABLE: 'The payment server does not respond. Try again later.',
    PRO_PLAN_REQUIRED: 'Bulk checks require the pro check plan.',
    TARGET_NOT_PUBLIC: 'The target is a private or reserved address.',
    TIER_LIMIT_REACHED: 'The organization has reached a limit of its tier.',
    INCIDENT_NOT_PUBLIC: 'The incident is a draft or a suggestion. Publish it first.',
    INCIDENT_RESOLVED: 'The incident is resolved.',
    SERVICE_NOT_IMPAIRED: 'The incident does not impair the service.',
    OWN_REVIEW: 'Another member must approve it.',
    REVIEW_REQUIRED: 'A requested review is not approved yet.',
    TIMELINE_FULL: 'The timeline has reached its maximum number of updates, notes or files.',
    TOO_MANY_TARGETS: 'The request has too many targets.',
    UNAUTHENTICATED: 'The request requires an API key or a member of the organization.',
    UNAVAILABLE: 'A required system does not respond. Try again later.',
    UNKNOWN_TIER: 'The tier does not exist.',
    REQUEST_TOO_SLOW: 'The body of the request arrived too slowly.',
    UNSUPPORTED_MEDIA_TYPE: 'The request body has an unsupported media type.',
    WRONG_CREDENTIALS: 'The email address, password or code is wrong.',
    WEBHOOK_NOT_CONFIGURED: 'The operator has not configured a secret for this webhook.',
  }),
})

const ErrorInterface = builder.interfaceRef<DomainError>('Error').implement({
  description: 'An expected failure.',
  fields: (t) => ({
    code: t.expose('code', { type: ErrorCode }),
    message: t.exposeString('message', { description: 'A human-readable message.' }),
  }),
})

const MAX_ISSUES = 100

const ValidationIssue = builder.objectRef<Issue>('ValidationIssue').implement({
  description: 'A problem in an input.',
  fields: (t) => ({
    path: t.exposeStringList('path', { description: 'The path to the field, outermost member first.' }),
    message: t.exposeString('message'),
    line: t.int({
      nullable: true,
      description: 'Its line in the input text, from 1; null: the input is not a text.',
      resolve: ({ line }) => line ?? null,
    }),
  }),
})

builder.objectType(Invalid, {
  name: 'ValidationError',
  description: 'The input is invalid.',
  interfaces: [ErrorInterface],
  fields: (t) => ({
    issues: t.field({
      type: [ValidationIssue],
      extensions: costs({ items: MAX_ISSUES }),
      description: 'Each problem found in the input.',
      resolve: ({ issues }) => issues.slice(0, MAX_ISSUES),
    }),
  }),
})

builder.objectType(NotFound, {
  name: 'NotFoundError',
  description: 'The object does not exist, or the caller may not see it.',
  interfaces: [ErrorInterface],
})

builder.objectType(Conflict, {
  name: 'ConflictError',
  description:
    'The current state does not allow this: for example, the object has changed since you read it, already exists, or has reached a limit. The message says which.',
  interfaces: [ErrorInterface],
})

const MAX_FIELDS = 50

builder.objectType(ManagedByFile, {
  name: 'ManagedByFileError',
  description: 'A configuration file manages what would change. Change the file, or unlock the object first.',
  interfaces: [ErrorInterface],
  fields: (t) => ({
    file: t.exposeString('file', { description: 'The name of the file.' }),
    section: t.exposeString('section', { description: 'The object’s section of the file.' }),
    key: t.exposeString('key', { description: 'The object’s key in the file.' }),
    members: t.stringList({
      description: 'The members that would change. Empty: the object would be deleted.',
      resolve: ({ members }) => members.slice(0, MAX_FIELDS),
    }),
  }),
})

builder.objectType(LimitExceeded, {
  name: 'LimitExceededError',
  description: 'The daily check limit of the plan is exceeded.',
  interfaces: [ErrorInterface],
  fields: (t) => ({
    limit: t.exposeInt('limit', { description: 'The plan’s checks per day.' }),
    resetsAt: t.expose('resetsAt', { type: 'DateTime', description: 'When the limit resets.' }),
  }),
})

builder.objectType(RateLimited, {
  name: 'RateLimitedError',
  description: 'Too many requests. Try again later.',
  interfaces: [ErrorInterface],
  fields: (t) => ({
    retryAt: t.expose('retryAt', { type: 'DateTime', description: 'When you can retry.' }),
  }),
})

builder.objectType(TierLimitReached, {
  name: 'TierLimitReachedError',
  description: 'The organization has reached a limit of its tier.',
  interfaces: [ErrorInterface],
  fields: (t) => ({ limit: t.exposeInt('limit', { description: 'The tier’s limit.' }) }),
})

builder.objectType(Unavailable, {
  name: 'UnavailableError',
  description: 'An external system does not respond. Try again later.',
  interfaces: [ErrorInterface],
})

/** The dependencies for reporting errors. */
interface Reporting {
  readonly log: Logger
  readonly now: Clock
}

/**
 * Converts an error for callers, over HTTP and websocket alike, always with a code. GraphQL's own errors pass; domain
 * errors that are not in a field's union become top-level errors; anything else is a bug, logged with an id and masked.
 * `extensions.http` applies to a response without data and is not sent.
 */
export function maskError(error: unknown, { log, now }: Reporting): GraphQLError {
  const thrown = error instanceof GraphQLError ? (error.originalError ?? error) : error
  const original = refusedText(thrown) ?? thrown
  const place = error instanceof GraphQLError ? { nodes: error.nodes ?? null, path: error.path ?? null } : {}
  const unavailable = unavailability(original)
  if (unavailable) {
    const { code, message, retryAfter } = unavailable
    const http = { status: 503, headers: { 'retry-after': String(retryAfter) } }
    return new GraphQLError(message, { ...place, extensions: { code, retryAfter, http } })
  }
  if (original instanceof DomainError) {
    return new GraphQLError(original.message, { ...place, extensions: extensionsOf(original, now()) })
  }
  const own = error instanceof GraphQLError && original instanceof GraphQLError ? fromGraphql(error) : null
  if (own !== null) return own
  const errorId = newErrorId(original)
  log.error({ err: original, errorId }, 'graphql: unexpected error')
  return new GraphQLError('An unexpected error occurred on the server.', {
    ...place,
    extensions: { code: 'INTERNAL', errorId },
  })
}

/**
 * Returns one of GraphQL's own errors with a code. Errors about variables have no path; errors about arguments have a
 * location. Returns null for an error about a value that the schema cannot serialize, which is a bug.
 */
function fromGraphql(error: GraphQLError): GraphQLError | null {
  // Yoga adds the JSON parser's message, which quotes the body.
  if (error.extensions['originalError'] !== undefined) {
    const extensions = { code: 'BAD_REQUEST', http: { status: 400 } }
    return new GraphQLError('The body is not valid JSON.', { extensions })
  }
  if (error.extensions['code'] !== undefined) return error
  const { message, nodes, source, positions, path, originalError } = error
  const place = { nodes, source, positions }
  if (path === undefined) return requestError('BAD_USER_INPUT', message, place)
  if (!(originalError instanceof GraphQLError) || originalError.nodes === undefined) return null
  return new GraphQLError(message, { ...place, path, extensions: { code: 'BAD_USER_INPUT' } })
}

function extensionsOf(error: DomainError, now: Date): Record<string, unknown> {
  if (error instanceof Unauthenticated) {
    const http = { status: 401, headers: { 'www-authenticate': 'Bearer realm="Allclear"' } }
    return { code: 'UNAUTHENTICATED', reason: error.code, http }
  }
  if (error instanceof Forbidden) return { code: 'FORBIDDEN', reason: error.code, http: { status: 403 } }
  if (error instanceof RateLimited) {
    return { code: error.code, retryAt: error.retryAt.toISOString(), http: tooMany(error.retryAt, now) }
  }
  if (error instanceof LimitExceeded) return { code: error.code, http: tooMany(error.resetsAt, now) }
  return { code: error.code }
}

function tooMany(retryAt: Date, now: Date): object {
  return { status: 429, headers: { 'retry-after': String(secondsUntil(retryAt, now)) } }
}
