import { GraphQLError } from 'graphql'
import type { Logger } from 'pino'
import { unavailability } from '../database/unavailable.ts'
import type { ErrorCode as Code, Issue } from '../errors.ts'
import {
  Conflict,
  DomainError,
  Forbidden,
  Invalid,
  LimitExceeded,
  NotFound,
  RateLimited,
  TierLimitReached,
  Unauthenticated,
  Unavailable,
} from '../errors.ts'
import { randomText } from '../id.ts'
import { builder } from './builder.ts'
import { describedValues } from './descriptions.ts'

/** The codes of expected failures. */
export const ErrorCode = builder.enumType('ErrorCode', {
  description: 'Stable codes of expected failures.',
  values: describedValues<Code>({
    ALREADY_ON_TIER: 'The organization has this tier or a higher one.',
    API_KEY_REQUIRED: 'The request needs an API key.',
    CONFLICT: 'The thing changed meanwhile, or exists already.',
    IDEMPOTENCY_KEY_REUSED: 'The idempotency key was used for another request.',
    NOT_APPLIED: 'Nothing was done: another item of the same call was refused.',
    DAILY_LIMIT_EXCEEDED: 'The plan’s checks for today are used up.',
    RATE_LIMITED: 'Too many requests of this kind; try again later.',
    FORBIDDEN: 'The key may not do this.',
    INTERNAL: 'Something went wrong on our side.',
    INVALID_API_KEY: 'No such key, or it is revoked or expired.',
    INVALID_INPUT: 'The input cannot be used as it is.',
    INVALID_JSON: 'The body is not JSON of the expected shape.',
    INVALID_PAYLOAD: 'The webhook’s body is not an event.',
    INVALID_SIGNATURE: 'The webhook’s signature does not match its body.',
    INVALID_TARGET: 'The target is not an IP address or a domain name.',
    INVALID_TOKEN: 'The token is wrong or has expired.',
    METHOD_NOT_ALLOWED: 'The path does not take this HTTP method.',
    MISSING_TARGET: 'No target was given.',
    NOT_FOUND: 'No such thing, or the caller may not see it.',
    NO_TARGETS: 'The list of targets is empty.',
    PAYLOAD_TOO_LARGE: 'The request body is too large.',
    PAYMENT_LINK_NOT_CONFIGURED: 'The operator has set up no payment link for this tier.',
    PAYMENT_PROVIDER_NOT_CONFIGURED: 'The operator has set up no payment server.',
    PAYMENT_PROVIDER_UNAVAILABLE: 'The payment server does not answer; try again later.',
    PRO_PLAN_REQUIRED: 'Bulk checks need the pro check plan.',
    TARGET_NOT_PUBLIC: 'The target is a private or reserved address.',
    TIER_LIMIT_REACHED: 'The organization has as many of these as its tier allows.',
    TIMELINE_FULL: 'The timeline has as many updates as it takes.',
    TOO_MANY_TARGETS: 'More targets than one request may have.',
    UNAUTHENTICATED: 'The request needs an API key of the organization.',
    UNAVAILABLE: 'Something this needs does not answer; try again later.',
    UNKNOWN_TIER: 'There is no such tier.',
    UNSUPPORTED_MEDIA_TYPE: 'The request body has an unsupported media type.',
    WEBHOOK_NOT_CONFIGURED: 'The operator has set no secret for this webhook.',
  }),
})

const ErrorInterface = builder.interfaceRef<DomainError>('Error').implement({
  description: 'An expected failure.',
  fields: (t) => ({
    code: t.expose('code', { type: ErrorCode }),
    message: t.exposeString('message', { description: 'Written for people.' }),
  }),
})

const ValidationIssue = builder.objectRef<Issue>('ValidationIssue').implement({
  description: 'One thing that is wrong with an input.',
  fields: (t) => ({
    path: t.exposeStringList('path', { description: 'The field, from the outside in.' }),
    message: t.exposeString('message'),
  }),
})

builder.objectType(Invalid, {
  name: 'ValidationError',
  description: 'The input cannot be used as it is.',
  interfaces: [ErrorInterface],
  fields: (t) => ({
    issues: t.expose('issues', { type: [ValidationIssue], description: 'Each thing that is wrong.' }),
  }),
})

builder.objectType(NotFound, {
  name: 'NotFoundError',
  description: 'There is no such thing, or the caller may not know of it.',
  interfaces: [ErrorInterface],
})

builder.objectType(Conflict, {
  name: 'ConflictError',
  description: 'The thing changed meanwhile, or exists already.',
  interfaces: [ErrorInterface],
})

builder.objectType(LimitExceeded, {
  name: 'LimitExceededError',
  description: 'The plan’s allowance is used up.',
  interfaces: [ErrorInterface],
  fields: (t) => ({
    limit: t.exposeInt('limit', { description: 'How many checks a day the plan has.' }),
    resetsAt: t.expose('resetsAt', { type: 'DateTime', description: 'When there is a new allowance.' }),
  }),
})

builder.objectType(RateLimited, {
  name: 'RateLimitedError',
  description: 'Too many requests of this kind; try again later.',
  interfaces: [ErrorInterface],
  fields: (t) => ({
    retryAt: t.expose('retryAt', { type: 'DateTime', description: 'When it works again.' }),
  }),
})

builder.objectType(TierLimitReached, {
  name: 'TierLimitReachedError',
  description: 'The organization has as many of these as its tier allows.',
  interfaces: [ErrorInterface],
  fields: (t) => ({ limit: t.exposeInt('limit', { description: 'How many the tier allows.' }) }),
})

builder.objectType(Unavailable, {
  name: 'UnavailableError',
  description: 'Something outside does not answer now; trying again later is sensible.',
  interfaces: [ErrorInterface],
})

/**
 * What a caller is told of an error, over HTTP and websocket alike. GraphQL's own errors pass; refusals that are no
 * member of a field's union become top-level errors with a code; anything else is a bug: logged under an id, and masked.
 */
export function maskError(error: unknown, log: Logger): GraphQLError {
  const original = error instanceof GraphQLError ? (error.originalError ?? null) : error
  const place = error instanceof GraphQLError ? { nodes: error.nodes ?? null, path: error.path ?? null } : {}
  const unavailable = unavailability(original)
  if (unavailable) {
    const { code, message, retryAfter } = unavailable
    const http = { status: 503, headers: { 'retry-after': String(retryAfter) } }
    return new GraphQLError(message, { ...place, extensions: { code, retryAfter, http } })
  }
  if (original instanceof RateLimited && !place.path) {
    // Before anything was asked: the answer has no data.
    const extensions = { code: original.code, retryAt: original.retryAt.toISOString(), http: { status: 429 } }
    return new GraphQLError(original.message, { extensions })
  }
  if (original instanceof DomainError) {
    return new GraphQLError(original.message, { ...place, extensions: extensionsOf(original) })
  }
  if (error instanceof GraphQLError && (original === null || original instanceof GraphQLError)) return error
  const errorId = randomText(12)
  log.error({ err: original, errorId }, 'graphql: unexpected error')
  return new GraphQLError('Something went wrong on our side.', { ...place, extensions: { code: 'INTERNAL', errorId } })
}

function extensionsOf(error: DomainError): Record<string, unknown> {
  if (error instanceof Unauthenticated) return { code: 'UNAUTHENTICATED', reason: error.code, http: { status: 401 } }
  if (error instanceof Forbidden) return { code: 'FORBIDDEN', reason: error.code, http: { status: 403 } }
  return { code: error.code }
}
