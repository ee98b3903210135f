/**
 * The domain's expected failures, without HTTP and GraphQL. `http/response/errors.ts` maps each class to a status,
 * `graphql/schema/errors.ts` to a type. Any other error is a bug; its message never reaches a caller.
 */

/** Stable codes that callers may rely on. */
export const errorCodes = [
  'INVALID_INPUT',
  'MISSING_TARGET',
  'INVALID_TARGET',
  'TARGET_NOT_PUBLIC',
  'INVALID_JSON',
  'NO_TARGETS',
  'TOO_MANY_TARGETS',
  'API_KEY_REQUIRED',
  'INVALID_API_KEY',
  'UNAUTHENTICATED',
  'PAGE_IS_PRIVATE',
  'CONFIRMATION_REQUIRED',
  'WRONG_CREDENTIALS',
  'FORBIDDEN',
  'PRO_PLAN_REQUIRED',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'CONFLICT',
  'MANAGED_BY_FILE',
  'NOT_APPLIED',
  'IDEMPOTENCY_KEY_REUSED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'REQUEST_TOO_SLOW',
  'DAILY_LIMIT_EXCEEDED',
  'RATE_LIMITED',
  'TIER_LIMIT_REACHED',
  'TIMELINE_FULL',
  'REVIEW_REQUIRED',
  'INCIDENT_RESOLVED',
  'INCIDENT_NOT_PUBLIC',
  'SERVICE_NOT_IMPAIRED',
  'OWN_REVIEW',
  'UNAVAILABLE',
  'UNKNOWN_TIER',
  'ALREADY_ON_TIER',
  'PAYMENT_LINK_NOT_CONFIGURED',
  'PAYMENT_PROVIDER_NOT_CONFIGURED',
  'PAYMENT_PROVIDER_UNAVAILABLE',
  'WEBHOOK_NOT_CONFIGURED',
  'INVALID_SIGNATURE',
  'INVALID_PAYLOAD',
  'INVALID_TOKEN',
  'INTERNAL',
] as const

export type ErrorCode = (typeof errorCodes)[number]

/** A problem in an input. `path` leads to the field, outermost first. */
export interface Issue {
  readonly path: readonly string[]
  readonly message: string
  /** The line in the input text, from 1; absent: the input is not a text. */
  readonly line?: number
  /** The kind, for callers that react to it: the target is in a private network, which the operator can allow. */
  readonly kind?: 'PRIVATE_TARGET'
}

/** An expected failure, with a message for the caller. */
export abstract class DomainError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string) {
    super(message)
    this.name = new.target.name
    this.code = code
  }
}

/** The input is invalid. */
export class Invalid extends DomainError {
  readonly issues: readonly Issue[]

  constructor(code: ErrorCode, message: string, issues: readonly Issue[] = []) {
    super(code, message)
    this.issues = issues
  }
}

/** A key is missing, or is unknown, revoked or expired. */
export class Unauthenticated extends DomainError {}

/** The caller's key or role does not permit this. */
export class Forbidden extends DomainError {}

/** The object does not exist, or the caller may not see it. */
export class NotFound extends DomainError {
  constructor(message: string, code: ErrorCode = 'NOT_FOUND') {
    super(code, message)
  }
}

/** The object was changed in the meantime, or already exists. */
export class Conflict extends DomainError {
  constructor(message: string, code: ErrorCode = 'CONFLICT') {
    super(code, message)
  }
}

/** A configuration file manages the object that the caller wants to change, until someone unlocks it. */
export class ManagedByFile extends DomainError {
  readonly file: string
  readonly section: string
  readonly key: string
  /** The fields that would change; empty: the object would be deleted. */
  readonly members: readonly string[]

  constructor(
    { file, section, key }: { readonly file: string; readonly section: string; readonly key: string },
    fields: readonly string[] = [],
  ) {
    const place = `${section}.${key}`
    const what = fields.length === 0 ? place : `${fields.join(', ')} of ${place}`
    super('MANAGED_BY_FILE', `${file} manages ${what}. Change the file, or unlock ${place} if it cannot wait.`)
    this.file = file
    this.section = section
    this.key = key
    this.members = fields
  }
}

/** The plan's daily quota is used up until `resetsAt`. */
export class LimitExceeded extends DomainError {
  readonly limit: number
  readonly resetsAt: Date

  constructor(message: string, limit: number, resetsAt: Date) {
    super('DAILY_LIMIT_EXCEEDED', message)
    this.limit = limit
    this.resetsAt = resetsAt
  }
}

/** One caller sends, or one destination receives, too many requests until `retryAt`. */
export class RateLimited extends DomainError {
  readonly retryAt: Date

  constructor(message: string, retryAt: Date) {
    super('RATE_LIMITED', message)
    this.retryAt = retryAt
  }
}

/** The organization has reached a limit of its tier. */
export class TierLimitReached extends DomainError {
  readonly limit: number

  constructor(message: string, limit: number) {
    super('TIER_LIMIT_REACHED', message)
    this.limit = limit
  }
}

/** A required external system does not respond. A later retry may succeed. */
export class Unavailable extends DomainError {
  constructor(message: string, code: ErrorCode = 'UNAVAILABLE') {
    super(code, message)
  }
}

/**
 * The database does not respond, or cannot write. Unlike a domain error it is in no GraphQL union, because the whole
 * request fails. A retry after a few seconds may succeed.
 */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable'
  readonly code = 'UNAVAILABLE' satisfies ErrorCode
  /** The delay before a retry, in seconds. */
  readonly retryAfter = 5

  constructor(options?: ErrorOptions) {
    super('The service cannot reach its database at the moment. Try again in a few seconds.', options)
  }
}

/** The service cannot start with its configuration. The message explains what to do, so no stack is printed. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
