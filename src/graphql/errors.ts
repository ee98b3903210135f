import { GraphQLError } from 'graphql'
import type { Logger } from 'pino'
import type { Issue } from '../errors.ts'
import {
  Conflict,
  DomainError,
  errorCodes,
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

const ErrorCode = builder.enumType('ErrorCode', {
  description: 'Stable codes of expected failures.',
  values: errorCodes,
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
  fields: (t) => ({ issues: t.expose('issues', { type: [ValidationIssue] }) }),
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
    limit: t.exposeInt('limit'),
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
  fields: (t) => ({ limit: t.exposeInt('limit') }),
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
