import type { Context as HttpContext } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Logger } from 'pino'
import { unavailability } from '../database/unavailable.ts'
import type { ErrorCode } from '../errors.ts'
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
import { secondsUntil } from './limit-headers.ts'

/** The status of each class of domain error. */
const statusOf: readonly (readonly [abstract new (...args: never[]) => DomainError, ContentfulStatusCode])[] = [
  [Invalid, 400],
  [Unauthenticated, 401],
  [Forbidden, 403],
  [NotFound, 404],
  [Conflict, 409],
  [TierLimitReached, 409],
  [LimitExceeded, 429],
  [RateLimited, 429],
  [Unavailable, 503],
]

/** Refusals of the protocol itself, which the domain knows nothing of. */
const codeOfStatus: Readonly<Record<number, ErrorCode>> = {
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
}

/** What a caller over REST is told of an error. */
export interface ErrorAnswer {
  readonly status: ContentfulStatusCode
  readonly headers: Readonly<Record<string, string>>
  /** To be sent as JSON. */
  readonly body: {
    readonly error: { readonly code: ErrorCode; readonly message: string; readonly [more: string]: unknown }
  }
}

/**
 * What a caller over REST is told of an error. What is no expected failure is logged under an id, and told as that; that the
 * database is away is logged once for all, where it is found.
 */
export function errorAnswer(error: unknown, now: Date, log: Logger): ErrorAnswer {
  const unavailable = unavailability(error)
  if (unavailable) {
    const { code, message, retryAfter } = unavailable
    return { status: 503, headers: { 'Retry-After': String(retryAfter) }, body: { error: { code, message } } }
  }
  if (error instanceof DomainError) {
    const status = statusOf.find(([type]) => error instanceof type)?.[1] ?? 500
    const body = { error: { code: error.code, message: error.message, ...detailsOf(error) } }
    return { status, headers: headersOf(error, now), body }
  }
  if (error instanceof HTTPException) {
    const code = codeOfStatus[error.status] ?? 'INTERNAL'
    return { status: error.status, headers: {}, body: { error: { code, message: error.message } } }
  }
  const errorId = logUnexpected(error, log)
  const message = 'Something went wrong on our side. The error is logged under the given id.'
  return { status: 500, headers: {}, body: { error: { code: 'INTERNAL', message, error_id: errorId } } }
}

/** The same, from a route of Hono's. */
export function errorResponse(c: HttpContext, error: unknown, now: Date, log: Logger): Response {
  const { status, headers, body } = errorAnswer(error, now, log)
  return c.json(body, status, headers)
}

/** Logs what should not have happened; gives the id under which the log has it. */
export function logUnexpected(error: unknown, log: Logger): string {
  const errorId = randomText(12)
  log.error({ err: error, errorId }, 'http: unexpected error')
  return errorId
}

function headersOf(error: DomainError, now: Date): Record<string, string> {
  if (error instanceof LimitExceeded) return { 'Retry-After': String(secondsUntil(error.resetsAt, now)) }
  if (error instanceof RateLimited) return { 'Retry-After': String(secondsUntil(error.retryAt, now)) }
  return error instanceof Unauthenticated ? { 'WWW-Authenticate': 'Bearer realm="Allclear"' } : {}
}

function detailsOf(error: DomainError): Record<string, unknown> {
  if (error instanceof LimitExceeded) return { limit: error.limit, resets_at: error.resetsAt.toISOString() }
  return error instanceof Invalid && error.issues.length > 0 ? { issues: error.issues } : {}
}
