import type { Context as HttpContext } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Logger } from 'pino'
import { newErrorId } from '../../core/error-id.ts'
import type { ErrorCode } from '../../core/errors.ts'
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
import { refusedText } from '../../database/connection/refused-text.ts'
import { unavailability } from '../../database/connection/unavailable.ts'
import { secondsUntil } from './limit-headers.ts'

/** The HTTP status of each class of domain error. */
const statusByClass: readonly (readonly [abstract new (...args: never[]) => DomainError, ContentfulStatusCode])[] = [
  [Invalid, 400],
  [Unauthenticated, 401],
  [Forbidden, 403],
  [NotFound, 404],
  [Conflict, 409],
  [ManagedByFile, 409],
  [TierLimitReached, 409],
  [LimitExceeded, 429],
  [RateLimited, 429],
  [Unavailable, 503],
]

/** Codes of HTTP errors outside the domain. */
const codeByStatus: Readonly<Record<number, ErrorCode>> = {
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
}

/** An error response of the REST API. */
export interface RestError {
  readonly status: ContentfulStatusCode
  readonly headers: Readonly<Record<string, string>>
  /** The JSON body. */
  readonly body: {
    readonly error: { readonly code: ErrorCode; readonly message: string; readonly [more: string]: unknown }
  }
}

/**
 * Converts an error to a REST response. Logs an unexpected error and returns only its id. The database room itself logs
 * an unavailable database, once.
 */
export function toRestError(thrown: unknown, now: Date, log: Logger): RestError {
  const error = refusedText(thrown) ?? thrown
  const unavailable = unavailability(error)
  if (unavailable) {
    const { code, message, retryAfter } = unavailable
    return { status: 503, headers: { 'Retry-After': String(retryAfter) }, body: { error: { code, message } } }
  }
  if (error instanceof DomainError) {
    const status = statusByClass.find(([type]) => error instanceof type)?.[1] ?? 500
    const body = { error: { code: error.code, message: error.message, ...detailsOf(error) } }
    return { status, headers: headersOf(error, now), body }
  }
  if (error instanceof HTTPException) {
    const code = codeByStatus[error.status] ?? 'INTERNAL'
    const headers = { ...(error.res && acceptedEncoding(error.res)) }
    return { status: error.status, headers, body: { error: { code, message: error.message } } }
  }
  const errorId = logUnexpected(error, log)
  const message = 'An unexpected error occurred on the server. The error is logged under the given id.'
  return { status: 500, headers: {}, body: { error: { code: 'INTERNAL', message, error_id: errorId } } }
}

function acceptedEncoding({ headers }: Response): Record<string, string> {
  const accepted = headers.get('accept-encoding')
  return accepted === null ? {} : { 'Accept-Encoding': accepted }
}

/** Responds with an error from a Hono route. */
export function errorResponse(c: HttpContext, error: unknown, now: Date, log: Logger): Response {
  const { status, headers, body } = toRestError(error, now, log)
  return c.json(body, status, headers)
}

/** Logs an unexpected error and returns the id under which it is logged. */
export function logUnexpected(error: unknown, log: Logger): string {
  const errorId = newErrorId(error)
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
